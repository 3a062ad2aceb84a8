//! Frames built from the inside out, with lengths and checksums by the plainest code that does
//! it: what the splitter gives must equal them byte for byte.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper fails by panicking"
)]

/// RFC 1071, word by word.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    let mut total: u32 = 0;
    for word in bytes.chunks(2) {
        total += u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0));
        total = (total & 0xffff) + (total >> 16);
    }
    total
}

fn fold(total: u32) -> u16 {
    let total = (total & 0xffff) + (total >> 16);
    ((total & 0xffff) + (total >> 16)) as u16
}

pub(crate) fn checksum(parts: &[&[u8]]) -> u16 {
    !fold(sum(&parts.concat()))
}

/// A header around a packet, outermost first in a list.
#[derive(Clone, Debug)]
pub(crate) enum Layer {
    Ethernet,
    Vlan(u16),
    Pppoe(u16),
    Mpls(u32),
    Ipv4 {
        id: u16,
        dont_fragment: bool,
        options: usize,
    },
    Ipv6 {
        destination_options: bool,
    },
    Gre {
        key: Option<u32>,
        checksum: bool,
    },
    Vxlan {
        checksum: bool,
    },
    Geneve {
        checksum: bool,
        options: usize,
    },
    Tcp(Tcp),
    Udp {
        checksum: bool,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub(crate) seq: u32,
    pub(crate) flags: u16,
    pub(crate) options: Vec<u8>,
}

pub(crate) const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 3, 4];

pub(crate) fn tcp(seq: u32, flags: u16) -> Layer {
    Layer::Tcp(Tcp {
        seq,
        flags,
        options: TIMESTAMPS.to_vec(),
    })
}

pub(crate) fn v4(id: u16) -> Layer {
    Layer::Ipv4 {
        id,
        dont_fragment: true,
        options: 0,
    }
}

pub(crate) fn v6() -> Layer {
    Layer::Ipv6 {
        destination_options: false,
    }
}

/// What one frame of a series differs in from the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Added to outer and inner identifications.
    pub(crate) ids: [u16; 2],
    /// Payload bytes before.
    pub(crate) offset: u32,
    pub(crate) clear: u16,
    /// Only the pseudo-header's sum in the innermost checksum.
    pub(crate) pseudo_only: bool,
}

impl Layer {
    /// EtherType.
    fn ether_type(&self) -> u16 {
        match self {
            Self::Vlan(_) => 0x8100,
            Self::Pppoe(_) => 0x8864,
            Self::Mpls(_) => 0x8847,
            Self::Ipv4 { .. } => 0x0800,
            Self::Ipv6 { .. } => 0x86dd,
            _ => 0x6558,
        }
    }

    fn protocol(&self) -> u8 {
        match self {
            Self::Tcp(_) => 6,
            Self::Udp { .. } | Self::Vxlan { .. } | Self::Geneve { .. } => 17,
            Self::Gre { .. } => 47,
            Self::Ipv4 { .. } => 4,
            Self::Ipv6 { .. } => 41,
            Self::Mpls(_) => 137,
            _ => panic!("no IP protocol: {self:?}"),
        }
    }

    fn is_ip(&self) -> bool {
        matches!(self, Self::Ipv4 { .. } | Self::Ipv6 { .. })
    }
}

const V4: [u8; 8] = [10, 1, 2, 3, 10, 9, 8, 7];

fn v6_addresses() -> [u8; 32] {
    core::array::from_fn(|i| (i * 7 + 0x20) as u8)
}

/// The bytes of a stack of layers over a payload.
pub(crate) fn build(layers: &[Layer], payload: &[u8], step: Step) -> Vec<u8> {
    encode(layers, None, payload, step, 0)
}

fn encode(
    layers: &[Layer],
    ip: Option<&Layer>,
    payload: &[u8],
    step: Step,
    level: usize,
) -> Vec<u8> {
    let Some((layer, inside)) = layers.split_first() else {
        return payload.to_vec();
    };
    let next_ip = if layer.is_ip() { Some(layer) } else { ip };
    let level_inside = level + usize::from(layer.is_ip());
    // An inner checksum is complete in what an outer one sums, even where a device will add it.
    let inner = encode(inside, next_ip, payload, step, level_inside);
    let completed = match step.pseudo_only {
        true => encode(
            inside,
            next_ip,
            payload,
            Step {
                pseudo_only: false,
                ..step
            },
            level_inside,
        ),
        false => inner.clone(),
    };
    let next = inside.first();
    match layer {
        Layer::Ethernet => [
            &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..],
            &ether(next),
            &inner,
        ]
        .concat(),
        Layer::Vlan(tci) => [&tci.to_be_bytes()[..], &ether(next), &inner].concat(),
        Layer::Pppoe(session) => pppoe(*session, next, &inner),
        Layer::Mpls(label) => [&(label << 12 | 0x140).to_be_bytes()[..], &inner].concat(),
        Layer::Ipv4 {
            id,
            dont_fragment,
            options,
        } => {
            let inner_level = layers[1..].iter().all(|layer| !layer.is_ip());
            let id = id.wrapping_add(step.ids[usize::from(inner_level)]);
            ipv4(
                id,
                *dont_fragment,
                *options,
                next.unwrap().protocol(),
                &inner,
            )
        }
        Layer::Ipv6 {
            destination_options,
        } => ipv6(*destination_options, next.unwrap().protocol(), &inner),
        Layer::Gre { key, checksum } => gre(*key, *checksum, next, &inner, &completed),
        Layer::Vxlan { checksum } => {
            let head = [8, 0, 0, 0, 0, 0, 42, 0];
            udp(
                4789,
                &[&head[..], &inner].concat(),
                &[&head[..], &completed].concat(),
                *checksum,
                ip,
                false,
            )
        }
        Layer::Geneve { checksum, options } => {
            let mut head = vec![(options / 4) as u8, 0];
            head.extend(ether(next));
            head.extend([0, 0, 42, 0]);
            head.extend((0..*options).map(|i| i as u8));
            udp(
                6081,
                &[&head[..], &inner].concat(),
                &[&head[..], &completed].concat(),
                *checksum,
                ip,
                false,
            )
        }
        Layer::Tcp(tcp) => tcp_bytes(tcp, ip, payload, step),
        Layer::Udp { checksum } => udp(443, &inner, &inner, *checksum, ip, step.pseudo_only),
    }
}

