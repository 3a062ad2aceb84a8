//! What moved: by files from real transfers, and by a transfer of our own.
//!
//! The samples are of 60 MiB by iperf3 over veth with TSO off, in 2026 on Linux 6.18: the receiver
//! with GRO and without, the sender with.

#![cfg(target_os = "linux")]

use coalescope_change::workload::Vantage;
use coalescope_experiment::counters::{Counters, Moved, read};
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::route::Route;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

macro_rules! moved {
    ($name:literal) => {{
        let at = |text| Counters::parse(text).expect("counters");
        let before = at(include_str!(concat!(
            "../samples/counters/",
            $name,
            "-before.txt"
        )));
        at(include_str!(concat!(
            "../samples/counters/",
            $name,
            "-after.txt"
        )))
        .since(&before)
    }};
}

fn figure(moved: &Moved, name: &str) -> f64 {
    let figures = moved.figures(None);
    let found = figures.iter().find(|figure| figure.metric.name == name);
    assert!(found.is_some(), "no {name} in {figures:?}");
    found.map_or(f64::NAN, |figure| figure.value)
}

fn has(moved: &Moved, name: &str) -> bool {
    moved
        .figures(None)
        .iter()
        .any(|figure| figure.metric.name == name)
}

fn is_about(value: f64, expected: f64) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{value} is not {expected}"
    );
}

#[test]
fn a_merged_frame_is_one_for_tcp_and_several_segments_for_ip() {
    let (with, without) = (moved!("gro-receiver"), moved!("no-gro-receiver"));
    assert_eq!(with.protocols["TcpInSegs"], 1138);
    assert_eq!(with.protocols["IpExtInNoECTPkts"], 43512);
    // A few frames of IPv6 neighbours are among them.
    let factor = figure(&with, "merge_factor");
    assert!((38.0..43512.0 / 1138.0).contains(&factor), "{factor}");
    is_about(figure(&without, "merge_factor"), 1.0);
    assert_eq!(moved!("gro-sender").protocols["TcpOutSegs"], 43512);
}

/// It is the queue's joining, of which there is more the less was merged before.
#[test]
fn the_receive_queue_joins_what_was_not_merged() {
    is_about(
        figure(&moved!("gro-receiver"), "receive_queue_coalesced"),
        6.0,
    );
    is_about(
        figure(&moved!("no-gro-receiver"), "receive_queue_coalesced"),
        8690.0,
    );
}

#[test]
fn both_ends_see_the_same_ratio_of_acks() {
    let name = "acks_per_data_segment";
    is_about(figure(&moved!("gro-sender"), name), 272.0 / 43502.0);
    is_about(figure(&moved!("gro-receiver"), name), 263.0 / 43504.0);
    is_about(figure(&moved!("no-gro-receiver"), name), 1969.0 / 41738.0);
}

