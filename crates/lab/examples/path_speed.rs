//! How fast a wire of the lab carries TCP, beside the kernel's own bridge between two veth pairs, in
//! one run: with offloads (frames of up to 64 KB), and frame by frame (1,500 bytes).
//!
//! `cargo run --release -p coalescope-lab --example path_speed [SECONDS] [ROUNDS]`, as root or in
//! `unshare -Urn`. Rounds are interleaved; median and lowest are printed.

use coalescope_lab::path::{Bulk, Error, Lane, Link, Nic, Path, Plan, Side, Wire};
use gro::Profile;
use std::time::Duration;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |otherwise| arguments.next().map_or(Ok(otherwise), |word| word.parse());
    let (seconds, rounds) = (number(2)?, number(3)?);
    let cases = cases()?;
    let mut rates = vec![Vec::new(); cases.len()];
    for _ in 0..rounds {
        for (case, rates) in cases.iter().zip(&mut rates) {
            rates.push(measure(&case.path, seconds)?);
        }
    }
    println!(
        "{:<48} {:>8} {:>8} {:>8}",
        "TCP, one stream, Gbit/s", "median", "lowest", "wanted"
    );
    cases
        .iter()
        .zip(rates)
        .for_each(|(case, rates)| print(case, rates));
    Ok(())
}

/// A path to be measured, and the least that it has to carry (issue 6).
struct Case {
    name: &'static str,
    path: Path,
    wanted_gbps: Option<f64>,
}

fn print(case: &Case, mut rates: Vec<f64>) {
    rates.sort_by(f64::total_cmp);
    let rate = |at: usize| rates.get(at).copied().unwrap_or_default();
    let wanted = case.wanted_gbps.map(|wanted| format!("{wanted:.1}"));
    let (median, lowest) = (rate(rates.len() / 2), rate(0));
    let (name, wanted) = (case.name, wanted.unwrap_or_default());
    println!("{name:<48} {median:>8.2} {lowest:>8.2} {wanted:>8}");
}

fn cases() -> Result<Vec<Case>, Error> {
    let wire = || Wire::new(("client", "eth0"), ("server", "eth0"));
    let case = |name, plan: Plan, single, wanted_gbps| {
        let path = started(plan, single)?;
        Ok::<_, Error>(Case {
            name,
            path,
            wanted_gbps,
        })
    };
    let nic = Nic::new("nic", Side::Client, Profile::linux_gro());
    let delay = Link::both("wan", Lane::delayed(Duration::from_millis(1)));
    Ok(vec![
        case(
            "kernel's bridge, two veths, offloads on",
            bridge(),
            false,
            None,
        )?,
        case(
            "wire of two TAPs, offloads on",
            plan(wire()),
            false,
            Some(5.0),
        )?,
        case(
            "wire with 1 ms each way, offloads on",
            plan(wire().with(delay)),
            false,
            None,
        )?,
        case(
            "kernel's bridge, two veths, frame by frame",
            bridge(),
            true,
            None,
        )?,
        case(
            "wire of two TAPs, frame by frame",
            plan(wire()),
            true,
            Some(1.0),
        )?,
        case(
            "wire with a card that merges, frame by frame",
            plan(wire().with(nic)),
            true,
            None,
        )?,
    ])
}

fn plan(wire: Wire) -> Plan {
    let mut plan = Plan::new();
    plan.wire(wire);
    plan
}

fn bridge() -> Plan {
    let mut plan = Plan::new();
    plan.veth(("client", "eth0"), ("box", "p0"), 1500)
        .veth(("box", "p1"), ("server", "eth0"), 1500)
        .bridge("box", "br0", &["p0", "p1"]);
    plan
}

fn started(mut plan: Plan, single: bool) -> Result<Path, Error> {
    for (room, address) in [("client", CLIENT), ("server", SERVER)] {
        plan.address(room, "eth0", address, 24);
        // A delayed path needs windows of more than the default 6 MB.
        plan.setting(room, "net/ipv4/tcp_rmem", "4096 131072 67108864")
            .setting(room, "net/ipv4/tcp_wmem", "4096 65536 67108864");
        if single {
            plan.single_frames(room, "eth0");
        }
    }
    plan.start()
}

/// The server sends: Gbit/s.
fn measure(path: &Path, seconds: u64) -> Result<f64, Error> {
    let bulk = Bulk::download((SERVER, 5001), Duration::from_secs(seconds));
    let transfer = bulk.run(path.room("client")?, path.room("server")?)?;
    Ok(transfer.bps() / 1e9)
}
