//! Every rule does what its fixtures say.

use coalescope_knowledge::Id;
use coalescope_knowledge::rules::{Rule, Rules, meaning, meanings, test};

#[test]
fn every_rule_fires_on_its_fixture_and_not_on_the_one_that_almost_does() {
    let rules = Rules::with_fixtures().expect("built-in rules are sound");
    let failures: Vec<String> = test(&rules)
        .into_iter()
        .map(|failure| {
            format!(
                "{} ({}): {}",
                failure.rule, failure.fixture, failure.problem
            )
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(rules.dangling().is_empty(), "{:?}", rules.dangling());
}

#[test]
fn rules_without_their_fixtures_are_the_same_rules() {
    let whole = Rules::with_fixtures().expect("built-in rules are sound");
    let bare = Rules::built_in().expect("built-in rules are sound");
    let without: Vec<Rule> = whole
        .iter()
        .map(|rule| Rule {
            fixtures: None,
            ..rule.clone()
        })
        .collect();
    assert!(whole.iter().all(|rule| rule.fixtures.is_some()));
    assert_eq!(bare.iter().cloned().collect::<Vec<_>>(), without);
}

#[test]
fn every_finding_of_a_trace_means_something() {
    meanings().expect("rules/trace.yaml is sound");
    let all = [
        Id::MergedFramesLost,
        Id::MergedFramesRejected,
        Id::MergedDatagramsLost,
        Id::NoMerging,
        Id::ReorderedBeforeMerge,
        Id::LossNotMerging,
        Id::NotEnoughEvidence,
        Id::ReceiverWindow,
        Id::SenderIdle,
        Id::PathBandwidth,
    ];
    for id in all {
        assert!(
            meaning(id).is_some(),
            "rules/trace.yaml lacks {}",
            id.name()
        );
    }
}

/// What `rules show` prints is what a rule file would hold.
#[test]
fn a_rule_as_it_is_shown_is_the_rule() {
    for rule in Rules::built_in().expect("built-in rules are sound").iter() {
        let shown = rule.yaml().expect("YAML");
        let read: Vec<Rule> = serde_saphyr::from_str(&shown).expect("a rule file");
        assert_eq!(read, std::slice::from_ref(rule), "{shown}");
    }
}
