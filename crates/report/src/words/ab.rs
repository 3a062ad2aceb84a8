//! Words for an experiment.

use coalescope_experiment::effects::{
    Direction, Effect, EffectKind, Metric, Sense, at_peer, spoken,
};
use coalescope_experiment::record::{Ending, Record, Run, Vary};
use coalescope_knowledge::{Settled, Standing};

use super::units::{UNKNOWN, counted, figure, three_digits};

/// Figures that explain most, each with a short head; JSON and CSV have all.
const TELLING: [(&str, &str); 8] = [
    ("service_demand_us_per_kb", "us/KB"),
    ("peer_service_demand_us_per_kb", "peer us/KB"),
    ("merge_factor", "segs/frame"),
    ("peer_merge_factor", "peer segs/frame"),
    ("acks_per_data_segment", "ACKs/seg"),
    ("retransmitted_segments", "retrans"),
    ("peer_retransmitted_segments", "peer retrans"),
    ("wall_s", "wall"),
];

/// Heads of figures that are judged.
const JUDGED: [(&str, &str); 2] = [("throughput_bps", "throughput"), ("time_total_s", "time")];

/// Figures that follow from the same transfer's speed or time, and are no effect of their own.
const SAME_TRANSFER: [&str; 3] = ["throughput_bps", "time_total_s", "wall_s"];
/// Parts of the CPU time per KB.
const PARTS_OF_COST: [&str; 3] = ["cpu_user_s", "cpu_system_s", "cpu_softirq_s"];
const COST: &str = "service_demand_us_per_kb";

/// Longest head of a user's own metric.
const HEAD: usize = 24;

/// The judged figure, then those of `TELLING`.
pub(crate) fn columns(record: &Record) -> Vec<&Metric> {
    let telling = TELLING.iter().filter_map(|(name, _)| {
        let mut metrics = record.metrics.iter().skip(1);
        metrics.find(|metric| metric.name == *name)
    });
    record.metrics.first().into_iter().chain(telling).collect()
}

/// What people call a figure; its own name if that is all there is.
pub(crate) fn called(metric: &str) -> &str {
    let mut all = JUDGED.iter().chain(&TELLING);
    let known = all.find(|(name, _)| *name == metric);
    known.map_or(metric, |(_, label)| label)
}

/// So much of that as fits above a column.
pub(crate) fn label(metric: &Metric) -> &str {
    let name = called(&metric.name);
    let end = name
        .char_indices()
        .nth(HEAD)
        .map_or(name.len(), |(at, _)| at);
    &name[..end]
}

pub(crate) fn dash() -> String {
    UNKNOWN.to_owned()
}

/// A figure of a metric.
pub(crate) fn shown(metric: &Metric, value: f64) -> String {
    figure(value, metric.unit.as_deref())
}

fn failed(record: &Record) -> impl Iterator<Item = String> {
    let runs = record.runs.iter().enumerate();
    runs.filter_map(|(number, run)| {
        let problem = run.problem.as_ref()?;
        Some(format!("run {}: {problem}", number + 1))
    })
}

/// Runs whose judged figure is far from others of their combination.
fn far(record: &Record) -> impl Iterator<Item = String> {
    let first = record.metrics.first().map(|metric| metric.name.as_str());
    let outliers = record.outliers.iter();
    let judged = outliers.filter(move |outlier| Some(outlier.metric.as_str()) == first);
    judged.map(|outlier| {
        format!(
            "run {} is far from the others of its combination: {} {} against {}",
            outlier.run + 1,
            spoken(&outlier.metric),
            three_digits(outlier.figure),
            three_digits(outlier.median)
        )
    })
}

/// The number of runs, and why the experiment ended.
pub(crate) fn ending(record: &Record) -> String {
    let error = record.error.as_deref().unwrap_or_default();
    let why = match record.ended {
        Ending::Clear => "the answer is clear".to_owned(),
        Ending::Spent => "all runs that were allowed are made".to_owned(),
        Ending::Interrupted => "interrupted; --resume goes on".to_owned(),
        Ending::Failed => format!("{error}; --resume goes on"),
        Ending::Running => "killed, or still running; --resume goes on".to_owned(),
    };
    let made = record.runs.iter().filter(|run| run.block.is_some()).count();
    let made = counted(made as u64, "run");
    let blocks = counted(record.blocks as u64, "whole block");
    format!("{made} in {blocks}: {why}.")
}

