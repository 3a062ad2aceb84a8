//! What holds for every profile and any traffic: nothing is lost, doubled, reordered or altered
//! unless it is merged, and what is merged is a sound frame.

use std::collections::{HashMap, HashSet};

use crate::brought::Brought;
use crate::build::{Around, Built, Frame, Streams, flag, ones_sum};
use gro::profile::{Bystanders, Emission, Order, PureAck};
use gro::{
    About, Action, Checksums, Coalescer, CopyingCoalescer, Decision, LinkType, Outgoing, Part,
    Profile, Reason, Settings, SplitSettings, Splitter, could_have_built_on,
};
use proptest::prelude::*;

const PROFILES: [fn() -> Profile; 11] = [
    Profile::linux_gro,
    Profile::linux_gro_udp,
    Profile::virtio_rsc,
    Profile::linux_lro,
    Profile::freebsd_lro,
    Profile::ndis_rsc,
    Profile::dpdk_gro,
    Profile::wireguard,
    with_everything,
    big_tcp,
    accurate_ecn,
];

/// All that Linux can be told to look into.
fn with_everything() -> Profile {
    let mut profile = Profile::linux_gro_udp();
    profile.link.pppoe = true;
    profile.tunnels.vxlan = true;
    profile.tunnels.geneve = true;
    profile
}

/// Linux 7: CWR must only not change.
fn accurate_ecn() -> Profile {
    let mut profile = with_everything();
    profile.tcp.never_join = 0;
    profile
}

/// BIG TCP, and small buckets.
fn big_tcp() -> Profile {
    let mut profile = Profile::linux_gro();
    profile.limits.ip_len = 200_000;
    profile.limits.ip_len_big = 200_000;
    profile.table.budget = 0;
    profile.table.per_bucket = 2;
    profile
}

/// What is done with a coalescer: a frame, or a flush.
#[derive(Clone, Debug)]
enum Step {
    Frame(Box<Frame>),
    Bytes(Vec<u8>),
    Flush,
    /// All that is older than so many frames.
    FlushOlder(u64),
}

/// What is the same in all frames of a flow.
fn flow() -> impl Strategy<Value = Frame> {
    let around = prop_oneof![
        8 => Just(Around::Nothing),
        1 => Just(Around::Pppoe(7)),
        1 => Just(Around::Ip(4)),
        1 => Just(Around::Ip(6)),
        1 => Just(Around::Gre(5)),
        1 => any::<bool>().prop_map(|checksum| Around::Vxlan { vni: 9, checksum }),
        1 => Just(Around::Geneve { vni: 9 }),
    ];
    let vlans = prop_oneof![4 => Just(vec![]), 1 => Just(vec![5]), 1 => Just(vec![5, 6])];
    let version = prop_oneof![Just(4), Just(6)];
    let options = prop_oneof![
        3 => Just(Vec::new()),
        3 => Just(vec![1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8]),
        1 => Just(vec![1, 3, 3, 4]),
        1 => Just(vec![1; 40]),
    ];
    let plain = (
        any::<bool>(),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    );
    (around, vlans, version, options, plain).prop_map(
        |(around, vlans, version, options, (dont_fragment, udp, extension))| {
            let plain = if udp {
                crate::build::udp()
            } else {
                crate::build::tcp()
            };
            let frame = Frame {
                vlans: if matches!(around, Around::Pppoe(_)) {
                    vec![]
                } else {
                    vlans
                },
                around,
                version,
                options: if udp { Vec::new() } else { options },
                dont_fragment,
                ..plain
            };
            if extension {
                frame.destination_options(1)
            } else {
                frame
            }
        },
    )
}

type Change = fn(Frame) -> Frame;

/// What is different now and then.
const CHANGES: [Change; 18] = [
    |frame| frame.flags(flag::PSH),
    |frame| frame.flags(flag::FIN),
    |frame| frame.flags(flag::CWR),
    |frame| frame.flags(flag::ECE),
    |frame| frame.flags(flag::URG),
    |frame| frame.ack(5100),
    |frame| frame.ack(4900),
    |frame| frame.window(9000),
    |frame| frame.window(7000),
    |frame| frame.ttl(63),
    |frame| frame.tos(3),
    |frame| frame.id(77),
    |frame| frame.skip(1000),
    |frame| frame.skip(-300),
    |frame| frame.damaged(),
    |frame| frame.damaged_ip(),
    |frame| frame.mf(),
    |frame| frame.padded(6),
];

