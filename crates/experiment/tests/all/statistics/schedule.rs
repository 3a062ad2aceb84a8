//! The order of runs: random, the same again, and gone on with.

use coalescope_experiment::design::{
    Design, DesignError, Factor, Plan, Planned, Schedule, ScheduleError,
};
use proptest::prelude::*;

use super::experiment::{design, pair};

fn story_c(max_runs: usize, seed: u64) -> Design {
    let factors = vec![
        Factor::setting("mtu", &["1500", "9000"]),
        Factor::setting("gro", &["off", "on"]),
        Factor::setting("tcp_reordering", &["3", "127"]),
    ];
    design(factors, max_runs, seed)
}

#[test]
fn a_warm_up_then_every_cell_once_a_block() {
    let design = story_c(45, 1);
    let runs: Vec<Planned> = Schedule::new(&design).collect();
    assert_eq!(
        runs[0],
        Planned {
            block: None,
            cell: 0
        }
    );
    assert_eq!(runs.len(), 1 + 40, "five whole blocks of eight in 45 runs");
    for (number, block) in runs[1..].chunks(8).enumerate() {
        assert!(block.iter().all(|run| run.block == Some(number)));
        let mut cells: Vec<usize> = block.iter().map(|run| run.cell).collect();
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn cells_name_their_levels() {
    let design = story_c(40, 1);
    assert_eq!(design.level_names(0), ["1500", "off", "3"]);
    assert_eq!(design.level_names(5), ["9000", "off", "127"]);
    assert_eq!(design.level_names(7), ["9000", "on", "127"]);
    let contrasts = design.contrasts();
    assert_eq!(contrasts.len(), 3 + 3);
    assert_eq!(
        contrasts[1].weights,
        [-0.25, -0.25, 0.25, 0.25, -0.25, -0.25, 0.25, 0.25]
    );
    assert_eq!(
        contrasts[3].weights,
        [0.5, 0.5, -0.5, -0.5, -0.5, -0.5, 0.5, 0.5]
    );
}

#[test]
fn each_level_of_several_is_compared_with_the_first() {
    let factors = vec![
        Factor::vantage("from", &["here", "ns/vm", "ssh:box"]),
        Factor::setting("gro", &["on", "off"]),
    ];
    let contrasts = design(factors, 6, 1).contrasts();
    let names: Vec<String> = contrasts
        .iter()
        .map(|contrast| {
            contrast
                .sides
                .iter()
                .map(|side| side.level.as_str())
                .collect::<Vec<_>>()
                .join(" x ")
        })
        .collect();
    assert_eq!(
        names,
        ["ns/vm", "ssh:box", "off", "ns/vm x off", "ssh:box x off"]
    );
    assert_eq!(contrasts[1].weights, [-0.5, -0.5, 0.0, 0.0, 0.5, 0.5]);
    let first = contrasts[0].value(&[Some(1.0), Some(2.0), Some(5.0), Some(6.0), None, None]);
    assert_eq!(
        first,
        Some(4.0),
        "cells that are not compared may be missing"
    );
    assert_eq!(
        contrasts[1].value(&[Some(1.0), Some(2.0), Some(5.0), Some(6.0), None, None]),
        None
    );
}

#[test]
fn each_level_comes_first_in_about_half_of_the_blocks() {
    let firsts = (0..1000)
        .filter(|&block| pair(4).order(block)[0] == 1)
        .count();
    assert!((450..550).contains(&firsts), "{firsts}");
}

proptest! {
    /// Whenever it ends, what is run after it is what would have been run.
    #[test]
    fn resumed_anywhere_it_is_the_same(seed: u64, made in 0_usize..42) {
        let design = story_c(40, seed);
        let all: Vec<Planned> = Schedule::new(&design).collect();
        let made = made.min(all.len());
        let rest: Vec<Planned> = Schedule::resume(&design, &all[..made]).unwrap().collect();
        let real = |runs: &[Planned]| runs.iter().copied().filter(|run| run.block.is_some()).collect::<Vec<_>>();
        let mut again = real(&all[..made]);
        again.extend(real(&rest));
        prop_assert_eq!(again, real(&all));
        prop_assert_eq!(rest.first().is_none_or(|run| run.block.is_none()), true, "warm again first");
    }
}

#[test]
fn another_seed_or_too_many_runs_are_refused() {
    let (design, other) = (story_c(40, 1), story_c(40, 2));
    let runs: Vec<Planned> = Schedule::new(&design).collect();
    let refused = Schedule::resume(&other, &runs).unwrap_err();
    assert!(
        matches!(refused, ScheduleError::OtherRun { .. }),
        "{refused}"
    );
    let refused = Schedule::resume(&story_c(16, 1), &runs).unwrap_err();
    assert_eq!(
        refused,
        ScheduleError::TooMany {
            made: 40,
            allowed: 16
        }
    );
}

#[test]
fn plans_that_compare_nothing_are_refused() {
    let refused = |factors: Vec<Factor>, max_runs| {
        Design::new(Plan {
            factors,
            max_runs,
            seed: 0,
        })
        .unwrap_err()
    };
    let gro = || Factor::setting("gro", &["on", "off"]);
    assert_eq!(refused(vec![], 9), DesignError::NoFactor);
    assert_eq!(
        refused(vec![gro(), gro()], 9),
        DesignError::FactorTwice("gro".into())
    );
    assert_eq!(
        refused(vec![Factor::setting("gro", &["on"])], 9),
        DesignError::OneLevel("gro".into())
    );
    assert_eq!(
        refused(vec![Factor::setting("gro", &[])], 9),
        DesignError::OneLevel("gro".into())
    );
    let twice = Factor::setting("gro", &["on", "on"]);
    assert_eq!(
        refused(vec![twice], 9),
        DesignError::LevelTwice("gro".into(), "on".into())
    );
    assert_eq!(
        refused(vec![gro()], 1),
        DesignError::TooFewRuns {
            cells: 2,
            max_runs: 1
        }
    );
    let many: Vec<Factor> = (0..9)
        .map(|n| Factor::setting(&format!("f{n}"), &["a", "b"]))
        .collect();
    assert_eq!(refused(many, 9999), DesignError::TooManyCells);
}

#[test]
fn a_plan_is_the_same_after_json() {
    let plan = story_c(40, u64::MAX).plan().clone();
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
