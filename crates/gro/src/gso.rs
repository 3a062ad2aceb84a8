//! What the next device needs, beside the bytes of a merged frame, to split it again.

/// What a merged frame is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GsoKind {
    /// TCP over IPv4.
    TcpV4,
    /// TCP over IPv6.
    TcpV6,
    /// UDP datagrams of one size (USO, `SKB_GSO_UDP_L4`), over IPv4 or IPv6.
    Udp,
}

/// How IPv4 identifications run through the segments of a merged frame, one level of headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IdRun {
    /// One more for each segment.
    #[default]
    Increasing,
    /// The same in all (`SKB_GSO_TCP_FIXEDID`).
    Fixed,
}

/// How a merged frame was put together: enough to split it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gso {
    /// What it is made of.
    pub kind: GsoKind,
    /// Payload bytes of every segment but the last, which may have fewer (`gso_size`).
    pub segment_size: u16,
    /// How many segments there are (`gso_segs`).
    pub segments: u16,
    /// Identifications of the outermost IPv4 header of a tunnel.
    pub outer_id: IdRun,
    /// Identifications of the innermost IPv4 header.
    pub id: IdRun,
    /// CWR belongs to every segment instead of the first alone (`SKB_GSO_TCP_ACCECN`).
    pub accurate_ecn: bool,
}