fn step(flows: usize) -> impl Strategy<Value = (usize, u32, Option<usize>, u8)> {
    let size = prop_oneof![
        6 => Just(100), 2 => Just(0), 2 => Just(101), 1 => 1_u32..100, 2 => Just(1448), 1 => 8000_u32..9000,
    ];
    let change = prop::option::weighted(0.15, 0..CHANGES.len());
    (0..flows, size, change, any::<u8>())
}

/// Frames of a few flows, with bytes of no meaning and flushes between them.
fn traffic() -> impl Strategy<Value = Vec<Step>> {
    let flows = prop::collection::vec(flow(), 1..6);
    let garbage = prop::collection::vec(any::<u8>(), 0..80);
    flows
        .prop_flat_map(move |flows| {
            let steps = prop::collection::vec(step(flows.len()), 1..120);
            (Just(flows), steps, garbage.clone())
        })
        .prop_map(|(flows, steps, garbage)| {
            let steps = steps.into_iter().map(|(flow, size, change, other)| {
                let frame = Frame {
                    flow: flow as u8,
                    ..flows[flow].clone().len(size)
                };
                match other {
                    0..3 => Step::Flush,
                    3..6 => Step::Bytes(garbage.clone()),
                    6..9 => Step::FlushOlder(u64::from(other)),
                    _ => Step::Frame(Box::new(
                        change
                            .map_or_else(|| frame.clone(), |number| CHANGES[number](frame.clone())),
                    )),
                }
            });
            steps.collect()
        })
}

/// Bytes with a meaning or without.
#[derive(Clone, Debug)]
struct Input {
    bytes: Vec<u8>,
    built: Option<Built>,
}

/// A tunnel in UDP as one sees it who enters none: a datagram.
fn as_datagram(profile: &Profile, built: Built) -> Built {
    let entered = match built.frame.around {
        Around::Vxlan { .. } => profile.tunnels.vxlan,
        _ => profile.tunnels.geneve,
    };
    let (Some(transport), false) = (built.outer_udp, entered) else {
        return built;
    };
    let outer = built.ips[0];
    Built {
        frame: Frame {
            udp: true,
            version: outer.0,
            damaged: false,
            ..built.frame
        },
        ips: vec![outer],
        outer_udp: None,
        transport,
        payload: transport + 8..built.payload.end,
        ..built
    }
}

fn inputs(profile: &Profile, steps: &[Step], raw: bool) -> Vec<Option<Input>> {
    let mut streams = Streams::default();
    let input = |step: &Step| match step {
        Step::Frame(frame) => {
            let built = streams.build(&Frame {
                raw,
                ..(**frame).clone()
            });
            let bytes = built.bytes.clone();
            let built = as_datagram(profile, built);
            Some(Input {
                bytes,
                built: Some(built),
            })
        }
        Step::Bytes(bytes) => Some(Input {
            bytes: bytes.clone(),
            built: None,
        }),
        Step::Flush | Step::FlushOlder(_) => None,
    };
    steps.iter().map(input).collect()
}

/// A frame that came out.
#[derive(Clone, Debug)]
struct Got {
    about: About,
    bytes: Vec<u8>,
    parts: Vec<Part<usize>>,
    /// How many had come in by then.
    after: usize,
}

#[derive(Debug)]
struct Run {
    inputs: Vec<Input>,
    decisions: Vec<Decision>,
    got: Vec<Got>,
    most_held: usize,
}

fn settings(link: LinkType, checksums: Checksums, one_bucket: bool) -> Settings {
    Settings {
        link,
        checksums,
        one_bucket,
        seed: 42,
        ..Settings::default()
    }
}

fn collect(inputs: &[Input], after: usize, outgoing: Outgoing<'_, usize>) -> Got {
    let Brought {
        about,
        bytes,
        parts,
    } = Brought::of(outgoing, |token| &inputs[token].bytes);
    Got {
        about,
        bytes,
        parts,
        after,
    }
}

