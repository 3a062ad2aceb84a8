//! `coalescope demo`: an incident live, or captures of a simulated one.

use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use coalescope_analysis::inputs::{self, Named};
use coalescope_analysis::task::threads;
use coalescope_host::safe::sh;
use coalescope_incident::Incident;
use coalescope_report::Report;
use coalescope_simulate::{Scenario, Side, run as simulate, stories, story};

use crate::Outcome;
use crate::cli::{DemoArgs, Format};
use crate::interrupt;
use crate::place::Place;
use crate::trace;
use crate::{incidents, output, speech, system};

/// The incident whose captures are traced where no incident can run live: story E.
const RECORDED: &str = "hyperv-rsc-jumbo";
/// The first bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// The captures of a simulated incident.
struct Simulated {
    title: String,
    /// Names and bytes of the points' captures, in the order in which most data passed them.
    captures: Vec<(String, Vec<u8>)>,
}

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    let story = args.story.as_deref();
    if args.list || story == Some("list") {
        return incidents::list();
    }
    if story.is_none() && args.keep.is_none() && system::lab::demo(args.output.format)? {
        return Ok(Outcome::Done);
    }
    let name = story.unwrap_or(RECORDED);
    let simulated = make(name)?;
    let place = Place::new(args.keep.clone())?;
    let points = write(&simulated, place.path())?;
    announce(name, &simulated, &points, &place);
    let (points, interrupt) = (inputs::open(points), interrupt::listen()?);
    let report = trace::report(&trace::task(points, threads(None), interrupt))?;
    show(name, &report, args)?;
    Ok(Outcome::Done)
}

/// Prints the report, and its conclusion in one line.
fn show(name: &str, report: &Report, args: &DemoArgs) -> io::Result<()> {
    if args.output.format != Format::Text {
        return output::print(report, args.output.format, args.output.connections);
    }
    if !speech::is_quiet() {
        output::print(report, args.output.format, args.output.connections)?;
    }
    output::print_story(&report.story_of_demo(name, incidents::is_built(name)))
}

fn make(name: &str) -> anyhow::Result<Simulated> {
    let title = stories().iter().find(|story| story.name == name);
    if let (Some(scenario), Some(story)) = (story(name), title) {
        return Ok(of_story(&scenario, story.title));
    }
    if !incidents::is_built(name) {
        bail!(incidents::unknown(name));
    }
    let incident = Incident::named(name)?;
    let captures = coalescope_incident::simulate(&incident).slow.captures;
    let mut captures: Vec<_> = captures
        .into_iter()
        .map(|one| (one.point, one.bytes))
        .collect();
    if !incident.workload.upload {
        captures.reverse();
    }
    Ok(Simulated {
        title: incident.title,
        captures,
    })
}

fn of_story(scenario: &Scenario, title: &str) -> Simulated {
    let outcome = simulate(scenario);
    let points = outcome.points.iter();
    let mut captures: Vec<_> = points
        .map(|one| (one.name.clone(), one.bytes.clone()))
        .collect();
    // The simulator numbers its points from the client.
    if goes_to_client(&outcome) {
        captures.reverse();
    }
    Simulated {
        title: title.to_owned(),
        captures,
    }
}

/// Writes a file for each point.
fn write(simulated: &Simulated, directory: &Path) -> anyhow::Result<Vec<Named>> {
    let mut points = Vec::new();
    for (name, bytes) in &simulated.captures {
        let file = directory.join(format!("{name}.{}", extension(bytes)));
        fs::write(&file, bytes)
            .with_context(|| format!("cannot write {}: use --keep DIR", file.display()))?;
        points.push(Named {
            name: name.clone(),
            files: vec![file],
        });
    }
    Ok(points)
}

fn extension(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(&PCAPNG) {
        "pcapng"
    } else {
        "pcap"
    }
}

fn goes_to_client(simulated: &coalescope_simulate::Outcome) -> bool {
    let bytes = |side: Side| -> u64 {
        let connections = &simulated.truth.connections;
        let toward = connections
            .iter()
            .map(|connection| &connection.toward[side.index()]);
        toward.map(|lane| lane.bytes).sum()
    };
    bytes(Side::Client) >= bytes(Side::Server)
}

/// Reports which files were written, and how to trace them again.
fn announce(name: &str, simulated: &Simulated, points: &[Named], place: &Place) {
    let names: Vec<&str> = points.iter().map(|point| point.name.as_str()).collect();
    speech::tell(&format!(
        "{name}: {}; simulated, captured at {}",
        simulated.title,
        names.join(", ")
    ));
    if matches!(place, Place::Temporary(_)) {
        speech::tell("--keep DIR keeps the captures, for `coalescope trace`");
    } else {
        let files = points
            .iter()
            .map(|point| sh(&point.files[0].to_string_lossy()).into_owned());
        let files: Vec<String> = files.collect();
        speech::tell(&format!("$ coalescope trace {}", files.join(" ")));
    }
    speech::tell("");
}
