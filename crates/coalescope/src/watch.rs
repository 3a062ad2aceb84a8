//! `coalescope watch`.

mod counted;
mod recorded;

use coalescope_knowledge::judge_watched;
use coalescope_report::WatchReport;

use crate::Outcome;
use crate::cli::{LiveArgs, WatchArgs};
use crate::made::{Saved, made};
use crate::output;
use crate::page::PageFile;
use crate::system::watch as live;

pub(crate) use counted::Counted;

pub(crate) fn run(args: &WatchArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let saved = Saved::open(&page, args.replay.as_slice());
    let watched = match &args.replay {
        Some(path) => recorded::last(path, args, &page)?,
        None => live::watched(args)?,
    };
    let mut findings = judge_watched(&watched);
    // Commands are left out for a namespace without a name, since none would be right.
    if has_no_name(&args.live) {
        for finding in &mut findings {
            finding.remedies.clear();
            finding.experiment = None;
        }
    }
    let report = WatchReport::new(watched, findings);
    output::print_with_page(&report, args.format, 0, &page, || made(saved.sources()))?;
    Ok(Outcome::judged(report.has_findings(), report.is_decided()))
}

/// Whether the watched namespace has only a path.
fn has_no_name(live: &LiveArgs) -> bool {
    let name = live.netns.as_ref();
    name.is_some_and(|name| name.contains('/'))
}