fn run(profile: &Profile, settings: Settings, steps: &[Step]) -> Run {
    let prepared = inputs(profile, steps, settings.link == LinkType::Raw);
    let inputs: Vec<Input> = prepared.into_iter().flatten().collect();
    let mut coalescer = Coalescer::new(profile, settings);
    let (mut got, mut decisions, mut most_held) = (Vec::new(), Vec::new(), 0);
    for step in steps {
        let token = decisions.len();
        let mut out = Outgoing::each(|outgoing| got.push(collect(&inputs, token, outgoing)));
        match step {
            Step::Flush => coalescer.flush(&mut out),
            Step::FlushOlder(age) => {
                coalescer.flush_before((token as u64).saturating_sub(*age), &mut out);
            }
            _ => {
                let bytes = &inputs[token].bytes;
                decisions.push(coalescer.push(bytes, token, token as u64, &mut out));
            }
        }
        let inside: usize = decisions.len() - got.iter().map(|one| one.parts.len()).sum::<usize>();
        assert_eq!(inside == 0, coalescer.is_empty());
        if let Step::FlushOlder(age) = step {
            let since = (token as u64).saturating_sub(*age);
            check_age(since, &decisions, &got);
        }
        let waiting = frames_held(&decisions, &got);
        most_held = most_held.max(waiting);
    }
    let after = decisions.len();
    coalescer.flush(&mut Outgoing::each(|outgoing| {
        got.push(collect(&inputs, after, outgoing));
    }));
    assert!(coalescer.is_empty());
    check_counters(profile, &coalescer, &decisions, got.len());
    Run {
        inputs,
        decisions,
        got,
        most_held,
    }
}

/// Nothing is held any more that came before `since`.
fn check_age(since: u64, decisions: &[Decision], got: &[Got]) {
    let out: HashSet<u64> = got.iter().map(|got| got.about.frame).collect();
    let old = decisions.iter().filter(|decision| decision.frame < since);
    for decision in old {
        assert!(out.contains(&decision.frame), "{decision:?} since {since}");
    }
}

/// Frames that will come out and have not.
fn frames_held(decisions: &[Decision], got: &[Got]) -> usize {
    let own = |action| matches!(action, Action::Held | Action::Passed);
    let begun = decisions.iter().filter(|decision| own(decision.action));
    begun.count() - got.len()
}

fn check_counters(
    profile: &Profile,
    coalescer: &Coalescer<usize>,
    decisions: &[Decision],
    out: usize,
) {
    let counters = coalescer.counters();
    let count = |action| decisions.iter().filter(|one| one.action == action).count() as u64;
    let sum =
        |of: &dyn Fn(Reason) -> u64| Reason::ALL.iter().map(|&reason| of(reason)).sum::<u64>();
    assert_eq!(counters.frames_in, decisions.len() as u64);
    assert_eq!(counters.frames_out, out as u64);
    assert_eq!(counters.merged_in, count(Action::Merged));
    assert_eq!(counters.absorbed, count(Action::Absorbed));
    assert_eq!(
        sum(&|reason| counters.passed(reason)),
        count(Action::Passed),
        "{}",
        profile.name
    );
    assert_eq!(
        sum(&|reason| counters.flushed(reason)),
        count(Action::Held),
        "{}",
        profile.name
    );
    assert!(sum(&|reason| counters.refused(reason)) <= count(Action::Held));
}

/// Every frame comes out once: alone and as it was, or as a part with all of its payload.
fn check_conservation(run: &Run) {
    let mut seen = vec![0; run.inputs.len()];
    for got in &run.got {
        for part in &got.parts {
            seen[part.token] += 1;
        }
        if got.about.gso.is_none() {
            continue;
        }
        for part in &got.parts {
            let built = run.inputs[part.token]
                .built
                .as_ref()
                .expect("only frames with a meaning merge");
            let payload = part.payload.start as usize..part.payload.end as usize;
            if built.payload.is_empty() {
                assert!(payload.is_empty());
            } else {
                assert_eq!(payload, built.payload);
            }
        }
    }
    assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
}

/// Decisions say where each frame went.
fn check_decisions(run: &Run) {
    for got in &run.got {
        for part in &got.parts {
            let decision = run.decisions[part.token];
            assert_eq!(decision.frame, got.about.frame, "{decision:?}");
        }
        let first = run.decisions[got.about.frame as usize];
        assert!(matches!(first.action, Action::Held | Action::Passed));
        if first.action == Action::Passed {
            assert_eq!(first.reason, Some(got.about.reason));
            assert!(got.about.gso.is_none());
        }
    }
}

