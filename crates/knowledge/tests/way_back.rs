//! Acknowledgments that are lost on their way back are neither a pause of the sender nor a loss of data, and between two points
//! the hop back is named; a SYN that was lost is what a short connection waited for.

#[path = "common/input.rs"]
mod given;

use coalescope_capture::PointInput;
use coalescope_knowledge::{Diagnosis, Finding, Id, Merging, Reason, judge};
use coalescope_simulate::{
    Cause, Element, Lane, Link, MICROSECOND, MILLISECOND, Point, Scenario, Side, Turn, run,
};
use given::{input, traced};

const RATE_BPS: u64 = 100_000_000;

/// A download past two points; what comes back from the client crosses a faulty link in front of the first of them, between
/// them, or behind both, counted from the client.
fn download(place: usize, fault: impl FnOnce(&mut Lane)) -> Vec<PointInput> {
    let mut scenario = scenario();
    let faulty = scenario
        .links_mut()
        .nth(place)
        .expect("three links and one");
    fault(&mut faulty.toward[Side::Server.index()]);
    captured(&scenario)
}

fn scenario() -> Scenario {
    let mut scenario = Scenario::new("way-back", Cause::Healthy);
    scenario.turns = vec![
        Turn::new(Side::Client, 400),
        Turn::new(Side::Server, 2_000_000),
    ];
    let near = || Element::Link(Link::both(Lane::new(RATE_BPS, 50 * MICROSECOND)));
    let far = Element::Link(Link::both(Lane::new(RATE_BPS, 5 * MILLISECOND)));
    let point = |name: &str| Element::Point(Point::new(name));
    scenario.path = vec![near(), point("HOST"), near(), point("WIRE"), near(), far];
    scenario
}

fn captured(scenario: &Scenario) -> Vec<PointInput> {
    run(scenario)
        .points
        .into_iter()
        .map(|point| input(&point.name, point.bytes))
        .collect()
}

fn judged(inputs: Vec<PointInput>) -> Diagnosis {
    judge(&traced(inputs))
}

fn first(diagnosis: &Diagnosis) -> &Finding {
    diagnosis.findings.first().expect("a finding")
}

/// From 40 ms on, for two seconds.
fn dead(lane: &mut Lane) {
    lane.outage = Some((40 * MILLISECOND, 2_040 * MILLISECOND));
}

#[test]
fn acknowledgments_are_lost_behind_the_last_point_that_they_passed() {
    for (place, between) in [(1, Some(("HOST", "WIRE"))), (2, None), (3, None)] {
        let diagnosis = judged(download(place, dead));
        let found = first(&diagnosis);
        assert_eq!(
            (found.id, found.reason),
            (Id::LossNotMerging, Some(Reason::LostAcks)),
            "{place}"
        );
        let hop = found
            .hop
            .as_ref()
            .map(|hop| (hop.from.as_str(), hop.to.as_str()));
        assert_eq!(hop, between, "{place}");
        assert!(
            !found.note && diagnosis.verdict.merging != Merging::Harms,
            "{place}"
        );
    }
}

#[test]
fn the_receiver_alone_shows_that_its_acknowledgments_are_not_heard() {
    let mut inputs = download(2, dead);
    inputs.truncate(1);
    let diagnosis = judged(inputs);
    assert_eq!(first(&diagnosis).reason, Some(Reason::LostAcks));
}

/// In front of the loss nothing shows that data arrived.
#[test]
fn where_no_acknowledgment_comes_the_data_may_be_lost_as_well() {
    let diagnosis = judged(download(0, dead));
    let found = first(&diagnosis);
    assert_eq!((found.id, found.reason), (Id::LossNotMerging, None));
}

#[test]
fn a_handshake_that_takes_seconds_is_what_a_connection_waits_for() {
    // Answers to two SYNs are lost, then all is well.
    let late = |lane: &mut Lane| lane.outage = Some((0, 2_900 * MILLISECOND));
    let diagnosis = judged(download(2, late));
    let found = first(&diagnosis);
    assert_eq!(
        (found.id, found.reason, found.note),
        (Id::LossNotMerging, None, false)
    );
    assert!(found.title.contains("handshake"), "{}", found.title);
    let sound = judged(download(2, |_| {}));
    assert!(
        sound.findings.iter().all(|finding| finding.note),
        "{:?}",
        sound.findings
    );
}

/// The first SYN passes one point alone.
#[test]
fn the_hop_that_loses_a_syn_is_named() {
    for (place, between) in [(0, None), (1, Some(("HOST", "WIRE"))), (2, None)] {
        let mut scenario = scenario();
        let link = scenario.links_mut().nth(place).expect("four links");
        link.toward[Side::Server.index()].outage = Some((0, 2_900 * MILLISECOND));
        let found = judged(captured(&scenario)).findings.remove(0);
        let hop = found.hop.as_ref();
        let hop = hop.map(|hop| (hop.from.as_str(), hop.to.as_str()));
        if place > 0 {
            assert!(
                found.title.contains("handshake"),
                "{place}: {}",
                found.title
            );
        }
        assert_eq!(hop, between, "{place}");
    }
}
