//! The cases of the kernel's selftest, `tools/testing/selftests/net/lib/gro.c` (7.2), in the
//! packets that each is sent in there. Facts: vectors.md section 1.
//!
//! The selftest says what Linux gives. What the other profiles give follows from the rules that
//! each of these lists.

use gro::Reason;

use super::run::{
    ALL, Case, DPDK, FOUR, FREEBSD, Ipip, LINUX, LINUX_6, LINUX_7, LRO, NDIS, Pppoe4, Pppoe6, SIX,
    STREAMS, V4, V6, WIREGUARD, Wrap, case, check, len,
};
use crate::build::{Frame, data, flag, tcp};

#[test]
fn sizes() {
    check(&[
        case("data_same", SIX, [data(100), data(100)]).out(ALL, [200]),
        case("data_lrg_sml", SIX, [data(100), data(50)]).out(ALL, [150]),
        case("data_lrg_1byte", SIX, [data(100), data(1)]).out(ALL, [101]),
        case("data_lrg_1byte, padded", SIX, [data(100), data(1).padded(6)])
            .out(LINUX, [len(100), len(1).why(Reason::Length)])
            .since("af_inet.c: no merge where the IP length is not that of the bytes present; the selftest's 101 takes a driver that cuts padding off")
            .out(LRO, [100, 1])
            .since("inet_lro: padded frames are not aggregated")
            .out(FREEBSD, [101])
            .since("tcp_lro trims padding")
            .out(DPDK, [101])
            .since("gro_tcp4.c trims padding")
            .out(NDIS, [101])
            .not_stated("a card knows the IP length, and the rules speak of segments only")
            .out(WIREGUARD, [100, 1])
            .not_stated("packetIsGROCandidate wants the length that the IP header says"),
        case("data_sml_lrg", SIX, [data(50), data(100)])
            .out(LINUX, [50, 100])
            .out(WIREGUARD, [50, 100])
            .since("udpPacketsCanCoalesce has the rule for UDP; TCP's is the same")
            .out(STREAMS, [150])
            .since("any segment size")
            .out(DPDK, [150])
            .since("any segment size"),
        case("data_burst", SIX, [data(100), data(100).then_flush(), data(100), data(100)])
            .out(ALL, [200, 200]),
        case("single", SIX, [data(100)]).out(ALL, [100]),
    ]);
}

#[test]
fn acknowledgments() {
    check(&[case("ack", SIX, [tcp(), tcp(), tcp().ack(5001)])
        .alone(ALL)
        .out(FREEBSD, [len(0).ack(5000), len(0).ack(5001)])
        .since("pure ACKs are absorbed; a duplicate one ends the run and starts the next")
        .alone(NDIS)
        .since("a new pure ACK and a duplicate one go alone")
        .alone(WIREGUARD)
        .not_stated("no candidate without payload: there is nothing to merge")]);
}

/// Two segments, a flag without payload, two more.
fn around(flags: u8) -> Vec<Frame> {
    vec![
        data(100),
        data(100),
        tcp().flags(flags),
        data(100),
        data(100),
    ]
}

#[test]
fn flags() {
    let psh = [data(100), data(100), data(100).psh(), data(100), data(100)];
    let cwr = [
        data(100),
        data(100).flags(flag::CWR),
        data(100).flags(flag::CWR),
        data(100),
        data(100),
    ];
    let with_flag = |name, bit: u8| {
        case(name, FOUR, around(bit))
            .out(ALL, [200, 0, 200])
            .out(DPDK, [400, 0])
            .since("the flag goes alone, and the flow's items stay for what comes in sequence")
            .out(WIREGUARD, [400, 0])
            .not_stated("no candidate; items stay, and the order is that of first packets")
    };
    check(&[
        case("flags_psh", FOUR, psh)
            .out(LINUX, [len(300).why(Reason::ClosingFlag).flags(flag::ACK | flag::PSH), len(200)])
            .out(WIREGUARD, [len(300).flags(flag::ACK | flag::PSH), len(200).flags(flag::ACK)])
            .out(LRO, [len(500).flags(flag::ACK)])
            .since("PSH has no effect, lro_update_tcp_ip_header writes no flags")
            .out(FREEBSD, [len(500)])
            .since("PUSH does not flush")
            .out(NDIS, [len(500).flags(flag::ACK | flag::PSH)])
            .since("PSH is ORed; a forced end is not stated")
            .out(DPDK, [len(500).flags(flag::ACK | flag::PSH)])
            .since("the code takes PSH for a flow that is there; the guide says that it is not processed"),
        with_flag("flags_syn", flag::SYN),
        with_flag("flags_rst", flag::RST)
            .out(FREEBSD, [len(200), len(200).flags(flag::ACK | flag::RST)])
            .since("anything but ACK and PSH starts anew, and data may follow: tcp_lro_condense looks at the next packet's flags only"),
        with_flag("flags_urg", flag::URG)
            .out(FREEBSD, [len(200), len(200).flags(flag::ACK | flag::URG)])
            .since("as RST"),
        case("flags_cwr", FOUR, cwr)
            .out(LINUX_6, [100, 100, 100, 200])
            .since("what 6.18 gives")
            .out(LINUX_7, [100, 200, 200])
            .out(LRO, [100, 100, 100, 200])
            .since("CWR blocks")
            .out(FREEBSD, [100, 100, 300])
            .since("starts anew each time, and data may follow")
            .out(NDIS, [100, 200, 200])
            .since("exception 8: a change ends the unit, and the frame that changes starts the next")
            .out(DPDK, [100, 100, 100, 200])
            .since("not processed")
            .out(WIREGUARD, [100, 100, 100, 200])
            .not_stated("no candidate with other flags than ACK and PSH"),
    ]);
}

