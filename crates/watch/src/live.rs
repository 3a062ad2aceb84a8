//! Watching this host.

mod bpf;
mod compared;
mod connections;
mod counters;
mod idle;
mod perf;

use std::time::{Duration, Instant, SystemTime};

use coalescope_host::live;
use coalescope_host::model::Snapshot;

use crate::facts::{Level, Unseen, Watched};
use crate::kernel::{LoadError, Programs};
use crate::names::Names;
use crate::perf::{PerfError, Rings};
use bpf::Traced;
use connections::Connections;
use counters::Counters;
use perf::Sampled;

/// Names are read again at most this often.
const NAMES_EVERY: Duration = Duration::from_secs(1);
/// Names are read again at least this often, since interfaces are renamed.
const NAMES_LAST: Duration = Duration::from_secs(30);

/// Which part of this host to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A network namespace, by its name under /run/netns or by a path; `None` is that of the calling thread.
    pub netns: Option<String>,
    /// All network namespaces.
    pub all_netns: bool,
    /// Interfaces by name; all if empty.
    pub interfaces: Vec<String>,
    /// Whether to report TCP connections that end here.
    pub connections: bool,
    /// The best level to use, even where more is allowed; `None` is the best that is allowed.
    pub level: Option<Level>,
    /// For a watch without end: an interface that is gone and whose counters have not moved for this long is forgotten,
    /// to make room in the maps, and no samples of drops are kept.
    pub forget_after: Option<Duration>,
    /// Whether to count each frame, however fast they come and whatever that costs.
    pub each_frame: bool,
}

impl Options {
    fn host(&self) -> live::Options {
        live::Options {
            netns: self.netns.clone(),
            all_netns: self.all_netns,
        }
    }
}

/// Why this host cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// There is no such interface.
    #[error("there is no interface {name}")]
    NoInterface {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        there: Vec<String>,
    },
    /// The counts cannot be read.
    #[error("{0}")]
    Read(String),
}

impl From<LoadError> for WatchError {
    fn from(error: LoadError) -> Self {
        Self::Read(error.to_string())
    }
}

impl From<PerfError> for WatchError {
    fn from(error: PerfError) -> Self {
        Self::Read(error.to_string())
    }
}

/// A watch of this host; it ends when this value is dropped.
pub struct Watcher {
    options: Options,
    names: Names,
    named: Instant,
    source: Source,
    connections: Option<Connections>,
    unseen: Vec<Unseen>,
    /// The inode of the watched namespace.
    space: Option<u32>,
    /// Its random number, once it had a frame.
    mix: Option<u32>,
    begun: Instant,
    begun_unix_s: f64,
}

enum Source {
    Bpf(Box<Traced>),
    Perf(Box<Sampled>),
    Counters(Box<Counters>),
}

impl Watcher {
    /// Begins to count.
    ///
    /// # Errors
    ///
    /// If there is no interface of a name that was given.
    pub fn begin(options: Options) -> Result<Self, WatchError> {
        let names = Names::read(&options.host());
        for name in &options.interfaces {
            if !names.snapshot.interfaces.contains_key(name) {
                return Err(WatchError::NoInterface {
                    name: name.clone(),
                    there: names.snapshot.interfaces.keys().cloned().collect(),
                });
            }
        }
        let space = Names::main(&options.host());
        let (source, unseen) = source(&options, &names, space);
        let connections = options.connections.then(Connections::default);
        let mut watcher = Self {
            options,
            names,
            named: Instant::now(),
            source,
            connections,
            unseen,
            space,
            mix: None,
            begun: Instant::now(),
            begun_unix_s: unix_s(),
        };
        watcher.ask_connections();
        Ok(watcher)
    }

    /// Reads TCP connections; returns what is not visible of them.
    fn ask_connections(&mut self) -> Vec<Unseen> {
        let Some(connections) = &mut self.connections else {
            return Vec::new();
        };
        connections.look(&self.names.spaces(&self.options.host()))
    }

    /// That the watched namespace has no longer its name, or another one has that name.
    fn gone(&self) -> Option<Unseen> {
        let name = self.options.netns.as_ref()?;
        let is_same = Names::main(&self.options.host()) == self.space;
        (!is_same).then(|| Unseen {
            what: format!("network namespace {name}"),
            why: "it has gone since watching began; what was counted until then stays".to_owned(),
        })
    }

