//! Every rule does what its fixtures say.

use coalescope_knowledge::Id;
use coalescope_knowledge::rules::{Rules, meaning, meanings, test};

#[test]
fn every_rule_fires_on_its_fixture_and_not_on_the_one_that_almost_does() {
    let rules = Rules::built_in().expect("built-in rules are sound");
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
fn every_finding_of_a_trace_means_something() {
    meanings().expect("rules/trace.yaml is sound");
    let all = [
        Id::MergedFramesLost,
        Id::MergedFramesRejected,
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
