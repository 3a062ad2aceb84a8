//! Texts with facts in them, by minijinja: `{{ interface.name }} has LRO on`.

use std::error::Error as _;
use std::sync::LazyLock;

use coalescope_host::safe;
use minijinja::{
    Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value, escape_formatter,
};

/// Characters beside plain words that are allowed inside quotes in a command: neither sh, PowerShell nor the Windows
/// command line interprets them there.
const WITHIN_QUOTES: &str = " ()#";
/// Replaces a command that a name would turn into another one.
const NO_COMMAND: &str = "# no command is given: a name in it has characters that a shell or a file would take for \
    more than a name; put it in quotes yourself";

/// Fills in a text for people; a missing fact is an error.
pub(super) fn fill(template: &str, facts: Value) -> Result<String, String> {
    if !template.contains(['{', '%']) {
        return Ok(template.to_owned());
    }
    let rendered = FOR_PEOPLE.render_str(template, facts);
    rendered.map_err(|error| error.to_string())
}

/// Fills in a command, or lines of a file. Facts may come from strangers' output, so only words that mean nothing to
/// any shell are allowed, and values that a filter has put in quotes: `{{ interface.name|sh }}`. With other values the
/// result is a comment that explains why there is no command.
pub(super) fn command(template: &str, facts: Value) -> Result<String, String> {
    if !template.contains(['{', '%']) {
        return Ok(template.to_owned());
    }
    match FOR_SHELLS.render_str(template, facts) {
        Err(error) if is_odd(&error) => Ok(NO_COMMAND.to_owned()),
        rendered => rendered.map_err(|error| error.to_string()),
    }
}

/// The facts that a text uses, as paths: `interface.name`. Variables of loops and assignments are not among them.
pub(super) fn names(template: &str) -> Result<Vec<String>, String> {
    let parsed = FOR_PEOPLE.template_from_str(template);
    let parsed = parsed.map_err(|error| error.to_string())?;
    let mut names: Vec<String> = parsed.undeclared_variables(true).into_iter().collect();
    names.sort();
    Ok(names)
}

/// Made once: a host of ten thousand interfaces has as many texts, or more.
static FOR_PEOPLE: LazyLock<Environment<'static>> = LazyLock::new(environment);
static FOR_SHELLS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = environment();
    environment.set_formatter(only_words);
    environment
});

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("sh", |text: &str| one_line_of(safe::sh(text).into_owned()));
    environment.add_filter("ps", |text: &str| one_line_of(safe::powershell(text)));
    environment.add_filter("in_quotes", in_quotes);
    environment
}

/// Lets a value into a command if it is plain, or was made safe. Names that are parts of paths have no `/`.
fn only_words(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let text = value.to_string();
    if value.is_safe() || safe::is_plain(&text) && !text.contains('/') {
        return escape_formatter(out, state, value);
    }
    Err(odd())
}

/// Refuses invisible characters in a command: users who copy the command could not see what it does.
fn one_line_of(quoted: String) -> Result<Value, Error> {
    match quoted.chars().any(safe::is_unseen) {
        true => Err(odd()),
        false => Ok(Value::from_safe_string(quoted)),
    }
}

fn in_quotes(text: &str) -> Result<Value, Error> {
    let is_inert =
        |c: char| WITHIN_QUOTES.contains(c) || safe::is_plain(c.encode_utf8(&mut [0; 4]));
    match text.chars().all(is_inert) {
        true => Ok(Value::from_safe_string(text.to_owned())),
        false => Err(odd()),
    }
}

/// A value that is not allowed in a command.
#[derive(Debug, thiserror::Error)]
#[error("it would be more than a word of a command")]
struct Odd;

fn odd() -> Error {
    Error::new(ErrorKind::InvalidOperation, "odd value").with_source(Odd)
}

fn is_odd(error: &Error) -> bool {
    let mut cause = error.source();
    while let Some(one) = cause {
        if one.is::<Odd>() {
            return true;
        }
        cause = one.source();
    }
    false
}

/// Joins lines: YAML's folded texts end with a line feed.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use minijinja::value::Serde;
    use serde_json::json;

    use super::*;

    fn filled(template: &str, name: &str) -> String {
        command(template, Value::from(Serde(json!({ "name": name })))).unwrap()
    }

    #[test]
    fn plain_names_go_in_as_they_are() {
        assert_eq!(
            filled("ethtool -K {{ name }} gro off", "eth0.5@x"),
            "ethtool -K eth0.5@x gro off"
        );
        assert_eq!(
            filled("ethtool -K {{ name|sh }} gro off", "eth0"),
            "ethtool -K eth0 gro off"
        );
        assert_eq!(filled("-Name {{ name|ps }}", "Bob's 2"), "-Name 'Bob''s 2'");
        assert_eq!(
            filled("\"-Name '{{ name|in_quotes }}'\"", "Ethernet 2 (x)"),
            "\"-Name 'Ethernet 2 (x)'\""
        );
    }

    #[test]
    fn others_are_quoted_or_there_is_no_command() {
        assert_eq!(
            filled("ethtool -K {{ name|sh }}", "x$(id>PWN)"),
            "ethtool -K 'x$(id>PWN)'"
        );
        for template in [
            "'{{ name }}'",
            "rm /etc/{{ name }}",
            "\"{{ name|in_quotes }}\"",
            "{{ name|upper }}",
        ] {
            assert_eq!(filled(template, "x$(id>PWN)"), NO_COMMAND, "{template}");
        }
        assert_eq!(filled("rm /etc/udev/{{ name }}", "../passwd"), NO_COMMAND);
        for name in ["a\nb", "a\u{202e}b", "a\u{9b}b"] {
            assert_eq!(filled("{{ name|sh }}", name), NO_COMMAND, "{name:?}");
            assert_eq!(filled("{{ name|ps }}", name), NO_COMMAND, "{name:?}");
        }
    }

    #[test]
    fn a_fact_that_is_missing_is_an_error() {
        assert!(command("{{ other }}", Value::from(Serde(json!({})))).is_err());
        assert!(command("{{ other|sh }}", Value::from(Serde(json!({})))).is_err());
    }
}
