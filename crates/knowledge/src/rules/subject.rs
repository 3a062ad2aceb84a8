//! What rules are asked about.

use cel::Value as Cel;
use serde_json::{Value, json};

use super::condition::{Condition, value};
use super::rule::{Each, Rule};

/// One thing that rules are asked about, as CEL and as templates see it.
pub(super) struct Subject {
    pub(super) each: Each,
    /// Its name, for messages.
    pub(super) name: Option<String>,
    pub(super) facts: Value,
    host: Cel,
    own: Option<(&'static str, Cel)>,
    roles: Vec<String>,
}

pub(super) fn subjects(host: &Value) -> Vec<Subject> {
    let cel = value(host);
    let mut all = vec![subject(Each::Host, "host", None, host, &cel)];
    let of = |field: &str| {
        host.get(field)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let interfaces = of("interfaces");
    all.extend(
        interfaces
            .iter()
            .map(|i| subject(Each::Interface, "interface", Some(i), host, &cel)),
    );
    let switches = of("switches");
    all.extend(
        switches
            .iter()
            .map(|s| subject(Each::Switch, "switch", Some(s), host, &cel)),
    );
    all
}

fn subject(
    each: Each,
    word: &'static str,
    own: Option<&Value>,
    host: &Value,
    cel: &Cel,
) -> Subject {
    let mut facts = json!({ "host": host });
    if let Some(own) = own {
        facts[word] = own.clone();
    }
    let text = |field: &str| own?.get(field)?.as_str().map(str::to_owned);
    let roles = own
        .and_then(|own| own.get("roles")?.as_array().cloned())
        .unwrap_or_default();
    Subject {
        each,
        name: text("key").or_else(|| text("name")),
        host: cel.clone(),
        own: own.map(|own| (word, value(own))),
        roles: roles
            .iter()
            .filter_map(|role| role.as_str().map(str::to_owned))
            .collect(),
        facts,
    }
}

impl Subject {
    pub(super) fn holds(&self, condition: &Condition) -> Result<bool, String> {
        let mut facts = vec![("host", &self.host)];
        facts.extend(self.own.as_ref().map(|(name, own)| (*name, own)));
        condition.holds(&facts)
    }

    pub(super) fn has_role_for(&self, rule: &Rule) -> bool {
        let mut roles = rule.roles.iter();
        rule.roles.is_empty() || roles.any(|role| self.roles.iter().any(|own| own == role.name()))
    }

    pub(super) fn host_name(&self) -> String {
        let name = self.facts["host"]["name"].as_str();
        name.unwrap_or_default().to_owned()
    }
}
