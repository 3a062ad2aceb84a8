//! The least that any analyser of a capture has to do: read the file with `read`, walk its record
//! headers and look at the packet headers behind them. Prints what it counted.

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::process::ExitCode;

const BUFFER: usize = 1 << 20;
const RECORD: usize = 16;
/// Ethernet, IPv4 and TCP without options.
const HEADERS: usize = 54;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: floor FILE (pcap, little-endian)");
        return ExitCode::from(2);
    };
    match walk(&path) {
        Ok((frames, bytes)) => {
            println!("{frames} frames, {bytes} bytes");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn walk(path: &str) -> std::io::Result<(u64, u64)> {
    let mut file = File::open(path)?;
    file.read_exact(&mut [0; 24])?;
    let mut buffer = vec![0; BUFFER];
    let (mut begin, mut end) = (0, 0);
    let (mut frames, mut bytes, mut seen) = (0, 0, 0);
    loop {
        while let Some(record) = buffer[begin..end].first_chunk::<RECORD>() {
            let kept = u32::from_le_bytes([record[8], record[9], record[10], record[11]]) as usize;
            let Some(packet) = buffer[begin..end].get(RECORD..RECORD + kept) else {
                break;
            };
            let headers = packet[..kept.min(HEADERS)].chunks_exact(8);
            seen ^= headers.fold(0, |all, word| {
                all ^ u64::from_le_bytes(word.try_into().unwrap_or_default())
            });
            frames += 1;
            bytes += kept as u64;
            begin += RECORD + kept;
        }
        buffer.copy_within(begin..end, 0);
        (begin, end) = (0, end - begin);
        if end == buffer.len() {
            buffer.resize(2 * end, 0);
        }
        match file.read(&mut buffer[end..])? {
            0 => break,
            more => end += more,
        }
    }
    black_box(seen);
    Ok((frames, bytes))
}
