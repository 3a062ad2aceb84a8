//! Writes a capture of many bulk TCP transfers, interleaved, as a sniffer at the servers' side of a
//! lossy network would, and tells on standard output, as JSON, what is in it.
//!
//! Every connection sends from the server in segments of 1448 bytes with timestamps; the client
//! acknowledges every second one, sends duplicate ACKs with SACK for a hole, and gets it sent
//! again. Half of the losses happen before the capture, half behind it. Checksums are right.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: gen FILE FRAMES SNAPLEN CONNECTIONS LOSS_PER_MILLE SEED MAX_RUN
  MAX_RUN: most segments of one connection in a row";

/// Payload of a segment: MTU 1500 less the headers with timestamps.
const SEGMENT: usize = 1448;
const REQUEST: usize = 200;
/// A line of 10 Gbit/s, and what the sniffer takes for each frame.
const NANOS_PER_BYTE: f64 = 0.8;
const NANOS_PER_FRAME: u64 = 200;
const EPOCH_NS: u64 = 1_767_225_600_000_000_000;

const FIN: u8 = 1;
const SYN: u8 = 2;
const PSH: u8 = 8;
const ACK: u8 = 16;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Result<Vec<u64>, _> = args.iter().skip(1).map(|arg| arg.parse()).collect();
    let (Some(path), Ok([frames, snap, connections, loss, seed, run])) = (
        args.first(),
        numbers
            .as_deref()
            .map(|n| <[u64; 6]>::try_from(n).unwrap_or_default()),
    ) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if connections == 0 || run == 0 || connections > 1 << 22 {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let load = Load {
        frames,
        loss,
        run,
        connections: connections as u32,
    };
    match write(path, &load, snap as usize, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What to write.
struct Load {
    frames: u64,
    loss: u64,
    run: u64,
    connections: u32,
}

/// SplitMix64.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Default)]
struct End {
    address: u32,
    port: u16,
    next: u32,
    ip_id: u16,
}

#[derive(Default)]
struct Connection {
    client: End,
    server: End,
    /// Everything below is acknowledged.
    acked: u32,
    /// Segments since the last ACK.
    unacked: u32,
    hole: Option<Hole>,
}

/// A segment that the client has not got.
struct Hole {
    start: u32,
    /// Segments until it is sent again.
    left: u64,
    /// The capture has it.
    captured: bool,
}

#[derive(Default)]
struct Truth {
    data_frames: u64,
    payload_bytes: u64,
    lost_before: u64,
    lost_behind: u64,
    /// Sent again, and captured the first time.
    retransmitted: u64,
    /// Sent again, and not captured the first time.
    late: u64,
    duplicate_acks: u64,
    acks: u64,
}

/// What one frame says.
#[derive(Default)]
struct Frame {
    from_server: bool,
    seq: u32,
    ack: u32,
    flags: u8,
    payload: usize,
    sack: Option<(u32, u32)>,
}

/// The file.
struct Capture {
    out: BufWriter<File>,
    snap: usize,
    now_ns: u64,
    frames: u64,
    wire_bytes: u64,
    payload: Vec<u8>,
    sums: [u32; 2],
}

fn write(path: &str, load: &Load, snap: usize, seed: u64) -> std::io::Result<()> {
    let mut chance = Chance(seed);
    let mut capture = Capture::create(path, snap, &mut chance)?;
    let mut truth = Truth::default();
    let mut connections: Vec<Connection> = (0..load.connections)
        .map(|number| Connection::new(number, &mut chance))
        .collect();
    for connection in &mut connections {
        connection.open(&mut capture, &mut truth)?;
    }
    let closing = 2 * connections.len() as u64;
    while capture.frames + closing < load.frames {
        let chosen = chance.below(connections.len() as u64) as usize;
        for _ in 0..=chance.below(load.run) {
            connections[chosen].segment(&mut capture, &mut truth, &mut chance, load.loss)?;
        }
    }
    for connection in &mut connections {
        connection.close(&mut capture, &mut truth)?;
    }
    capture.out.flush()?;
    println!(
        "{{\"frames\":{},\"wire_bytes\":{},\"connections\":{},\"data_frames\":{},\
         \"payload_bytes\":{},\"lost_before_capture\":{},\"lost_behind_capture\":{},\
         \"retransmitted_frames\":{},\"late_frames\":{},\"duplicate_acks\":{},\"acks\":{}}}",
        capture.frames,
        capture.wire_bytes,
        load.connections,
        truth.data_frames,
        truth.payload_bytes,
        truth.lost_before,
        truth.lost_behind,
        truth.retransmitted,
        truth.late,
        truth.duplicate_acks,
        truth.acks
    );
    Ok(())
}

impl Connection {
    fn new(number: u32, chance: &mut Chance) -> Self {
        let mut end = |address, port| End {
            address,
            port,
            next: chance.next() as u32,
            ip_id: chance.next() as u16,
        };
        // 10.0.0.0/9 are the clients, 10.128.0.0/28 the servers.
        let client = end(0x0a00_0001 + number, 32_768 + (number % 28_000) as u16);
        let server = end(0x0a80_0001 + number % 16, 443);
        Self {
            client,
            server,
            ..Self::default()
        }
    }

    fn send(&mut self, capture: &mut Capture, frame: &Frame) -> std::io::Result<()> {
        let (from, to) = if frame.from_server {
            (&mut self.server, &self.client)
        } else {
            (&mut self.client, &self.server)
        };
        from.ip_id = from.ip_id.wrapping_add(1);
        capture.write(from, to, frame)
    }

    /// A frame of the client that acknowledges up to `ack`.
    fn by_client(&self, ack: u32) -> Frame {
        Frame {
            seq: self.client.next,
            ack,
            flags: ACK,
            ..Frame::default()
        }
    }

    fn by_server(&self, seq: u32, flags: u8, payload: usize) -> Frame {
        Frame {
            from_server: true,
            seq,
            ack: self.client.next,
            flags,
            payload,
            sack: None,
        }
    }

    fn open(&mut self, capture: &mut Capture, truth: &mut Truth) -> std::io::Result<()> {
        let syn = Frame {
            flags: SYN,
            ..self.by_client(0)
        };
        self.send(capture, &syn)?;
        self.client.next = self.client.next.wrapping_add(1);
        self.send(capture, &self.by_server(self.server.next, SYN | ACK, 0))?;
        self.server.next = self.server.next.wrapping_add(1);
        self.send(capture, &self.by_client(self.server.next))?;
        let request = Frame {
            flags: PSH | ACK,
            payload: REQUEST,
            ..self.by_client(self.server.next)
        };
        self.send(capture, &request)?;
        self.client.next = self.client.next.wrapping_add(REQUEST as u32);
        self.acked = self.server.next;
        truth.acks += 1;
        truth.data_frames += 1;
        truth.payload_bytes += REQUEST as u64;
        Ok(())
    }

    /// The server's next segment and what it brings about.
    fn segment(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        chance: &mut Chance,
        loss: u64,
    ) -> std::io::Result<()> {
        let start = self.server.next;
        self.server.next = start.wrapping_add(SEGMENT as u32);
        if self.hole.is_none() && chance.below(1000) < loss {
            let captured = chance.below(2) == 0;
            self.hole = Some(Hole {
                start,
                left: 20 + chance.below(40),
                captured,
            });
            if captured {
                truth.lost_behind += 1;
                self.data(capture, truth, start, ACK)?;
            } else {
                truth.lost_before += 1;
            }
            return Ok(());
        }
        self.data(capture, truth, start, ACK)?;
        match &mut self.hole {
            Some(hole) => {
                hole.left -= 1;
                let (missing, captured, repair) = (hole.start, hole.captured, hole.left == 0);
                let after = missing.wrapping_add(SEGMENT as u32);
                let duplicate = Frame {
                    sack: Some((after, self.server.next)),
                    ..self.by_client(missing)
                };
                self.send(capture, &duplicate)?;
                // The first one may acknowledge a segment that was waiting for a second.
                if self.acked == missing {
                    truth.duplicate_acks += 1;
                } else {
                    truth.acks += 1;
                }
                self.acked = missing;
                if repair {
                    self.repair(capture, truth, missing, captured)?;
                }
            }
            None if self.unacked == 1 => self.acknowledge(capture, truth)?,
            None => self.unacked += 1,
        }
        Ok(())
    }

    /// Sends what was lost again.
    fn repair(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        missing: u32,
        captured: bool,
    ) -> std::io::Result<()> {
        self.hole = None;
        self.data(capture, truth, missing, PSH | ACK)?;
        if captured {
            truth.retransmitted += 1;
        } else {
            truth.late += 1;
        }
        self.acknowledge(capture, truth)
    }

    fn data(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        seq: u32,
        flags: u8,
    ) -> std::io::Result<()> {
        truth.data_frames += 1;
        truth.payload_bytes += SEGMENT as u64;
        self.send(capture, &self.by_server(seq, flags, SEGMENT))
    }

    fn acknowledge(&mut self, capture: &mut Capture, truth: &mut Truth) -> std::io::Result<()> {
        self.unacked = 0;
        self.acked = self.server.next;
        truth.acks += 1;
        self.send(capture, &self.by_client(self.server.next))
    }

    fn close(&mut self, capture: &mut Capture, truth: &mut Truth) -> std::io::Result<()> {
        if let Some(Hole {
            start, captured, ..
        }) = self.hole
        {
            self.repair(capture, truth, start, captured)?;
        }
        self.send(capture, &self.by_server(self.server.next, FIN | ACK, 0))?;
        let fin = Frame {
            flags: FIN | ACK,
            ..self.by_client(self.server.next.wrapping_add(1))
        };
        self.send(capture, &fin)
    }
}

impl Capture {
    fn create(path: &str, snap: usize, chance: &mut Chance) -> std::io::Result<Self> {
        let payload: Vec<u8> = (0..SEGMENT).map(|_| chance.next() as u8).collect();
        let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        // pcap 2.4, microseconds, Ethernet.
        for word in [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, snap as u32, 1] {
            out.write_all(&u32::to_le_bytes(word))?;
        }
        Ok(Self {
            out,
            snap,
            now_ns: EPOCH_NS,
            frames: 0,
            wire_bytes: 0,
            sums: [sum(&payload[..REQUEST]), sum(&payload)],
            payload,
        })
    }

    fn write(&mut self, from: &End, to: &End, frame: &Frame) -> std::io::Result<()> {
        let mut options = [1_u8; 40];
        let options = self.options(frame, &mut options);
        let tcp_len = 20 + options.len() + frame.payload;
        let mut header = [0_u8; 14 + 20 + 60];
        let header = &mut header[..34 + 20 + options.len()];

        let (near, far) = if frame.from_server { (1, 2) } else { (2, 1) };
        header[..14].copy_from_slice(&[2, 0, 0, 0, 0, far, 2, 0, 0, 0, 0, near, 8, 0]);
        let ip = &mut header[14..34];
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&(20 + tcp_len as u16).to_be_bytes());
        ip[4..6].copy_from_slice(&from.ip_id.to_be_bytes());
        ip[6] = 0x40; // Don't Fragment
        ip[8] = 64;
        ip[9] = 6;
        ip[12..16].copy_from_slice(&from.address.to_be_bytes());
        ip[16..20].copy_from_slice(&to.address.to_be_bytes());
        let addresses = sum(&ip[12..20]);
        let check = fold(sum(ip));
        ip[10..12].copy_from_slice(&check.to_be_bytes());

        let tcp = &mut header[34..];
        tcp[..2].copy_from_slice(&from.port.to_be_bytes());
        tcp[2..4].copy_from_slice(&to.port.to_be_bytes());
        tcp[4..8].copy_from_slice(&frame.seq.to_be_bytes());
        tcp[8..12].copy_from_slice(&frame.ack.to_be_bytes());
        tcp[12] = ((20 + options.len()) as u8 / 4) << 4;
        tcp[13] = frame.flags;
        tcp[14..16].copy_from_slice(&0xfff0_u16.to_be_bytes());
        tcp[20..].copy_from_slice(options);
        let payload = match frame.payload {
            0 => 0,
            REQUEST => self.sums[0],
            _ => self.sums[1],
        };
        let check = fold(addresses + 6 + tcp_len as u32 + sum(tcp) + payload);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        self.record(header, frame.payload)
    }

    fn options<'a>(&self, frame: &Frame, bytes: &'a mut [u8; 40]) -> &'a [u8] {
        let stamp = ((self.now_ns / 1_000_000) as u32).to_be_bytes();
        if frame.flags & SYN != 0 {
            bytes[..4].copy_from_slice(&[2, 4, 5, 180]); // MSS 1460
            bytes[4..8].copy_from_slice(&[4, 2, 8, 10]); // SACK permitted, timestamps
            bytes[8..12].copy_from_slice(&stamp);
            bytes[12..16].fill(0);
            bytes[16..20].copy_from_slice(&[1, 3, 3, 7]); // window scale
            return &bytes[..20];
        }
        bytes[2..4].copy_from_slice(&[8, 10]);
        bytes[4..8].copy_from_slice(&stamp);
        bytes[8..12].copy_from_slice(&stamp);
        let Some((left, right)) = frame.sack else {
            return &bytes[..12];
        };
        bytes[14..16].copy_from_slice(&[5, 10]);
        bytes[16..20].copy_from_slice(&left.to_be_bytes());
        bytes[20..24].copy_from_slice(&right.to_be_bytes());
        &bytes[..24]
    }

    fn record(&mut self, header: &[u8], payload: usize) -> std::io::Result<()> {
        let wire = header.len() + payload;
        let kept = wire.min(self.snap);
        self.now_ns += NANOS_PER_FRAME + (wire as f64 * NANOS_PER_BYTE) as u64;
        self.frames += 1;
        self.wire_bytes += wire as u64;
        let (seconds, micros) = (
            self.now_ns / 1_000_000_000,
            self.now_ns % 1_000_000_000 / 1000,
        );
        let mut record = [0_u8; 16];
        for (place, value) in [seconds, micros, kept as u64, wire as u64]
            .into_iter()
            .enumerate()
        {
            record[place * 4..][..4].copy_from_slice(&(value as u32).to_le_bytes());
        }
        self.out.write_all(&record)?;
        let shown = kept.min(header.len());
        self.out.write_all(&header[..shown])?;
        self.out.write_all(&self.payload[..kept - shown])
    }
}

/// Sum of 16-bit words; all lengths here are even.
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks_exact(2);
    words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum()
}

/// RFC 1071.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
