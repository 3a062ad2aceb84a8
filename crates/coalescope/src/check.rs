//! `coalescope check` and `coalescope collect`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use coalescope_analysis::inputs;
use coalescope_host::sources::Limits;
use coalescope_knowledge::rules::{Baseline, Ignore, Rules};
use coalescope_report::CheckReport;

use crate::Outcome;
use crate::cli::{CheckArgs, CollectArgs, FailOn};
use crate::confine::{self, Needs};
use crate::hosts::Asked;
use crate::made::{Saved, made};
use crate::page::PageFile;
use crate::system::changes::mention_left;
use crate::system::{host, memory};
use crate::watch::Counted;
use crate::{hosts, output, speech};

pub(crate) fn run(args: &CheckArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    if args.from.is_empty() {
        mention_left();
    }
    let counted = Counted::begin(&args.watched, &args.live)?;
    let asked = Asked::of(&args.from, &args.live)?;
    let saved = Saved::open(&page, &args.from);
    let baseline = args.baseline.as_deref().map(Earlier::open).transpose()?;
    confine::enter(
        &Needs::of_page(&page)
            .and_folders(asked.given())
            .and_rules(&args.rules),
    );
    let rules = hosts::rules(&args.rules)?;
    let ignore = ignored(&args.ignore, &rules)?;
    let baseline = baseline.map(Earlier::read).transpose()?;
    let limits = Limits {
        counters: rules.counters(),
        ..Limits::default()
    };
    let (snapshots, files) = asked.with_files(&limits)?;
    let mut named = hosts::checked(&rules, &snapshots);
    let watched = counted.join(&mut named)?;
    let mut report = CheckReport::of(snapshots, named);
    report.watched(watched);
    report.read_from(files);
    report.set_aside(&ignore, baseline.as_ref());
    let written = page.write(&report, || made(saved.sources()));
    output::print_check(&report, args.format, args.fail_on)?;
    written?;
    Ok(outcome(&report, args.fail_on))
}

fn ignored(texts: &[String], rules: &Rules) -> anyhow::Result<Vec<Ignore>> {
    let parse = |text: &String| {
        let ignore = Ignore::parse(text, rules);
        ignore.map_err(|error| anyhow!("--ignore: {error}"))
    };
    texts.iter().map(parse).collect()
}

/// An earlier check's JSON: opened first, read once rights are given up.
struct Earlier {
    path: PathBuf,
    file: File,
}

impl Earlier {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| inputs::display(path))?;
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    fn read(mut self) -> anyhow::Result<Baseline> {
        let name = inputs::display(&self.path);
        memory::reading(name.clone());
        let mut text = Vec::new();
        self.file
            .read_to_end(&mut text)
            .with_context(|| name.clone())?;
        Baseline::parse(&text).map_err(|error| {
            anyhow!("{name} is no baseline: give what `coalescope check --format json` printed ({error})")
        })
    }
}

fn outcome(report: &CheckReport, fail_on: FailOn) -> Outcome {
    let has_findings = report.blames().any(|blame| fail_on.includes(blame));
    let is_decided = report.is_decided() || fail_on == FailOn::Never;
    Outcome::judged(has_findings, is_decided)
}

/// Prints the settings of this host, as a bundle that `--from` reads.
pub(crate) fn collect(args: &CollectArgs) -> anyhow::Result<Outcome> {
    let snapshot = host::collect(&args.live)?;
    for unread in &snapshot.unread {
        speech::tell(&format!("warning: {}: {}", unread.what, unread.why));
    }
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &snapshot).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(Outcome::Done)
}
