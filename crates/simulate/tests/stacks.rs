//! What hosts, boxes and captures can be made to do besides: each does what it is named for, and what travels is what an
//! independent parser reads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests, too"
)]

mod common;

use coalescope_simulate::{
    Bursts, Element, Hop, IpIds, MICROSECOND, MILLISECOND, Outcome, SECOND, Scenario, Side, run,
    story,
};
use etherparse::{NetHeaders, PacketHeaders, TcpHeader, TransportHeader};

/// A client behind a sound link.
fn sound() -> Scenario {
    story("healthy-gro").unwrap()
}

fn both(scenario: &mut Scenario, change: impl Fn(&mut coalescope_simulate::Host)) {
    change(&mut scenario.client);
    change(&mut scenario.server);
}

fn first_point(outcome: &Outcome) -> Vec<Vec<u8>> {
    let frames = common::read(&outcome.points[0].bytes);
    frames.into_iter().map(|frame| frame.bytes).collect()
}

fn tcp(frame: &[u8]) -> TcpHeader {
    let headers = PacketHeaders::from_ethernet_slice(frame).unwrap();
    match headers.transport {
        Some(TransportHeader::Tcp(tcp)) => tcp,
        _ => panic!("not TCP"),
    }
}

fn received(outcome: &Outcome) -> u64 {
    outcome.truth.connections[0].toward[Side::Client.index()].bytes
}

#[test]
fn a_marking_queue_loses_nothing_and_slows_its_sender() {
    let mut scenario = sound();
    both(&mut scenario, |host| host.ecn = true);
    for link in scenario.links_mut() {
        link.toward[Side::Client.index()].marks_from = 20_000;
    }
    let outcome = run(&scenario);
    assert!(outcome.truth.drops.is_empty());
    let frames = first_point(&outcome);
    let marked = |frame: &Vec<u8>| match PacketHeaders::from_ethernet_slice(frame).unwrap().net {
        Some(NetHeaders::Ipv4(ip, _)) => ip.ecn.value() == 3,
        _ => false,
    };
    assert!(frames.iter().any(marked));
    assert!(frames.iter().any(|frame| tcp(frame).ece));
    assert!(frames.iter().any(|frame| tcp(frame).cwr && !tcp(frame).syn));
}

#[test]
fn a_reset_ends_it_and_a_half_closed_one_goes_on() {
    let whole = run(&sound());
    let mut scenario = sound();
    scenario.server.reset_after = Some(30 * MILLISECOND);
    let reset = run(&scenario);
    assert!(received(&reset) > 0 && received(&reset) < received(&whole));
    assert!(first_point(&reset).iter().any(|frame| tcp(frame).rst));
    let mut scenario = sound();
    scenario.client.half_close = true;
    let half = run(&scenario);
    assert_eq!(received(&half), received(&whole));
    let frames = first_point(&half);
    let fin = frames.iter().position(|frame| tcp(frame).fin).unwrap();
    assert!(fin < frames.len() / 4, "{fin} of {}", frames.len());
}

#[test]
fn a_growing_window_and_a_small_send_buffer_hold_back() {
    let took = |scenario: &Scenario| {
        let truth = run(scenario).truth;
        truth.connections[0].toward[Side::Client.index()].end
    };
    let all_at_once = took(&sound());
    let mut grown = sound();
    grown.client.first_window = Some(14_600);
    assert!(took(&grown) > all_at_once);
    let mut buffered = sound();
    buffered.server.send_buffer = 8_000;
    assert!(took(&buffered) > 2 * all_at_once);
}

#[test]
fn options_and_headers_that_nobody_reads_shorten_segments() {
    let longest = |scenario: &Scenario| {
        let lane = &run(scenario).truth.connections[0].toward[Side::Client.index()];
        lane.segment_size
    };
    let mut scenario = sound();
    let plain = longest(&scenario);
    both(&mut scenario, |host| host.more_options = 12);
    assert_eq!(longest(&scenario), plain - 12);
    both(&mut scenario, |host| host.extension = true);
    scenario.ipv6 = true;
    assert_eq!(longest(&scenario), plain - 12 - 8 - 20);
    for frame in first_point(&run(&scenario)) {
        let headers = PacketHeaders::from_ethernet_slice(&frame).unwrap();
        let Some(NetHeaders::Ipv6(_, extensions)) = headers.net else {
            panic!("not IPv6");
        };
        assert!(extensions.destination_options.is_some());
        tcp(&frame);
    }
}

