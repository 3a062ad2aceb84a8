//! Clocks change no finding: a scenario is run again with other clocks, and with the same frames.

use std::collections::BTreeMap;

use anyhow::Result;
use coalescope_simulate::{Element, MICROSECOND, SECOND};

use crate::analyse::{analyse, said};
use crate::case::{Case, Played};
use crate::dice::Dice;
use crate::parts::host_of;
use crate::plan::Plan;

/// A clock: its offset in ns, and its drift in parts per billion.
type Clock = (i64, i64);

/// Draws a clock, up to 1,000 s and 200 ppm off.
fn clock(dice: &mut Dice) -> Clock {
    let size = dice.scaled_whole(MICROSECOND, 1_000 * SECOND) as i64;
    let sign = if dice.chance(0.5) { 1 } else { -1 };
    (sign * size, dice.between(-200_000.0, 200_000.0) as i64)
}

/// Sets the clocks of a case's hosts.
fn set(case: &mut Case, mut clock: impl FnMut() -> Clock) {
    let mut of_hosts = BTreeMap::new();
    for element in case.runs.iter_mut().flat_map(|run| &mut run.path) {
        if let Element::Point(point) = element {
            let host = host_of(&point.name).to_owned();
            let clock = *of_hosts.entry(host).or_insert_with(&mut clock);
            (point.offset, point.drift_ppb) = clock;
        }
    }
}

/// A case's captures, and the findings in them.
fn found(case: &Case) -> Result<(Played, Vec<String>)> {
    let played = case.play();
    let diagnosis = analyse(case, &played.captures)?;
    let merging = format!("{:?}", diagnosis.verdict.merging);
    let found = said(&diagnosis).chain([merging]).collect();
    Ok((played, found))
}

/// The findings with right clocks and with wrong ones, if they differ.
pub(crate) fn change_of_clocks(plan: &Plan, number: u64) -> Result<Option<String>> {
    let (family, seed) = (plan.family(number), plan.seed(number));
    let mut case = Case::draw(family, seed, &plan.disturb);
    let mut dice = Dice::new("clocks", seed);
    set(&mut case, || (0, 0));
    let right = found(&case)?;
    set(&mut case, || clock(&mut dice));
    let wrong = found(&case)?;
    if right.1 == wrong.1 {
        return Ok(None);
    }
    for (clocks, (played, found)) in [("right", &right), ("wrong", &wrong)] {
        let name = format!("{}-{seed}-{clocks}", family.name);
        plan.keep(&name, played, &found.join(", "))?;
    }
    Ok(Some(format!(
        "{}: {} by right clocks, {} by wrong ones; {}",
        plan.which(number),
        right.1.join(", "),
        wrong.1.join(", "),
        case.words()
    )))
}