#[test]
fn cost_is_by_bytes_of_the_interface() {
    let moved = moved!("gro-sender");
    let cpu = &moved.cpu;
    let busy_s: f64 = [cpu.user_s, cpu.system_s, cpu.irq_s, cpu.softirq_s]
        .iter()
        .flatten()
        .sum();
    assert!(busy_s > 0.0);
    let carried = &moved.interfaces["va"];
    let kib = (carried.rx_bytes + carried.tx_bytes) as f64 / 1024.0;
    assert!(kib > 60.0 * 1024.0, "{kib}");
    is_about(
        figure(&moved, "service_demand_us_per_kb"),
        busy_s * 1e6 / kib,
    );
    let of = |name| moved.figures(Some(name));
    let is_cost = |name: &&str| *name == "service_demand_us_per_kb" || *name == "interface_drops";
    let names = |name| {
        of(name)
            .into_iter()
            .map(|figure| figure.metric.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names("va")
            .iter()
            .filter(|name| is_cost(&name.as_str()))
            .count(),
        2
    );
    assert_eq!(
        names("none")
            .iter()
            .filter(|name| is_cost(&name.as_str()))
            .count(),
        0
    );
}

const BEFORE: &str = "==> ticks\n1000\n==> stat\ncpu  100 10 50 1000 5 1 20 0 0 0\n\
==> snmp\nTcp: MaxConn CurrEstab InSegs OutSegs RetransSegs\nTcp: -1 3 4294967290 100 5\n\
==> netstat\nTcpExt: TCPRcvCoalesce TCPOrigDataSent\nTcpExt: 7 50\n\
==> softnet_stat\n\
0000000a 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n\
==> dev\nInter-|   Receive                                                |  Transmit\n \
face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
lo:  1024 10 0 0 0 0 0 0 1024 10 0 0 0 0 0 0\n  \
old:    5  5 0 0 0 0 0 0    5  5 0 0 0 0 0 0\n  \
anew: 900  9 0 0 0 0 0 0    0  0 0 0 0 0 0 0\n";

fn later(changes: &[(&str, &str)]) -> Moved {
    let mut after = BEFORE.to_owned();
    for (old, new) in changes {
        assert!(after.contains(old), "{old}");
        after = after.replace(old, new);
    }
    let at = |text: &str| Counters::parse(text).expect("counters");
    at(&after).since(&at(BEFORE))
}

#[test]
fn nothing_moves_in_no_time() {
    let moved = later(&[]);
    assert!(moved.protocols.is_empty() && moved.interfaces.is_empty() && moved.left_out.is_empty());
    assert_eq!(
        (moved.cpu.user_s, moved.softnet.processed),
        (Some(0.0), Some(0))
    );
    assert!(!has(&moved, "service_demand_us_per_kb") && !has(&moved, "acks_per_data_segment"));
    assert!(!has(&moved, "merge_factor") && has(&moved, "retransmitted_segments"));
}

#[test]
fn ticks_become_seconds_and_kinds_are_kept_apart() {
    let moved = later(&[(
        "cpu  100 10 50 1000 5 1 20 0",
        "cpu  160 50 70 1900 6 2 25 3",
    )]);
    let cpu = &moved.cpu;
    let seconds = [
        cpu.user_s,
        cpu.system_s,
        cpu.idle_s,
        cpu.irq_s,
        cpu.softirq_s,
        cpu.steal_s,
    ];
    let expected = [0.1, 0.02, 0.901, 0.001, 0.005, 0.003];
    for (seconds, expected) in seconds.into_iter().zip(expected) {
        is_about(seconds.expect("a time"), expected);
    }
    // It is so of idle time on some kernels.
    let back = later(&[("1000 5 1 20", "999 5 1 20")]);
    assert_eq!((back.cpu.idle_s, back.cpu.user_s), (None, Some(0.0)));
}

#[test]
fn of_lo_the_bytes_count_once() {
    let changes = [
        ("lo:  1024 10", "lo:  3072 12"),
        ("1024 10 0 0 0 0 0 0\n", "3072 12 0 0 0 0 0 0\n"),
        ("cpu  100", "cpu  110"),
    ];
    let moved = later(&changes);
    assert_eq!(moved.interfaces["lo"].tx_bytes, 2048);
    is_about(figure(&moved, "service_demand_us_per_kb"), 0.01 * 1e6 / 2.0);
}

#[test]
fn what_went_backwards_is_left_out_and_named() {
    let changes = [
        ("3 4294967290 100 5", "9 4 130 2"),
        ("TcpExt: 7 50", "TcpExt: 9 70"),
        ("anew: 900", "anew: 100"),
        ("  old:", "  new:"),
        ("0000000a 00000001", "0000000f 00000000"),
    ];
    let moved = later(&changes);
    let names: Vec<_> = moved.protocols.keys().map(String::as_str).collect();
    // The number of connections is no counter.
    assert_eq!(
        names,
        [
            "TcpExtTCPOrigDataSent",
            "TcpExtTCPRcvCoalesce",
            "TcpOutSegs"
        ]
    );
    assert_eq!(
        moved.left_out,
        ["TcpInSegs", "TcpRetransSegs", "anew", "old", "new"]
    );
    assert_eq!(
        (moved.softnet.processed, moved.softnet.dropped),
        (Some(5), None)
    );
    assert!(!has(&moved, "retransmitted_segments") && !has(&moved, "softnet_dropped"));
    assert!(!has(&moved, "acks_per_data_segment"));
    is_about(figure(&moved, "receive_queue_coalesced"), 2.0);
}

#[test]
fn moved_survives_json() {
    let moved = moved!("gro-sender");
    let json = serde_json::to_string(&moved).expect("JSON");
    let again: Moved = serde_json::from_str(&json).expect("the same");
    assert_eq!(again, moved);
    let units: Vec<_> = moved
        .figures(None)
        .into_iter()
        .map(|figure| figure.metric)
        .collect();
    assert!(
        units
            .iter()
            .any(|metric| metric.unit.as_deref() == Some("us/KB"))
    );
}

#[test]
fn what_is_no_linux_is_said() {
    let error = Counters::parse("==> stat\n").unwrap_err().to_string();
    assert!(
        error.contains("/proc/stat") && error.contains("Linux only"),
        "{error}"
    );
    let error = Counters::parse("==> stat\ncpu  1 2 3 4 5 6 7 8\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("no TCP counters"), "{error}");
    let error = read(&"ns/coalescope-none".parse().expect("a vantage"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("no network namespace"), "{error}");
}

proptest! {
    /// Another host may answer anything.
    #[test]
    fn no_answer_makes_it_panic(at in any::<prop::sample::Index>(), text in "[ -~\n]{0,40}",
        number in any::<u64>()) {
        let mut answer = BEFORE.to_owned();
        let at = at.index(answer.len());
        answer.insert_str(at, &text);
        for answer in [answer, BEFORE.replace("100", &number.to_string()).replace("10 ", "18446744073709551615 ")] {
            if let (Ok(one), Ok(other)) = (Counters::parse(&answer), Counters::parse(BEFORE)) {
                for moved in [one.since(&other), other.since(&one)] {
                    assert!(moved.figures(None).iter().all(|figure| figure.value.is_finite()));
                }
            }
        }
    }
}

const BYTES: usize = 8 << 20;

/// A transfer on the loopback interface of a namespace moves its counters, and nothing else does.
#[test]
fn a_transfer_moves_them() {
    let Some(room) = coalescope_needs::had("a_transfer_moves_them", Namespace::create()) else {
        return;
    };
    let moved = room.enter(transfer).expect("entered");
    let sent = moved.protocols["TcpExtTCPOrigDataSent"];
    assert!(sent >= (BYTES / 65_536) as u64, "{sent}");
    assert_eq!(moved.interfaces.keys().collect::<Vec<_>>(), ["lo"]);
    let lo = &moved.interfaces["lo"];
    assert!(
        lo.rx_bytes == lo.tx_bytes && lo.rx_bytes > BYTES as u64,
        "{lo:?}"
    );
    let acks = figure(&moved, "acks_per_data_segment");
    assert!(acks > 0.0 && acks < 2.0, "{acks}");
    assert!(figure(&moved, "merge_factor") >= 1.0);
    assert!(moved.softnet.processed.is_some_and(|frames| frames > 0));
}

fn transfer() -> Moved {
    let route = Route::open().expect("netlink");
    let lo = route.link("lo").expect("an interface");
    route.set_up("lo", lo.index, true).expect("up");
    let before = read(&Vantage::Here).expect("counters");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = listener.local_addr().expect("an address");
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut to = TcpStream::connect(address).expect("connected");
            to.write_all(&vec![7; BYTES]).expect("written");
        });
        let (mut from, _) = listener.accept().expect("accepted");
        let mut received = Vec::new();
        assert_eq!(from.read_to_end(&mut received).expect("read"), BYTES);
    });
    read(&Vantage::Here).expect("counters").since(&before)
}
