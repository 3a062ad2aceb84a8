//! `coalescope replay`.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use coalescope_analysis::inputs::Input;
use coalescope_replay::{Options, Output};
use coalescope_report::{ReplayReport, Source};

use crate::Outcome;
use crate::cli::ReplayArgs;
use crate::confine::{self, Needs};
use crate::interrupt;
use crate::made::made;
use crate::output;
use crate::page::PageFile;
use crate::progress::Meter;
use crate::speech::{self, took};
use crate::system::memory;

pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<Outcome> {
    memory::bound(args.memory);
    let page = PageFile::check(&args.page)?;
    let input = Input::open(&args.file);
    confine::enter(&Needs::of_page(&page).and_output(args.write.as_deref()));
    let report = report(args, &input)?;
    let made = || {
        let source = Source {
            about: None,
            name: input.name.clone(),
            is: input.described(&AtomicBool::new(false)),
        };
        made(vec![source])
    };
    output::print_with_page(&report, args.format, args.connections, &page, made)?;
    Ok(Outcome::Done)
}

fn report(args: &ReplayArgs, input: &Input) -> anyhow::Result<ReplayReport> {
    let interrupt = interrupt::listen()?;
    // The input is opened first: an unreadable input must not cost the existing output file.
    memory::reading(input.name.clone());
    let source = input.source(&interrupt)?;
    let create = |path: &std::path::PathBuf| Output::create(path, &args.file);
    let written = args.write.as_ref().map(create).transpose()?;
    let options = Options {
        interval_us: args.interval_us,
        mtu_bytes: args.mtu,
        stop: interrupt.flag(),
        ..Options::new(args.profile)
    };
    let begun = Instant::now();
    speech::detail(|| format!("reading {}", input.name));
    let mut meter = Meter::new(source.size_bytes());
    let show = &mut |progress| meter.show(progress);
    let facts = coalescope_replay::replay(source, options, written, show);
    meter.clear();
    speech::detail(|| format!("read all of it in {}", took(begun)));
    if interrupt.is_set() {
        speech::tell("warning: interrupted: this is what was read until then");
    }
    Ok(ReplayReport::new(facts?))
}
