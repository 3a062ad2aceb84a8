//! What the analysis keeps of a frame, as plain numbers: a row of a table.

/// What a frame turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A frame with TCP.
    Tcp,
    /// An ICMP message "packet too big", whose ends are those of the frame that it quotes.
    TooBig,
    /// A frame with UDP.
    Udp,
    /// A frame that carries neither.
    #[default]
    Other,
    /// Its headers are damaged, or too little of them was captured.
    Unparsed,
    /// Its link type is not known.
    UnknownLink,
    /// A fragment of an IP datagram that has its TCP header.
    FirstFragment,
    /// Any other fragment of an IP datagram, but for those of UDP.
    LaterFragment,
}

impl Kind {
    /// All, by number.
    pub const ALL: [Self; 8] = [
        Self::Tcp,
        Self::TooBig,
        Self::Udp,
        Self::Other,
        Self::Unparsed,
        Self::UnknownLink,
        Self::FirstFragment,
        Self::LaterFragment,
    ];

    /// Whether the datagram is not whole.
    #[must_use]
    pub fn is_fragment(self) -> bool {
        matches!(self, Self::FirstFragment | Self::LaterFragment)
    }
}

/// The state of a frame's checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Checksum {
    /// The checksum is 0, and shows nothing.
    #[default]
    Zero,
    /// The checksum is that of the pseudo-header alone: the rest was left to a network card.
    Partial,
    /// Any other checksum.
    Filled,
}

impl Checksum {
    /// All, by number.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Partial, Self::Filled];
}

/// Both ends of a connection, the lower one first: two addresses of 16 bytes (IPv4 in the last four), two ports, and
/// the IP version in four bits with 28 of a hash of the tunnels around it; numbers are big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ends(pub [u8; 40]);

impl Default for Ends {
    fn default() -> Self {
        Self([0; 40])
    }
}

/// One frame of a capture. Fields that its kind does not have are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Number of its file among those of its point, from 0.
    pub file: u32,
    /// Its number in the file, from 1.
    pub number: u64,
    /// When it was captured, in nanoseconds since 1970, as in the file.
    pub time_ns: i64,
    /// The interface's number in the file; 255 stands for all from there on.
    pub interface: u8,
    /// The link type's number in the registry of tcpdump.org.
    pub link: u16,
    /// What kind of frame it is.
    pub kind: Kind,
    /// Bytes on the wire.
    pub bytes: u32,
    /// Both ends.
    pub ends: Ends,
    /// Bits: 1 the lower end sent it, 2 it has timestamps, 4 it has other TCP options, 8 it has VLAN tags or tunnels,
    /// 16 its IP header says 0 for its length, 32 it came as fragments.
    pub marks: u8,
    /// TCP sequence number. Of UDP with several DNS messages: length of the first.
    pub seq: u32,
    /// TCP acknowledgment number.
    pub ack: u32,
    /// TSval.
    pub tsval: u32,
    /// TSecr.
    pub tsecr: u32,
    /// Payload bytes.
    pub payload: u32,
    /// TCP flags, FIN being 1.
    pub flags: u16,
    /// TCP window as it stands in the header.
    pub window: u16,
    /// IPv4 identification.
    pub id: u16,
    /// TTL or hop limit.
    pub ttl: u8,
    /// Bytes of the TCP header.
    pub tcp_header: u8,
    /// State of the TCP checksum.
    pub checksum: Checksum,
    /// The first payload bytes, as far as the analysis needs them; see [`crate::rows::Heads`].
    pub head: [u8; 16],
    /// How many bytes of `head` are valid.
    pub head_len: u8,
    /// What few frames have, one after the other, as far as `marks` and the kind say so; numbers have their lowest byte
    /// first. Options: a byte of bits (1 MSS, 2 window scale, 4 SACK permitted, 8 timestamps, 16 cut), MSS in two bytes,
    /// scale, number of SACK blocks, and of four blocks both edges. Layers: number of VLAN tags, four tags of two bytes,
    /// number of tunnels, and of four tunnels one byte for the kind, 0 if there is none, and four for the identifier.
    /// Too big: MTU, length of the quoted packet and of its IP header, four bytes each. Fragments: both addresses of 16
    /// bytes, identification in four, protocol, first byte and the one behind the last in four each, 1 if more follow.
    pub rest: Vec<u8>,
}

impl Row {
    /// A number that both directions of a connection share, and its frames at any point with the same addresses and
    /// ports, inside of tunnels or not: FNV-1a of the ends without version and tunnels.
    #[must_use]
    pub fn connection_hash(&self) -> u64 {
        let ends = &self.ends.0[..36];
        let words = ends.chunks_exact(4).map(|four| {
            let four = <[u8; 4]>::try_from(four).unwrap_or_default();
            u64::from(u32::from_be_bytes(four))
        });
        let hash = words.fold(0xcbf2_9ce4_8422_2325_u64, |sum, word| {
            (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3)
        });
        (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
    }
}
