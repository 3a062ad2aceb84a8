//! Texts with facts in them, by minijinja: `{{ interface.name }} has LRO on`.

use minijinja::{Environment, UndefinedBehavior};

/// Fills in a template; a fact that is not there is an error.
pub(super) fn fill(template: &str, facts: &serde_json::Value) -> Result<String, String> {
    if !template.contains(['{', '%']) {
        return Ok(template.to_owned());
    }
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
        .render_str(template, minijinja::value::Serde(facts))
        .map_err(|error| error.to_string())
}

/// YAML's folded texts end with a line feed.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
