//! Frames for tests, made field by field. Checksums are computed the slow and obvious way, by code
//! that shares nothing with the crate.

/// TCP flags.
pub(crate) mod flag {
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const SYN: u8 = 0x02;
    pub(crate) const RST: u8 = 0x04;
    pub(crate) const PSH: u8 = 0x08;
    pub(crate) const ACK: u8 = 0x10;
    pub(crate) const URG: u8 = 0x20;
    pub(crate) const ECE: u8 = 0x40;
    pub(crate) const CWR: u8 = 0x80;
}

/// What is around the innermost packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Around {
    Nothing,
    /// PPPoE with this session.
    Pppoe(u16),
    /// An IPv4 (4) or IPv6 (6) packet.
    Ip(u8),
    /// GRE with this key in IPv4.
    Gre(u32),
    /// VXLAN in IPv4, with an outer UDP checksum or without.
    Vxlan {
        vni: u32,
        checksum: bool,
    },
    /// Geneve in IPv6, with an outer UDP checksum.
    Geneve {
        vni: u32,
    },
}

/// One frame. Sequence number and IP identification follow those of the flow's last frame unless
/// they are given; see [`Streams`].
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) udp: bool,
    pub(crate) version: u8,
    pub(crate) raw: bool,
    pub(crate) around: Around,
    pub(crate) vlans: Vec<u16>,
    pub(crate) mac: u8,
    pub(crate) flow: u8,
    pub(crate) seq: Option<u32>,
    /// Added to the sequence number that follows.
    pub(crate) skip: i32,
    pub(crate) id: Option<u16>,
    pub(crate) ack: u32,
    pub(crate) window: u16,
    pub(crate) flags: u8,
    /// The reserved bits and AE.
    pub(crate) reserved: u8,
    pub(crate) options: Vec<u8>,
    pub(crate) len: u32,
    pub(crate) ttl: u8,
    pub(crate) tos: u8,
    pub(crate) dont_fragment: bool,
    pub(crate) more_fragments: bool,
    pub(crate) flow_label: u32,
    pub(crate) ip_options: Vec<u8>,
    /// Extension headers in front of the transport: (kind, bytes).
    pub(crate) extension: Option<(u8, Vec<u8>)>,
    pub(crate) damaged: bool,
    pub(crate) damaged_ip: bool,
    pub(crate) padding: usize,
    pub(crate) flush_after: bool,
}

/// A frame without payload; [`Frame::len`] gives it one.
pub(crate) fn tcp() -> Frame {
    Frame {
        udp: false,
        version: 4,
        raw: false,
        around: Around::Nothing,
        vlans: Vec::new(),
        mac: 1,
        flow: 0,
        seq: None,
        skip: 0,
        id: None,
        ack: 5000,
        window: 8192,
        flags: flag::ACK,
        reserved: 0,
        options: Vec::new(),
        len: 0,
        ttl: 64,
        tos: 0,
        dont_fragment: true,
        more_fragments: false,
        flow_label: 0x12345,
        ip_options: Vec::new(),
        extension: None,
        damaged: false,
        damaged_ip: false,
        padding: 0,
        flush_after: false,
    }
}

pub(crate) fn udp() -> Frame {
    Frame { udp: true, ..tcp() }
}

/// A data segment of so many bytes.
pub(crate) fn data(len: u32) -> Frame {
    tcp().len(len)
}

