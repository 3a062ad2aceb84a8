//! A capture reader of a page, so that the tests don't depend on what they are to test.

/// A frame as read from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) interface: u32,
    /// Nanoseconds since 1970.
    pub(crate) at: u64,
    pub(crate) original: u32,
    pub(crate) bytes: Vec<u8>,
    /// pcapng's epb_flags.
    pub(crate) flags: Option<u32>,
}

/// Reads pcap or pcapng, whichever it is.
pub(crate) fn read(file: &[u8]) -> Vec<Frame> {
    match file[..4] {
        [0x0a, 0x0d, 0x0d, 0x0a] => read_pcapng(file),
        [0xd4, 0xc3, 0xb2, 0xa1] => read_pcap(file, u32::from_le_bytes, 1_000),
        [0x4d, 0x3c, 0xb2, 0xa1] => read_pcap(file, u32::from_le_bytes, 1),
        [0xa1, 0xb2, 0xc3, 0xd4] => read_pcap(file, u32::from_be_bytes, 1_000),
        [0xa1, 0xb2, 0x3c, 0x4d] => read_pcap(file, u32::from_be_bytes, 1),
        _ => panic!("no magic number"),
    }
}

fn word(file: &[u8], at: usize, order: fn([u8; 4]) -> u32) -> u32 {
    order(file[at..at + 4].try_into().unwrap())
}

fn read_pcap(file: &[u8], order: fn([u8; 4]) -> u32, unit: u64) -> Vec<Frame> {
    assert_eq!(word(file, 20, order), 1, "link type");
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let field = |index: usize| word(file, at + 4 * index, order);
        let len = field(2) as usize;
        frames.push(Frame {
            interface: 0,
            at: u64::from(field(0)) * 1_000_000_000 + u64::from(field(1)) * unit,
            original: field(3),
            bytes: file[at + 16..at + 16 + len].to_vec(),
            flags: None,
        });
        at += 16 + len;
    }
    frames
}

fn read_pcapng(file: &[u8]) -> Vec<Frame> {
    let (mut at, mut frames) = (0, Vec::new());
    while at < file.len() {
        let field = |offset: usize| word(file, at + offset, u32::from_le_bytes);
        let len = field(4) as usize;
        assert_eq!(len % 4, 0);
        assert_eq!(field(len - 4) as usize, len, "length behind a block");
        if field(0) == 6 {
            let captured = field(20) as usize;
            let options = 28 + captured.next_multiple_of(4);
            let has_flags = options + 4 < len;
            frames.push(Frame {
                interface: field(8),
                at: u64::from(field(12)) << 32 | u64::from(field(16)),
                original: field(24),
                bytes: file[at + 28..at + 28 + captured].to_vec(),
                flags: has_flags.then(|| field(options + 4)),
            });
        }
        at += len;
    }
    frames
}
