//! The switchboard: sets the levels of factors, and restores all settings.

use super::plan::{Checked, Switch};
use super::{Error, measure};
use crate::record::{Asked, ChangeNote, NamedCommand, OutcomeNote, Record};
use coalescope_change::guardian::{Guard, Options};
use coalescope_change::journal::{Store, StoreKind};
use coalescope_change::restore::Report;
use coalescope_change::settings::{
    Change, Difference, Outcome, Setting, Space, What, read_named, wait_for_carrier,
};
use coalescope_change::workload::{self, Vantage, Workload};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A switch with spanning tree forwards 30 s after a link came up (802.1D: twice forward delay).
const CARRIER: Duration = Duration::from_secs(35);
/// Time of a run besides settling, waiting and the workload: changes, counters, ssh.
const SLACK: Duration = Duration::from_secs(60);
/// How long a `--do` command may take.
const COMMAND: Duration = Duration::from_secs(120);
/// Interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(50);

pub(super) struct Board {
    switches: Vec<Switch>,
    place: Vantage,
    /// The guardian of this host's settings.
    guard: Option<Guard>,
    /// The guardian of the user's commands. They may change another host, which a reboot of this
    /// one does not reset.
    command_guard: Option<Guard>,
    /// The present level of each factor.
    at: Vec<Option<Level>>,
    settle: Duration,
    /// The longest time of one run; `None` if runs have no limit.
    watchdog: Option<Duration>,
    end: Option<Deadline>,
}

/// A level that was set.
struct Level {
    number: usize,
    /// How the guardian has set it; `None` if there was nothing to set.
    made: Option<Change>,
}

/// When the whole experiment ends.
struct Deadline {
    at: Instant,
    seconds: f64,
}

impl Board {
    /// Starts the guardians and writes the present values to their journals.
    pub(super) fn set_up(checked: &Checked, asked: &Asked) -> Result<Self, Error> {
        let settle = Duration::from_secs_f64(asked.settle_s);
        let timeout = asked.timeout_s.map(Duration::from_secs_f64);
        let now = Instant::now();
        let mut board = Self {
            switches: checked.switches.clone(),
            place: checked.place.clone(),
            guard: None,
            command_guard: None,
            at: checked.switches.iter().map(|_| None).collect(),
            settle,
            watchdog: timeout.map(|timeout| timeout + settle + CARRIER + SLACK),
            end: asked.deadline_s.map(|seconds| Deadline {
                at: now + Duration::from_secs_f64(seconds),
                seconds,
            }),
        };
        board.start(&checked.settings(), asked)?;
        Ok(board)
    }

    fn start(&mut self, settings: &[Setting], asked: &Asked) -> Result<(), Error> {
        if !settings.is_empty() {
            let mut guard = Guard::start(&options(StoreKind::Runtime, asked)?)?;
            guard.record(settings)?;
            self.guard = Some(guard);
        }
        for switch in &self.switches {
            if let Switch::Commands(levels) = switch {
                let mut guard = Guard::start(&options(StoreKind::Persistent, asked)?)?;
                guard.remember(&levels[0].command)?;
                self.command_guard = Some(guard);
            }
        }
        Ok(())
    }

    /// Whether there is anything to restore.
    pub(super) fn changes_anything(&self) -> bool {
        self.guard.is_some() || self.command_guard.is_some()
    }

    /// The vantage of the workload at these levels.
    pub(super) fn vantage(&self, levels: &[usize]) -> &Vantage {
        let mut switches = self.switches.iter().zip(levels);
        let chosen = switches.find_map(|(switch, &level)| match switch {
            Switch::Vantages(vantages) => vantages.get(level),
            Switch::Settings(_) | Switch::Commands(_) => None,
        });
        chosen.unwrap_or(&self.place)
    }

    /// Sets the levels of a run, and waits until they have settled.
    pub(super) fn go_to(
        &mut self,
        levels: &[usize],
        record: &mut Record,
        stop: &AtomicBool,
    ) -> Result<Vec<ChangeNote>, Error> {
        self.mind_the_deadline()?;
        self.wind_up()?;
        let mut notes = Vec::new();
        for (factor, &level) in levels.iter().enumerate() {
            if self.at[factor].as_ref().map(|at| at.number) != Some(level) {
                let (note, made) = self.switch(factor, level, record)?;
                notes.extend(note);
                self.at[factor] = Some(Level {
                    number: level,
                    made,
                });
            }
        }
        if !notes.is_empty() {
            pause(self.settle, stop);
        }
        Ok(notes)
    }

    /// Checks that all levels are as they were set, before a run and after it: else the run is of another level than it is
    /// said to be.
    pub(super) fn hold(&mut self) -> Result<(), Error> {
        self.mind_the_deadline()?;
        let Some(guard) = &mut self.guard else {
            return Ok(());
        };
        for change in self.at.iter().flatten().filter_map(|at| at.made.as_ref()) {
            let lost = guard.lost(change)?;
            if !lost.is_empty() {
                return Err(not_held(change, &lost));
            }
        }
        Ok(())
    }

    /// The time until the deadline of the experiment, if it has one.
    pub(super) fn left(&self) -> Option<Duration> {
        let end = self.end.as_ref()?;
        Some(end.at.saturating_duration_since(Instant::now()))
    }

    fn mind_the_deadline(&self) -> Result<(), Error> {
        match &self.end {
            Some(end) if Instant::now() >= end.at => Err(Error::Deadline {
                seconds: end.seconds,
            }),
            _ => Ok(()),
        }
    }

