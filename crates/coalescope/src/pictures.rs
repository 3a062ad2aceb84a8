//! Pictures of single connections for a page: their frames, from reading the captures again.

use coalescope_analysis::inputs::{self, Opened};
use coalescope_analysis::task::Task;
use coalescope_capture::facts::Trace;
use coalescope_capture::series::{Chosen, Series, series};
use coalescope_knowledge::{Diagnosis, shown};
use coalescope_report::{DRAWN_CONNECTIONS, drawn_frames};

use crate::progress::Meter;

/// The pictures, or the reason why there are none, as part of a sentence.
pub(crate) fn pictures(
    task: &Task,
    trace: &Trace,
    diagnosis: &Diagnosis,
) -> Result<Vec<Series>, String> {
    let chosen = shown(trace, diagnosis, DRAWN_CONNECTIONS);
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    if task.archive.is_some() {
        return Err(
            "pictures need the captures, of which an archive keeps less: trace those".to_owned(),
        );
    }
    if let Some(once) = task.points.iter().find_map(inputs::read_once) {
        return Err(format!(
            "{once} can be read only once, and pictures need a second reading: save it to a file, and trace that"
        ));
    }
    let read = read(task, trace, &chosen);
    if task.interrupt.is_set() {
        return Err("reading was interrupted".to_owned());
    }
    read.map_err(|error| format!("the second reading failed: {error:#}"))
}

fn read(task: &Task, trace: &Trace, chosen: &[Chosen]) -> anyhow::Result<Vec<Series>> {
    let Opened {
        points, size_bytes, ..
    } = inputs::sources(&task.points, &task.interrupt)?;
    let options = task.options();
    let limit = drawn_frames(chosen.len(), trace.points.len());
    let mut meter = Meter::new(size_bytes);
    let mut show = |progress| meter.show(progress);
    let found = series(points, &options, (trace, chosen), limit, &mut show);
    meter.clear();
    Ok(found?)
}
