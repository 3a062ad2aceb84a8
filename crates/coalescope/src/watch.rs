//! `coalescope watch`.

#[cfg(target_os = "linux")]
mod live;
mod recorded;

use coalescope_knowledge::judge_watched;
use coalescope_report::WatchReport;
use coalescope_watch::facts::Watched;

use crate::Outcome;
use crate::cli::WatchArgs;
use crate::output;

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Outcome> {
    let watched = match &args.replay {
        Some(path) => recorded::last(path, args)?,
        None => now(args)?,
    };
    let mut findings = judge_watched(&watched);
    // Commands for a namespace without a name could not be given.
    if args
        .live
        .netns
        .as_ref()
        .is_some_and(|name| name.contains('/'))
    {
        for finding in &mut findings {
            finding.remedies.clear();
            finding.experiment = None;
        }
    }
    let report = WatchReport::new(watched, findings);
    output::print(&report, args.format, 0)?;
    Ok(Outcome::judged(report.has_findings(), report.is_decided()))
}

#[cfg(target_os = "linux")]
fn now(args: &WatchArgs) -> anyhow::Result<Watched> {
    live::watched(args)
}

#[cfg(not(target_os = "linux"))]
fn now(_: &WatchArgs) -> anyhow::Result<Watched> {
    anyhow::bail!("a live look is there on Linux only: give what was recorded there to --replay")
}
