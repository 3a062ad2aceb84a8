//! The engine against the running kernel: the same random batches through both, compared frame by
//! frame: bytes, order, segment size, type.
//!
//! `DIFFERENTIAL_BATCHES` says how many (2,000 if not), `DIFFERENTIAL_SEED` where to begin. With
//! `DIFFERENTIAL_EXPLAIN` every frame of a batch that differs is shown, with what was decided,
//! and `DIFFERENTIAL_BYTES` says how much of each (90 if not).

use std::collections::BTreeMap;

use coalescope_lab::packet::Gso as VnetGso;
use coalescope_lab::random_frames::{Mix, random_batch_of};
use coalescope_lab::{Delivered, KernelGro, Options};
use coalescope_wire::{
    Address, HeaderKind, Headers, LinkType, Packet, Stop, StopReason, Transport, UdpTunnels,
    walk_headers_entering,
};
use gro::{Coalescer, CopyingCoalescer, GsoKind, Outgoing, OutgoingBytes, Profile, Settings};

/// What can be compared of a frame.
#[derive(Clone, PartialEq, Eq)]
struct Frame {
    bytes: Vec<u8>,
    gso: Option<(GsoKind, u16)>,
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let shown = number("DIFFERENTIAL_BYTES", 90) as usize;
        let head = &self.bytes[..self.bytes.len().min(shown)];
        write!(f, "{} bytes {:?} {}", self.bytes.len(), self.gso, hex(head))
    }
}

fn of_kernel(delivered: Delivered) -> Frame {
    let gso = match delivered.vnet.gso() {
        VnetGso::None => None,
        VnetGso::TcpV4 => Some(GsoKind::TcpV4),
        VnetGso::TcpV6 => Some(GsoKind::TcpV6),
        VnetGso::Udp => Some(GsoKind::Udp),
        VnetGso::Other(number) => unreachable!("a GSO type that nobody sent: {number}"),
    };
    Frame {
        gso: gso.map(|kind| (kind, delivered.vnet.gso_size)),
        bytes: delivered.frame,
    }
}

fn through_engine(profile: &Profile, batch: &[Vec<u8>]) -> Vec<Frame> {
    let settings = Settings {
        one_bucket: true,
        ..Settings::default()
    };
    let mut out = Vec::new();
    let mut take = OutgoingBytes::each(|frame| {
        out.push(Frame {
            bytes: frame.bytes.to_vec(),
            gso: frame.about.gso.map(|gso| (gso.kind, gso.segment_size)),
        });
    });
    let mut engine = CopyingCoalescer::new(profile, settings);
    for frame in batch {
        engine.push(frame, 0, &mut take);
    }
    engine.flush(&mut take);
    out
}

/// What the engine decided about each frame, to read when a test fails.
fn explain(profile: &Profile, batch: &[Vec<u8>]) -> String {
    let settings = Settings {
        one_bucket: true,
        ..Settings::default()
    };
    let mut engine = Coalescer::<usize>::new(profile, settings);
    let mut text = String::new();
    for (index, frame) in batch.iter().enumerate() {
        let decision = engine.push(frame, index, 0, &mut Outgoing::each(|_| {}));
        let frame = Frame {
            bytes: frame.clone(),
            gso: None,
        };
        text += &format!("{index:2} {decision:?}\n     {frame:?}\n");
    }
    text
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

/// Runs batches of a mix through both; the first difference ends the test.
fn compare(name: &str, options: Options, profile: &Profile, mix: Mix) {
    let profile = &as_built(*profile, options);
    let oracle = KernelGro::of_release("6.18", options);
    let Some(mut kernel) = coalescope_needs::had(name, oracle) else {
        return;
    };
    let first = number("DIFFERENTIAL_SEED", 0);
    let batches = number("DIFFERENTIAL_BATCHES", 2_000);
    let mut differences = 0;
    let mut left_out = BTreeMap::new();
    for seed in first..first + batches {
        let batch = random_batch_of(seed, mix);
        if let Some(name) = deviation(&batch) {
            *left_out.entry(name).or_insert(0) += 1;
            continue;
        }
        let delivered = kernel.run(&batch).expect("the kernel's answer");
        let kernel: Vec<_> = delivered.into_iter().map(of_kernel).collect();
        let engine = through_engine(profile, &batch);
        if kernel != engine {
            differences += 1;
            if differences <= 5 {
                report(seed, profile, &batch, &kernel, &engine);
            }
        }
    }
    assert_eq!(differences, 0, "{name}: batches that differ, of {batches}");
    println!("{name}: {batches} batches without a difference, left out of them: {left_out:?}");
}

/// Whether a frame is one that the engine takes for something else.
type Deviates = fn(&[u8]) -> bool;

/// What in a batch the engine takes for something else than Linux does, on purpose.
fn deviation(batch: &[Vec<u8>]) -> Option<&'static str> {
    let of_one: [(&str, Deviates); 4] = [
        ("wrong IPv6 version", has_wrong_version),
        ("long headers", has_long_headers),
        ("another port of VXLAN", has_other_tunnel_port),
        ("VXLAN without identifier", is_vxlan_without_identifier),
    ];
    let mut of_one = of_one.into_iter();
    of_one
        .find(|(_, deviates)| batch.iter().any(|frame| deviates(frame)))
        .map(|(name, _)| name)
        .or_else(|| shares_ports(batch).then_some("ports of inner and outer datagrams"))
}

