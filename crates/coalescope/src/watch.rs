//! `coalescope watch`.

mod counted;
#[cfg(target_os = "linux")]
mod live;
mod recorded;

use std::time::Duration;

use coalescope_knowledge::judge_watched;
use coalescope_report::WatchReport;
use coalescope_watch::facts::Watched;

use crate::Outcome;
use crate::cli::{LiveArgs, WatchArgs};
use crate::output;

pub(crate) use counted::Counted;

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Outcome> {
    let watched = match &args.replay {
        Some(path) => recorded::last(path, args)?,
        None => now(args)?,
    };
    let mut findings = judge_watched(&watched);
    // Commands for a namespace without a name could not be given.
    if has_no_name(&args.live) {
        for finding in &mut findings {
            finding.remedies.clear();
            finding.experiment = None;
        }
    }
    let report = WatchReport::new(watched, findings);
    output::print(&report, args.format, 0)?;
    Ok(Outcome::judged(report.has_findings(), report.is_decided()))
}

/// Whether a namespace is watched that has a path only.
fn has_no_name(live: &LiveArgs) -> bool {
    let name = live.netns.as_ref();
    name.is_some_and(|name| name.contains('/'))
}

#[cfg(target_os = "linux")]
fn now(args: &WatchArgs) -> anyhow::Result<Watched> {
    live::watched(args)
}

/// What was counted in a time on this host.
#[cfg(target_os = "linux")]
pub(crate) fn for_a_time(time: Duration, live: &LiveArgs) -> anyhow::Result<Watched> {
    live::for_a_time(time, live)
}

#[cfg(not(target_os = "linux"))]
fn now(_: &WatchArgs) -> anyhow::Result<Watched> {
    anyhow::bail!("a live look is there on Linux only: give what was recorded there to --replay")
}

/// What was counted in a time on this host.
#[cfg(not(target_os = "linux"))]
pub(crate) fn for_a_time(_: Duration, _: &LiveArgs) -> anyhow::Result<Watched> {
    anyhow::bail!("a live look is there on Linux only: give what was recorded there to --watched")
}
