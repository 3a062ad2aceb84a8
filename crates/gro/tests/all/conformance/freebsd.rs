//! sysunit's `netinet/tcp_lro.gtest.cpp` (rysto32, 2018), each for IPv4 and IPv6. Facts: vectors.md
//! section 5; what later versions do differently: `Profile::freebsd_lro` and its source.
//!
//! Left out: `TestBadIpVersion` and `TestBadIpHeaderLen`, which are no frames that the builder
//! makes (the properties have such bytes), and `TestForwardingEnabled`: a router has no such
//! profile.

use gro::Reason;

use super::run::{
    ALL, BOTH, DPDK, FREEBSD, LINUX, LRO, NDIS, STREAMS, V4, WIREGUARD, case, check, len,
};
use crate::build::{FIRST_SEQ, data, flag, tcp};

#[test]
fn merging() {
    check(&[
        case("single", BOTH, [data(7)]).out(ALL, [7]),
        case("TestMerge2", BOTH, [data(5), data(3)]).out(ALL, [8]),
        case("TestFlushInactive", BOTH, [data(5).then_flush(), data(3)]).out(ALL, [5, 3]),
        case("TestIncrAck", BOTH, [data(100), data(100).ack(6000)])
            .out(ALL, [100, 100])
            .out(STREAMS, [len(200).ack(6000)]),
        case(
            "TestTwoFlows",
            BOTH,
            [
                data(5).flow(1),
                data(6).flow(2),
                data(5).flow(1),
                data(6).flow(2),
            ],
        )
        .out(ALL, [10, 12])
        .one_bucket(),
        case("TestTwoVlanFlows", BOTH, [data(5).vlan(1), data(5).vlan(2)]).out(ALL, [5, 5]),
        case("one VLAN", BOTH, [data(5).vlan(1), data(5).vlan(1)])
            .out(ALL, [10])
            .out(&["virtio-rsc"], [5, 5])
            .not_stated("a device hands tags over within the frame; hosts take them off before")
            .out(LRO, [5, 5])
            .not_stated("tags are the driver's")
            .out(DPDK, [5, 5])
            .since("VLAN-tagged packets are not supported")
            .out(WIREGUARD, [5, 5])
            .not_stated("a TUN device has none"),
    ]);
}

#[test]
fn acknowledgments() {
    check(&[
        case("TestMergeAckData", BOTH, [tcp().id(77), data(100)])
            .out(ALL, [0, 100])
            .out(FREEBSD, [len(100).seq(FIRST_SEQ)])
            .out(WIREGUARD, [0, 100])
            .not_stated("no candidate without payload"),
        case("TestIncrPureAck", BOTH, [data(100), tcp().ack(5000 + 2889)])
            .out(ALL, [100, 0])
            .out(FREEBSD, [len(100).ack(7889)])
            .since("the acknowledgment vanishes into the data"),
        case("TestDupAck", BOTH, [tcp(), tcp()]).out(ALL, [0, 0]),
        case(
            "TestWindowUpdate",
            BOTH,
            [data(100).window(64), tcp().window(96)],
        )
        .out(ALL, [100, 0])
        .out(FREEBSD, [len(100).window(96)])
        .out(NDIS, [len(100).window(96)]),
        case(
            "window shrinks",
            BOTH,
            [data(100).window(96), tcp().window(64)],
        )
        .out(ALL, [100, 0])
        .out(FREEBSD, [len(100).window(96)])
        .since("window may grow with equal ACK: WIN_MAX")
        .out(NDIS, [len(100).window(64)])
        .since("the last window wins"),
        case("older pure ACK", BOTH, [data(100), tcp().ack(4000)])
            .out(ALL, [100, 0])
            .out(FREEBSD, [len(100).ack(5000)])
            .since("dropped on arrival"),
        case(
            "pure ACK with padding, then data",
            &[V4],
            [tcp().padded(6), data(100)],
        )
        .out(ALL, [0, 100])
        .out(FREEBSD, [100])
        .since("padding is cut off"),
    ]);
}

#[test]
fn out_of_sequence() {
    let second = |name, skip: i32| case(name, BOTH, [data(100), data(100).skip(skip)]);
    check(&[
        second("TestOoOBackwards", -200)
            .out(
                ALL,
                [len(100).seq(FIRST_SEQ), len(100).seq(FIRST_SEQ - 100)],
            )
            .out(FREEBSD, [len(100).why(Reason::SequenceBack), len(100)])
            .out(DPDK, [len(200).seq(FIRST_SEQ - 100)])
            .since("prepended")
            .out(WIREGUARD, [len(200).seq(FIRST_SEQ - 100)]),
        second("TestSkipSeq", 100)
            .out(ALL, [100, 100])
            .out(FREEBSD, [len(100).why(Reason::SequenceGap), len(100)]),
        second("TestDupSeq", -100).out(ALL, [100, 100]),
        second("TestSeqInPrev", -1).out(ALL, [100, 100]),
        second("TestSeqOffByOne", 1).out(ALL, [100, 100]),
    ]);
}

#[test]
fn refused() {
    let flows = [
        data(100).flow(1),
        data(100).flow(2),
        tcp().flow(3).flags(flag::SYN),
        data(100).flow(1),
    ];
    check(&[case("a SYN of another flow", BOTH, flows)
        .out(ALL, [0, 200, 100])
        .since("it passes what is held of other flows")
        .out(LINUX, [len(0).why(Reason::NoPayload), len(200), len(100)])
        .out(FREEBSD, [100, 100, 0, 100])
        .since("a refused packet first flushes all active entries")
        .out(DPDK, [200, 100, 0])
        .not_stated("the order of arrival")
        .out(WIREGUARD, [200, 100, 0])
        .since("the order of first packets")
        .one_bucket()]);
}
