//! Agreement with scipy on committed tables (`tests/reference/make_tables.py`).

use std::collections::BTreeMap;

use coalescope_experiment::design::{Design, Factor, Plan};
use coalescope_experiment::effects::{Analysis, Measured, Metric, Rules, Sense};
use coalescope_experiment::statistics::{SignFlips, detectable, holm, smallest_p};
use serde::Deserialize;

/// Both are exact: what differs is the order of additions, and scipy's bisection.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Tables {
    contrasts: Vec<Case>,
    sampled: Vec<Case>,
    pairs: Vec<Pair>,
    detectable: Vec<Detectable>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    values: Vec<f64>,
    mean: f64,
    p: f64,
    t_low: Option<f64>,
    t_high: Option<f64>,
    intervals: Vec<Level>,
}

#[derive(Deserialize)]
struct Level {
    alpha: f64,
    low: Option<f64>,
    high: Option<f64>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    reference: Vec<f64>,
    level: Vec<f64>,
    ratios: bool,
    estimate: f64,
    p: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Detectable {
    deviation: f64,
    blocks: usize,
    alpha: f64,
    power: f64,
    effect: f64,
}

fn tables() -> Tables {
    serde_json::from_str(include_str!("../../reference/tables.json")).expect("sound tables")
}

fn near(ours: Option<f64>, theirs: Option<f64>, tolerance: f64) -> bool {
    match (ours, theirs) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance,
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn p_and_interval_are_scipys() {
    for case in tables().contrasts {
        let flips = SignFlips::new(&case.values, 9_999, 1, 0).unwrap();
        assert!(flips.is_exact());
        assert!(
            (flips.mean() - case.mean).abs() < TOLERANCE,
            "{}",
            case.name
        );
        assert!(
            (flips.p_value() - case.p).abs() < TOLERANCE,
            "{}: {} {}",
            case.name,
            flips.p_value(),
            case.p
        );
        for level in case.intervals {
            let ours = flips.interval(level.alpha);
            let same =
                near(ours.low, level.low, TOLERANCE) && near(ours.high, level.high, TOLERANCE);
            assert!(
                same,
                "{} at {}: {ours:?}, {:?} {:?}",
                case.name, level.alpha, level.low, level.high
            );
        }
    }
}

#[test]
fn resampled_p_and_interval_are_near_the_exact_ones() {
    for case in tables().sampled {
        for seed in 0..5 {
            let flips = SignFlips::new(&case.values, 9_999, seed, 3).unwrap();
            assert!(!flips.is_exact());
            // Four standard errors of a share of 10,000, doubled for two sides.
            let error = 4.0 * (2.0 * case.p / 10_000.0).sqrt() + 2e-4;
            assert!(
                (flips.p_value() - case.p).abs() < error,
                "{}: {} {}",
                case.name,
                flips.p_value(),
                case.p
            );
            let exact = &case.intervals[0];
            let width = exact.high.unwrap() - exact.low.unwrap();
            let ours = flips.interval(exact.alpha);
            assert!(
                near(ours.low, exact.low, 0.05 * width),
                "{}: {ours:?} {:?}",
                case.name,
                exact.low
            );
            assert!(
                near(ours.high, exact.high, 0.05 * width),
                "{}: {ours:?} {:?}",
                case.name,
                exact.high
            );
        }
    }
}

/// A second opinion of another kind: for normal noise and enough blocks it is nearly the t interval.
#[test]
fn for_normal_noise_the_interval_is_about_the_t_interval() {
    let tables = tables();
    let cases = tables.contrasts.iter().chain(&tables.sampled);
    for case in cases.filter(|case| case.name.starts_with("normal") && case.values.len() >= 10) {
        let ours = SignFlips::new(&case.values, 9_999, 1, 0)
            .unwrap()
            .interval(0.05);
        let tolerance = 0.1 * (case.t_high.unwrap() - case.t_low.unwrap());
        let same = near(ours.low, case.t_low, tolerance) && near(ours.high, case.t_high, tolerance);
        assert!(
            same,
            "{}: {ours:?}, t {:?} to {:?}",
            case.name, case.t_low, case.t_high
        );
    }
}

#[test]
fn a_whole_analysis_is_scipys() {
    for pair in tables().pairs {
        let design = Design::new(Plan {
            factors: vec![Factor::setting("gro", &["on", "off"])],
            max_runs: 2 * pair.level.len(),
            seed: 5,
        })
        .unwrap();
        let metric = Metric {
            name: "figure".into(),
            unit: None,
            sense: Sense::Speed,
        };
        let analysis = Analysis::of(&design, &[metric], &runs(&pair), &Rules::default()).unwrap();
        let effect = &analysis.effects[0];
        let estimate = if pair.ratios {
            effect.ratio
        } else {
            effect.difference
        };
        let relative = TOLERANCE * pair.estimate.abs();
        assert!(
            near(estimate, Some(pair.estimate), relative),
            "{}: {effect:?}",
            pair.name
        );
        assert!(
            near(effect.p_value, Some(pair.p), TOLERANCE),
            "{}: {effect:?}",
            pair.name
        );
        assert!(
            near(
                effect.low,
                Some(pair.low),
                TOLERANCE * pair.low.abs().max(1.0)
            ),
            "{}: {effect:?}",
            pair.name
        );
        assert!(
            near(
                effect.high,
                Some(pair.high),
                TOLERANCE * pair.high.abs().max(1.0)
            ),
            "{}: {effect:?}",
            pair.name
        );
    }
}

fn runs(pair: &Pair) -> Vec<Measured> {
    let cells = [&pair.reference, &pair.level].into_iter().enumerate();
    let runs = cells.flat_map(|(cell, figures)| {
        figures
            .iter()
            .enumerate()
            .map(move |(block, &figure)| Measured {
                block: Some(block),
                cell,
                figures: BTreeMap::from([("figure".to_owned(), figure)]),
            })
    });
    runs.collect()
}

#[test]
fn the_detectable_effect_is_scipys() {
    for case in tables().detectable {
        let ours = detectable(case.deviation, case.blocks, case.alpha, case.power);
        assert!(
            near(ours, Some(case.effect), TOLERANCE),
            "{ours:?} {}",
            case.effect
        );
    }
    assert_eq!(
        detectable(0.1, 5, 0.05, 0.8),
        None,
        "five blocks can find nothing"
    );
    assert_eq!(detectable(0.1, 1, 0.5, 0.8), None);
    assert_eq!(detectable(0.1, 9, 0.05, 1.0), None);
}

/// The worked values of R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
#[test]
fn holm_is_rs() {
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    for (ours, theirs) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((ours - theirs).abs() < 1e-12, "{adjusted:?}");
    }
    assert_eq!(holm(&[]), [0.0; 0]);
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
}

#[test]
fn no_p_is_below_what_the_blocks_allow() {
    for blocks in 1..=20 {
        let flips = SignFlips::new(&vec![3.0; blocks], 9_999, 1, 0).unwrap();
        // All alike is the most that can be seen; a resample may flip nothing too.
        let least = smallest_p(blocks, 9_999);
        assert!(
            flips.p_value() >= least - 1e-15,
            "{blocks}: {} {least}",
            flips.p_value()
        );
        assert!(!flips.is_exact() || (flips.p_value() - least).abs() < 1e-15);
    }
    assert!((smallest_p(6, 9_999) - 0.031_25).abs() < 1e-15);
    assert!(SignFlips::new(&[], 9_999, 1, 0).is_none());
    assert!(SignFlips::new(&[1.0, f64::NAN], 9_999, 1, 0).is_none());
}
