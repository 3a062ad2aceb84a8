//! Any frames through the merge engine under every profile: each comes out once, as it was or as
//! part of a merged frame with all of its payload, and nothing stays.
//!
//! The first byte chooses the profile, the second the settings. What follows is a list: a byte
//! that says what comes (see `Step`), and for a frame its length and bytes.

#[path = "../../crates/gro/tests/all/brought.rs"]
mod brought;

use brought::Brought;
use coalescope_wire::checksum::update32;
use coalescope_wire::{Transport, walk};
use gro::{
    Checksums, Coalescer, CopyingCoalescer, GsoKind, LinkType, Outgoing, OutgoingBytes, Profile,
    Settings, SplitSettings, Splitter, Verification, could_have_built_on,
};

const PROFILES: [fn() -> Profile; 9] = [
    Profile::linux_gro,
    Profile::linux_gro_udp,
    Profile::virtio_rsc,
    Profile::linux_lro,
    Profile::freebsd_lro,
    Profile::ndis_rsc,
    Profile::dpdk_gro,
    Profile::wireguard,
    everything,
];

/// PPPoE, BIG TCP, datagrams without checksum, and hardly any room.
fn everything() -> Profile {
    let mut profile = Profile::linux_gro_udp();
    profile.link.pppoe = true;
    profile.tunnels.vxlan = true;
    profile.tunnels.geneve = true;
    profile.limits.ip_len = 300_000;
    profile.limits.ip_len_big = 300_000;
    profile.table.buckets = 2;
    profile.table.per_bucket = 2;
    if let Some(udp) = &mut profile.udp {
        udp.zero_checksum = true;
    }
    profile
}

enum Step {
    Flush,
    Frame(Vec<u8>),
}

pub(super) fn run(data: &[u8]) {
    let [profile, settings, list @ ..] = data else {
        return;
    };
    let profile = PROFILES[usize::from(*profile) % PROFILES.len()]();
    let settings = settings_of(*settings);
    let steps = steps(settings.link, list);
    check(&profile, settings, &steps);
}

fn settings_of(bits: u8) -> Settings {
    Settings {
        link: match bits & 3 {
            0 | 1 => LinkType::Ethernet,
            2 => LinkType::Raw,
            _ => LinkType::LinuxSll,
        },
        verification: match bits & 4 {
            0 => Verification::Verify,
            _ => Verification::Trusted,
        },
        checksums: match bits & 8 {
            0 => Checksums::Partial,
            _ => Checksums::Complete,
        },
        one_bucket: bits & 16 != 0,
        seed: 1,
    }
}

/// 0: the poll ends. 1: the last frame again. 2: the segment behind the last frame, with the same
/// payload. Else: a frame, of a length in two bytes.
fn steps(link: LinkType, mut list: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while let Some((&kind, rest)) = list.split_first() {
        list = rest;
        match kind {
            0 => {
                steps.push(Step::Flush);
                continue;
            }
            1 => {}
            2 => advance(link, &mut last),
            _ => {
                let [low, high, rest @ ..] = list else { break };
                let len = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
                last = rest[..len].to_vec();
                list = &rest[len..];
            }
        }
        steps.push(Step::Frame(last.clone()));
    }
    steps
}

/// Makes of a segment the next one.
fn advance(link: LinkType, frame: &mut [u8]) {
    let Ok(packet) = walk(link, frame, frame.len() as u32) else {
        return;
    };
    if let Transport::Tcp(tcp) = packet.transport {
        let next = tcp.seq.wrapping_add(tcp.payload_len);
        let checksum = update32(tcp.checksum, tcp.seq, next);
        frame[tcp.offset + 4..tcp.offset + 8].copy_from_slice(&next.to_be_bytes());
        frame[tcp.offset + 16..tcp.offset + 18].copy_from_slice(&checksum.to_be_bytes());
    }
}

fn check(profile: &Profile, settings: Settings, steps: &[Step]) {
    let frames: Vec<&[u8]> = steps.iter().filter_map(bytes).collect();
    let got = merge(profile, settings, steps, &frames);
    let mut seen = vec![0; frames.len()];
    for part in got.iter().flat_map(|got| &got.parts) {
        seen[part.token] += 1;
    }
    assert!(seen.iter().all(|&count| count == 1));
    for got in got.iter().filter(|got| got.about.gso.is_some()) {
        check_merged(profile, settings.link, got);
    }
    check_copies(profile, settings, steps, &got);
}

fn bytes(step: &Step) -> Option<&[u8]> {
    match step {
        Step::Flush => None,
        Step::Frame(bytes) => Some(bytes),
    }
}

fn merge(profile: &Profile, settings: Settings, steps: &[Step], frames: &[&[u8]]) -> Vec<Brought> {
    let mut coalescer = Coalescer::new(profile, settings);
    let mut got = Vec::new();
    let mut token = 0;
    for step in steps {
        let mut out =
            Outgoing::each(|outgoing| got.push(Brought::of(outgoing, |token| frames[token])));
        match step {
            Step::Flush => coalescer.flush(&mut out),
            Step::Frame(bytes) => {
                coalescer.push(bytes, token, token as u64, &mut out);
                token += 1;
            }
        }
    }
    coalescer.flush(&mut Outgoing::each(|outgoing| {
        got.push(Brought::of(outgoing, |token| frames[token]));
    }));
    assert!(coalescer.is_empty());
    let counters = coalescer.counters();
    assert_eq!(counters.frames_in, frames.len() as u64);
    assert_eq!(counters.frames_out, got.len() as u64);
    got
}

/// A merged frame can be read again, and cut again.
fn check_merged(profile: &Profile, link: LinkType, got: &Brought) {
    let gso = got.about.gso.expect("merged");
    // What a datagram carries may look like a tunnel, and be none.
    let readable = walk(link, &got.bytes, got.bytes.len() as u32).is_ok();
    assert!(readable || gso.kind == GsoKind::Udp);
    let _ = could_have_built_on(link, &got.bytes, Some(gso.segment_size), profile);
    let settings = SplitSettings {
        link,
        ..SplitSettings::default()
    };
    if !profile.reversible || link == LinkType::LinuxSll {
        return;
    }
    let mut splitter = Splitter::new(&got.bytes, gso, settings).expect("a merged frame is cut");
    for part in &got.parts {
        let segment = splitter.next_segment().expect("one for each part");
        assert_eq!(segment.payload.len(), part.payload.len());
    }
    assert!(splitter.next_segment().is_none());
}

fn check_copies(profile: &Profile, settings: Settings, steps: &[Step], got: &[Brought]) {
    let mut coalescer = CopyingCoalescer::new(profile, settings);
    let mut expected = got.iter();
    let mut out = OutgoingBytes::each(|one| {
        let got = expected.next().expect("as many");
        assert_eq!(one.about, got.about);
        assert_eq!(one.bytes, got.bytes);
    });
    for (now, step) in steps.iter().enumerate() {
        match step {
            Step::Flush => coalescer.flush(&mut out),
            Step::Frame(bytes) => {
                coalescer.push(bytes, now as u64, &mut out);
            }
        }
    }
    coalescer.flush(&mut out);
    assert!(coalescer.is_empty());
    assert!(expected.next().is_none());
}