/// Reasons for which a frame is of no flow, so that it may overtake.
fn is_bystander(reason: Option<Reason>) -> bool {
    matches!(
        reason,
        Some(
            Reason::NotIp
                | Reason::Truncated
                | Reason::Malformed
                | Reason::Protocol
                | Reason::Ipv4Options
                | Reason::Ipv6Extensions
                | Reason::Fragment
                | Reason::Ipv4Checksum
                | Reason::Checksum
                | Reason::NoChecksum
                | Reason::ZeroAddress
                | Reason::Tunnel
                | Reason::Length
        )
    )
}

/// Within a flow frames come out as they came in, where the profile does not sort them.
fn check_order(profile: &Profile, run: &Run) {
    let mut last: HashMap<u8, usize> = HashMap::new();
    let flushes = !matches!(profile.bystanders, Bystanders::Stay);
    for token in run
        .got
        .iter()
        .flat_map(|got| got.parts.iter().map(|part| part.token))
    {
        let Some(built) = &run.inputs[token].built else {
            continue;
        };
        let decision = run.decisions[token];
        let passed = decision.action == Action::Passed && is_bystander(decision.reason);
        let unknown = built.frame.more_fragments;
        if (passed && !flushes)
            || unknown
            || (profile.tcp.order == Order::Beside && !built.frame.udp)
        {
            continue;
        }
        if profile.tcp.order == Order::Beside && passed {
            continue;
        }
        let before = last.insert(built.frame.flow, token);
        assert!(before < Some(token), "{token} behind {before:?}");
    }
}

/// A merged frame is one that a network could have carried.
fn check_frame(profile: &Profile, checksums: Checksums, run: &Run, got: &Got) {
    let first = got.parts[0].token;
    let like = run.inputs[first].built.as_ref().expect("merged");
    let bytes = &got.bytes;
    let jumbo = bytes.len() - usize::from(got.about.header_len) + usize::from(got.about.header_len)
        > like.ips[0].1 + 65_575
        && like.ips.last().is_some_and(|&(version, _)| version == 6);
    let moved = if jumbo { 8 } else { 0 };
    assert_eq!(usize::from(got.about.transport_at), like.transport + moved);
    assert_eq!(
        usize::from(got.about.ip_at),
        like.ips.last().expect("an IP header").1
    );
    check_lengths(like, bytes, jumbo);
    check_numbers(profile, run, got, like, moved);
    let transport = &bytes[like.transport + moved..];
    check_checksum(like, transport, checksums);
    if let Some(udp) = like.outer_udp {
        check_outer(like, udp, bytes, checksums);
    }
}

fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    (be16(bytes, at) << 16 | be16(bytes, at + 2)) as u32
}

fn check_lengths(like: &Built, bytes: &[u8], jumbo: bool) {
    let fits = |len: usize| if len > 65_535 { 0 } else { len };
    for &(version, at) in &like.ips {
        let len = bytes.len() - at;
        if version == 4 {
            assert_eq!(be16(bytes, at + 2), fits(len));
            assert_eq!(ones_sum(&bytes[at..at + 20]), 0xffff);
        } else if jumbo {
            assert_eq!(be16(bytes, at + 4), 0);
            assert_eq!(bytes[at + 6..at + 7], [0]);
            assert_eq!(bytes[at + 40..at + 44], [6, 0, 0xc2, 4]);
            assert_eq!(be32(bytes, at + 44) as usize, len - 40);
        } else {
            assert_eq!(be16(bytes, at + 4), len - 40);
        }
    }
    if let Some(at) = like.pppoe {
        assert_eq!(be16(bytes, at + 4), bytes.len() - at - 6);
    }
}

/// Sequence number, size and number of segments.
fn check_numbers(profile: &Profile, run: &Run, got: &Got, like: &Built, moved: usize) {
    let at = like.transport + moved;
    let gso = got.about.gso.expect("merged");
    let sizes: Vec<usize> = got
        .parts
        .iter()
        .map(|part| part.payload.len())
        .filter(|&len| len > 0)
        .collect();
    assert_eq!(usize::from(gso.segments), sizes.len());
    let largest = sizes.iter().copied().max().unwrap_or(0);
    assert_eq!(usize::from(gso.segment_size), largest);
    if profile.reversible {
        let (last, rest) = sizes.split_last().expect("segments");
        assert!(rest.iter().all(|&size| size == largest) && *last <= largest);
    }
    if like.frame.udp {
        return;
    }
    let mut next = be32(&got.bytes, at + 4);
    for part in &got.parts {
        let built = run.inputs[part.token].built.as_ref().expect("merged");
        if !part.payload.is_empty() {
            assert_eq!(built.seq, next);
            next = next.wrapping_add(built.frame.len);
        }
    }
    if profile.tcp.pure_ack == PureAck::Pass {
        assert_eq!(sizes.len(), got.parts.len());
    }
}