impl Frame {
    pub(crate) fn len(self, len: u32) -> Self {
        Self { len, ..self }
    }
    pub(crate) fn flow(self, flow: u8) -> Self {
        Self { flow, ..self }
    }
    pub(crate) fn seq(self, seq: u32) -> Self {
        let seq = Some(seq);
        Self { seq, ..self }
    }
    pub(crate) fn skip(self, skip: i32) -> Self {
        Self { skip, ..self }
    }
    pub(crate) fn id(self, id: u16) -> Self {
        let id = Some(id);
        Self { id, ..self }
    }
    pub(crate) fn ack(self, ack: u32) -> Self {
        Self { ack, ..self }
    }
    pub(crate) fn window(self, window: u16) -> Self {
        Self { window, ..self }
    }
    /// These flags beside ACK.
    pub(crate) fn flags(mut self, flags: u8) -> Self {
        self.flags |= flags;
        self
    }
    pub(crate) fn psh(self) -> Self {
        self.flags(flag::PSH)
    }
    pub(crate) fn options(self, options: &[u8]) -> Self {
        let options = options.to_vec();
        Self { options, ..self }
    }
    /// NOP NOP timestamps.
    pub(crate) fn ts(self, value: u32, echo: u32) -> Self {
        let mut options = vec![1, 1, 8, 10];
        options.extend(value.to_be_bytes());
        options.extend(echo.to_be_bytes());
        Self { options, ..self }
    }
    pub(crate) fn v6(self) -> Self {
        let version = 6;
        Self { version, ..self }
    }
    pub(crate) fn ttl(self, ttl: u8) -> Self {
        Self { ttl, ..self }
    }
    pub(crate) fn tos(self, tos: u8) -> Self {
        Self { tos, ..self }
    }
    pub(crate) fn df(self, dont_fragment: bool) -> Self {
        Self {
            dont_fragment,
            ..self
        }
    }
    pub(crate) fn mf(self) -> Self {
        Self {
            more_fragments: true,
            dont_fragment: false,
            ..self
        }
    }
    pub(crate) fn label(self, flow_label: u32) -> Self {
        Self { flow_label, ..self }
    }
    /// An IP timestamp option (RFC 791), 8 bytes.
    pub(crate) fn ip_option(self) -> Self {
        let ip_options = vec![68, 8, 5, 0, 0, 0, 0, 0];
        Self { ip_options, ..self }
    }
    /// Destination options: 6 bytes of padding, which is filled with `fill`.
    pub(crate) fn destination_options(self, fill: u8) -> Self {
        let extension = Some((60, vec![0, 0, 1, 4, fill, fill, fill, fill]));
        Self { extension, ..self }
    }
    /// A fragment header: the first fragment of more.
    pub(crate) fn fragment_header(self) -> Self {
        let extension = Some((44, vec![0, 0, 0, 1, 0, 0, 0, 7]));
        Self { extension, ..self }
    }
    pub(crate) fn damaged(self) -> Self {
        let damaged = true;
        Self { damaged, ..self }
    }
    pub(crate) fn damaged_ip(self) -> Self {
        let damaged_ip = true;
        Self { damaged_ip, ..self }
    }
    pub(crate) fn padded(self, padding: usize) -> Self {
        Self { padding, ..self }
    }
    pub(crate) fn mac(self, mac: u8) -> Self {
        Self { mac, ..self }
    }
    pub(crate) fn vlan(mut self, tag: u16) -> Self {
        self.vlans.push(tag);
        self
    }
    pub(crate) fn around(self, around: Around) -> Self {
        Self { around, ..self }
    }
    /// The poll ends behind this frame.
    pub(crate) fn then_flush(self) -> Self {
        Self {
            flush_after: true,
            ..self
        }
    }
}

/// Where each flow stands: the next sequence number and identification.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    next: Vec<(u32, u16)>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            next: vec![(FIRST_SEQ, 1); 256],
        }
    }
}

/// The first sequence number of every flow.
pub(crate) const FIRST_SEQ: u32 = 1000;

/// A frame's bytes, and where what is in them.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) bytes: Vec<u8>,
    pub(crate) frame: Frame,
    pub(crate) seq: u32,
    /// IP headers from the outside in: version and offset.
    pub(crate) ips: Vec<(u8, usize)>,
    /// A tunnel's UDP header.
    pub(crate) outer_udp: Option<usize>,
    pub(crate) pppoe: Option<usize>,
    pub(crate) transport: usize,
    pub(crate) payload: core::ops::Range<usize>,
}

impl Streams {
    pub(crate) fn build(&mut self, frame: &Frame) -> Built {
        let flow = &mut self.next[usize::from(frame.flow)];
        let seq = frame.seq.unwrap_or(flow.0.wrapping_add_signed(frame.skip));
        let id = frame.id.unwrap_or(flow.1);
        if !frame.udp {
            flow.0 = seq.wrapping_add(frame.len);
        }
        flow.1 = id.wrapping_add(1);
        build(frame, seq, id)
    }
}

/// The byte at a place of a flow's stream.
fn content(flow: u8, at: u32) -> u8 {
    let mixed = (at ^ u32::from(flow) << 24).wrapping_mul(0x9e37_79b1);
    (mixed >> 24) as u8
}

fn build(frame: &Frame, seq: u32, id: u16) -> Built {
    let payload: Vec<u8> = (0..frame.len)
        .map(|at| content(frame.flow, seq.wrapping_add(at)))
        .collect();
    let segment = transport(frame, seq, &payload);
    let packet = ip(frame, id, &segment);
    let inner_len = packet.len();
    let mut built = Built {
        bytes: Vec::new(),
        frame: frame.clone(),
        seq,
        ips: Vec::new(),
        outer_udp: None,
        pppoe: None,
        transport: 0,
        payload: 0..0,
    };
    let wrapped = wrap(frame, id, packet, &mut built);
    let link = link(frame);
    let around = link.len() + wrapped.len() - inner_len;
    for (_, at) in &mut built.ips {
        *at += link.len();
    }
    built.outer_udp = built.outer_udp.map(|at| at + link.len());
    built.pppoe = built.pppoe.map(|at| at + link.len());
    built.ips.push((frame.version, around));
    built.transport = around + inner_len - segment.len();
    let payload_at = around + inner_len - payload.len();
    built.payload = payload_at..payload_at + payload.len();
    built.bytes = [link, wrapped].concat();
    built.bytes.extend(vec![0xee; frame.padding]);
    built
}