#[test]
fn transport() {
    // NOPs behind, and one on each side.
    let behind = [8, 10, 0, 0, 0, 100, 0, 0, 0, 7, 1, 1];
    let split = [1, 8, 10, 0, 0, 0, 100, 0, 0, 0, 7, 1];
    let stamps = [
        data(100).ts(0, 7),
        data(100).ts(0, 7),
        data(100).ts(100, 7),
        data(100).options(&behind),
        data(100).options(&split),
    ];
    let options = [
        data(100).ts(100, 7),
        data(100).ts(100, 7),
        data(100).options(&[1, 3, 3, 4]),
    ];
    check(&[
        case("tcp_csum", FOUR, [data(100), data(100).damaged()])
            .out(ALL, [100, 100])
            .out(LRO, [200])
            .since("the checksum is the driver's duty")
            .out(DPDK, [200])
            .since("checksums are not verified"),
        case("tcp_seq", FOUR, [data(100), data(100).skip(1)]).out(ALL, [100, 100]),
        case("tcp_ts", FOUR, stamps)
            .out(LINUX, [200, 100, 100, 100])
            .out(DPDK, [200, 100, 100, 100])
            .since("options byte for byte")
            .out(WIREGUARD, [200, 100, 100, 100])
            .not_stated("its code compares the options' bytes")
            .out(LRO, [len(300).stamp(0, 7), len(100), len(100)])
            .since("the exact block; TSval stays the first, for PAWS")
            .out(FREEBSD, [len(300).stamp(100, 7), len(100), len(100)])
            .out(NDIS, [len(300).stamp(100, 7), len(100), len(100)])
            .not_stated("another order of options: a card that looks for the usual block sees an unknown option, exception 4"),
        case("tcp_opt", FOUR, options).out(ALL, [200, 100]),
    ]);
}

#[test]
fn network() {
    check(&[
        case("ip_ecn", FOUR, [data(100), data(100).tos(2)])
            .out(ALL, [100, 100])
            .out(LRO, [200])
            .since("only CE is refused")
            .out(FREEBSD, [200])
            .since("not compared")
            .out(DPDK, [200])
            .since("not compared"),
        case("ip_ecn, CE", FOUR, [data(100), data(100).tos(3)])
            .out(ALL, [100, 100])
            .out(FREEBSD, [200])
            .out(DPDK, [200]),
        case("ip_tos", FOUR, [data(100), data(100).tos(0x10)])
            .out(ALL, [100, 100])
            .out(LRO, [200])
            .out(FREEBSD, [200])
            .out(DPDK, [200]),
        case(
            "ip_csum",
            &[V4, Ipip],
            [data(100), data(100).damaged_ip(), data(100)],
        )
        .out(ALL, [100, 100, 100])
        .out(LRO, [300])
        .not_stated("nothing looks at it; the driver's duty")
        .out(DPDK, [300])
        .since("checksums are not verified")
        .out(WIREGUARD, [300])
        .not_stated("its code looks at transport checksums only"),
        case("ip_ttl", &[V4, Ipip], [data(100), data(100).ttl(7)])
            .out(LINUX, [len(100).why(Reason::HopLimit), len(100)])
            .out(WIREGUARD, [100, 100])
            .out(LRO, [len(200).ttl(64)])
            .out(FREEBSD, [len(200).ttl(64)])
            .out(DPDK, [len(200).ttl(64)])
            .out(NDIS, [len(200).ttl(7)])
            .since("the unit carries the smallest"),
        case("ip_ttl, the other way", FOUR, [data(100).ttl(7), data(100)])
            .out(LINUX, [100, 100])
            .out(WIREGUARD, [100, 100])
            .out(LRO, [len(200).ttl(7)])
            .out(FREEBSD, [len(200).ttl(7)])
            .out(DPDK, [len(200).ttl(7)])
            .out(NDIS, [len(200).ttl(7)]),
        case(
            "ip_opt",
            &[V4, Ipip],
            [data(100), data(100).ip_option(), data(100)],
        )
        .out(ALL, [100, 100, 100]),
        case("ip_frag4", &[V4, Ipip], [data(100), data(100).mf()])
            .out(ALL, [100, 100])
            .out(LRO, [100, 100])
            .not_stated("inet_lro does not look; drivers' get_skb_header does"),
        case(
            "ip_frag6",
            &[V6],
            [
                data(100),
                data(100).then_flush(),
                data(100).fragment_header(),
                data(100),
            ],
        )
        .out(ALL, [200, 100, 100]),
        case(
            "ip_v6ext_same",
            &[V6],
            [
                data(100).destination_options(1),
                data(100).destination_options(1),
            ],
        )
        .out(ALL, [100, 100])
        .since("extension headers are not merged")
        .out(LINUX, [200])
        .out(WIREGUARD, [100, 100])
        .not_stated("the next header is neither TCP nor UDP, so it is no candidate"),
        case(
            "ip_v6ext_diff",
            &[V6],
            [
                data(100).destination_options(1),
                data(100).destination_options(2),
            ],
        )
        .out(ALL, [100, 100]),
    ]);
}