/// The next step if a setting has made the transfer faster: the experiment itself keeps no setting.
pub(crate) fn next(record: &Record, findings: &[Settled]) -> Option<String> {
    if findings.iter().any(|one| one.now == Standing::Proven) {
        return Some("`coalescope fix` shows how the change is made to last".to_owned());
    }
    let Effect { factor, level, .. } = record.foremost().find(|effect| helps(record, effect))?;
    Some(format!(
        "no finding of `coalescope check` is about this, so `coalescope fix` cannot make it last: set \
         {factor} to {level} where the interface is configured"
    ))
}

/// Whether a setting's level is faster with certainty.
fn helps(record: &Record, effect: &Effect) -> bool {
    let mut factors = record.factors.iter().zip(&record.asked.factors);
    let is_setting = factors
        .any(|(factor, vary)| factor.name == effect.factor && matches!(vary, Vary::Setting { .. }));
    let sense = record
        .metrics
        .first()
        .map_or(Sense::Plain, |metric| metric.sense);
    is_setting
        && effect.kind == EffectKind::Main
        && effect.direction(sense, record.asked.rules.margin) == Direction::Faster
}

/// The experiment's verdict on a finding.
pub(crate) fn settled_title(finding: &Settled) -> String {
    let place = finding.place.as_deref();
    let place = place.filter(|place| !finding.title.contains(place));
    let place = place.map(|place| format!(" at {place}"));
    format!(
        "{} (was {}): {}{} [{}]",
        finding.now.name(),
        finding.was.name(),
        finding.title,
        place.unwrap_or_default(),
        finding.id
    )
}

/// Effects on figures besides the judged one, if they exceed the margin; each effect once.
pub(crate) fn others(record: &Record) -> Vec<&str> {
    let others = record.effects.iter().filter(|effect| {
        effect.kind == EffectKind::Main
            && effect.matters(record.asked.rules.margin)
            && is_another(record, &effect.metric)
    });
    others.map(|effect| effect.words.as_str()).collect()
}

/// Whether a figure adds to the judged one and the other figures.
fn is_another(record: &Record, metric: &str) -> bool {
    let Some(judged) = record.metrics.first() else {
        return true;
    };
    let is_of_transfer = judged.sense != Sense::Plain && SAME_TRANSFER.contains(&metric);
    let (is_at_peer, bare) = match at_peer(metric) {
        Some(bare) => (true, bare),
        None => (false, metric),
    };
    let is_cost = |one: &Metric| match is_at_peer {
        true => at_peer(&one.name) == Some(COST),
        false => one.name == COST,
    };
    let is_part = PARTS_OF_COST.contains(&bare) && record.metrics.iter().any(is_cost);
    metric != judged.name && !is_of_transfer && !is_part
}

/// Why a finding is proven or cleared, unless the verdict has said so.
pub(crate) fn reason<'a>(record: &Record, finding: &'a Settled) -> Option<&'a str> {
    let said = record
        .verdict
        .to_lowercase()
        .contains(&finding.why.to_lowercase());
    (!said).then_some(finding.why.as_str())
}

/// Notes: recorded ones, failed runs, outliers.
pub(crate) fn notes(record: &Record) -> Vec<String> {
    let noted = record.notes.iter().cloned();
    noted.chain(failed(record)).chain(far(record)).collect()
}

/// A row of the table of runs.
pub(crate) fn run_row(number: usize, run: &Run, metrics: &[&Metric]) -> Vec<String> {
    let block = run
        .block
        .map_or_else(|| "warm-up".to_owned(), |block| (block + 1).to_string());
    let figures = metrics.iter().map(|metric| {
        let figure = run.figures.get(&metric.name);
        figure.map_or_else(dash, |figure| shown(metric, *figure))
    });
    let problem = run.problem.as_ref().map(|_| "failed".to_owned());
    [number.to_string(), block]
        .into_iter()
        .chain(run.levels.iter().cloned())
        .chain(figures)
        .chain([problem.unwrap_or_default()])
        .collect()
}
