//! A program between two TUN devices, as a VPN is: what it gains from merging what it writes.
//!
//! `cargo run --release -p coalescope-lab --example tun_forward [MEGABYTES] [ROUNDS]`, as root or in
//! `unshare -Urn`. One TCP stream between two network namespaces goes through it, with merging and
//! without, in turn; the medians are printed, and their ratio.

mod forward;
mod rooms;

use forward::Counts;
use rooms::{Error, available, transfer};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| arguments.next().map_or(Ok(otherwise), |word| word.parse());
    let (megabytes, rounds) = (number(500)?, number(5)?);
    available()?;
    let mut rates = [Vec::new(), Vec::new()];
    let mut counts = [Counts::default(); 2];
    for _ in 0..rounds {
        for merges in [false, true] {
            let done = transfer(megabytes * 1_000_000, merges)?;
            rates[usize::from(merges)].push(done.gbps);
            counts[usize::from(merges)] = done.counts;
        }
    }
    for (name, at) in [("segment by segment", 0), ("merged", 1)] {
        let Counts {
            segments, written, ..
        } = counts[at];
        let carried = segments as f64 / written.max(1) as f64;
        println!(
            "{name:<20} {:>6.2} Gbit/s  {carried:>5.1} segments a packet",
            median(&mut rates[at])
        );
    }
    println!(
        "merging makes it {:.2} times as fast",
        median(&mut rates[1]) / median(&mut rates[0])
    );
    Ok(())
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
