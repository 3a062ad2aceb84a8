//! Where implementations disagree: one case for each row of vectors.md section 7. gVisor and VPP
//! have no profile here.

use super::run::{
    ALL, BOTH, DPDK, FREEBSD, LINUX, LRO, NDIS, STREAMS, V4, WIREGUARD, case, check, len,
};
use crate::build::{FIRST_SEQ, data, flag, tcp};

#[test]
fn rows() {
    check(&[
        case(
            "different ACK numbers",
            BOTH,
            [data(100), data(100).ack(6000)],
        )
        .out(LINUX, [100, 100])
        .out(WIREGUARD, [100, 100])
        .out(DPDK, [100, 100])
        .out(STREAMS, [len(200).ack(6000)]),
        case("PSH segment", BOTH, [data(100), data(100).psh(), data(100)])
            .out(LINUX, [len(200).flags(flag::ACK | flag::PSH), len(100)])
            .out(WIREGUARD, [len(200).flags(flag::ACK | flag::PSH), len(100)])
            .out(STREAMS, [300])
            .since("no effect on the merge")
            .out(DPDK, [300])
            .since("the guide has it pass alone; the code of 23.07 and later takes it"),
        case(
            "out of order",
            BOTH,
            [data(100).seq(FIRST_SEQ + 100), data(100).seq(FIRST_SEQ)],
        )
        .out(LINUX, [100, 100])
        .out(STREAMS, [100, 100])
        .out(WIREGUARD, [len(200).seq(FIRST_SEQ)])
        .out(DPDK, [len(200).seq(FIRST_SEQ)]),
        case("pure ACK with data", BOTH, [data(100), tcp().ack(6000)])
            .out(ALL, [100, 0])
            .out(FREEBSD, [len(100).ack(6000)]),
        case("window update", BOTH, [data(100), tcp().window(9000)])
            .out(ALL, [100, 0])
            .out(FREEBSD, [len(100).window(9000)])
            .out(NDIS, [len(100).window(9000)])
            .out(LRO, [100, 0]),
        case(
            "shorter last segment",
            BOTH,
            [data(100), data(40), data(40)],
        )
        .out(LINUX, [140, 40])
        .out(WIREGUARD, [140, 40])
        .out(STREAMS, [180])
        .since("any size")
        .out(DPDK, [180]),
        case(
            "same IP ID with DF clear",
            &[V4],
            [data(100).df(false).id(8), data(100).df(false).id(8)],
        )
        .out(ALL, [200])
        .out(DPDK, [100, 100]),
    ]);
}