/// More than the 256 bytes of headers that the engine keeps of a held frame, or more than the
/// eight extension headers that its walk passes. Linux has no such limits.
fn has_long_headers(frame: &[u8]) -> bool {
    match walk(frame, VXLAN, &mut Headers::default()) {
        Ok(packet) => match packet.transport {
            Transport::Tcp(tcp) => tcp.offset + usize::from(tcp.header_len) > 256,
            _ => packet.ip.payload_offset + 8 > 256,
        },
        Err(stop) => stop.reason == StopReason::TooDeep,
    }
}

/// The engine takes three ports for VXLAN's, those that devices have by default and VXLAN-GPE's, also of a
/// datagram in VXLAN; the kernel's device here listens on the first.
fn has_other_tunnel_port(frame: &[u8]) -> bool {
    let mut headers = Headers::default();
    // A frame that ends the walk has had its outer headers listed.
    let _ = walk(frame, VXLAN, &mut headers);
    let datagrams = headers.as_slice().iter();
    let mut datagrams = datagrams.filter(|header| header.kind == HeaderKind::Udp);
    datagrams.any(|header| {
        let port = usize::from(header.offset) + 2;
        matches!(frame.get(port..port + 2), Some([0x12, 0xb6] | [0x21, 0x18]))
    })
}

/// A datagram for a VXLAN device without the I flag, which the device drops (RFC 7348 section 5).
/// Linux merges before it looks (`vxlan_gro_receive`); the engine takes it for no VXLAN.
fn is_vxlan_without_identifier(frame: &[u8]) -> bool {
    let Ok(outer) = walk(frame, UdpTunnels::NONE, &mut Headers::default()) else {
        return false;
    };
    let Transport::Udp(udp) = outer.transport else {
        return false;
    };
    let flags = frame.get(udp.offset + 8);
    let inner_type = frame.get(udp.offset + 28..udp.offset + 30);
    udp.destination_port == 4789
        && flags.is_some_and(|flags| flags & 8 == 0)
        && matches!(inner_type, Some([8, 0] | [0x86, 0xdd]))
}

/// The tunnels in UDP that the kernel enters here at most.
const VXLAN: UdpTunnels = UdpTunnels {
    vxlan: true,
    geneve: false,
};

fn walk(frame: &[u8], tunnels: UdpTunnels, headers: &mut Headers) -> Result<Packet, Stop> {
    let len = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    walk_headers_entering(LinkType::Ethernet, frame, len, tunnels, headers)
}

/// An IPv6 header of another version than 6, in a tunnel or not. Linux goes by the EtherType or
/// the protocol number and never looks at the version (`ipv6_gro_receive`); the engine passes
/// such a frame.
fn has_wrong_version(frame: &[u8]) -> bool {
    let mut headers = Headers::default();
    let stopped = walk(frame, VXLAN, &mut headers).is_err();
    let last = headers.as_slice().last();
    let version = last
        .filter(|header| header.kind == HeaderKind::Ipv6)
        .and_then(|header| frame.get(usize::from(header.offset)));
    stopped && version.is_some_and(|byte| byte >> 4 != 6)
}

/// A datagram in VXLAN and another in none, with the same ports, and the outer addresses of the
/// one being those of the other. Linux takes the ports of what it holds from the innermost header
/// (`udp_gro_receive_segment`: `udp_hdr(p)`), so that it takes the two for one flow, and compares
/// bytes in front of the frame with the inner IP header. The engine keeps them apart.
fn shares_ports(batch: &[Vec<u8>]) -> bool {
    let (tunneled, plain): (Vec<_>, Vec<_>) = batch
        .iter()
        .filter_map(|frame| outer_addresses_and_inner_ports(frame))
        .partition(|&(tunneled, _)| tunneled);
    let is_plain = |key: &_| plain.iter().any(|(_, other)| other == key);
    tunneled.iter().any(|(_, key)| is_plain(key))
}

