//! One run: the workload, its figures, and the counters that moved meanwhile.

use super::Error;
use super::plan::Checked;
use crate::counters::{self, Counters, Moved};
use crate::effects::{Metric, PEER, Sense};
use crate::figures::{self, Figure, Source};
use crate::record::{Asked, Run};
use coalescope_change::settings::What;
use coalescope_change::workload::{self, End, Ended, Vantage, Workload};
use coalescope_host::names::of_key;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Figures of the host whose interface is changed; all others are of the workload's host.
const OF_THE_HOST: [&str; 4] = ["cpu_", "service_demand", "softnet_", "interface_"];

pub(super) struct Measuring {
    workload: Workload,
    sources: Vec<Source>,
    sense: Option<Sense>,
    peer: Option<Vantage>,
    /// The vantage and name of the interface whose bytes are counted.
    interface: Option<(Vantage, String)>,
    ignore_failure: bool,
}

/// Counters of one place before a run.
struct Before {
    place: Vantage,
    counters: Counters,
}

impl Before {
    fn read(place: &Vantage) -> Result<Self, Error> {
        Ok(Self {
            place: place.clone(),
            counters: counters::read(place)?,
        })
    }

    fn moved(&self) -> Result<Moved, Error> {
        Ok(counters::read(&self.place)?.since(&self.counters))
    }
}

impl Measuring {
    pub(super) fn new(checked: &Checked, asked: &Asked) -> Self {
        let named = asked.interface.as_deref().map(place_of);
        let changed = || {
            checked.settings().into_iter().find_map(|setting| {
                let namespace = setting.subject.namespace;
                match setting.subject.what {
                    What::Interface { name, .. } => Some((vantage(namespace), name)),
                    What::Sysctl(_) => None,
                }
            })
        };
        Self {
            workload: checked.workload.clone(),
            sources: checked.sources.clone(),
            sense: asked.sense,
            peer: checked.peer.clone(),
            interface: named.or_else(changed),
            ignore_failure: asked.ignore_failure,
        }
    }

    /// Makes one run, and ends it when `left` is over; `None` if `stop` was set. The run has no figures yet.
    pub(super) fn run(
        &self,
        vantage: &Vantage,
        left: Option<Duration>,
        stop: &AtomicBool,
    ) -> Result<Option<(Run, Ended)>, Error> {
        let elsewhere = self
            .interface
            .as_ref()
            .filter(|(place, _)| place != vantage);
        let before = Before::read(vantage)?;
        let at_interface = elsewhere
            .map(|(place, _)| Before::read(place))
            .transpose()?;
        let at_peer = self.peer.as_ref().map(Before::read).transpose()?;
        let workload = Workload {
            timeout: self.workload.timeout.into_iter().chain(left).min(),
            ..self.workload.clone()
        };
        let ended = workload::run(&workload, vantage, stop)?;
        let mut run = blank(ended.wall_s);
        run.moved = Some(before.moved()?);
        run.interface_moved = at_interface.map(|before| before.moved()).transpose()?;
        run.peer_moved = at_peer.map(|before| before.moved()).transpose()?;
        if ended.end == End::Stopped {
            return Ok(None);
        }
        Ok(Some((run, ended)))
    }

    /// Reads the figures of a run, or records why it has none. The metrics are those of the first run that has figures.
    pub(super) fn judge(
        &self,
        run: &mut Run,
        ended: &Ended,
        metrics: &mut Vec<Metric>,
    ) -> Result<(), Error> {
        let figures = match problem(ended, self.workload.timeout) {
            Some(why) => Err(Error::Run { why }),
            None => {
                figures::figures(&self.sources, &ended.stdout, ended.wall_s).map_err(Error::from)
            }
        };
        match figures {
            Ok(mut figures) => {
                if let (Some(sense), Some(first)) = (self.sense, figures.first_mut()) {
                    first.metric.sense = sense;
                }
                figures.extend(self.counted(run));
                note(run, figures, metrics);
                Ok(())
            }
            Err(error) if self.ignore_failure => {
                run.problem = Some(error.to_string());
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Figures from the counters of a run.
    fn counted(&self, run: &Run) -> Vec<Figure> {
        let name = self.interface.as_ref().map(|(_, name)| name.as_str());
        let of = |moved: &Option<Moved>, name| {
            let moved = moved.as_ref();
            moved.map(|moved| moved.figures(name)).unwrap_or_default()
        };
        let mut figures = match &run.interface_moved {
            None => of(&run.moved, name),
            Some(_) => {
                let mut host = of(&run.interface_moved, name);
                host.retain(is_of_host);
                let mut ends = of(&run.moved, None);
                ends.retain(|figure| !is_of_host(figure));
                host.into_iter().chain(ends).collect()
            }
        };
        figures.extend(of(&run.peer_moved, None).into_iter().map(|mut figure| {
            figure.metric.name.insert_str(0, PEER);
            figure
        }));
        figures
    }
}

fn is_of_host(figure: &Figure) -> bool {
    let name = &figure.metric.name;
    OF_THE_HOST.iter().any(|prefix| name.starts_with(prefix))
}

/// Adds figures to a run. Of two figures with the same name, the first one counts.
fn note(run: &mut Run, figures: Vec<Figure>, metrics: &mut Vec<Metric>) {
    let is_first = metrics.is_empty();
    for figure in figures {
        let name = figure.metric.name.clone();
        if is_first && !run.figures.contains_key(&name) {
            metrics.push(figure.metric);
        }
        run.figures.entry(name).or_insert(figure.value);
    }
}

fn blank(wall_s: f64) -> Run {
    Run {
        block: None,
        cell: 0,
        levels: Vec::new(),
        begun_s: 0.0,
        wall_s,
        problem: None,
        figures: BTreeMap::new(),
        changes: Vec::new(),
        moved: None,
        interface_moved: None,
        peer_moved: None,
    }
}

/// The vantage and the name of `eth0` or `ns/NAME/eth0`.
fn place_of(text: &str) -> (Vantage, String) {
    let (namespace, name) = of_key(text);
    (vantage(namespace.map(str::to_owned)), name.to_owned())
}

fn vantage(namespace: Option<String>) -> Vantage {
    namespace.map_or(Vantage::Here, Vantage::Namespace)
}

/// Why a command failed, with its last line of output; `None` if it did not.
pub(super) fn problem(ended: &Ended, timeout: Option<Duration>) -> Option<String> {
    let how = match ended.end {
        End::Exited(0) | End::Stopped => return None,
        End::Exited(code) => format!("ended with exit code {code}"),
        End::Signalled(signal) => format!("was ended by signal {signal}"),
        // A command that ignores SIGTERM takes longer than that.
        End::TimedOut => {
            let timeout = timeout.unwrap_or_default().as_secs_f64();
            format!("took longer than the time-out ({timeout} s)")
        }
    };
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    let last = words
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    Some(match last {
        Some(line) => format!("{how}: {line}"),
        None => how,
    })
}
