//! `coalescope replay`.

use std::time::Instant;

use coalescope_replay::{Options, Output};
use coalescope_report::ReplayReport;

use crate::Outcome;
use crate::cli::ReplayArgs;
use crate::inputs;
use crate::interrupt::Interrupt;
use crate::memory;
use crate::output;
use crate::page::PageFile;
use crate::progress::Meter;
use crate::speech::{self, took};

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    let report = report(args)?;
    let written = page.write(|out| report.write_html(out));
    output::print_replay(&report, args.format, args.connections)?;
    written?;
    Ok(Outcome::Done)
}

fn report(args: &ReplayArgs) -> anyhow::Result<ReplayReport> {
    let interrupt = Interrupt::listen()?;
    // In this order: what cannot be read should not cost the file that is written.
    let source = inputs::open_file(&args.file, &interrupt)?;
    memory::reading(inputs::display(&args.file));
    let create = |path: &std::path::PathBuf| Output::create(path, &args.file);
    let written = args.write.as_ref().map(create).transpose()?;
    let options = Options {
        interval_us: args.interval_us,
        mtu_bytes: args.mtu,
        stop: interrupt.flag(),
        ..Options::new(args.profile)
    };
    let begun = Instant::now();
    speech::detail(|| format!("reading {}", args.file.display()));
    let mut meter = Meter::new(source.size_bytes());
    let tell = &mut |progress| meter.tell(progress);
    let facts = coalescope_replay::replay(source, options, written, tell);
    meter.clear();
    speech::detail(|| format!("read all of it in {}", took(begun)));
    if interrupt.is_set() {
        speech::tell("warning: interrupted: this is what was read until then");
    }
    Ok(ReplayReport::new(facts?))
}
