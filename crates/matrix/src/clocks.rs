//! Clocks change no finding: a scenario is played again by other clocks, with the same frames.

use std::collections::BTreeMap;

use coalescope_knowledge::Diagnosis;
use coalescope_simulate::{Element, SECOND};
use proptest::prelude::*;

use crate::analyse::analyse;
use crate::case::{Case, host_of};
use crate::families;

/// A clock: what it is ahead by in ns, and what it gains in parts of a thousand millions.
type Clock = (i64, i64);

/// Up to 1,000 s, and 200 ppm.
fn clocks() -> impl Strategy<Value = Vec<Clock>> {
    let most = 1_000 * SECOND as i64;
    let offset = prop_oneof![-most..most, -5_000_000..5_000_000_i64];
    proptest::collection::vec((offset, -200_000..200_000_i64), 4)
}

/// Sets the clocks of a case's hosts, one after the other.
fn set(case: &mut Case, clocks: &[Clock]) {
    let mut of_hosts = BTreeMap::new();
    for element in case.runs.iter_mut().flat_map(|run| &mut run.path) {
        if let Element::Point(point) = element {
            let next = of_hosts.len() % clocks.len();
            let host = host_of(&point.name).to_owned();
            let clock = *of_hosts.entry(host).or_insert(clocks[next]);
            (point.offset, point.drift_ppb) = clock;
        }
    }
}

/// What is found, and at which hop.
fn told(diagnosis: &Diagnosis) -> Vec<String> {
    let place = |finding: &coalescope_knowledge::Finding| {
        let hop = finding.hop.as_ref();
        hop.map(|hop| format!(" {}>{}", hop.from, hop.to))
    };
    let findings = diagnosis.findings.iter();
    findings
        .map(|finding| {
            let place = place(finding).unwrap_or_default();
            format!("{}{place}", finding.id.name())
        })
        .chain([format!("{:?}", diagnosis.verdict.merging)])
        .collect()
}

fn found(case: &Case) -> Vec<String> {
    let captures = case.play().captures;
    told(&analyse(case, &captures).expect("captures that the simulator wrote"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(12)
    })]

    #[test]
    fn no_clock_changes_a_finding(
        number in 0..families().len(),
        seed in any::<u64>(),
        right in clocks(),
        wrong in clocks(),
    ) {
        let family = families()[number];
        let mut case = Case::draw(family, seed);
        set(&mut case, &right);
        let expected = found(&case);
        set(&mut case, &wrong);
        prop_assert_eq!(found(&case), expected, "--family {} --seed {}", family.name, seed);
    }
}
