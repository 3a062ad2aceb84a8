//! `coalescope lab wire`, and the fetch command of the lab's measurements.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use coalescope_lab::wire::{DEFAULT_HOLD, Direction, Merger, Unchanged, Wire};
use coalescope_lab::{Link, http};
use coalescope_replay::facts::Reasons;
use coalescope_report::{WireForward, WireReport, WireWay};
use gro::{Counters, Reason};

use crate::Outcome;
use crate::cli::lab::DEFAULT_HOLD_US;
use crate::cli::{GetArgs, WireArgs};
use crate::interrupt::stop_on_signal;
use crate::system::linux::meant::interface;
use crate::{output, speech};

const _: () = assert!(DEFAULT_HOLD.as_micros() == DEFAULT_HOLD_US as u128);

/// Runs the wire until a signal ends it.
pub(crate) fn wire(args: &WireArgs) -> anyhow::Result<Outcome> {
    let [input, output] = [link(&args.input)?, link(&args.output)?];
    if input.index() == output.index() {
        bail!("--in and --out are the same interface, {}", args.input);
    }
    let stop = stop_on_signal()?;
    let mut merger = Merger::new(&args.profile, Duration::from_micros(args.hold_us));
    let mut unchanged = Unchanged;
    let wire = Wire::open([&input, &output], [&mut merger, &mut unchanged])?;
    let start = Instant::now();
    speech::tell(&format!(
        "{} and {} are joined; Ctrl-C ends it",
        args.input, args.output
    ));
    let ways = wire.run(&stop)?;
    let report = report(args, start.elapsed(), ways, merger.counters());
    output::print(&report, args.format, 0)?;
    Ok(Outcome::Done)
}

/// An interface; the error has the name that was probably meant.
fn link(name: &str) -> anyhow::Result<Link> {
    let found = Link::named(name);
    found.map_err(|error| anyhow!("{error}{}", interface(name, None)))
}

/// Fetches from the lab's server; prints the fields of curl's `-w '%{json}'`.
pub(crate) fn get(args: &GetArgs) -> anyhow::Result<Outcome> {
    let got = http::get(args.server, args.bytes, Duration::from_secs_f64(args.limit))?;
    println!(
        "{{\"speed_download\":{:.0},\"size_download\":{},\"time_total\":{:.6}}}",
        got.bps() / 8.0,
        got.bytes,
        got.time.as_secs_f64()
    );
    Ok(Outcome::Done)
}

fn report(
    args: &WireArgs,
    time: Duration,
    [forward, back]: [Direction; 2],
    counters: &Counters,
) -> WireReport {
    WireReport {
        profile: args.profile.name.to_owned(),
        profile_source: args.profile.source.to_owned(),
        hold_us: args.hold_us,
        input: args.input.clone(),
        output: args.output.clone(),
        seconds: time.as_secs_f64(),
        warnings: [
            warnings(&forward, &args.input, &args.output),
            warnings(&back, &args.output, &args.input),
        ]
        .concat(),
        forward: WireForward {
            way: way(&forward),
            merged_frames: counters.merged_out,
            segments: counters.merged_in + counters.merged_out,
            absorbed_frames: counters.absorbed,
            reasons: reasons(counters),
        },
        back: way(&back),
    }
}

fn way(direction: &Direction) -> WireWay {
    WireWay {
        frames_in: direction.received,
        frames_out: direction.sent,
        refused_frames: direction.refused,
        already_merged_frames: direction.large,
        offloaded_frames: direction.checksummed,
    }
}

fn reasons(counters: &Counters) -> Reasons {
    let counts = |of: &dyn Fn(Reason) -> u64| {
        let all = Reason::ALL
            .iter()
            .map(|&reason| (reason.name(), of(reason)));
        all.filter(|&(_, n)| n > 0).collect::<BTreeMap<_, _>>()
    };
    Reasons {
        passed: counts(&|reason| counters.passed(reason)),
        refused: counts(&|reason| counters.refused(reason)),
        flushed: counts(&|reason| counters.flushed(reason)),
    }
}

fn warnings(direction: &Direction, from: &str, to: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if direction.refused > 0 {
        warnings.push(format!(
            "{to} did not take {}: longer than its MTU, or its queue was full",
            frames(direction.refused)
        ));
    }
    if direction.large > 0 {
        warnings.push(format!(
            "{} on {from} held several segments already: turn its GRO off (ethtool -K {} \
             gro off), and TSO and GSO where they come from",
            frames(direction.large),
            coalescope_host::safe::sh(from)
        ));
    }
    warnings
}

fn frames(n: u64) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} frame{s}")
}
