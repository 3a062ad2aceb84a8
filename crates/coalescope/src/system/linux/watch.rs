//! Watching this host.

mod opened;
mod screen;
mod table;

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coalescope_analysis::inputs;
use coalescope_host::names::key_of;
use coalescope_report::WatchReport;
use coalescope_watch::facts::{Level, Watched};
use coalescope_watch::live::{Options, WatchError, Watcher};
use coalescope_watch::record;

use super::host;
use crate::cli::{ExportArgs, LiveArgs, WatchArgs};
use crate::interrupt::stop_on_signal;
use crate::speech;
use crate::suggest::unknown;

/// How often the stop flag is checked.
const PAUSE: Duration = Duration::from_millis(50);

/// Watches for a time, or until Ctrl-C.
pub(crate) fn for_a_time(time: Duration, live: &LiveArgs) -> anyhow::Result<Watched> {
    host::refuse_unknown(live)?;
    let stop = stop_on_signal()?;
    let mut watcher = begin(options(live, &[]))?;
    speech::detail(|| format!("watching by {}", watcher.level().name()));
    wait(Instant::now(), time, &stop);
    seen(&mut watcher, live)
}

/// Watches until the end.
pub(crate) fn watched(args: &WatchArgs) -> anyhow::Result<Watched> {
    host::refuse_unknown(&args.live)?;
    let stop = stop_on_signal()?;
    let mut record = args.record.as_deref().map(Record::create).transpose()?;
    let mut watcher = begin(Options {
        connections: args.connections,
        level: args.level.map(Level::from),
        each_frame: args.exact,
        ..options(&args.live, &args.interfaces)
    })?;
    if screen::is_wanted(args) {
        return screen::show(watcher, args, record, &stop);
    }
    let begun = Instant::now();
    let mut next = args.every;
    loop {
        let until = args.duration.map_or(next, |all| all.min(next));
        let is_stopped = wait(begun, until, &stop);
        let is_last = is_stopped || args.duration.is_some_and(|all| until >= all);
        let look = seen(&mut watcher, &args.live)?;
        if let Some(record) = &mut record {
            record.write(&look)?;
        }
        if is_last {
            return Ok(look);
        }
        speech::tell(&WatchReport::line(&look));
        next += args.every;
    }
}

fn options(live: &LiveArgs, interfaces: &[String]) -> Options {
    Options {
        netns: live.netns.clone(),
        all_netns: live.all_netns,
        interfaces: interfaces.to_vec(),
        ..Options::default()
    }
}

/// Begins to watch without end; see [`Options::forget_after`].
pub(crate) fn begin_for(args: &ExportArgs, forget_after: Duration) -> anyhow::Result<Watcher> {
    begin(Options {
        forget_after: Some(forget_after),
        each_frame: args.exact,
        ..options(&args.live, &args.interfaces)
    })
}

fn begin(options: Options) -> anyhow::Result<Watcher> {
    match Watcher::begin(options) {
        Ok(watcher) => Ok(watcher),
        Err(WatchError::NoInterface { name, there }) => {
            let there = there.iter().map(String::as_str);
            bail!(unknown("interface", &name, there, "`ip link` lists them"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Waits until `until` after the beginning; true if `stop` was set before.
fn wait(begun: Instant, until: Duration, stop: &AtomicBool) -> bool {
    while begun.elapsed() < until {
        if stop.load(Ordering::Relaxed) {
            return true;
        }
        thread::sleep(PAUSE.min(until.saturating_sub(begun.elapsed())));
    }
    stop.load(Ordering::Relaxed)
}

/// Reads the counts, with interfaces named as from outside of namespaces.
pub(crate) fn seen(watcher: &mut Watcher, live: &LiveArgs) -> anyhow::Result<Watched> {
    let mut look = watcher.look()?;
    if let Some(space) = host::outside(live)? {
        from_outside(&mut look, &space);
    }
    Ok(look)
}

fn from_outside(look: &mut Watched, space: &str) {
    let interfaces = look.interfaces.iter_mut().map(|one| &mut one.name);
    let drops = look.drops.iter_mut();
    let ends = drops.flat_map(|drop| drop.interface.iter_mut().chain(&mut drop.from));
    for name in interfaces.chain(ends) {
        *name = key_of(Some(space), name);
    }
    for one in &mut look.connections {
        one.namespace.get_or_insert_with(|| space.to_owned());
    }
}

/// A file of looks.
struct Record {
    file: BufWriter<File>,
    name: String,
}

impl Record {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let name = inputs::display(path);
        let file = File::create(path).with_context(|| name.clone())?;
        let file = BufWriter::new(file);
        Ok(Self { file, name })
    }

    fn write(&mut self, look: &Watched) -> anyhow::Result<()> {
        let written: io::Result<()> = record::write(look, &mut self.file);
        written.with_context(|| self.name.clone())
    }
}
