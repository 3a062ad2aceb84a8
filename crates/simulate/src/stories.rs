//! The scenarios by name.

mod incidents;
mod lookalikes;

use crate::scenario::{Cause, Scenario};

/// A scenario that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Story {
    /// The name that [`story`] takes.
    pub name: &'static str,
    /// What happens, in a line.
    pub title: &'static str,
    /// What is behind it.
    pub cause: Cause,
    /// Its points, in path order from the client.
    pub points: &'static [&'static str],
    /// The id of the finding that an analyser should come to; none if nothing is wrong.
    pub finding: Option<&'static str>,
    build: fn(&str) -> Scenario,
}

/// All scenarios: the incidents first, then those that only look like them.
#[must_use]
pub fn stories() -> &'static [Story] {
    const ALL: [Story; incidents::ALL.len() + lookalikes::ALL.len()] = joined();
    &ALL
}

const fn joined() -> [Story; incidents::ALL.len() + lookalikes::ALL.len()] {
    let mut all = [incidents::ALL[0]; incidents::ALL.len() + lookalikes::ALL.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = if index < incidents::ALL.len() {
            incidents::ALL[index]
        } else {
            lookalikes::ALL[index - incidents::ALL.len()]
        };
        index += 1;
    }
    all
}

/// The scenario of that name, ready to run or to be changed first.
#[must_use]
pub fn story(name: &str) -> Option<Scenario> {
    let story = stories().iter().find(|story| story.name == name)?;
    let mut scenario = (story.build)(story.name);
    scenario.cause = story.cause;
    Some(scenario)
}
