//! Reads a capture, merges its frames as they come, and writes what comes out.

use std::error::Error;
use std::io::{self, Read, Write};

use gro::{
    ByteSink, Checksums, CopyingCoalescer, Counters, LinkType, OutgoingBytes, Profile, Settings,
};
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{LegacyPcapBlock, LegacyPcapReader, PcapBlockOwned, PcapError, PcapHeader};

/// How long a frame waits for the next of its flow, in nanoseconds: as long as the kernel's own test of
/// GRO waits (`gro_flush_timeout` in `tools/testing/selftests/drivers/net/gro.py`).
const HOLD_NS: u64 = 200_000;
/// Bytes of the file in memory: more than the longest frame (262,144, as tcpdump limits them).
const WINDOW: usize = 1 << 20;

/// Merges a pcap file into another one; what was counted.
pub(crate) fn merge(from: impl Read, to: impl Write) -> Result<Counters, Box<dyn Error>> {
    let mut reader = LegacyPcapReader::new(WINDOW, from)?;
    let mut file = File::new(to);
    let mut merger = Merger::new(&PcapHeader::new());
    loop {
        match reader.next() {
            Ok((len, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        merger = Merger::new(&header);
                        file.begin(&header);
                    }
                    PcapBlockOwned::Legacy(record) => merger.frame(&record, &mut file),
                    PcapBlockOwned::NG(_) => {}
                }
                reader.consume(len);
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|error| error.to_owned_vec())?;
            }
            Err(error) => return Err(error.to_owned_vec().into()),
        }
    }
    merger.coalescer.flush(&mut file);
    file.written?;
    Ok(merger.coalescer.counters().clone())
}

struct Merger {
    coalescer: CopyingCoalescer,
    /// Nanoseconds of a unit of the file's fractions of seconds.
    unit_ns: u64,
}

impl Merger {
    fn new(header: &PcapHeader) -> Self {
        let settings = Settings {
            // What follows the number of the link type in its field is about FCS.
            link: LinkType::from_dlt(header.network.0 as u16),
            // A file has no room for what is left to do to a checksum.
            checksums: Checksums::Complete,
            ..Settings::default()
        };
        Self {
            coalescer: CopyingCoalescer::new(&Profile::linux_gro(), settings),
            unit_ns: if header.is_nanosecond_precision() {
                1
            } else {
                1_000
            },
        }
    }

    fn frame(&mut self, record: &LegacyPcapBlock<'_>, file: &mut File<impl Write>) {
        let fraction = u64::from(record.ts_usec) * self.unit_ns;
        let now = u64::from(record.ts_sec) * 1_000_000_000 + fraction;
        file.now = now;
        let due = now.saturating_sub(HOLD_NS);
        self.coalescer.flush_before(due, file);
        self.coalescer.push(record.data, now, file);
    }
}

/// A pcap file that is written: little endian, with nanoseconds.
struct File<W> {
    to: W,
    /// The time of what is written now, in nanoseconds since 1970.
    now: u64,
    /// The first error, after which nothing is written.
    written: io::Result<()>,
}

impl<W: Write> File<W> {
    fn new(to: W) -> Self {
        Self {
            to,
            now: 0,
            written: Ok(()),
        }
    }

    /// The file's header: magic number, version 2.4, no time zone, no limit of frames that matters, link type.
    fn begin(&mut self, header: &PcapHeader) {
        let link = header.network.0 as u32;
        self.words(&[0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 1 << 18, link]);
    }

    fn words(&mut self, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.bytes(&bytes);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.written.is_ok() {
            self.written = self.to.write_all(bytes);
        }
    }
}

impl<W: Write> ByteSink for File<W> {
    fn take(&mut self, frame: OutgoingBytes<'_>) {
        let len = frame.bytes.len() as u32;
        let (seconds, fraction) = (self.now / 1_000_000_000, self.now % 1_000_000_000);
        self.words(&[seconds as u32, fraction as u32, len, len]);
        self.bytes(frame.bytes);
    }
}
