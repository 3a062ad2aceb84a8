use std::slice::from_ref;

use super::*;

fn rule(lengths: Lengths, verdict: Verdict) -> Rule {
    Rule {
        is_for_all: true,
        cases: vec![Case { lengths, verdict }],
        ..Rule::default()
    }
}

const ANY: Lengths = Lengths::Any;
const SHORT: Lengths = Lengths::Within((0, 1500));
const LONG: Lengths = Lengths::Within((1501, u64::MAX));
const DROP: Verdict = Verdict::Drop("drop");

fn jump() -> Verdict {
    Verdict::Jump("more".to_owned())
}

fn narrow(mut rule: Rule) -> Rule {
    (rule.asks.narrow, rule.is_for_all) = (true, false);
    rule
}

/// What is noted of a base chain, and of one with the name `more`: lengths, verdict, and whether it is about some packets.
fn said(
    drops: bool,
    base: &[Rule],
    more: &[Rule],
) -> Vec<(Option<u64>, Option<u64>, String, bool)> {
    let chain = |name: &str, rules: &[Rule]| Chain {
        table: "filter".to_owned(),
        name: name.to_owned(),
        rules: rules.to_vec(),
        ..Chain::default()
    };
    let base = Chain {
        hook: Some("forward".to_owned()),
        drops,
        ..chain("forward", base)
    };
    let found = rules(&[base, chain("more", more)]).into_iter();
    let said = found.map(|one| {
        assert_eq!(one.hook.as_deref(), Some("forward"));
        (
            one.longer_than_bytes,
            one.up_to_bytes,
            one.verdict.unwrap_or_default(),
            one.narrow,
        )
    });
    said.collect()
}

fn dropped(narrow: bool) -> Vec<(Option<u64>, Option<u64>, String, bool)> {
    vec![(Some(1500), None, "drop".to_owned(), narrow)]
}

#[test]
fn what_a_chain_drops_is_found_through_jumps() {
    let long = rule(LONG, DROP);
    assert_eq!(said(false, from_ref(&long), &[]), dropped(false));
    assert_eq!(
        said(false, &[rule(ANY, jump())], from_ref(&long)),
        dropped(false)
    );
    assert_eq!(
        said(false, &[rule(LONG, jump())], &[rule(ANY, DROP)]),
        dropped(false)
    );
    let goes = Verdict::Goto("more".to_owned());
    assert_eq!(
        said(false, &[rule(LONG, goes.clone())], &[rule(ANY, DROP)]),
        dropped(false)
    );
    assert_eq!(
        said(false, &[narrow(rule(ANY, jump()))], from_ref(&long)),
        dropped(true)
    );
    assert_eq!(said(false, &[], from_ref(&long)), [], "nobody jumps there");
    assert_eq!(
        said(false, &[rule(ANY, goes), long], &[]),
        [],
        "what goes does not come back"
    );
}

#[test]
fn what_is_decided_before_meets_nothing() {
    let long = rule(LONG, DROP);
    let of_flows = Rule {
        is_of_flows: true,
        cases: vec![Case {
            lengths: ANY,
            verdict: Verdict::Accept,
        }],
        ..Rule::default()
    };
    for first in [
        rule(ANY, Verdict::Accept),
        rule(ANY, Verdict::Return),
        of_flows.clone(),
    ] {
        assert_eq!(said(true, &[first, long.clone()], &[]), []);
    }
    assert_eq!(
        said(
            false,
            &[rule(ANY, jump()), long.clone()],
            from_ref(&of_flows)
        ),
        []
    );
    // Some packets are accepted: nobody knows which.
    let some = narrow(rule(ANY, jump()));
    assert_eq!(
        said(false, &[some, long.clone()], &[of_flows]),
        dropped(true)
    );
    let some = narrow(rule(ANY, Verdict::Accept));
    assert_eq!(said(false, &[some, long.clone()], &[]), dropped(true));
    let hands_over = Rule {
        offloads: true,
        ..rule(ANY, Verdict::Other(None))
    };
    assert_eq!(said(false, &[hands_over, long.clone()], &[]), dropped(true));
    // Those of others do not matter.
    for of_others in ["udp", "icmp"] {
        let mut other = narrow(rule(ANY, Verdict::Accept));
        other.asks.protocol = Some(of_others.to_owned());
        assert_eq!(said(false, &[other, long.clone()], &[]), dropped(false));
    }
}

