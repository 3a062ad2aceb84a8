//! What a hop leaves open refutes nothing that one of its points shows: frames that a capture misses, and those that leave when
//! nothing comes to the other capture any more.

#[path = "common/input.rs"]
mod given;

use coalescope_capture::PointInput;
use coalescope_knowledge::{Finding, Id, Merging, judge};
use coalescope_simulate::{
    Cause, Element, Lane, Link, MICROSECOND, MILLISECOND, Point, Scenario, Side, Turn, run,
};
use given::{input, traced};

const RATE_BPS: u64 = 100_000_000;

fn link(delay: u64) -> Link {
    Link::both(Lane::new(RATE_BPS, delay))
}

/// A download past WIRE and HOST, which is nearer to the client.
fn download(seed: u64, [between, behind]: [Link; 2], wire: Point) -> Vec<PointInput> {
    let mut scenario = Scenario::new("open-ends", Cause::Healthy);
    scenario.seed = seed;
    scenario.turns = vec![
        Turn::new(Side::Client, 400),
        Turn::new(Side::Server, 4_000_000),
    ];
    scenario.path = vec![
        Element::Link(link(50 * MICROSECOND)),
        Element::Point(Point::new("HOST")),
        Element::Link(between),
        Element::Point(wire),
        Element::Link(behind),
    ];
    let captures = run(&scenario).points.into_iter();
    captures
        .map(|point| input(&point.name, point.bytes))
        .collect()
}

fn first(inputs: Vec<PointInput>) -> (Finding, Merging) {
    let diagnosis = judge(&traced(inputs));
    let mut findings = diagnosis.findings.into_iter();
    (
        findings.next().expect("a finding"),
        diagnosis.verdict.merging,
    )
}

/// The sender sends the same bytes again and again, and the farther point sees nothing of the connection any more.
#[test]
fn a_connection_that_dies_between_two_points_is_not_healthy() {
    for (seed, dies) in [(1, 150), (2, 220), (3, 290)] {
        let mut between = link(50 * MICROSECOND);
        for lane in &mut between.toward {
            lane.outage = Some((dies * MILLISECOND, u64::MAX));
        }
        let behind = link(2 * MILLISECOND);
        let inputs = download(seed, [between, behind], Point::new("WIRE"));
        let (found, merging) = first(inputs);
        assert_eq!(
            (found.id, found.note),
            (Id::LossNotMerging, false),
            "{seed}"
        );
        assert_ne!(merging, Merging::Harms, "{seed}");
    }
}

/// The point in front lacks some frames, so that nothing shows whether those passed there that come late behind it.
#[test]
fn what_a_point_in_front_misses_has_not_been_overtaken() {
    for seed in 0..12 {
        let mut behind = link(5 * MILLISECOND);
        behind.toward[Side::Client.index()].loss = 0.01;
        let wire = Point {
            missed: 0.06,
            ..Point::new("WIRE")
        };
        let inputs = download(seed, [link(50 * MICROSECOND), behind], wire);
        let (found, _) = first(inputs);
        assert_ne!(found.id, Id::ReorderedBeforeMerge, "{seed}");
    }
}
