//! `incidents_without_rule.md`: no incident that has a rule is said to have none, and the rules named instead exist.

use std::collections::BTreeSet;

use coalescope_knowledge::rules::Rules;

const PAGE: &str = include_str!("incidents_without_rule.md");

/// The table's rows, as incident and reason.
fn rows() -> Vec<(String, String)> {
    let cells = PAGE
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    cells
        .map(|(id, reason)| (id.to_owned(), reason.trim_end_matches(" |").to_owned()))
        .collect()
}

#[test]
fn an_incident_has_a_rule_or_one_reason_for_having_none() {
    let rules = Rules::built_in().unwrap();
    let rows = rows();
    assert!(!rows.is_empty(), "the table is not where it was");
    let mut seen = BTreeSet::new();
    for (id, reason) in &rows {
        assert!(rules.get(id).is_none(), "{id} is a rule by now");
        assert!(seen.insert(id), "{id} stands there twice");
        assert!(!reason.is_empty(), "{id} has no reason");
    }
}

/// Words in back quotes with two hyphens or more are meant as rules.
#[test]
fn rules_that_are_named_instead_exist() {
    let rules = Rules::built_in().unwrap();
    for (id, reason) in rows() {
        let quoted = reason.split('`').skip(1).step_by(2);
        let named = quoted.filter(|word| !word.contains(' ') && word.matches('-').count() > 1);
        for word in named {
            assert!(rules.get(word).is_some(), "{id}: no rule {word}");
        }
    }
}
