//! The rules of gVisor's `pkg/tcpip/stack/gro`. Facts: vectors.md section 4.
//!
//! They are Linux's but for one: a packet of another size than the first is delivered at once.
//! Of its two tests, one is about a constant; `TestFlushDrainsBucket` is here.

use gro::Reason;

use super::run::{
    ALL, BOTH, Case, DPDK, FREEBSD, LINUX, LRO, NDIS, STREAMS, V4, V6, WIREGUARD, case, check, len,
};
use crate::build::{Frame, data, flag, tcp};

#[test]
fn bucket() {
    let flows = |count: u8| (0..count).map(|flow| data(100).flow(flow));
    let again = data(100).flow(0);
    check(&[
        case("TestFlushDrainsBucket", BOTH, flows(8))
            .out(ALL, [100; 8])
            .one_bucket(),
        // The ninth flow: the oldest goes out, so that the tenth frame finds nothing of flow 0.
        case("full bucket", BOTH, flows(9).chain([again.clone()]))
            .out(LINUX, [100; 10])
            .out(LRO, [100, 200, 100, 100, 100, 100, 100, 100, 100])
            .since("without a free session the packet passes")
            .out(FREEBSD, [100, 100, 100, 100, 100, 100, 100, 100, 100, 100])
            .since("without a free entry the packet passes, and a refused packet flushes all")
            .out(NDIS, [200, 100, 100, 100, 100, 100, 100, 100, 100])
            .since("as many as the card has resources for")
            .out(DPDK, [200, 100, 100, 100, 100, 100, 100, 100, 100])
            .since("as many items as the application gives")
            .out(WIREGUARD, [200, 100, 100, 100, 100, 100, 100, 100, 100])
            .since("the whole batch")
            .one_bucket(),
    ]);
}

/// One segment, and one with another header field: two for Linux, for this reason.
fn differs(name: &'static str, second: Frame, reason: Reason) -> Case {
    case(name, BOTH, [data(100), second])
        .out(ALL, [100, 100])
        .out(LINUX, [len(100).why(reason), len(100)])
}

#[test]
fn flush_before() {
    check(&[
        differs("ECE", data(100).flags(flag::ECE), Reason::Flags),
        differs("ACK number", data(100).ack(5001), Reason::Ack)
            .out(STREAMS, [len(200).ack(5001)])
            .since("piggy-backed: the latest counts"),
        differs("ACK number goes back", data(100).ack(4999), Reason::Ack)
            .out(LRO, [len(200).ack(4999)])
            .since("any; the latest is kept")
            .out(FREEBSD, [len(200).ack(4999)])
            .since("tcp_lro_condense: with data, the latest")
            .out(NDIS, [100, 100])
            .since("SEG.ACK >= H.ACK"),
        differs("window", data(100).window(8193), Reason::Window)
            .out(STREAMS, [len(200).window(8193)])
            .out(DPDK, [len(200).window(8192)])
            .since("not compared")
            .out(WIREGUARD, [len(200).window(8192)])
            .not_stated("its code does not compare windows"),
        differs("options appear", data(100).ts(1, 1), Reason::HeaderLength)
            .out(STREAMS, [100, 100])
            .not_stated("none, or timestamps: whether they may appear within a merge is not said"),
        differs("sequence gap", data(100).skip(1), Reason::SequenceGap),
        differs("sequence back", data(100).skip(-50), Reason::SequenceBack),
        differs("another MAC address", data(100).mac(9), Reason::EndOfPoll)
            .out(STREAMS, [200])
            .since("not compared, or not stated")
            .out(WIREGUARD, [200])
            .since("a TUN device has none"),
        case("flow label", &[V6], [data(100), data(100).label(1)])
            .out(ALL, [100, 100])
            .since("part of the flow, or must be equal")
            .out(FREEBSD, [200])
            .since("not in the key")
            .out(WIREGUARD, [200])
            .not_stated("its code compares hop limit and traffic class only"),
        case(
            "timestamps differ",
            BOTH,
            [data(100).ts(1, 1), data(100).ts(2, 1)],
        )
        .out(ALL, [100, 100])
        .out(LRO, [len(200).stamp(1, 1)])
        .out(FREEBSD, [len(200).stamp(2, 1)])
        .out(NDIS, [len(200).stamp(2, 1)]),
        case(
            "timestamps go back",
            BOTH,
            [data(100).ts(2, 1), data(100).ts(1, 1)],
        )
        .out(ALL, [100, 100]),
        case(
            "timestamps turn over",
            BOTH,
            [data(100).ts(u32::MAX, 1), data(100).ts(1, 1)],
        )
        .out(ALL, [100, 100])
        .out(STREAMS, [200])
        .since("modulo 2^32"),
        case(
            "a timestamp echoes nothing",
            BOTH,
            [data(100).ts(1, 0), data(100).ts(1, 0)],
        )
        .out(ALL, [200])
        .out(LRO, [100, 100])
        .since("TSecr must not be zero"),
        case(
            "only the first echoes nothing",
            BOTH,
            [data(100).ts(1, 0), data(100).ts(1, 1), data(100).ts(1, 1)],
        )
        .out(ALL, [100, 200])
        .out(FREEBSD, [300])
        .out(NDIS, [300])
        .out(LRO, [100, 200])
        .since("TSecr must not be zero, in the first either"),
    ]);
}

#[test]
fn delivered_at_once() {
    let at_once = |name, flags: u8| {
        case(name, BOTH, [data(100).flags(flags), data(100)]).out(ALL, [100, 100])
    };
    check(&[
        at_once("PSH in the first", flag::PSH)
            .out(STREAMS, [200])
            .since("PSH has no effect")
            .out(DPDK, [100, 100])
            .since("a flow is begun with ACK alone")
            .out(WIREGUARD, [100, 100]),
        at_once("URG in the first", flag::URG)
            .out(FREEBSD, [200])
            .since("starts anew, and data may follow"),
        at_once("RST in the first", flag::RST)
            .out(FREEBSD, [200])
            .since("as URG"),
        case(
            "FIN with data",
            BOTH,
            [data(100), data(100).flags(flag::FIN)],
        )
        .out(ALL, [100, 100])
        .out(
            LINUX,
            [len(200)
                .flags(flag::ACK | flag::FIN)
                .why(Reason::ClosingFlag)],
        )
        .out(DPDK, [len(200).flags(flag::ACK | flag::FIN)]),
        case("empty", BOTH, [data(100), tcp(), data(100)])
            .out(ALL, [100, 0, 100])
            .out(FREEBSD, [100, 100])
            .since("the acknowledgment again: a duplicate, which starts anew and takes the data")
            .out(DPDK, [200, 0])
            .since("the empty one goes alone")
            .out(WIREGUARD, [200, 0]),
        case(
            "reserved bits",
            &[V4, V6],
            [
                data(100),
                Frame {
                    reserved: 0x08,
                    ..data(100)
                },
            ],
        )
        .out(LINUX, [100, 100])
        .since("the flag word holds them")
        .out(STREAMS, [200])
        .not_stated("nobody says that they are looked at")
        .out(DPDK, [200])
        .not_stated("the same")
        .out(WIREGUARD, [200])
        .not_stated("the same"),
    ]);
}