fn ether(next: Option<&Layer>) -> [u8; 2] {
    next.unwrap().ether_type().to_be_bytes()
}

fn pppoe(session: u16, next: Option<&Layer>, inner: &[u8]) -> Vec<u8> {
    let protocol: u16 = if matches!(next, Some(Layer::Ipv4 { .. })) {
        0x21
    } else {
        0x57
    };
    let len = u16::try_from(inner.len() + 2).unwrap_or(0);
    let head = [
        [0x11, 0],
        session.to_be_bytes(),
        len.to_be_bytes(),
        protocol.to_be_bytes(),
    ];
    [&head.concat()[..], inner].concat()
}

fn ipv4(id: u16, dont_fragment: bool, options: usize, protocol: u8, inner: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + options + inner.len())
        .unwrap_or(0)
        .to_be_bytes();
    let id = id.to_be_bytes();
    let fragment = if dont_fragment { 0x40 } else { 0 };
    let first = 0x45 + (options / 4) as u8;
    let mut head = vec![
        first, 0x12, total[0], total[1], id[0], id[1], fragment, 0, 61, protocol, 0, 0,
    ];
    head.extend(V4);
    head.resize(20 + options, 1);
    let sum = checksum(&[&head]);
    head[10..12].copy_from_slice(&sum.to_be_bytes());
    [&head[..], inner].concat()
}

fn ipv6(destination_options: bool, protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut extensions = Vec::new();
    let mut next = protocol;
    if destination_options {
        extensions = vec![protocol, 0, 1, 4, 0, 0, 0, 0];
        next = 60;
    }
    let mut len = extensions.len() + inner.len();
    if len > 65_535 {
        // BIG TCP: a hop-by-hop header with the jumbo payload option (RFC 2675).
        let jumbo = (len as u32 + 8).to_be_bytes();
        extensions = [&[next, 0, 0xc2, 4][..], &jumbo, &extensions].concat();
        (next, len) = (0, 0);
    }
    let len = (len as u16).to_be_bytes();
    let head = [0x61, 0x23, 0x45, 0x67, len[0], len[1], next, 63];
    [&head[..], &v6_addresses(), &extensions, inner].concat()
}

fn gre(
    key: Option<u32>,
    with_checksum: bool,
    next: Option<&Layer>,
    inner: &[u8],
    completed: &[u8],
) -> Vec<u8> {
    let flags = u8::from(with_checksum) << 7 | u8::from(key.is_some()) << 5;
    let mut head = vec![flags, 0];
    head.extend(ether(next));
    let at = head.len();
    if with_checksum {
        head.extend([0; 4]);
    }
    if let Some(key) = key {
        head.extend(key.to_be_bytes());
    }
    if with_checksum {
        let sum = checksum(&[&head, completed]);
        head[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    [&head[..], inner].concat()
}

fn pseudo(ip: Option<&Layer>, protocol: u8, len: usize) -> Vec<u8> {
    let addresses = match ip {
        Some(Layer::Ipv4 { .. }) => V4.to_vec(),
        _ => v6_addresses().to_vec(),
    };
    [&addresses[..], &[0, protocol], &(len as u32).to_be_bytes()].concat()
}

fn udp(
    port: u16,
    inner: &[u8],
    completed: &[u8],
    with_checksum: bool,
    ip: Option<&Layer>,
    pseudo_only: bool,
) -> Vec<u8> {
    let len = 8 + inner.len();
    let mut head = [
        [0xc0, 1],
        port.to_be_bytes(),
        (len as u16).to_be_bytes(),
        [0, 0],
    ]
    .concat();
    let pseudo = pseudo(ip, 17, len);
    let sum = match checksum(&[&pseudo, &head, completed]) {
        _ if !with_checksum => 0,
        _ if pseudo_only => !checksum(&[&pseudo]),
        0 => 0xffff,
        sum => sum,
    };
    head[6..8].copy_from_slice(&sum.to_be_bytes());
    [&head[..], inner].concat()
}

fn tcp_bytes(tcp: &Tcp, ip: Option<&Layer>, payload: &[u8], step: Step) -> Vec<u8> {
    let offset_and_flags = ((20 + tcp.options.len()) as u16 / 4) << 12 | tcp.flags & !step.clear;
    let mut head = vec![0xc0, 1, 1, 0xbb];
    head.extend(tcp.seq.wrapping_add(step.offset).to_be_bytes());
    head.extend(7_u32.to_be_bytes());
    head.extend(offset_and_flags.to_be_bytes());
    head.extend([0x20, 0, 0, 0, 0, 9]);
    head.extend(&tcp.options);
    let pseudo = pseudo(ip, 6, head.len() + payload.len());
    let sum = match step.pseudo_only {
        true => !checksum(&[&pseudo]),
        false => checksum(&[&pseudo, &head, payload]),
    };
    head[16..18].copy_from_slice(&sum.to_be_bytes());
    [&head[..], payload].concat()
}
