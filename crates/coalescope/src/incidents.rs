//! The incidents by name: one list for `demo` and `lab`, with the commands that take each name.

use std::io::{self, Write};

use coalescope_incident::Incident;
use coalescope_report::listing;
use coalescope_simulate::{Cause, Story, stories};

use crate::{Outcome, speech, suggest};

/// The command that prints the list.
const SEE: &str = "`coalescope lab list` lists them all";

/// An incident by its name.
struct Known {
    name: &'static str,
    /// The effect of merging in it.
    kind: &'static str,
    /// The commands that take the name.
    takers: &'static str,
    title: String,
}

/// The incidents that the lab builds, then those that are only simulated.
fn all() -> anyhow::Result<Vec<Known>> {
    let built: Result<Vec<Known>, _> = Incident::names().map(built).collect();
    let mut all = built?;
    let only_simulated = stories().iter().filter(|story| !is_built(story.name));
    all.extend(only_simulated.map(simulated));
    Ok(all)
}

fn built(name: &'static str) -> Result<Known, coalescope_incident::Error> {
    let incident = Incident::named(name)?;
    Ok(Known {
        name,
        kind: incident.kind.word(),
        takers: "lab, demo",
        title: incident.title,
    })
}

fn simulated(story: &Story) -> Known {
    let harms = [Cause::MergedFramesLost, Cause::MergedFramesLostUnnoticed];
    Known {
        name: story.name,
        kind: if harms.contains(&story.cause) {
            "harms"
        } else {
            "innocent"
        },
        takers: "demo",
        title: story.title.to_owned(),
    }
}

/// Whether the lab can build the incident.
pub(crate) fn is_built(name: &str) -> bool {
    Incident::names().any(|known| known == name)
}

/// The names that `demo` takes.
fn names() -> impl Iterator<Item = &'static str> {
    let stories = stories().iter().map(|story| story.name);
    Incident::names().chain(stories)
}

/// Lists all incidents: name, effect of merging, commands that take the name, and title.
pub(crate) fn list() -> anyhow::Result<Outcome> {
    let rows = all()?.into_iter().map(|known| {
        let first = [known.name, known.kind, known.takers].map(str::to_owned);
        first.into_iter().chain([known.title]).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let text = listing(&rows, speech::width());
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(Outcome::Done)
}

/// The error of `demo` for an unknown name.
pub(crate) fn unknown(name: &str) -> String {
    suggest::unknown("incident", name, names(), SEE)
}

/// The error of the lab for a name that it cannot build.
pub(crate) fn not_built(name: &str) -> String {
    if stories().iter().any(|story| story.name == name) {
        return format!(
            "{name} is simulated captures only, which the lab cannot build: `coalescope demo {name}` \
             shows it"
        );
    }
    unknown(name)
}
