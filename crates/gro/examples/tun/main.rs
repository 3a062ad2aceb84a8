//! A program between two TUN devices, as a VPN is: what it gains from merging what it writes.
//!
//! `cargo run --release -p gro --example tun [MEGABYTES] [ROUNDS]`, as root or in `unshare -Urn`, on
//! Linux. One TCP stream between two network namespaces goes through it, with merging and without, in
//! turn; the medians are printed, and their ratio.

#[cfg(target_os = "linux")]
mod forward;
#[cfg(target_os = "linux")]
mod stream;

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("TUN devices with virtio-net headers, and network namespaces, are Linux's.");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), stream::Error> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise: u64| arguments.next().map_or(Ok(otherwise), |word| word.parse());
    let (megabytes, rounds) = (number(500)?, number(5)?);
    stream::available()?;
    let mut rates = [Vec::new(), Vec::new()];
    let mut counts = [forward::Counts::default(); 2];
    for _ in 0..rounds {
        for merges in [false, true] {
            let done = stream::transfer(megabytes * 1_000_000, merges)?;
            rates[usize::from(merges)].push(done.gbps);
            counts[usize::from(merges)] = done.counts;
        }
    }
    for (name, at) in [("segment by segment", 0), ("merged", 1)] {
        let carried = counts[at].segments as f64 / counts[at].written.max(1) as f64;
        let rate = median(&mut rates[at]);
        println!("{name:<20} {rate:>6.2} Gbit/s  {carried:>5.1} segments a packet");
    }
    let gain = median(&mut rates[1]) / median(&mut rates[0]);
    println!("merging makes it {gain:.2} times as fast");
    Ok(())
}

#[cfg(target_os = "linux")]
fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