    /// Settings of this host, as last read.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.names.snapshot
    }

    /// What counts the frames: BPF, perf, or the kernel's counters.
    #[must_use]
    pub fn level(&self) -> Level {
        match &self.source {
            Source::Bpf(_) => Level::Bpf,
            Source::Perf(_) => Level::Perf,
            Source::Counters(_) => Level::Counters,
        }
    }

    /// All counts since the beginning.
    ///
    /// # Errors
    ///
    /// If the maps cannot be read.
    pub fn look(&mut self) -> Result<Watched, WatchError> {
        let mut watched = Watched {
            host: self.names.snapshot.name.clone(),
            kernel: self.names.snapshot.kernel.clone(),
            begun_unix_s: self.begun_unix_s,
            took_s: self.begun.elapsed().as_secs_f64(),
            level: self.level(),
            unseen: self.unseen.clone(),
            ..Watched::default()
        };
        let gone = self.gone();
        let is_gone = gone.is_some();
        watched.unseen.extend(gone);
        watched.unseen.extend(self.ask_connections());
        if let Some(connections) = &self.connections {
            watched.connections = connections.moved();
        }
        match &mut self.source {
            Source::Bpf(traced) => {
                let mut looked = traced.look()?;
                if self.space.is_some() && !self.options.all_netns {
                    let first = looked.places().next().filter(|_| !is_gone);
                    self.mix = self.mix.or(first.map(|place| place.mix));
                    looked.keep(self.mix);
                }
                // Names are read after the counts: each interface with counts then has a name, unless it is gone.
                let age = self.named.elapsed();
                let is_unknown = age >= NAMES_EVERY && looked.has_unknown(&self.names);
                let is_read_again = is_unknown || age >= NAMES_LAST;
                self.names.learn(looked.places(), is_read_again);
                if is_read_again {
                    self.names.read_again(&self.options.host());
                    self.named = Instant::now();
                }
                traced.describe(&looked, &self.names, &mut watched);
                if let Some(long) = self.options.forget_after {
                    let idle = traced.forget(&looked, &self.names, long)?;
                    self.names.forget(&idle);
                }
            }
            Source::Perf(sampled) => {
                let read = sampled.look()?;
                let age = self.named.elapsed();
                let is_unknown = age >= NAMES_EVERY && sampled.has_unknown(&read);
                if is_unknown || age >= NAMES_LAST {
                    self.names.read_again(&self.options.host());
                    sampled.name(&read, &self.names);
                    self.named = Instant::now();
                }
                sampled.describe(&read, &self.names, &mut watched);
            }
            Source::Counters(counters) => {
                // The counters are part of a snapshot: each look reads the host anew.
                self.names = Names::read(&self.options.host());
                counters.describe(&self.names.snapshot, &mut watched);
            }
        }
        watched.keep_interfaces(&self.options.interfaces);
        Ok(watched)
    }
}

/// The best source that this host allows, or the one that was asked for, and what it does not show.
fn source(options: &Options, names: &Names, space: Option<u32>) -> (Source, Vec<Unseen>) {
    let why = match options.level {
        None | Some(Level::Bpf) => match bpf(options, names, space) {
            Ok(found) => return found,
            Err(error) => error.to_string(),
        },
        Some(asked) => format!("only {} asked for", perf::were(asked)),
    };
    if options.level == Some(Level::Counters) {
        return counted(names, &why);
    }
    match Rings::open() {
        Ok(rings) => {
            let unseen = perf::unseen(&why, rings.has_reasons());
            let sampled = Sampled::new(rings, names, options.all_netns);
            (Source::Perf(Box::new(sampled)), unseen)
        }
        Err(error) => counted(names, &format!("{why}; and {error}")),
    }
}

fn bpf(
    options: &Options,
    names: &Names,
    space: Option<u32>,
) -> Result<(Source, Vec<Unseen>), LoadError> {
    let space = space.filter(|_| !options.all_netns);
    let programs = Programs::load(space, names.count(), options.each_frame)?;
    let traced = Traced::new(programs, options.forget_after.is_none());
    let unseen = traced.unseen();
    Ok((Source::Bpf(Box::new(traced)), unseen))
}

fn counted(names: &Names, why: &str) -> (Source, Vec<Unseen>) {
    let counters = Counters::begin(&names.snapshot);
    (Source::Counters(Box::new(counters)), counters::unseen(why))
}

fn unix_s() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64()
}
