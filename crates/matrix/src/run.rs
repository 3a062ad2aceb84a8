//! Draws, plays and judges many cases, on all cores.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use coalescope_knowledge::Diagnosis;

use crate::analyse::{analyse, said};
use crate::archives::change_by_archive;
use crate::case::Case;
use crate::clocks::change_of_clocks;
use crate::label::Label;
use crate::plan::Plan;
use crate::score::{Mark, mark};

/// A case and its mark.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The family's name.
    pub family: &'static str,
    /// The disturbances.
    pub disturbed_by: Vec<&'static str>,
    /// The seed that reproduces it.
    pub seed: u64,
    /// The mark.
    pub mark: Mark,
    /// The wanted and the given verdict, in a line.
    pub words: String,
}

/// Judges all of a plan, in order.
///
/// # Errors
///
/// When captures cannot be kept, or the analysis refuses one.
pub fn run(plan: &Plan) -> Result<Vec<Judged>> {
    each(plan, |number| judge_one(plan, number))
}

/// The scenarios of a plan whose findings change with other clocks, with the change.
///
/// # Errors
///
/// When the analysis refuses a capture.
pub fn run_by_other_clocks(plan: &Plan) -> Result<Vec<String>> {
    let changes = each(plan, |number| change_of_clocks(plan, number))?;
    Ok(changes.into_iter().flatten().collect())
}

/// The scenarios of a plan of which an archive says something else than one trace, with what that is.
///
/// # Errors
///
/// When the analysis refuses a capture, or an archive of it.
pub fn run_by_archives(plan: &Plan) -> Result<Vec<String>> {
    let changes = each(plan, |number| change_by_archive(plan, number))?;
    Ok(changes.into_iter().flatten().collect())
}

/// What is made of each scenario of a plan, in order.
fn each<T: Send>(plan: &Plan, make: impl Fn(u64) -> Result<T> + Sync) -> Result<Vec<T>> {
    let (next, all) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.scenarios {
                return Ok(());
            }
            let made = make(number).with_context(|| plan.which(number))?;
            let mut all = all
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            all.push((number, made));
        }
    };
    thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..plan.threads.max(1))
            .map(|_| scope.spawn(work))
            .collect();
        for thread in threads {
            thread
                .join()
                .map_err(|_| anyhow!("a scenario panicked"))??;
        }
        Ok(())
    })?;
    let mut all = all
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, made)| made).collect())
}

fn judge_one(plan: &Plan, number: u64) -> Result<Judged> {
    let family = plan.family(number);
    let seed = plan.seed(number);
    let case = Case::draw(family, seed, &plan.disturb);
    let played = case.play();
    let label = Label::of(&case, &played);
    let analysis = AssertUnwindSafe(|| analyse(&case, &played.captures));
    let diagnosis = catch_unwind(analysis).map_err(|_| anyhow!("the analysis panicked"))??;
    let mark = mark(&label, &diagnosis);
    let words = words(&case, &label, &diagnosis);
    if !mark.is_right() {
        plan.keep(&format!("{}-{seed}", family.name), &played, &words)?;
    }
    Ok(Judged {
        family: family.name,
        disturbed_by: case.disturbed_by,
        seed,
        mark,
        words,
    })
}

fn words(case: &Case, label: &Label, diagnosis: &Diagnosis) -> String {
    let said: Vec<String> = said(diagnosis).collect();
    let said = if said.is_empty() {
        "nothing".to_owned()
    } else {
        said.join(", ")
    };
    let merging = format!("{:?}", diagnosis.verdict.merging).to_lowercase();
    let wanted = wanted(label);
    format!(
        "wanted {wanted}; said {said} (merging {merging}); {}",
        case.words()
    )
}

fn wanted(label: &Label) -> String {
    let Some(guilt) = &label.guilt else {
        return label.accepted.join(" or ");
    };
    let hop = guilt.hop.as_ref();
    let place = hop.map(|(from, to)| format!(" {from}>{to}"));
    format!(
        "{}{} ({} lost, {} shown beside {})",
        label.accepted[0],
        place.unwrap_or_default(),
        guilt.lost,
        guilt.shown,
        guilt.singles
    )
}
