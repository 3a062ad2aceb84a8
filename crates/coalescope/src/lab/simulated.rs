//! `coalescope lab run --simulated`: on a virtual clock, with the same files.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use coalescope_analysis::inputs::{self, Named};
use coalescope_analysis::interrupt::Interrupt;
use coalescope_analysis::task::{Task, threads};
use coalescope_incident::{
    Capture, Control, Figures, Found, Incident, LabControl, Run, Simulated, simulate,
};
use coalescope_knowledge::{Diagnosis, Id, Merging};
use coalescope_report::{LabIncident, LabReport};

use super::exit;
use super::list::chosen;
use crate::cli::LabRunArgs;
use crate::interrupt;
use crate::made::made;
use crate::page::PageFile;
use crate::place::Place;
use crate::trace;
use crate::{Outcome, output, speech};

/// Printed in the place of the kernel's release.
const CLOCK: &str = "virtual clock";

pub(super) fn run(args: &LabRunArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let mut report = LabReport::default();
    for incident in chosen(args)? {
        speech::tell(&format!("{}: on a virtual clock", incident.name));
        let place = Place::new(args.keep.as_ref().map(|keep| keep.join(&incident.name)))?;
        report.incidents.push(one(&incident, &place)?);
    }
    output::print_with_page(&report, args.format, 0, &page, || made(Vec::new()))?;
    exit::outcome(&report)
}

/// The figures of the simulated path, and the findings of `trace` in its captures. Nothing is
/// suspected, proven or undone, since there is no host.
fn one(incident: &Incident, place: &Place) -> anyhow::Result<LabIncident> {
    let begun = Instant::now();
    let run = simulate(incident);
    let points = write(&run.slow.captures, place.path())?;
    let captures = points.iter().flat_map(|point| point.files.clone());
    let captures = captures.collect();
    let interrupt = interrupt::listen()?;
    let (_, diagnosis) = trace::judged(&task(points, &interrupt))?;
    let figures = figures(incident, &run, place.path(), &interrupt)?;
    let observed = found(incident, &diagnosis);
    let accused = accused(&diagnosis);
    let accuses = Found {
        observed,
        accused: &accused,
    };
    let problems = incident.problems(&figures, accuses);
    Ok(LabIncident {
        name: incident.name.clone(),
        title: incident.title.clone(),
        kind: incident.kind,
        kernel: CLOCK.to_owned(),
        published: incident.published.clone(),
        slow_bps: run.slow.bps,
        fast_bps: run.fast.bps,
        ratio: run.ratio(),
        effective_window_segments: run.effective_window_segments(),
        undone_bps: None,
        suspected: false,
        watched: None,
        observed,
        proven: false,
        fixed: false,
        undone: false,
        accused,
        controls: figures.controls,
        // CPU time is not simulated.
        table: Vec::new(),
        agreement: Vec::new(),
        problems,
        captures: place.kept(captures),
        took_s: begun.elapsed().as_secs_f64(),
    })
}

fn figures(
    incident: &Incident,
    run: &Simulated,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<Figures> {
    let all = incident.controls.iter().zip(&run.controls);
    let controls =
        all.map(|(control, simulated)| measured(control, &simulated.run, folder, interrupt));
    Ok(Figures {
        slow_bps: run.slow.bps,
        fast_bps: run.fast.bps,
        window: run.effective_window_segments(),
        controls: controls.collect::<anyhow::Result<_>>()?,
    })
}

fn measured(
    control: &Control,
    run: &Run,
    folder: &Path,
    interrupt: &Interrupt,
) -> anyhow::Result<LabControl> {
    let folder = folder.join(&control.name);
    let data_frames = match (control.frames, run.captures.first()) {
        (Some(_), Some(first)) => Some(data_frames(first, &folder, interrupt)?),
        _ => None,
    };
    Ok(LabControl {
        name: control.name.clone(),
        title: control.title.clone(),
        bps: run.bps,
        effective_window_segments: run.effective_window_segments,
        took_s: None,
        data_frames,
    })
}

/// Number of frames with data in a capture, in both directions.
fn data_frames(capture: &Capture, folder: &Path, interrupt: &Interrupt) -> anyhow::Result<u64> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let points = write(std::slice::from_ref(capture), folder)?;
    let (trace, _) = trace::judged(&task(points, interrupt))?;
    let connections = trace
        .points
        .iter()
        .flat_map(|point| point.connections.iter());
    let frames = connections.map(|one| one.to_client.data_frames + one.to_server.data_frames);
    Ok(frames.sum())
}

fn task(points: Vec<Named>, interrupt: &Interrupt) -> Task {
    trace::task(inputs::open(points), threads(None), interrupt.clone())
}

/// Writes the captures in the order of the data, which comes from the server.
fn write(captures: &[Capture], folder: &Path) -> anyhow::Result<Vec<Named>> {
    let mut points = Vec::new();
    for capture in captures.iter().rev() {
        let file = folder.join(format!("{}.pcapng", capture.point));
        fs::write(&file, &capture.bytes)
            .with_context(|| format!("cannot write {}", file.display()))?;
        points.push(Named {
            name: capture.point.clone(),
            files: vec![file],
        });
    }
    Ok(points)
}

fn found(incident: &Incident, diagnosis: &Diagnosis) -> bool {
    let mut findings = diagnosis.findings.iter();
    findings.any(|finding| {
        let expected = &incident.expect.findings;
        expected.iter().any(|id| id == finding.id.name())
    })
}

/// Ids of findings that blame merging.
fn accused(diagnosis: &Diagnosis) -> Vec<String> {
    let harms = [
        Id::MergedFramesLost,
        Id::MergedFramesRejected,
        Id::MergedDatagramsLost,
    ];
    let findings = diagnosis.findings.iter().map(|finding| finding.id);
    let mut ids: Vec<String> = findings
        .filter(|id| harms.contains(id))
        .map(|id| id.name().to_owned())
        .collect();
    if ids.is_empty() && diagnosis.verdict.merging == Merging::Harms {
        ids.push("the verdict".to_owned());
    }
    ids
}
