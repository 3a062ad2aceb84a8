//! PSH marks the end of what an application has written (RFC 9293, 3.9.1.2), on some stacks: others set the flag in each frame, or
//! in none. What is said must not hang on that flag alone.

#[path = "common/input.rs"]
mod given;

use coalescope_knowledge::{Diagnosis, Finding, Id, Merging, judge};
use coalescope_simulate::{
    Cause, Cut, Element, Hop, Lane, Link, MICROSECOND, MILLISECOND, Merge, Point, Push, Scenario,
    Side, Turn, run, stories, story,
};
use given::{input, traced};

fn judged(points: &[(String, Vec<u8>)]) -> Diagnosis {
    let inputs = points
        .iter()
        .map(|(name, bytes)| input(name, bytes.clone()));
    judge(&traced(inputs))
}

/// What is said of all points of a scenario together, and of each alone, where little is seen of what was lost in front.
fn all_said(mut scenario: Scenario, push: Push) -> Vec<Diagnosis> {
    (scenario.client.push, scenario.server.push) = (push, push);
    let points = run(&scenario).points.into_iter();
    let points: Vec<_> = points.map(|point| (point.name, point.bytes)).collect();
    let alone = points.iter().map(std::slice::from_ref);
    alone.chain([&points[..]]).map(judged).collect()
}

fn first(diagnosis: &Diagnosis) -> Option<&Finding> {
    diagnosis.findings.iter().find(|finding| !finding.note)
}

/// The verdict, and the first finding that is no note, with its hop.
fn said(diagnosis: &Diagnosis) -> String {
    let first = first(diagnosis).map(|found| (found.id, found.reason, &found.hop));
    format!("{:?} {first:?}", diagnosis.verdict.merging)
}

#[test]
fn a_story_is_the_same_whichever_frames_have_the_flag() {
    for named in stories() {
        let told = |push| {
            let scenario = story(named.name).expect("a story");
            let all = all_said(scenario, push);
            all.iter().map(said).collect::<Vec<_>>()
        };
        let expected = told(Push::Written);
        for push in [Push::Always, Push::Never] {
            assert_eq!(told(push), expected, "{} {push:?}", named.name);
        }
    }
}

/// A download past a point at the sender, a hop, and two points behind that; merged in front of the hop.
fn path(turn: Turn, hop: Hop, delay: u64) -> Scenario {
    let mut scenario = Scenario::new("pushes", Cause::Healthy);
    scenario.turns = vec![Turn::new(Side::Client, 300), turn];
    let point = |name: &str| Element::Point(Point::new(name));
    let near = || Element::Link(Link::both(Lane::new(1_000_000_000, 20 * MICROSECOND)));
    let far = Element::Link(Link::both(Lane::new(1_000_000_000, delay)));
    let merge = Merge::gro(Side::Client, 100 * MICROSECOND);
    scenario.path = vec![
        point("VM"),
        near(),
        Element::Hop(hop),
        point("UPLINK"),
        Element::Merge(merge),
        far,
        Element::Cut(Cut {
            toward: Side::Client,
        }),
    ];
    scenario
}

/// An application that pauses for longer than a timeout takes.
#[test]
fn an_application_that_pauses_is_no_sender_that_waits() {
    for push in [Push::Written, Push::Always, Push::Never] {
        for (bytes, pause, delay) in [(30_000, 300, 3), (64_000, 700, 10), (200_000, 2_000, 40)] {
            let turn = Turn::new(Side::Server, 12 * bytes);
            let turn = turn.in_writes(bytes, pause * MILLISECOND);
            let scenario = path(turn, Hop::Bridge, delay * MILLISECOND);
            for diagnosis in all_said(scenario, push) {
                let about = format!("{push:?} {bytes} {pause}: {}", said(&diagnosis));
                assert!(first(&diagnosis).is_none(), "{about}");
                assert!(
                    diagnosis
                        .findings
                        .iter()
                        .any(|found| found.id == Id::SenderIdle),
                    "{about}"
                );
            }
        }
    }
}

/// Merged frames longer than a limit are lost: behind the hop, every burst ends in a silence, and nothing shows what was lost.
#[test]
fn a_sender_that_waits_is_no_application_that_pauses() {
    for push in [Push::Written, Push::Always, Push::Never] {
        for (segments, delay) in [(3, 3), (4, 10), (6, 5)] {
            let hop = Hop::DropMergedOver {
                toward: Side::Client,
                segments,
            };
            let turn = Turn::new(Side::Server, 1_000_000);
            for diagnosis in all_said(path(turn, hop, delay * MILLISECOND), push) {
                let about = format!("{push:?} {segments} {delay}: {}", said(&diagnosis));
                assert!(first(&diagnosis).is_some(), "{about}");
                let merging = diagnosis.verdict.merging;
                assert!(
                    matches!(merging, Merging::Harms | Merging::Unclear),
                    "{about}"
                );
            }
        }
    }
}
