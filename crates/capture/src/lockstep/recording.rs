//! The second reading: of a few connections, frame by frame.

use crate::connection::Tracked;
use crate::point::Point;
use crate::reader::Item;
use crate::series::Recorder;

use super::intake::Intake;
use super::{Options, PointInput, Progress, Run, TraceError, check, introduce, open};

/// Reads only the connections that a recorder wants, and gives them to it frame by frame.
pub(crate) fn record(
    inputs: Vec<PointInput>,
    options: &Options,
    recorder: Recorder,
    progress: &mut dyn FnMut(Progress),
) -> Result<Recorder, TraceError> {
    check(&inputs, options)?;
    std::thread::scope(|scope| {
        let (names, intake, _) = open(inputs, options, scope);
        let mut run = Run::new(intake, options, Some(recorder));
        run.read(progress);
        run.finish_recording(&names)
    })
}

impl Run<'_> {
    /// Whether a frame is to be followed: all are, unless a recorder wants few.
    pub(super) fn is_wanted(&self, point: usize, item: &Item) -> bool {
        let recorder = self.recorder.as_ref();
        recorder.is_none_or(|recorder| recorder.wants(point, item))
    }

    /// Shows the recorder, if there is one, what a frame did.
    pub(super) fn record(&mut self, point: usize, item: &Item, tracked: Option<&(u32, Tracked)>) {
        if let (Some(recorder), Some(tracked)) = (&mut self.recorder, tracked) {
            let after = self.points[point].table.get(tracked.0);
            recorder.saw(point, item, tracked, after);
        }
    }

    /// Tells the recorder, if there is one, what became of frames.
    pub(super) fn tell(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            for (point, hop) in self.hops.iter_mut().enumerate() {
                recorder.ask(point, hop);
            }
        }
    }

    /// Judges the rest, and gives the recorder.
    fn finish_recording(mut self, names: &[String]) -> Result<Recorder, TraceError> {
        let read = std::mem::replace(&mut self.intake, Intake::Feeds(Vec::new()));
        read.ends(names)?;
        self.points.iter_mut().for_each(Point::settle);
        introduce(&mut self.hops, &self.points);
        for (i, hop) in self.hops.iter_mut().enumerate() {
            hop.round([&self.points[i], &self.points[i + 1]], true);
        }
        self.tell();
        let mut recorder = self.recorder.take().unwrap_or_default();
        recorder.know(&self.points);
        Ok(recorder)
    }
}
