//! docs/rules.md, "Incidents without a rule of their own": no incident that has a rule is said to have none, and the
//! rules named instead exist.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::path::Path;

use coalescope_knowledge::rules::Rules;

const HEADING: &str = "## Incidents without a rule of their own";

/// The table's rows, as incident and reason.
fn rows() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (_, section) = page.split_once(HEADING).unwrap();
    let lines = section.lines().take_while(|line| !line.starts_with("## "));
    let cells = lines.filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
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
