//! The TCP header, its flags and options (RFC 9293, RFC 7323, RFC 2018, RFC 2883).

/// TCP flags, with the three bits of RFC 3540 and AccECN above them: the low 9 bits are AE/NS, CWR,
/// ECE, URG, ACK, PSH, RST, SYN, FIN from high to low.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// FIN.
    pub const FIN: u16 = 0x001;
    /// SYN.
    pub const SYN: u16 = 0x002;
    /// RST.
    pub const RST: u16 = 0x004;
    /// PSH.
    pub const PSH: u16 = 0x008;
    /// ACK.
    pub const ACK: u16 = 0x010;
    /// URG.
    pub const URG: u16 = 0x020;
    /// ECE.
    pub const ECE: u16 = 0x040;
    /// CWR.
    pub const CWR: u16 = 0x080;
    /// AE (AccECN), formerly NS.
    pub const AE: u16 = 0x100;
    /// All nine.
    pub const ALL: u16 = 0x1ff;

    /// Whether any of the given bits is set.
    #[must_use]
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }
}

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tcp {
    /// Where the header starts in the frame.
    pub offset: usize,
    /// Its length with options, in bytes (20 to 60).
    pub header_len: u8,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: Flags,
    /// Window, unscaled.
    pub window: u16,
    /// Checksum as stored.
    pub checksum: u16,
    /// Payload bytes on the wire, from the IP length, not from what was captured.
    pub payload_len: u32,
}

/// The TCP options that the project reads. Unknown ones are skipped by their length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpOptions {
    /// Maximum segment size (SYN only).
    pub mss: Option<u16>,
    /// Window scale shift count (SYN only), clamped to 14 as RFC 7323 says.
    pub window_scale: Option<u8>,
    /// SACK permitted (SYN only).
    pub sack_permitted: bool,
    /// Timestamps: TSval, TSecr. Of a frame whose captured bytes end between the two, TSecr is 0, as where it is not valid
    /// (RFC 7323, 3.2).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, left and right edge; the first may be a D-SACK.
    pub sack: [(u32, u32); 4],
    /// How many SACK blocks there are.
    pub sack_count: u8,
    /// The captured bytes ended before the options did, or an option has a wrong length.
    pub cut: bool,
}

/// Option kinds (IANA).
mod kinds {
    pub(super) const END: u8 = 0;
    pub(super) const NOP: u8 = 1;
    pub(super) const MSS: u8 = 2;
    pub(super) const WINDOW_SCALE: u8 = 3;
    pub(super) const SACK_PERMITTED: u8 = 4;
    pub(super) const SACK: u8 = 5;
    pub(super) const TIMESTAMPS: u8 = 8;
}

impl TcpOptions {
    /// Parses the options of a TCP header: `captured` has the captured bytes, `declared_len` is the length of the
    /// options by the header.
    #[inline]
    #[must_use]
    pub fn parse(captured: &[u8], declared_len: usize) -> Self {
        match captured.first_chunk::<12>() {
            // What nearly every segment of a bulk transfer carries (RFC 7323 appendix A).
            Some(
                &[
                    kinds::NOP,
                    kinds::NOP,
                    kinds::TIMESTAMPS,
                    10,
                    ref value @ ..,
                ],
            ) if declared_len == 12 => Self {
                timestamps: Some(pair(value)),
                ..Self::default()
            },
            _ => Self::parse_any(captured, declared_len),
        }
    }

    /// Follows the options one by one. Every turn consumes a byte or ends the loop.
    fn parse_any(captured: &[u8], declared_len: usize) -> Self {
        let mut options = Self {
            cut: captured.len() < declared_len,
            ..Self::default()
        };
        let mut rest = captured.get(..declared_len).unwrap_or(captured);
        loop {
            rest = match *rest {
                [] => return options,
                // What follows the end is padding, cut off or not.
                [kinds::END, ..] => {
                    options.cut = false;
                    return options;
                }
                [kinds::NOP, ref rest @ ..] => rest,
                [kind, ref body @ ..] => match options.option(kind, body) {
                    Some(rest) => rest,
                    None => {
                        // A length beyond the options' own end is a lie, and no reason to believe the value.
                        if options.cut {
                            options.timestamps = options.timestamps.or(value_alone(kind, body));
                        }
                        options.cut = true;
                        return options;
                    }
                },
            };
        }
    }

    /// Reads one option that has a length, which counts kind and length bytes too. Returns what
    /// follows it, or `None` if it does not fit.
    fn option<'a>(&mut self, kind: u8, body: &'a [u8]) -> Option<&'a [u8]> {
        let (&len, body) = body.split_first()?;
        let (value, rest) = body.split_at_checked(usize::from(len).checked_sub(2)?)?;
        if self.set(kind, value).is_none() {
            self.cut = true;
        }
        Some(rest)
    }

    /// Notes an option's value; `None` if its length is not the one its kind has.
    fn set(&mut self, kind: u8, value: &[u8]) -> Option<()> {
        match kind {
            kinds::MSS => self.mss = Some(u16::from_be_bytes(value.try_into().ok()?)),
            kinds::WINDOW_SCALE => self.window_scale = Some(shift(value)?),
            kinds::SACK_PERMITTED if value.is_empty() => self.sack_permitted = true,
            kinds::SACK_PERMITTED => return None,
            kinds::SACK => self.set_sack(value)?,
            kinds::TIMESTAMPS => self.timestamps = Some(pair(value.try_into().ok()?)),
            _ => {}
        }
        Some(())
    }

    fn set_sack(&mut self, value: &[u8]) -> Option<()> {
        let (blocks, rest) = value.as_chunks::<8>();
        if !rest.is_empty() || blocks.len() > self.sack.len() {
            return None;
        }
        for (slot, block) in self.sack.iter_mut().zip(blocks) {
            *slot = pair(block);
        }
        self.sack_count = blocks.len() as u8;
        Some(())
    }
}

/// TSval of a timestamps option that ends behind it.
fn value_alone(kind: u8, body: &[u8]) -> Option<(u32, u32)> {
    match (kind, body) {
        (kinds::TIMESTAMPS, [10, a, b, c, d, ..]) => {
            Some((u32::from_be_bytes([*a, *b, *c, *d]), 0))
        }
        _ => None,
    }
}

/// A shift count over 14 counts as 14 (RFC 7323 section 2.3).
fn shift(value: &[u8]) -> Option<u8> {
    match *value {
        [count] => Some(count.min(14)),
        _ => None,
    }
}

/// Two big-endian numbers: TSval and TSecr, or the edges of a SACK block.
#[inline]
pub(crate) fn pair(bytes: &[u8; 8]) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = *bytes;
    (
        u32::from_be_bytes([a, b, c, d]),
        u32::from_be_bytes([e, f, g, h]),
    )
}

impl Tcp {
    /// The captured bytes of the options, from the frame that was walked.
    #[inline]
    #[must_use]
    pub fn option_bytes<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let start = self.offset.saturating_add(20).min(frame.len());
        let end = start.saturating_add(self.options_len()).min(frame.len());
        frame.get(start..end).unwrap_or_default()
    }

    /// The options, parsed from the frame that was walked.
    #[inline]
    #[must_use]
    pub fn options(&self, frame: &[u8]) -> TcpOptions {
        TcpOptions::parse(self.option_bytes(frame), self.options_len())
    }

    /// Length of the options by the header.
    #[inline]
    fn options_len(&self) -> usize {
        usize::from(self.header_len.saturating_sub(20))
    }
}
