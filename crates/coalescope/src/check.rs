//! `coalescope check` and `coalescope collect`.

use std::io::{self, Write};

use coalescope_host::drift::drift;
use coalescope_report::CheckReport;

use crate::Outcome;
use crate::cli::{CheckArgs, CollectArgs, FailOn};
use crate::confine::{self, Needs};
use crate::hosts::Asked;
use crate::page::PageFile;
use crate::{hosts, memory, output, speech};

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    #[cfg(target_os = "linux")]
    if args.from.is_empty() {
        crate::places::mention_left();
    }
    let asked = Asked::of(&args.from, &args.live)?;
    confine::enter(
        &Needs::of_page(&page)
            .and_folders(asked.given())
            .and_rules(&args.rules),
    );
    let rules = hosts::rules(&args.rules)?;
    let snapshots = asked.snapshots()?;
    let checked = hosts::checked(&rules, &snapshots);
    let drift = drift(&snapshots);
    let report = CheckReport::new(snapshots.into_iter().zip(checked).collect(), drift);
    let written = page.write(|out| report.write_html(out));
    output::print_check(&report, args.format)?;
    written?;
    Ok(outcome(&report, args.fail_on))
}

fn outcome(report: &CheckReport, fail_on: FailOn) -> Outcome {
    let has_findings = report.blames().any(|blame| fail_on.includes(blame));
    let is_decided = report.is_decided() || fail_on == FailOn::Never;
    Outcome::judged(has_findings, is_decided)
}

/// What `fix` would do here: it applies nothing on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn instead_of_fix(args: crate::cli::FixArgs) -> anyhow::Result<Outcome> {
    use crate::cli::{CheckFormat, HostFormat, ReportArgs};

    if args.apply || args.persist || args.verify {
        anyhow::bail!(
            "fix changes settings of Linux only: without --apply it shows what would mend this host"
        );
    }
    speech::tell("nothing is changed on this system: the commands below are what fix would do");
    run(&CheckArgs {
        fail_on: FailOn::default(),
        from: args.from,
        live: args.live,
        rules: args.rules,
        memory: args.memory,
        format: match args.format {
            HostFormat::Text => CheckFormat::Text,
            HostFormat::Json => CheckFormat::Json,
        },
        page: ReportArgs { report: None },
    })
}

/// Prints what this host is set to, as a bundle that `--from` reads.
pub(crate) fn collect(args: &CollectArgs) -> anyhow::Result<Outcome> {
    let snapshot = hosts::collect(&args.live)?;
    for unread in &snapshot.unread {
        speech::tell(&format!("warning: {}: {}", unread.what, unread.why));
    }
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &snapshot).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Outcome::Done)
}