type OuterAddressesAndInnerPorts = (Address, Address, [u8; 4]);

/// Of a frame that is UDP outside, and whether it is VXLAN.
fn outer_addresses_and_inner_ports(frame: &[u8]) -> Option<(bool, OuterAddressesAndInnerPorts)> {
    let mut headers = Headers::default();
    let outer = walk(frame, UdpTunnels::NONE, &mut headers).ok()?;
    let inner = walk(frame, VXLAN, &mut headers).ok()?;
    let ports = frame.get(inner.ip.payload_offset..)?.first_chunk()?;
    let key = (outer.ip.source, outer.ip.destination, *ports);
    let tunneled = inner.tunnels != outer.tunnels;
    matches!(outer.transport, Transport::Udp(_)).then_some((tunneled, key))
}

fn report(seed: u64, profile: &Profile, batch: &[Vec<u8>], kernel: &[Frame], engine: &[Frame]) {
    let at = kernel.iter().zip(engine).position(|(a, b)| a != b);
    let at = at.unwrap_or(kernel.len().min(engine.len()));
    eprintln!(
        "seed {seed}: {} frames in, {} out of the kernel, {} out of the engine; the first difference is at {at}",
        batch.len(),
        kernel.len(),
        engine.len()
    );
    eprintln!("kernel {:?}\nengine {:?}", kernel.get(at), engine.get(at));
    if std::env::var_os("DIFFERENTIAL_EXPLAIN").is_some() {
        eprintln!("{}", explain(profile, batch));
        for (index, frame) in kernel.iter().enumerate() {
            eprintln!("kernel {index:2} {frame:?}");
        }
        for (index, frame) in engine.iter().enumerate() {
            eprintln!("engine {index:2} {frame:?}");
        }
    }
}

/// Plain TCP over both IP versions.
const TCP: Mix = Mix {
    udp: false,
    v6: true,
    links: false,
    tunnels: false,
    rare: false,
    disturbances: true,
};

/// A profile as this kernel was built: without CONFIG_VLAN_8021Q it merges no tagged frames, and
/// without a device that listens it enters no tunnel in UDP.
fn as_built(mut profile: Profile, options: Options) -> Profile {
    profile.tunnels.vxlan = options.vxlan;
    profile.tunnels.geneve = false;
    profile.link.vlans = std::path::Path::new("/proc/net/vlan").exists();
    profile
}

#[test]
fn tcp() {
    compare("tcp", Options::default(), &Profile::linux_gro(), TCP);
}

#[test]
fn tcp_and_udp_without_forwarding() {
    let mix = Mix { udp: true, ..TCP };
    compare("udp passes", Options::default(), &Profile::linux_gro(), mix);
}

#[test]
fn tcp_and_udp_with_forwarding() {
    let mix = Mix { udp: true, ..TCP };
    let options = Options {
        udp_forwarding: true,
        ..Options::default()
    };
    compare("udp", options, &Profile::linux_gro_udp(), mix);
}

#[test]
fn lists() {
    let mix = Mix { udp: true, ..TCP };
    let options = Options {
        fraglist: true,
        ..Options::default()
    };
    compare("lists", options, &Profile::linux_gro_list(), mix);
}

#[test]
fn links() {
    let mix = Mix { links: true, ..TCP };
    compare("links", Options::default(), &Profile::linux_gro(), mix);
}

/// Where no device listens, VXLAN is datagrams like any other.
#[test]
fn tunnels_without_a_device() {
    let options = Options {
        udp_forwarding: true,
        ..Options::default()
    };
    let mix = Mix {
        rare: true,
        ..Mix::default()
    };
    compare("no device", options, &Profile::linux_gro_udp(), mix);
}

#[test]
fn what_is_rare() {
    let options = Options {
        vxlan: true,
        udp_forwarding: true,
        ..Options::default()
    };
    let mix = Mix {
        rare: true,
        ..Mix::default()
    };
    compare("rare", options, &Profile::linux_gro_udp(), mix);
}

#[test]
fn everything() {
    let options = Options {
        vxlan: true,
        udp_forwarding: true,
        ..Options::default()
    };
    compare(
        "everything",
        options,
        &Profile::linux_gro_udp(),
        Mix::default(),
    );
}