/// What a chain at the end of a goto leaves comes back to where the first chain was called, or to the policy.
#[test]
fn what_a_goto_leaves_open_comes_back() {
    let goes = || rule(ANY, Verdict::Goto("more".to_owned()));
    let counts = rule(ANY, Verdict::Other(None));
    let short = rule(SHORT, Verdict::Accept);
    let accepted = (None, Some(1500), "accept".to_owned(), false);
    let both = [vec![accepted], dropped(false)].concat();
    assert_eq!(said(true, &[short, goes()], from_ref(&counts)), both);
    let chain = |name: &str, rules: Vec<Rule>| Chain {
        name: name.to_owned(),
        rules,
        ..Chain::default()
    };
    let base = Chain {
        hook: Some("forward".to_owned()),
        ..chain(
            "base",
            vec![
                rule(ANY, Verdict::Jump("first".to_owned())),
                rule(LONG, DROP),
            ],
        )
    };
    let first = chain("first", vec![goes()]);
    let found = rules(&[base, first, chain("more", vec![counts])]);
    assert_eq!(found.len(), 1);
}

#[test]
fn a_chain_at_several_devices_is_of_each() {
    let base = Chain {
        hook: Some("ingress".to_owned()),
        devices: vec!["p0".to_owned(), "p1".to_owned()],
        rules: vec![rule(LONG, DROP)],
        ..Chain::default()
    };
    let found = rules(&[base]).into_iter();
    let names: Vec<_> = found.filter_map(|rule| rule.interface).collect();
    assert_eq!(names, ["p0", "p1"]);
}

/// As services of a cluster have: a chain for each, and a rule that jumps there.
#[test]
fn many_chains_are_followed_up_to_a_number_of_rules() {
    let name = |at: usize| format!("service-{at}");
    let jumps = (0..30_000).map(|at| rule(ANY, Verdict::Jump(name(at))));
    let base = Chain {
        hook: Some("forward".to_owned()),
        rules: jumps.collect(),
        ..Chain::default()
    };
    let services = (0..30_000).map(|at| Chain {
        name: name(at),
        rules: vec![rule(LONG, DROP)],
        ..Chain::default()
    });
    let all: Vec<Chain> = [base].into_iter().chain(services).collect();
    assert!(rules(&all).len() < FOLLOWED);
}

#[test]
fn what_is_longer_than_accepted_is_dropped_by_what_drops_the_rest() {
    let short = rule(SHORT, Verdict::Accept);
    let accepted = (None, Some(1500), "accept".to_owned(), false);
    let both = [vec![accepted.clone()], dropped(false)].concat();
    assert_eq!(said(true, from_ref(&short), &[]), both);
    assert_eq!(said(false, &[short.clone(), rule(ANY, DROP)], &[]), both);
    assert_eq!(said(false, from_ref(&short), &[]), from_ref(&accepted));
    assert_eq!(
        said(true, &[short.clone(), rule(ANY, Verdict::Accept)], &[]),
        [accepted]
    );
    let some = (None, Some(1500), "accept".to_owned(), true);
    assert_eq!(
        said(true, &[narrow(short)], &[]),
        [some],
        "others may be accepted as well"
    );
}

#[test]
fn behind_a_chain_that_is_not_shown_rules_meet_some_packets() {
    let away = Verdict::Jump("away".to_owned());
    assert_eq!(
        said(false, &[rule(ANY, away.clone()), rule(LONG, DROP)], &[]),
        dropped(true)
    );
    assert_eq!(said(false, &[rule(LONG, away)], &[]), []);
}

#[test]
fn neighbours_in_a_set_are_one_range() {
    let ranges = |parts: &[Range]| -> Vec<Lengths> {
        let cases = joined(parts.to_vec(), &DROP).into_iter();
        cases.map(|case| case.lengths).collect()
    };
    assert_eq!(
        ranges(&[(3001, 65_535), (1501, 3000)]),
        [Lengths::Within((1501, 65_535))]
    );
    assert_eq!(ranges(&[(40, 60), (1501, 3000)]).len(), 2);
}

#[test]
fn chains_that_jump_in_a_circle_end() {
    let chain = |name: &str, to: &str| Chain {
        name: name.to_owned(),
        hook: Some("forward".to_owned()),
        rules: vec![rule(ANY, Verdict::Jump(to.to_owned())); 3],
        ..Chain::default()
    };
    assert_eq!(rules(&[chain("a", "b"), chain("b", "a")]), []);
}
