//! VPP's `test/test_gro.py`. Facts: vectors.md section 3.
//!
//! No profile is VPP's own: it merges segments with different acknowledgments and closes at PSH.
//! Its constants (16 flows, 64 buffers) are not ours either, so that the cases are here for what
//! the profiles we have make of the same traffic. Left out: "GRO off", which is no profile, and
//! the flow time-out, which is the caller's flush here.

use super::run::{ALL, BOTH, DPDK, FREEBSD, LINUX, LRO, NDIS, V4, V6, WIREGUARD, case, check, len};
use crate::build::{data, flag, tcp};

#[test]
fn growing_acknowledgments() {
    let v4 = (0..124).map(|ack| data(1460).ack(ack));
    let v6 = (0..88).map(|ack| match ack {
        87 => data(1460).ack(ack).psh(),
        _ => data(1460).ack(ack),
    });
    let apart = |count: usize| vec![1460; count];
    check(&[
        case("GRO v4", &[V4], v4)
            .out(ALL, apart(124))
            .since("another acknowledgment is not merged")
            .out(
                FREEBSD,
                [
                    len(44 * 1460).ack(43),
                    len(44 * 1460).ack(87),
                    len(36 * 1460).ack(123),
                ],
            )
            .since("the latest acknowledgment; 65,535 - 255 bytes of data take 44 segments")
            .out(
                NDIS,
                [
                    len(44 * 1460).ack(43),
                    len(44 * 1460).ack(87),
                    len(36 * 1460).ack(123),
                ],
            )
            .since("piggy-backed acknowledgments merge; 65,535 bytes take 44 segments")
            .out(LRO, lro_runs())
            .since("32 segments"),
        case("GRO v6", &[V6], v6)
            .out(ALL, apart(88))
            .out(FREEBSD, [len(44 * 1460).ack(43), len(44 * 1460).ack(87)])
            .out(NDIS, [len(44 * 1460).ack(43), len(44 * 1460).ack(87)]),
    ]);
}

/// 32 segments at most.
fn lro_runs() -> Vec<super::run::Out> {
    [(32, 31), (32, 63), (32, 95), (28, 123)]
        .map(|(count, ack)| len(count * 1460).ack(ack))
        .to_vec()
}

#[test]
fn pairs() {
    let pairs = (0..30).flat_map(|pair| [data(1460).ack(pair), data(1340).ack(pair).psh()]);
    let padded = (0..30).flat_map(|_| [data(1459), data(1).padded(5)]);
    check(&[
        case("PSH", BOTH, pairs)
            .out(LINUX, [len(2800).flags(flag::ACK | flag::PSH); 30])
            .out(WIREGUARD, [len(2800).flags(flag::ACK | flag::PSH); 30])
            .out(DPDK, [len(2800).flags(flag::ACK | flag::PSH); 30])
            .since("another acknowledgment is another flow")
            .out(FREEBSD, [23 * 2800, 7 * 2800])
            .since("PUSH does not flush, sizes are free, 65,280 bytes")
            .out(NDIS, [23 * 2800, 7 * 2800])
            .out(LRO, [16 * 2800, 14 * 2800])
            .since("32 segments"),
        case("short and padded", &[V4], padded)
            .out(LINUX, [1459, 1].repeat(30))
            .since("padding is the driver's to cut off: VPP does it itself")
            .out(WIREGUARD, [1459, 1].repeat(30))
            .out(LRO, [1459, 1].repeat(30))
            .since("padded frames are not aggregated")
            .out(FREEBSD, [30 * 1460])
            .since("padding is cut off, sizes are free")
            .out(NDIS, [30 * 1460])
            .out(DPDK, [10 * 1460, 10 * 1460, 10 * 1460])
            .since("20 segments"),
    ]);
}

#[test]
fn the_other_direction() {
    let fins = (0..100).map(|_| tcp().flags(flag::FIN));
    check(&[case("pure FIN", BOTH, fins).alone(ALL)]);
}
