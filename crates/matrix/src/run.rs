//! Draws, plays and judges many cases, on all cores.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io, thread};

use anyhow::{Context, Result, anyhow};
use coalescope_knowledge::Diagnosis;

use crate::analyse::analyse;
use crate::case::{Case, Played};
use crate::clocks::change_of_clocks;
use crate::disturb::Disturbance;
use crate::family::Family;
use crate::label::Label;
use crate::score::{Mark, mark};

/// What comes on top of the families.
#[derive(Clone, Copy)]
pub enum Disturb {
    /// Nothing.
    Not,
    /// This, wherever it fits.
    By(&'static Disturbance),
    /// Nothing, one or two, drawn.
    Drawn,
}

/// What to judge.
pub struct Plan {
    /// The families, which take turns.
    pub families: Vec<&'static Family>,
    /// How many scenarios.
    pub scenarios: u64,
    /// The first one's seed; each further one's is one more.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// What comes on top of the families.
    pub disturb: Disturb,
    /// Where the captures of what was judged wrongly go.
    pub keep: Option<std::path::PathBuf>,
}

impl Plan {
    pub(crate) fn family(&self, number: u64) -> &'static Family {
        self.families[(number % self.families.len() as u64) as usize]
    }

    pub(crate) fn seed(&self, number: u64) -> u64 {
        self.seed.wrapping_add(number)
    }

    /// Writes captures into a folder of this name, if they are to be kept.
    pub(crate) fn keep(&self, name: &str, played: &Played, words: &str) -> io::Result<()> {
        let folder = self.keep.as_ref().map(|folder| folder.join(name));
        folder.map_or(Ok(()), |folder| keep(&folder, played, words))
    }

    /// The arguments that make a scenario again.
    pub(crate) fn which(&self, number: u64) -> String {
        let seed = self.seed(number);
        format!("--family {} --seed {seed}", self.family(number).name)
    }
}

/// A case and its mark.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The family's name.
    pub family: &'static str,
    /// What came on top.
    pub disturbed_by: Vec<&'static str>,
    /// The seed that makes it again.
    pub seed: u64,
    /// The mark.
    pub mark: Mark,
    /// What was wanted and what was said, in a line.
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

/// The scenarios of a plan of which more or less is found by other clocks, with what that is.
///
/// # Errors
///
/// When the analysis refuses a capture.
pub fn run_by_other_clocks(plan: &Plan) -> Result<Vec<String>> {
    let changes = each(plan, |number| change_of_clocks(plan, number))?;
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
    let said = diagnosis.findings.iter().map(|finding| {
        let hop = finding.hop.as_ref();
        let hop = hop.map(|hop| format!(" {}>{}", hop.from, hop.to));
        format!("{}{}", finding.id.name(), hop.unwrap_or_default())
    });
    let said: Vec<String> = said.collect();
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

fn keep(folder: &std::path::Path, played: &Played, words: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in &played.captures {
        fs::write(folder.join(format!("{name}.pcap")), bytes)?;
    }
    fs::write(folder.join("label.txt"), format!("{words}\n"))
}
