//! Every run of an experiment as a dot, by combination of levels.

use coalescope_experiment::effects::Metric;
use coalescope_experiment::record::{Record, Run};
use maud::{Markup, html};

use super::svg::{Drawing, Path, Scale, px, shortened, x_axis};
use crate::words::ab::{columns, label, shown};

const WIDTH_PX: f64 = 760.0;
/// Room for the levels' names.
const LEFT_PX: f64 = 190.0;
const TOP_PX: f64 = 14.0;
/// Height of a combination's row.
const ROW_PX: f64 = 48.0;
/// Height of ticks and label.
const BELOW_PX: f64 = 44.0;
const LETTERS: usize = 28;
/// Number of figures drawn: the judged one, and those that explain most.
const FIGURES: usize = 4;

/// A drawing for each of the first figures.
pub(crate) fn figures(record: &Record) -> Markup {
    let metrics = columns(record);
    html! {
        @if record.runs.is_empty() { p { "No run was made." } }
        @for (i, metric) in metrics.iter().take(FIGURES).enumerate() {
            @if judged(record).any(|(_, run)| run.figures.contains_key(&metric.name)) {
                (figure(i, metric, record))
            }
        }
        p.note {
            "Each dot is a run; runs of one block stand at one height, the first block at the top. The bar "
            "is the median. Warm-ups are left out. A cross at the left is a run that failed, or has no such figure."
        }
    }
}

fn figure(number: usize, metric: &Metric, record: &Record) -> Markup {
    let cells = cells(record);
    let values = judged(record).filter_map(|(_, run)| run.figures.get(&metric.name));
    let high = values.clone().copied().fold(0.0, f64::max);
    let low = values.copied().fold(0.0, f64::min);
    let x = Scale::new((low, high), (LEFT_PX, WIDTH_PX - 40.0)).rounded(6);
    let bottom = TOP_PX + cells.len() as f64 * ROW_PX;
    let drawing = Drawing {
        id: &format!("dots-{number}"),
        title: &format!("{} of every run", label(metric)),
        description: &described(metric, record, &cells),
        width: WIDTH_PX,
        height: bottom + BELOW_PX,
    };
    let axis = x_axis(&x, bottom, label(metric), |value| shown(metric, value));
    html! {
        h3 { (label(metric)) }
        figure {
            (drawing.markup(&html! {
                (axis)
                @for (row, (cell, levels)) in cells.iter().enumerate() {
                    (row_markup(record, metric, (*cell, levels), TOP_PX + row as f64 * ROW_PX, &x))
                }
            }))
        }
    }
}

/// Combinations in order, each with its levels.
fn cells(record: &Record) -> Vec<(usize, String)> {
    let mut cells: Vec<(usize, String)> = Vec::new();
    for run in &record.runs {
        if !cells.iter().any(|(cell, _)| *cell == run.cell) {
            cells.push((run.cell, levels(record, run)));
        }
    }
    cells.sort_unstable();
    cells
}

/// `gro=off, mtu=9000`
fn levels(record: &Record, run: &Run) -> String {
    let pairs = record.factors.iter().zip(&run.levels);
    let pairs: Vec<String> = pairs
        .map(|(factor, level)| format!("{}={level}", factor.name))
        .collect();
    pairs.join(", ")
}

/// Runs that count, numbered from 1.
fn judged(record: &Record) -> impl Iterator<Item = (usize, &Run)> + Clone {
    (1..)
        .zip(&record.runs)
        .filter(|(_, run)| run.block.is_some())
}

fn median(record: &Record, metric: &Metric, cell: usize) -> Option<f64> {
    let cells = record.cells.as_ref()?;
    let summary = cells.cells.get(cell)?.figures.get(&metric.name)?;
    Some(summary.median)
}

fn described(metric: &Metric, record: &Record, cells: &[(usize, String)]) -> String {
    let sentences = cells.iter().map(|(cell, levels)| {
        let runs = judged(record).filter(|(_, run)| run.cell == *cell).count();
        let median = median(record, metric, *cell).map(|median| shown(metric, median));
        let median = median.unwrap_or_else(|| "unknown".to_owned());
        format!("{levels}: {runs} runs, median {median}.")
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn row_markup(
    record: &Record,
    metric: &Metric,
    (cell, levels): (usize, &str),
    top: f64,
    x: &Scale,
) -> Markup {
    let middle = top + ROW_PX / 2.0;
    let median = median(record, metric, cell).map(|median| x.at(median));
    html! {
        g {
            path.grid d=(Path::of(&[(LEFT_PX, top + ROW_PX), (WIDTH_PX - 20.0, top + ROW_PX)])) {}
            text x=(px(LEFT_PX - 14.0)) y=(px(middle + 4.0)) text-anchor="end" {
                title { (levels) } (shortened(levels, LETTERS))
            }
            @if let Some(at) = median {
                path.median d=(Path::of(&[(at, top + 4.0), (at, top + ROW_PX - 4.0)])) {}
            }
            @for (number, run) in judged(record).filter(|(_, run)| run.cell == cell) {
                (dot(record, metric, number, run, top, x))
            }
        }
    }
}

fn dot(record: &Record, metric: &Metric, number: usize, run: &Run, top: f64, x: &Scale) -> Markup {
    let block = run.block.unwrap_or_default();
    let share = (block as f64 + 0.5) / record.blocks.max(block + 1) as f64;
    let y = top + 8.0 + share * (ROW_PX - 16.0);
    html! {
        @match run.figures.get(&metric.name) {
            Some(value) => circle.dot cx=(px(x.at(*value))) cy=(px(y)) r="4" {
                title { "run " (number) ", block " (block + 1) ": " (shown(metric, *value)) }
            },
            None => path.cross d=(Path::cross(LEFT_PX - 6.0, y)) {
                title { "run " (number) ", block " (block + 1) ": no figure" }
            },
        }
    }
}
