//! Findings that the experiment is about, and its verdict on them.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context;
use coalescope_change::settings::{Setting, What, dotted};
use coalescope_experiment::effects::{Direction, Effect, EffectKind, Sense};
use coalescope_experiment::record::{Record, Vary};
use coalescope_host::names::key_of;
use coalescope_knowledge::{SetTo, Settled, Suspicion, Switch, Switched, Went};

use crate::cli::AbArgs;
use crate::hosts;

/// CPU time for the same bytes, here and at the other end.
const COSTS: [&str; 2] = ["service_demand_us_per_kb", "peer_service_demand_us_per_kb"];
/// A run with fewer bytes over the interface (a handshake and a small answer) shows nothing about the interface.
const TOUCHED_BYTES: u64 = 10_000;

/// The findings to settle: those of reports, or else those of this host.
pub(super) fn suspicions(args: &AbArgs, record: &Record) -> anyhow::Result<Vec<Suspicion>> {
    if args.findings.is_empty() {
        let rules = hosts::rules(&args.rules)?;
        let checked = hosts::checked(&rules, record.before.as_slice());
        let findings = checked.iter().flat_map(|(_, checked)| &checked.findings);
        return Ok(findings.filter_map(Suspicion::of_host).collect());
    }
    let mut all = Vec::new();
    for path in &args.findings {
        all.extend(Suspicion::of_report(&report(path)?));
    }
    Ok(all)
}

fn report(path: &Path) -> anyhow::Result<serde_json::Value> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_reader(BufReader::new(file))
        .with_context(|| format!("{} is not a report in JSON", path.display()))
}

/// The experiment's verdict on each finding.
pub(super) fn settle(suspicions: &[Suspicion], record: &Record) -> Vec<Settled> {
    coalescope_knowledge::settle(suspicions, &switched(record))
}

fn switched(record: &Record) -> Vec<Switched> {
    let Some(sense) = record.metrics.first().map(|metric| metric.sense) else {
        return Vec::new();
    };
    let main = record
        .foremost()
        .filter(|effect| effect.kind == EffectKind::Main);
    main.flat_map(|effect| {
        let factor = record
            .factors
            .iter()
            .position(|factor| factor.name == effect.factor);
        let vary = factor.and_then(|index| record.asked.factors.get(index));
        vary.map(|vary| both_ways(record, vary, effect, sense))
            .unwrap_or_default()
    })
    .collect()
}

/// The level against the reference; if there are only two levels, also the reference against the level.
fn both_ways(record: &Record, vary: &Vary, effect: &Effect, sense: Sense) -> Vec<Switched> {
    let margin = record.asked.rules.margin;
    let touched = was_touched(record, vary);
    let went = touched.then(|| effect.direction(sense, margin));
    let cost = cost(record, effect, margin);
    let words = if touched {
        effect.words.clone()
    } else {
        format!(
            "{}; but the command moved next to nothing over that interface",
            effect.words
        )
    };
    let one = |made: Option<Switch>, turn: fn(Direction) -> Went| {
        made.map(|made| Switched {
            made,
            went: went.map_or(Went::Unclear, turn),
            cost_went: cost.map(turn),
            words: words.clone(),
        })
    };
    let forth = one(made(vary, &effect.level), straight);
    let has_two = record
        .factors
        .iter()
        .any(|factor| factor.name == effect.factor && factor.levels.len() == 2);
    let back = has_two.then(|| one(made(vary, &effect.reference), turned));
    forth.into_iter().chain(back.flatten()).collect()
}

/// The direction of CPU time: less is better, as with a time.
fn cost(record: &Record, effect: &Effect, margin: f64) -> Option<Direction> {
    let same = |other: &&Effect| {
        COSTS.contains(&other.metric.as_str())
            && other.kind == EffectKind::Main
            && other.factor == effect.factor
            && other.level == effect.level
    };
    let mut ways = record.effects.iter().filter(same);
    let first = ways.next()?.direction(Sense::Time, margin);
    // More at one end and less at the other is no result.
    let is_one = ways.all(|other| {
        let way = other.direction(Sense::Time, margin);
        way == first || way == Direction::Unclear
    });
    Some(if is_one { first } else { Direction::Unclear })
}

fn straight(direction: Direction) -> Went {
    match direction {
        Direction::Faster => Went::Better,
        Direction::Slower => Went::Worse,
        Direction::Alike => Went::Alike,
        Direction::Unclear => Went::Unclear,
    }
}

fn turned(direction: Direction) -> Went {
    match direction {
        Direction::Faster => Went::Worse,
        Direction::Slower => Went::Better,
        Direction::Alike => Went::Alike,
        Direction::Unclear => Went::Unclear,
    }
}

/// The setting of a level, in the words of rules.
fn made(vary: &Vary, level: &str) -> Option<Switch> {
    match vary {
        Vary::Setting { subject, .. } => {
            let setting: Setting = format!("{subject}={level}").parse().ok()?;
            Some(Switch::Setting(set_to(&setting.shortened())))
        }
        Vary::Commands { levels } => {
            let mut levels = levels.iter();
            let named = levels.find(|named| named.name == level)?;
            Some(Switch::Command(named.command.clone()))
        }
        Vary::Vantage { .. } => None,
    }
}

fn set_to(setting: &Setting) -> SetTo {
    let namespace = setting.subject.namespace.as_deref();
    let (owner, name) = match &setting.subject.what {
        What::Interface { name, knob } => (name.as_str(), knob.to_string()),
        What::Sysctl(path) => ("sysctl", dotted(path)),
    };
    SetTo {
        subject: key_of(namespace, owner),
        name,
        value: setting.value.to_string(),
    }
}

/// Whether the runs went over the changed interface; a setting without an interface counts as used.
fn was_touched(record: &Record, vary: &Vary) -> bool {
    let Vary::Setting { subject, levels } = vary else {
        return true;
    };
    let setting = levels
        .first()
        .and_then(|level| format!("{subject}={level}").parse::<Setting>().ok());
    let Some(What::Interface { name, .. }) = setting.map(|setting| setting.subject.what) else {
        return true;
    };
    record.runs.iter().any(|run| {
        let moved = run.interface_moved.as_ref().or(run.moved.as_ref());
        let interface = moved.and_then(|moved| moved.interfaces.get(&name));
        let bytes = interface.map_or(0, |one| one.rx_bytes + one.tx_bytes);
        bytes >= TOUCHED_BYTES
    })
}