/// Addresses 10.0.0.x or 2001:db8::x, different in each flow.
fn addresses(version: u8, flow: u8) -> (Vec<u8>, Vec<u8>) {
    if version == 4 {
        return (vec![10, 0, 0, 1], vec![10, 0, 1, flow]);
    }
    let address = |host: u8| [vec![0x20, 1, 0x0d, 0xb8], vec![0; 11], vec![host]].concat();
    (address(1), address(flow))
}

fn pseudo(version: u8, flow: u8, protocol: u8, len: usize) -> Vec<u8> {
    let (source, destination) = addresses(version, flow);
    let len = (len as u32).to_be_bytes().to_vec();
    [source, destination, len, vec![0, 0, 0, protocol]].concat()
}

fn transport(frame: &Frame, seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = if frame.udp {
        udp_header(frame, payload)
    } else {
        tcp_header(frame, seq)
    };
    bytes.extend(payload);
    let (at, protocol) = if frame.udp { (6, 17) } else { (16, 6) };
    let pseudo = pseudo(frame.version, frame.flow, protocol, bytes.len());
    let mut checksum = !ones_sum(&[pseudo, bytes.clone()].concat());
    if frame.udp && checksum == 0 {
        checksum = 0xffff;
    }
    if frame.damaged {
        checksum = checksum.wrapping_add(0x1234);
    }
    bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

/// A port of its own in each flow.
fn ports(frame: &Frame) -> Vec<u8> {
    vec![0x1f, 0x90, 0xc0, frame.flow]
}

fn udp_header(frame: &Frame, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len() as u16).to_be_bytes();
    [ports(frame), len.to_vec(), vec![0, 0]].concat()
}

