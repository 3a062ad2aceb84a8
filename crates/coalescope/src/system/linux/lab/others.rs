//! Measurements besides the chain: controls, and repeated runs if the first ones are not as the file expects.

use std::fs;
use std::path::Path;

use anyhow::Context;
use coalescope_incident::{Build, Control, Incident, LabControl, Nearer};
use coalescope_lab::incident::{Live, Measured};
use coalescope_report::figure;
use serde_json::Value;

use super::commands::{Commands, list};
use crate::place::Place;
use crate::speech;

/// Pairs of runs beside the first, so that there is one in the middle. Beside compilers two of five runs may say anything.
const PAIRS: usize = 4;

/// What it is as it was, and with the remedy: of a busy machine one run of each may say anything, so where their ratio, or
/// what the slow one gets into a round trip, is not as the file says, more pairs are made by turns, and the run in the
/// middle of each counts.
pub(super) fn settled(incident: &Incident, first: [f64; 2]) -> anyhow::Result<[f64; 2]> {
    if is_as_said(incident, first) {
        return Ok(first);
    }
    let mut runs = first.map(|bps| vec![bps]);
    for _ in 0..PAIRS {
        runs[0].push(again(incident, Build::AsIs)?);
        runs[1].push(again(incident, Build::Remedied)?);
    }
    Ok(runs.map(middle))
}

fn is_as_said(incident: &Incident, [slow, fast]: [f64; 2]) -> bool {
    let window = incident.effective_window(slow);
    incident
        .problems_of_throughput([slow, fast], window)
        .is_empty()
}

fn again(incident: &Incident, build: Build<'_>) -> anyhow::Result<f64> {
    let live = Live::start(incident, build)?;
    let bps = live.measure()?.bps();
    live.stop()?;
    let shown = figure(bps, Some("bit/s"));
    speech::tell(&format!("{}: again: {shown}", incident.name));
    Ok(bps)
}

/// The one in the middle of a first run and as many more as there are pairs.
pub(super) fn middle_of_more(
    first: f64,
    again: impl Fn() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let more: anyhow::Result<Vec<f64>> = (0..PAIRS).map(|_| again()).collect();
    Ok(middle([vec![first], more?].concat()))
}

fn middle(mut runs: Vec<f64>) -> f64 {
    runs.sort_by(f64::total_cmp);
    runs.get(runs.len() / 2).copied().unwrap_or_default()
}

/// Runs each control on a path of its own, since it may be built differently. A control that is
/// nearer to the wrong one of the two figures is repeated as often as they are.
pub(super) fn controls(
    incident: &Incident,
    place: &Place,
    [slow, fast]: [f64; 2],
) -> anyhow::Result<Vec<LabControl>> {
    let one = |control: &Control| {
        let mut done = self::control(incident, control, place)?;
        let is_wrong = |nearer| Nearer::of(done.bps, slow, fast) != nearer;
        if control.expect.is_some_and(is_wrong) {
            let build = Build::Control(control);
            done.bps = middle_of_more(done.bps, || again(incident, build))?;
            done.effective_window_segments = incident.built(build).effective_window(done.bps);
        }
        Ok(done)
    };
    incident.controls.iter().map(one).collect()
}

fn control(incident: &Incident, control: &Control, place: &Place) -> anyhow::Result<LabControl> {
    let live = Live::start(incident, Build::Control(control))?;
    let (measured, data_frames) = match control.frames {
        Some(_) => counted(&live, &place.path().join(&control.name))?,
        None => (live.measure()?, None),
    };
    live.stop()?;
    let bps = measured.bps();
    speech::tell(&format!(
        "{}: {}: {}",
        incident.name,
        control.name,
        figure(bps, Some("bit/s"))
    ));
    Ok(LabControl {
        name: control.name.clone(),
        title: control.title.clone(),
        bps,
        effective_window_segments: measured.effective_window_segments,
        took_s: Some(measured.time.as_secs_f64()),
        data_frames,
    })
}

/// Runs the workload, and counts the frames with data that `trace` finds at the first point.
fn counted(live: &Live, folder: &Path) -> anyhow::Result<(Measured, Option<u64>)> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    live.capture(folder)?;
    let measured = live.measure();
    let captured = live.end_capture(folder)?;
    let first = captured.first().context("the path has no point")?;
    let point = format!("{0}={0}.pcapng", first.point);
    let report = Commands::new(folder).json(&["trace", "--format", "json", &point])?;
    let connections = list(&report["points"]).flat_map(|point| list(&point["connections"]));
    let both = |one: &Value| {
        let ways = ["to_client", "to_server"];
        let frames = ways.map(|way| one[way]["data_frames"].as_u64().unwrap_or(0));
        frames.iter().sum::<u64>()
    };
    Ok((measured?, Some(connections.map(both).sum())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_its_file_says_is_measured_once_and_the_middle_counts_otherwise() {
        let incident = Incident::named("openstack-gro").expect("A");
        let first = [1e6, 1e8];
        assert_eq!(settled(&incident, first).ok(), Some(first));
        assert!(!is_as_said(&incident, [1e8, 1e8]));
        // 100 times as fast, but hardly a segment in three round trips.
        assert!(!is_as_said(&incident, [3e5, 3e7]));
        assert_eq!(middle(vec![3.0, 1.0, 2.0]).to_bits(), 2.0_f64.to_bits());
    }
}