fn pseudo(like: &Built, bytes_len: usize) -> Vec<u8> {
    let &(version, at) = like.ips.last().expect("an IP header");
    let addresses = if version == 4 {
        at + 12..at + 20
    } else {
        at + 8..at + 40
    };
    let protocol = if like.frame.udp { 17 } else { 6 };
    let len = (bytes_len as u32).to_be_bytes().to_vec();
    [like.bytes[addresses].to_vec(), len, vec![0, 0, 0, protocol]].concat()
}

fn check_checksum(like: &Built, transport: &[u8], checksums: Checksums) {
    let pseudo = pseudo(like, transport.len());
    match checksums {
        Checksums::Complete => {
            assert_eq!(ones_sum(&[pseudo, transport.to_vec()].concat()), 0xffff);
        }
        Checksums::Partial => {
            let at = if like.frame.udp { 6 } else { 16 };
            assert_eq!(be16(transport, at), usize::from(ones_sum(&pseudo)));
        }
    }
}

fn check_outer(like: &Built, at: usize, bytes: &[u8], checksums: Checksums) {
    assert_eq!(be16(bytes, at + 4), bytes.len() - at);
    if be16(&like.bytes, at + 6) == 0 {
        assert_eq!(be16(bytes, at + 6), 0);
        return;
    }
    let (version, ip) = like.ips[0];
    let addresses = if version == 4 {
        ip + 12..ip + 20
    } else {
        ip + 8..ip + 40
    };
    let len = ((bytes.len() - at) as u32).to_be_bytes().to_vec();
    let pseudo = [bytes[addresses].to_vec(), len, vec![0, 0, 0, 17]].concat();
    match checksums {
        Checksums::Complete => {
            assert_eq!(ones_sum(&[pseudo, bytes[at..].to_vec()].concat()), 0xffff);
        }
        Checksums::Partial => assert_eq!(be16(bytes, at + 6), usize::from(ones_sum(&pseudo))),
    }
}

/// Nobody may hold more, or longer, than the profile says.
fn check_limits(profile: &Profile, run: &Run) {
    let held = profile.table.buckets as usize * profile.table.per_bucket as usize;
    assert!(run.most_held <= held, "{} held", run.most_held);
    let budget = profile.table.budget as usize;
    for got in &run.got {
        let first = got
            .parts
            .iter()
            .map(|part| part.token)
            .min()
            .expect("a part");
        let polled = budget == 0 || got.after - first <= budget;
        assert!(polled, "{first} came out after {}", got.after);
    }
    if profile.emission == Emission::Batch {
        assert!(run.got.is_sorted_by_key(|got| got.about.frame));
    }
}

/// What a reversible profile merged, the splitter cuts into the frames that came in.
fn check_split(link: LinkType, run: &Run, got: &Got) {
    let gso = got.about.gso.expect("merged");
    let settings = SplitSettings {
        link,
        ..SplitSettings::default()
    };
    let mut splitter = Splitter::new(&got.bytes, gso, settings).expect("it was merged");
    for part in &got.parts {
        let segment = splitter.next_segment().expect("one for each part");
        let bytes = [segment.header(), segment.payload].concat();
        assert_eq!(bytes, run.inputs[part.token].bytes, "{gso:?}");
    }
    assert!(splitter.next_segment().is_none());
}

/// What an engine built it could have built.
fn check_could(profile: &Profile, link: LinkType, got: &Got) {
    let gso = got.about.gso.expect("merged");
    let verdict = could_have_built_on(link, &got.bytes, Some(gso.segment_size), profile);
    assert!(
        gso.segments < 2 || verdict.could_have_built(),
        "{}: {verdict:?}",
        profile.name
    );
}