/// Two or three segments with these identifications.
fn with_ids(name: &'static str, df: bool, ids: &[u16]) -> Case {
    let frames = ids.iter().map(|&id| data(100).df(df).id(id));
    case(name, &[V4, Ipip], frames)
}

#[test]
fn identifications() {
    let two = |name, df, ids: [u16; 2]| {
        with_ids(name, df, &ids)
            .out(ALL, [200])
            .out(WIREGUARD, [200])
            .not_stated("its code does not look at identifications")
    };
    let three = |name, ids: [u16; 3]| {
        with_ids(name, true, &ids)
            .out(LINUX, [200, 100])
            .out(STREAMS, [300])
            .since("identifications are not compared")
            .out(DPDK, [300])
            .since("ignored where DF is set")
            .out(WIREGUARD, [300])
            .not_stated("its code does not look at identifications")
    };
    check(&[
        two("ip_id_df1_inc", true, [8, 9]),
        two("ip_id_df1_fixed", true, [8, 8]),
        two("ip_id_df0_inc", false, [8, 9]),
        two("ip_id_df0_fixed", false, [8, 8])
            .out(DPDK, [100, 100])
            .since("one more for each where DF is clear"),
        three("ip_id_df1_inc_fixed", [8, 9, 9]),
        three("ip_id_df1_fixed_inc", [8, 8, 9]),
    ]);
}

#[test]
fn sessions() {
    use crate::build::Around::Pppoe;
    let two = |session| [data(100).around(Pppoe(7)), data(100).around(Pppoe(session))];
    check(&[
        case("pppoe_sid", &[Pppoe4, Pppoe6], two(8)).out(ALL, [100, 100]),
        case("pppoe, same session", &[Pppoe4, Pppoe6], two(7)).out(ALL, [200]),
    ]);
}

/// The selftest's segment size: 48 of them leave room for a remainder.
const MSS: u32 = 1352;
const SEGMENTS: u32 = 48;

/// 48 segments and a remainder, and once more a remainder one segment further on.
fn large(name: &'static str, wrap: Wrap, remainder: u32) -> Case {
    let full = (0..SEGMENTS).map(|_| data(MSS));
    let gap = (MSS - remainder) as i32;
    let rest = [data(remainder), data(remainder).skip(gap)];
    let all = SEGMENTS * MSS;
    let lro = 32 * MSS;
    let dpdk = 20 * MSS;
    case(name, &[wrap], full.chain(rest))
        .out(LRO, [lro, 16 * MSS + remainder, remainder])
        .since("max_aggr is the driver's: 32 here")
        .out(FREEBSD, [all, remainder, remainder])
        .since("less than 65,535 - 255 bytes of data")
        .out(DPDK, [dpdk, dpdk, 8 * MSS + remainder, remainder])
        .since("20 mbufs in a chain")
}

#[test]
fn sizes_at_the_limit() {
    let mut cases = Vec::new();
    for &wrap in SIX {
        let most = 65_535 - wrap.headers();
        let remainder = most - SEGMENTS * MSS;
        cases.push(
            large("large_max", wrap, remainder)
                .out(LINUX, [most, remainder])
                .out(NDIS, [most, remainder])
                .since("the largest legal IP datagram")
                .out(WIREGUARD, [most, remainder])
                .not_stated("16 bits of length"),
        );
        let full = len(SEGMENTS * MSS);
        let over = len(remainder + 1);
        cases.push(
            large("large_rem", wrap, remainder + 1)
                .out(LINUX, [full.why(Reason::SizeLimit), over, over])
                .out(NDIS, [full, over, over])
                .since("exception 7: the segment that would be too much starts the next unit")
                .out(WIREGUARD, [full, over, over])
                .not_stated("16 bits of length"),
        );
    }
    check(&cases);
}

#[test]
fn capacity() {
    let first = (0..8).map(|flow| data(200).flow(flow));
    let second = (0..8).map(|flow| data(200).flow(flow).psh());
    check(&[case("capacity", &[V4, V6], first.chain(second))
        .out(ALL, [400; 8])
        .one_bucket()]);
}
