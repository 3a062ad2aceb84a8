//! The rules of DPDK's GRO library, which has no unit test. Facts: vectors.md section 6; where
//! the guide says otherwise, the code counts.
//!
//! Left out: multi-segment buffers and VXLAN, which is off unless asked for.

use super::run::{
    ALL, BOTH, DPDK, FREEBSD, LINUX, LRO, NDIS, STREAMS, V4, WIREGUARD, case, check, len,
};
use crate::build::{FIRST_SEQ, data, flag, tcp};

#[test]
fn not_processed() {
    let flags = |name, flags: u8| {
        case(name, BOTH, [data(100).flags(flags), data(100).flags(flags)]).out(ALL, [100, 100])
    };
    check(&[
        flags("FIN", flag::FIN),
        flags("SYN", flag::SYN),
        flags("RST", flag::RST),
        flags("URG", flag::URG),
        flags("PSH", flag::PSH)
            .out(STREAMS, [200])
            .since("PSH has no effect"),
        flags("ECE", flag::ECE)
            .out(LINUX, [200])
            .since("the same flags in both")
            .out(NDIS, [200])
            .since("equal to the previous segment"),
        flags("CWR", flag::CWR)
            .out(&["linux-7"], [200])
            .since("AccECN: the same in both")
            .out(NDIS, [200])
            .since("equal to the previous segment"),
        case("no payload", BOTH, [tcp(), tcp()]).out(ALL, [0, 0]),
        case(
            "IPv4 options",
            &[V4],
            [data(100).ip_option(), data(100).ip_option()],
        )
        .out(ALL, [100, 100]),
    ]);
}

#[test]
fn key() {
    check(&[
        // The flows of two acknowledgment numbers go on side by side.
        case(
            "acknowledgment numbers in turn",
            BOTH,
            [
                data(100),
                data(100).skip(1000).ack(6000),
                data(100).skip(-1100),
                data(100).skip(1000).ack(6000),
            ],
        )
        .out(ALL, [100, 100, 100, 100])
        .out(DPDK, [200, 200])
        .out(WIREGUARD, [200, 200])
        .since("the acknowledgment number is part of the key"),
        case("MAC addresses", BOTH, [data(100), data(100).mac(9)])
            .out(ALL, [200])
            .out(LINUX, [100, 100])
            .out(DPDK, [100, 100]),
        case("mixed DF", &[V4], [data(100), data(100).df(false)])
            .out(ALL, [100, 100])
            .out(LRO, [200])
            .out(FREEBSD, [200]),
    ]);
}

#[test]
fn neighbours() {
    let front = |df: bool, id: u16| {
        [
            data(100).df(df).id(8).seq(FIRST_SEQ + 100),
            data(100).df(df).id(id).seq(FIRST_SEQ),
        ]
    };
    check(&[
        case("in front, DF clear, one less", &[V4], front(false, 7))
            .out(ALL, [100, 100])
            .out(DPDK, [len(200).seq(FIRST_SEQ)])
            .out(WIREGUARD, [len(200).seq(FIRST_SEQ)]),
        case("in front, DF clear, same", &[V4], front(false, 8))
            .out(ALL, [100, 100])
            .out(WIREGUARD, [200])
            .not_stated("its code does not look at identifications"),
        case("in front, DF set", &[V4], front(true, 1))
            .out(ALL, [100, 100])
            .out(DPDK, [200])
            .out(WIREGUARD, [200]),
        case(
            "behind, DF clear, two more",
            &[V4],
            [data(100).df(false).id(8), data(100).df(false).id(10)],
        )
        .out(ALL, [100, 100])
        .out(STREAMS, [200])
        .out(WIREGUARD, [200]),
    ]);
}