fn tcp_header(frame: &Frame, seq: u32) -> Vec<u8> {
    let words = 5 + frame.options.len().div_ceil(4) as u8;
    let mut bytes = ports(frame);
    bytes.extend(seq.to_be_bytes());
    bytes.extend(frame.ack.to_be_bytes());
    bytes.extend([words << 4 | frame.reserved, frame.flags]);
    bytes.extend(frame.window.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(&frame.options);
    bytes.resize(usize::from(words) * 4, 0);
    bytes
}

fn ip(frame: &Frame, id: u16, segment: &[u8]) -> Vec<u8> {
    let (source, destination) = addresses(frame.version, frame.flow);
    let protocol = if frame.udp { 17 } else { 6 };
    if frame.version == 6 {
        return ip6(frame, protocol, &[source, destination].concat(), segment);
    }
    let header = ip4(
        frame,
        id,
        protocol,
        &[source, destination].concat(),
        segment.len(),
    );
    [header, segment.to_vec()].concat()
}

fn ip4(frame: &Frame, id: u16, protocol: u8, addresses: &[u8], len: usize) -> Vec<u8> {
    let words = 5 + (frame.ip_options.len() / 4) as u8;
    let total = (usize::from(words) * 4 + len) as u16;
    let fragment = u8::from(frame.dont_fragment) << 6 | u8::from(frame.more_fragments) << 5;
    let mut bytes = vec![0x40 | words, frame.tos];
    bytes.extend(total.to_be_bytes());
    bytes.extend(id.to_be_bytes());
    bytes.extend([fragment, 0, frame.ttl, protocol, 0, 0]);
    bytes.extend(addresses);
    bytes.extend(&frame.ip_options);
    let checksum = !ones_sum(&bytes);
    let checksum = if frame.damaged_ip {
        !checksum
    } else {
        checksum
    };
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

fn ip6(frame: &Frame, protocol: u8, addresses: &[u8], segment: &[u8]) -> Vec<u8> {
    let (next, extension) = match &frame.extension {
        None => (protocol, Vec::new()),
        Some((kind, bytes)) => {
            let mut bytes = bytes.clone();
            bytes[0] = protocol;
            (*kind, bytes)
        }
    };
    let first = 6 << 28 | u32::from(frame.tos) << 20 | frame.flow_label;
    let mut bytes = first.to_be_bytes().to_vec();
    bytes.extend(((extension.len() + segment.len()) as u16).to_be_bytes());
    bytes.extend([next, frame.ttl]);
    bytes.extend(addresses);
    [bytes, extension, segment.to_vec()].concat()
}

const OUTER_4: [u8; 8] = [192, 0, 2, 1, 192, 0, 2, 2];

/// The packet in what is around it, without the link's header.
fn wrap(frame: &Frame, id: u16, packet: Vec<u8>, built: &mut Built) -> Vec<u8> {
    let inner = if frame.version == 4 { 4 } else { 41 };
    match frame.around {
        Around::Nothing => packet,
        Around::Pppoe(session) => {
            built.pppoe = Some(0);
            pppoe(frame, session, packet)
        }
        Around::Ip(4) => outer4(built, id, inner, packet),
        Around::Ip(_) => outer6(built, inner, &packet),
        Around::Gre(key) => {
            let ethertype = if frame.version == 4 {
                [8, 0]
            } else {
                [0x86, 0xdd]
            };
            let header = [
                vec![0x20, 0],
                ethertype.to_vec(),
                key.to_be_bytes().to_vec(),
            ];
            outer4(built, id, 47, [header.concat(), packet].concat())
        }
        Around::Vxlan { vni, checksum } => {
            let vxlan = [vec![8, 0, 0, 0], (vni << 8).to_be_bytes().to_vec()].concat();
            let inside = [vxlan, ethernet(frame, 9), packet].concat();
            let segment = outer_udp(4789, &inside, checksum.then_some(&OUTER_4));
            built.outer_udp = Some(20);
            outer4(built, id, 17, segment)
        }
        Around::Geneve { vni } => {
            let geneve = [vec![0, 0, 0x65, 0x58], (vni << 8).to_be_bytes().to_vec()].concat();
            let inside = [geneve, ethernet(frame, 9), packet].concat();
            let segment = outer_udp(6081, &inside, Some(&outer_addresses6()));
            built.outer_udp = Some(40);
            outer6(built, 17, &segment)
        }
    }
}

fn pppoe(frame: &Frame, session: u16, packet: Vec<u8>) -> Vec<u8> {
    let protocol = if frame.version == 4 {
        [0, 0x21]
    } else {
        [0, 0x57]
    };
    let len = packet.len() as u16 + 2;
    let mut bytes = vec![0x11, 0];
    bytes.extend(session.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    [bytes, protocol.to_vec(), packet].concat()
}

fn outer4(built: &mut Built, id: u16, protocol: u8, inside: Vec<u8>) -> Vec<u8> {
    built.ips.push((4, 0));
    let header = ip4(&tcp(), id, protocol, &OUTER_4, inside.len());
    [header, inside].concat()
}

fn outer6(built: &mut Built, protocol: u8, inside: &[u8]) -> Vec<u8> {
    built.ips.push((6, 0));
    ip6(&tcp(), protocol, &outer_addresses6(), inside)
}

fn outer_addresses6() -> Vec<u8> {
    let (source, destination) = addresses(6, 0xee);
    [source, destination].concat()
}

fn outer_udp(port: u16, inside: &[u8], addresses: Option<&[u8]>) -> Vec<u8> {
    let len = inside.len() as u16 + 8;
    let mut bytes = vec![0xaa, 0xaa];
    bytes.extend(port.to_be_bytes());
    bytes.extend(len.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(inside);
    if let Some(addresses) = addresses {
        let len = u32::from(len).to_be_bytes();
        let pseudo = [addresses, &len, &[0, 0, 0, 17]].concat();
        let checksum = match !ones_sum(&[pseudo, bytes.clone()].concat()) {
            0 => 0xffff,
            checksum => checksum,
        };
        bytes[6..8].copy_from_slice(&checksum.to_be_bytes());
    }
    bytes
}

fn ethernet(frame: &Frame, mac: u8) -> Vec<u8> {
    let ethertype = match (frame.around, frame.version) {
        (Around::Pppoe(_), _) => [0x88, 0x64],
        (_, 4) => [0x08, 0x00],
        _ => [0x86, 0xdd],
    };
    [
        vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, mac],
        ethertype.to_vec(),
    ]
    .concat()
}

/// The link's header, of the outermost packet.
fn link(frame: &Frame) -> Vec<u8> {
    if frame.raw {
        return Vec::new();
    }
    let version = match frame.around {
        Around::Ip(version) => version,
        Around::Gre(_) | Around::Vxlan { .. } => 4,
        Around::Geneve { .. } => 6,
        Around::Nothing | Around::Pppoe(_) => frame.version,
    };
    let header = ethernet(
        &Frame {
            version,
            ..frame.clone()
        },
        frame.mac,
    );
    let (macs, ethertype) = header.split_at(12);
    let mut bytes = macs.to_vec();
    for tag in &frame.vlans {
        bytes.extend([0x81, 0]);
        bytes.extend(tag.to_be_bytes());
    }
    [bytes, ethertype.to_vec()].concat()
}

/// The ones' complement sum of RFC 1071, word by word.
pub(crate) fn ones_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in bytes.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        sum += u32::from(pair[0]) << 8 | u32::from(low);
        if sum > 0xffff {
            sum -= 0xffff;
        }
    }
    sum as u16
}