#[test]
fn numbers_wrap_and_identifications_need_not_count() {
    let mut scenario = sound();
    scenario.near_wrap = true;
    both(&mut scenario, |host| host.ip_ids = IpIds::Zero);
    let outcome = run(&scenario);
    assert_eq!(received(&outcome), received(&run(&sound())));
    let frames = first_point(&outcome);
    let seqs: Vec<u32> = frames
        .iter()
        .map(|frame| tcp(frame).sequence_number)
        .collect();
    assert!(seqs.iter().any(|seq| *seq > 0xffe0_0000) && seqs.iter().any(|seq| *seq < 0x10_0000));
    for frame in &frames {
        let Some(NetHeaders::Ipv4(ip, _)) = PacketHeaders::from_ethernet_slice(frame).unwrap().net
        else {
            panic!("not IPv4");
        };
        assert_eq!(ip.identification, 0);
    }
}

#[test]
fn ports_come_again() {
    let mut scenario = sound();
    (scenario.connections, scenario.ports, scenario.spacing) = (4, 2, 2 * SECOND);
    let outcome = run(&scenario);
    let ports: Vec<u16> = outcome
        .truth
        .connections
        .iter()
        .map(|c| c.client_port)
        .collect();
    assert_eq!((ports[0], ports[1]), (ports[2], ports[3]));
    assert!(outcome.truth.connections.iter().all(|c| c.closed));
}

#[test]
fn boxes_clamp_repeat_and_damage() {
    let mut scenario = sound();
    let clamp = |toward| Element::Hop(Hop::ClampMss { toward, mss: 1_000 });
    scenario.path.insert(3, clamp(Side::Server));
    let lane = &run(&scenario).truth.connections[0].toward[Side::Client.index()];
    assert_eq!(lane.segment_size, 988);
    let mut scenario = sound();
    let repeat = Hop::Repeat {
        toward: Side::Client,
        probability: 0.5,
        later: 10 * MICROSECOND,
    };
    scenario.path.insert(3, Element::Hop(repeat));
    assert!(first_point(&run(&scenario)).len() > first_point(&run(&sound())).len());
    let mut scenario = sound();
    let damage = Hop::DamageMerged {
        toward: Side::Client,
    };
    scenario.path.insert(1, Element::Hop(damage));
    let truth = run(&scenario).truth;
    assert!(truth.dropped_for_merging() > 0);
}

#[test]
fn lines_fail_and_ways_change() {
    let end = |change: &dyn Fn(&mut coalescope_simulate::Lane)| {
        let mut scenario = sound();
        for link in scenario.links_mut() {
            change(&mut link.toward[Side::Client.index()]);
        }
        let truth = run(&scenario).truth;
        (truth.connections[0].toward[0].end, truth.drops.len())
    };
    let (sound, _) = end(&|_| {});
    let (late, dropped) = end(&|lane| lane.outage = Some((20 * MILLISECOND, 300 * MILLISECOND)));
    assert!(late > sound && dropped > 0);
    let (late, dropped) = end(&|lane| lane.detour = Some((20 * MILLISECOND, 30 * MILLISECOND)));
    assert!(late > sound + 20 * MILLISECOND && dropped == 0);
}

#[test]
fn captures_miss_runs_and_count_ticks() {
    let mut scenario = sound();
    let name = scenario.points().next().unwrap().name.clone();
    let point = scenario.point_mut(&name).unwrap();
    point.missed_runs = Some(Bursts {
        begin: 0.01,
        end: 0.05,
        loss: 1.0,
    });
    point.tick = MILLISECOND;
    let outcome = run(&scenario);
    let truth = outcome.truth.point(&name).unwrap();
    assert!(truth.missed > 10);
    assert_eq!(received(&outcome), received(&run(&sound())));
    let frames = common::read(&outcome.points[0].bytes);
    assert!(frames.iter().all(|frame| frame.at % MILLISECOND == 0));
}