/// Both engines give the same bytes.
fn check_copies(profile: &Profile, settings: Settings, steps: &[Step], run: &Run) {
    let mut coalescer = CopyingCoalescer::new(profile, settings);
    let mut copies: Vec<(About, Vec<u8>)> = Vec::new();
    let mut inputs = run.inputs.iter();
    let mut now = 0;
    for step in steps {
        let mut out = gro::OutgoingBytes::each(|one| copies.push((one.about, one.bytes.to_vec())));
        match step {
            Step::Flush => coalescer.flush(&mut out),
            Step::FlushOlder(age) => {
                coalescer.flush_before(u64::saturating_sub(now, *age), &mut out);
            }
            _ => {
                let input = inputs.next().expect("one for each");
                coalescer.push(&input.bytes, now, &mut out);
                now += 1;
            }
        }
    }
    coalescer.flush(&mut gro::OutgoingBytes::each(|one| {
        copies.push((one.about, one.bytes.to_vec()));
    }));
    assert_eq!(copies.len(), run.got.len());
    for (copy, got) in copies.iter().zip(&run.got) {
        assert_eq!(copy.0, got.about);
        assert_eq!(copy.1, got.bytes);
    }
}

fn check_all(profile: &Profile, settings: Settings, steps: &[Step]) {
    let run = run(profile, settings, steps);
    check_conservation(&run);
    check_decisions(&run);
    check_order(profile, &run);
    check_limits(profile, &run);
    for got in run.got.iter().filter(|got| got.about.gso.is_some()) {
        // A wrong checksum that nobody looked at stays wrong in what it is merged into.
        let sound = got.parts.iter().all(|part| {
            let built = run.inputs[part.token].built.as_ref();
            built.is_some_and(|built| !built.frame.damaged)
        });
        if sound || settings.checksums == Checksums::Partial {
            check_frame(profile, settings.checksums, &run, got);
        }
        if profile.reversible {
            check_split(settings.link, &run, got);
        }
        // A merged run of tunnelled datagrams looks like one large tunnelled packet.
        let like = run.inputs[got.parts[0].token].built.as_ref();
        let tunnel = |built: &Built| {
            let around = built.frame.around;
            matches!(around, Around::Vxlan { .. } | Around::Geneve { .. })
        };
        if !like.is_some_and(tunnel) {
            check_could(profile, settings.link, got);
        }
    }
    check_copies(profile, settings, steps, &run);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_or_altered(
        steps in traffic(),
        profile in 0..PROFILES.len(),
        raw in any::<bool>(),
        complete in any::<bool>(),
        one_bucket in any::<bool>(),
    ) {
        let profile = PROFILES[profile]();
        // What has a link header has no place on a TUN device.
        let linked = |step: &Step| matches!(step, Step::Frame(frame) if !frame.vlans.is_empty() || matches!(frame.around, Around::Pppoe(_)));
        let raw = raw && !steps.iter().any(linked);
        let link = if raw { LinkType::Raw } else { LinkType::Ethernet };
        let checksums = if complete { Checksums::Complete } else { Checksums::Partial };
        check_all(&profile, settings(link, checksums, one_bucket), &steps);
    }

    /// What came out and cannot merge again stays as it is: merged frames are larger than 16 bits
    /// of length, or closed, or apart.
    #[test]
    fn again(steps in traffic(), profile in 0..PROFILES.len()) {
        let profile = PROFILES[profile]();
        let settings = settings(LinkType::Ethernet, Checksums::Complete, false);
        let first = run(&profile, settings, &steps);
        let mut coalescer = CopyingCoalescer::new(&profile, settings);
        for got in &first.got {
            // Alone in its poll nothing can join it.
            let mut came = 0;
            let mut out = gro::OutgoingBytes::each(|one| {
                assert_eq!(one.bytes, got.bytes);
                assert!(one.about.gso.is_none());
                came += 1;
            });
            coalescer.push(&got.bytes, 0, &mut out);
            coalescer.flush(&mut out);
            assert_eq!(came, 1);
        }
    }
}

/// One flow to and beyond what 16 bits can say.
#[test]
fn big_tcp_has_a_jumbo_header() {
    for len in [1000, 1448, 8948] {
        for version in [4, 6] {
            let frame = Frame {
                version,
                ..crate::build::data(len).ts(1, 1)
            };
            let steps: Vec<Step> = (0..150)
                .map(|_| Step::Frame(Box::new(frame.clone())))
                .collect();
            for checksums in [Checksums::Complete, Checksums::Partial] {
                check_all(
                    &big_tcp(),
                    settings(LinkType::Ethernet, checksums, true),
                    &steps,
                );
            }
        }
    }
}