    /// Sets the guardian's deadline: the settings are restored if this run takes far too long, or
    /// at the end of the whole experiment.
    fn wind_up(&mut self) -> Result<(), Error> {
        let deadline = self.watchdog.into_iter().chain(self.left()).min();
        let guards = [&mut self.guard, &mut self.command_guard];
        for guard in guards.into_iter().flatten() {
            guard.set_deadline(deadline)?;
        }
        Ok(())
    }

    fn switch(
        &mut self,
        factor: usize,
        level: usize,
        record: &mut Record,
    ) -> Result<(Option<ChangeNote>, Option<Change>), Error> {
        Ok(match (&self.switches[factor], &mut self.guard) {
            (Switch::Settings(settings), Some(guard)) => {
                let change = guard.change(&settings[level])?;
                settled(&change, record)?;
                (Some(note(&change)), Some(change))
            }
            (Switch::Commands(levels), _) => (Some(command(&levels[level])?), None),
            (Switch::Settings(_) | Switch::Vantages(_), _) => (None, None),
        })
    }

    /// Restores everything, and records what could not be restored.
    pub(super) fn restore(self, record: &mut Record) {
        let mut unrestored = Vec::new();
        for guard in [self.guard, self.command_guard].into_iter().flatten() {
            match guard.finish() {
                Ok(report) => unrestored.extend(left(&report)),
                Err(error) => unrestored.push(format!("{error}; run `coalescope undo`")),
            }
        }
        record.restored = unrestored.is_empty();
        record.unrestored = unrestored;
    }
}

fn left(report: &Report) -> impl Iterator<Item = String> {
    report.unrestored.iter().map(ToString::to_string)
}

fn options(kind: StoreKind, asked: &Asked) -> Result<Options, Error> {
    let words = ["coalescope", "ab"].map(str::to_owned).into_iter();
    let command = words.chain(["--".to_owned()]).chain(asked.command.clone());
    Ok(Options::new(Store::usual(kind)?, command.collect()))
}

/// Checks a change. A level that was not reached ends the experiment; a link that went down is waited for.
fn settled(change: &Change, record: &mut Record) -> Result<(), Error> {
    if !change.took_effect() {
        let failures: Vec<String> = change.outcomes.iter().map(ToString::to_string).collect();
        return Err(Error::NoEffect {
            setting: change.setting.to_string(),
            why: failures.join("; "),
        });
    }
    for outcome in &change.outcomes {
        match outcome {
            Outcome::LinkWentDown { is_back: false, .. } => wait(change, record)?,
            Outcome::LinkWentDown { .. } | Outcome::Cascaded { .. } => {
                record.note(format!("{}: {outcome}", change.setting));
            }
            _ => {}
        }
    }
    Ok(())
}

fn not_held(change: &Change, lost: &[Difference]) -> Error {
    let lost = lost
        .iter()
        .map(|one| format!("{} is {} again", one.item, one.to));
    Error::NotHeld {
        setting: change.setting.to_string(),
        why: lost.collect::<Vec<_>>().join("; "),
    }
}

fn wait(change: &Change, record: &mut Record) -> Result<(), Error> {
    let What::Interface { name, .. } = &change.setting.subject.what else {
        return Ok(());
    };
    let space = Space::open(change.setting.subject.namespace.as_deref())?;
    let index = read_named(&space, name)?.index;
    match wait_for_carrier(space.id(), index, CARRIER)? {
        Some(took) => {
            record.note(format!(
                "{}: the link of {name} went down, and was waited for ({:.1} s)",
                change.setting,
                took.as_secs_f64()
            ));
            Ok(())
        }
        None => Err(Error::LinkDown {
            interface: name.clone(),
            setting: change.setting.to_string(),
            seconds: CARRIER.as_secs(),
        }),
    }
}

fn note(change: &Change) -> ChangeNote {
    ChangeNote {
        setting: change.setting.to_string(),
        outcomes: change.outcomes.iter().map(outcome_note).collect(),
    }
}

fn outcome_note(outcome: &Outcome) -> OutcomeNote {
    let name = match outcome {
        Outcome::Changed { .. } => "changed",
        Outcome::Already { .. } => "already",
        Outcome::Fixed { .. } => "fixed",
        Outcome::Refused { .. } => "refused",
        Outcome::Ignored { .. } => "ignored",
        Outcome::Cascaded { .. } => "cascaded",
        Outcome::LinkWentDown { .. } => "link_went_down",
    };
    OutcomeNote {
        outcome: name.to_owned(),
        text: outcome.to_string(),
    }
}

/// Runs a user's command for a level.
fn command(level: &NamedCommand) -> Result<ChangeNote, Error> {
    let workload = Workload {
        command: vec![level.command.clone()],
        timeout: Some(COMMAND),
    };
    let ended = workload::run(&workload, &Vantage::Here, &AtomicBool::new(false))?;
    match measure::problem(&ended, workload.timeout) {
        None => Ok(ChangeNote {
            setting: format!("{}: {}", level.name, level.command),
            outcomes: Vec::new(),
        }),
        Some(why) => Err(Error::Command {
            level: level.name.clone(),
            command: level.command.clone(),
            why,
        }),
    }
}

fn pause(time: Duration, stop: &AtomicBool) {
    let end = Instant::now() + time;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        sleep(left.min(LOOK));
    }
}
