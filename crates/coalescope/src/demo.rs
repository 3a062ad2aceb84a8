//! `coalescope demo`: an incident out of the simulator.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use coalescope_simulate::{
    Outcome as Simulated, PointCapture, Side, run as simulate, stories, story,
};

use crate::Outcome;
use crate::cli::DemoArgs;
use crate::inputs::Named;
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::trace::{self, Task};
use crate::{lab, output};

/// The incident whose captures are traced where none can be run live: story E.
const RECORDED: &str = "hyperv-rsc-jumbo";
/// How a pcapng file begins.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    let story = args.story.as_deref();
    if args.list || story == Some("list") {
        list(&mut io::stdout().lock())?;
        return Ok(Outcome::Done);
    }
    if story.is_none() && args.keep.is_none() && lab::demo(args.output.format)? {
        return Ok(Outcome::Done);
    }
    let story = story.unwrap_or(RECORDED);
    let simulated = make(story)?;
    let place = Place::new(args.keep.clone())?;
    let points = write(&simulated, place.path())?;
    announce(story, &simulated, &points, &place);
    let report = trace::report(&Task {
        points,
        compare: false,
        points_by_interface: false,
        threads: None,
        interrupt: Interrupt::listen()?,
    })?;
    output::print(&report, args.output)?;
    Ok(Outcome::Done)
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = stories().iter().map(|story| story.name.len()).max();
    let width = width.unwrap_or(0);
    for story in stories() {
        writeln!(out, "{:width$}  {}", story.name, story.title)?;
    }
    Ok(())
}

fn make(name: &str) -> anyhow::Result<Simulated> {
    let scenario = story(name).ok_or_else(|| {
        anyhow!("there is no incident called {name}: `coalescope demo list` lists them")
    })?;
    Ok(simulate(&scenario))
}

/// Writes a file for each point; gives the points in the order in which most data passed them.
fn write(simulated: &Simulated, directory: &Path) -> anyhow::Result<Vec<Named>> {
    let mut points = Vec::new();
    for capture in &simulated.points {
        let extension = extension(&capture.bytes);
        let file = directory.join(format!("{}.{extension}", capture.name));
        fs::write(&file, &capture.bytes)
            .with_context(|| format!("cannot write {}: use --keep DIR", file.display()))?;
        points.push(Named {
            name: capture.name.clone(),
            files: vec![file],
        });
    }
    // The simulator numbers its points from the client.
    if goes_to_client(simulated) {
        points.reverse();
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

fn goes_to_client(simulated: &Simulated) -> bool {
    let bytes = |side: Side| -> u64 {
        let connections = &simulated.truth.connections;
        let toward = connections
            .iter()
            .map(|connection| &connection.toward[side.index()]);
        toward.map(|lane| lane.bytes).sum()
    };
    bytes(Side::Client) >= bytes(Side::Server)
}

/// Says what was made, and how to look at it again.
fn announce(name: &str, simulated: &Simulated, points: &[Named], place: &Place) {
    let title = stories().iter().find(|story| story.name == name);
    output::tell(&format!(
        "{name}: {}",
        title.map_or("", |story| story.title)
    ));
    for point in points {
        let capture = simulated.point(&point.name);
        let frames = capture.map_or(0, PointCapture::frames);
        output::tell(&format!("  {}: {frames} frames", point.name));
    }
    let files = points.iter().map(|point| quoted(&point.files[0]));
    output::tell(&format!(
        "$ coalescope trace {}",
        files.collect::<Vec<_>>().join(" ")
    ));
    if matches!(place, Place::Temporary(_)) {
        output::tell("(a temporary directory; --keep DIR keeps the captures)");
    }
    output::tell("");
}

/// The path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    if path.chars().all(is_plain) {
        return path.into_owned();
    }
    format!("'{}'", path.replace('\'', r"'\''"))
}
