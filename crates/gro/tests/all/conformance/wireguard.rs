//! wireguard-go's `tun/offload_linux_test.go` (f333402b). Facts: vectors.md section 2.
//!
//! The cases of `handleVirtioRead` are about splitting: see the splitter's tests. The fuzz test's
//! promise (no more out than in) is a property here.

use super::run::{
    ALL, BOTH, DPDK, FREEBSD, LINUX, LRO, NDIS, STREAMS, UDP, V4, V6, WIREGUARD, case, check, len,
};
use crate::build::{FIRST_SEQ, Frame, data, flag, udp};

/// T4a, U4a, U4b, T4a, T4b, T6a, T6a, T6b, U4a, U6a, U6a.
fn mixed() -> Vec<Frame> {
    let tcp = |flow: u8| data(100).flow(flow);
    let udp = |flow: u8| udp().len(100).flow(flow);
    vec![
        tcp(1),
        udp(2),
        udp(3),
        tcp(1),
        tcp(4),
        tcp(5).v6(),
        tcp(5).v6(),
        tcp(6).v6(),
        udp(2),
        udp(7).v6(),
        udp(7).v6(),
    ]
}

#[test]
fn flows() {
    // As the profiles that send up what passes at once order it: every UDP datagram first, then
    // the flows by age.
    let udp_first = [100, 100, 100, 100, 100, 200, 100, 200, 100];
    check(&[case("multiple protocols and flows", &[V4], mixed())
        .out(WIREGUARD, [200, 200, 100, 100, 200, 100, 200])
        .since("the order of first packets")
        .out(&["linux-gro-udp"], [200, 200, 100, 100, 200, 100, 200])
        .since("held flows go up by age")
        .out(LINUX, udp_first)
        .since("UDP alone; it overtakes what is held")
        .out(&["linux-gro-udp"], [200, 200, 100, 100, 200, 100, 200])
        .out(NDIS, udp_first)
        .out(DPDK, [200, 100, 100, 100, 200, 100, 100, 100, 100])
        .not_stated("without UDP: the order of arrival, as in a batch")
        .out(FREEBSD, [100, 100, 100, 100, 100, 200, 100, 100, 100, 100])
        .since("a refused packet flushes all that is active")
        .out(LRO, [100, 100, 100, 100, 100, 100, 100, 100, 200, 100])
        .since("IPv4 TCP only")
        .one_bucket()]);
}

#[test]
fn order() {
    let psh = [data(100), data(100).psh(), data(100), data(100)];
    let shuffled = [
        data(100).seq(FIRST_SEQ + 100),
        data(100).seq(FIRST_SEQ),
        data(100).seq(FIRST_SEQ + 200),
    ];
    check(&[
        case("PSH interleaved", BOTH, psh)
            .out(ALL, [len(200).flags(flag::ACK | flag::PSH), len(200)])
            .out(LRO, [400])
            .since("PSH has no effect")
            .out(FREEBSD, [400])
            .out(NDIS, [400])
            .out(DPDK, [400]),
        case("out of order", BOTH, shuffled)
            .out(ALL, [100, 100, 100])
            .since("only the next segment joins, and a mismatch flushes")
            .out(WIREGUARD, [len(300).seq(FIRST_SEQ)])
            .out(DPDK, [len(300).seq(FIRST_SEQ)])
            .since("append or prepend"),
    ]);
}

#[test]
fn checksums() {
    check(&[
        case(
            "TCP, first damaged",
            BOTH,
            [data(100).damaged(), data(100), data(100)],
        )
        .out(ALL, [100, 200])
        .out(LRO, [300])
        .since("not verified")
        .out(DPDK, [300])
        .since("not verified"),
        case(
            "UDP, first damaged",
            BOTH,
            [udp().len(100).damaged(), udp().len(100), udp().len(100)],
        )
        .alone(ALL)
        .out(UDP, [100, 200]),
    ]);
}

#[test]
fn headers() {
    let tcp4 = |name, second: Frame| case(name, &[V4], [data(100), second]).out(ALL, [100, 100]);
    let udp4 = |name, second: fn(Frame) -> Frame| {
        case(name, &[V4], [udp().len(100), second(udp().len(100))]).out(ALL, [100, 100])
    };
    let udp6 = |name, second: fn(Frame) -> Frame| {
        case(name, &[V6], [udp().len(100), second(udp().len(100))]).out(ALL, [100, 100])
    };
    check(&[
        tcp4("TCP: TTL", data(100).ttl(65))
            .out(STREAMS, [200])
            .out(DPDK, [200]),
        tcp4("TCP: ToS", data(100).tos(4))
            .out(LRO, [200])
            .out(FREEBSD, [200])
            .out(DPDK, [200]),
        tcp4("TCP: more fragments", data(100).mf()),
        tcp4("TCP: Don't Fragment", data(100).df(false))
            .out(LRO, [200])
            .out(FREEBSD, [200])
            .since("not compared"),
        case("TCP: hop limit", &[V6], [data(100), data(100).ttl(65)])
            .out(ALL, [100, 100])
            .out(STREAMS, [200])
            .out(DPDK, [200]),
        case("TCP: traffic class", &[V6], [data(100), data(100).tos(4)])
            .out(ALL, [100, 100])
            .out(FREEBSD, [200])
            .out(DPDK, [200]),
        udp4("UDP: TTL", |frame| frame.ttl(65)),
        udp4("UDP: ToS", |frame| frame.tos(4)),
        udp4("UDP: more fragments", Frame::mf),
        udp4("UDP: Don't Fragment", |frame| frame.df(false)),
        udp6("UDP: hop limit", |frame| frame.ttl(65)),
        udp6("UDP: traffic class", |frame| frame.tos(4)),
        case(
            "IP options (IHL 6)",
            &[V4],
            [data(100).ip_option(), data(100).ip_option()],
        )
        .out(ALL, [100, 100]),
    ]);
}

#[test]
fn udp_sizes() {
    let sizes = |name, sizes: &[u32]| {
        case(name, BOTH, sizes.iter().map(|&size| udp().len(size))).alone(ALL)
    };
    check(&[
        sizes("equal size", &[100, 100]).out(UDP, [200]),
        sizes("last smaller", &[100, 60]).out(UDP, [160]),
        sizes("after a smaller one", &[100, 60, 100]).out(UDP, [160, 100]),
        sizes("larger", &[100, 120]).out(UDP, [100, 120]),
        // Datagrams have no numbers: only the newest of a flow is looked at.
        sizes("a larger one between", &[100, 120, 110, 100]).out(UDP, [100, 230, 100]),
    ]);
}
