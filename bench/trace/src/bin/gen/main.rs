//! Writes a capture of many bulk TCP transfers, interleaved, as a sniffer at the servers' side of a
//! lossy network would, and tells on standard output, as JSON, what is in it.
//!
//! Every connection sends from the server in segments of 1448 bytes with timestamps; the client
//! acknowledges every second one, sends duplicate ACKs with SACK for a hole, and gets it sent
//! again. Half of the losses happen before the capture, half behind it. Checksums are right.
//!
//! With a number of files the same traffic is captured at three points, in rotated files: at the servers, behind the first
//! half of the losses, and at the clients, behind the other half and an address translator.

mod capture;
mod connection;
mod point;

use std::process::ExitCode;

use capture::Capture;
use connection::{Connection, Truth};

const USAGE: &str = "usage: gen FILE FRAMES SNAPLEN CONNECTIONS LOSS_PER_MILLE SEED MAX_RUN [FILES]
  MAX_RUN: most segments of one connection in a row
  FILES: of each of three points; FILE is a folder then";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Result<Vec<u64>, _> = args.iter().skip(1).map(|arg| arg.parse()).collect();
    let numbers = numbers.unwrap_or_default();
    let (Some(path), &[frames, snap, connections, loss, seed, run, ref files @ ..]) =
        (args.first(), numbers.as_slice())
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if connections == 0 || run == 0 || connections > 1 << 22 || files.len() > 1 {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    let load = Load {
        frames,
        loss,
        run,
        connections: connections as u32,
        files: files.first().copied(),
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
    /// Of each of three points; else there is one point, and one file.
    files: Option<u64>,
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

fn write(path: &str, load: &Load, snap: usize, seed: u64) -> std::io::Result<()> {
    let mut chance = Chance(seed);
    let points = match load.files {
        Some(files) => point::on_a_path(path, load.frames * 101 / 100 / files.max(1) + 1, snap)?,
        None => vec![point::alone(path, snap)?],
    };
    let mut capture = Capture::new(points, &mut chance);
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
    capture.finish()?;
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
