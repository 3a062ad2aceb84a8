//! What captures show while the workload runs.

use coalescope_lab::incident::Captured;

use super::{Chain, list, text};

/// Captures at most: a busy machine may hold one transfer back for longer than what is looked for does.
const TRACES: usize = 3;

impl Chain<'_> {
    /// Captures at all points while the workload runs, and traces them in the order of the data.
    pub(super) fn trace(&mut self) -> anyhow::Result<()> {
        if self.incident.points.is_empty() {
            self.tell("trace: left out, since the path has no point to capture at");
            return Ok(());
        }
        let expects = !self.incident.expect.findings.is_empty();
        for _ in 0..TRACES {
            self.trace_once()?;
            if self.seen.observed || !expects {
                break;
            }
        }
        Ok(())
    }

    fn trace_once(&mut self) -> anyhow::Result<()> {
        let captured = self.capture()?;
        let points = captured
            .iter()
            .map(|one| format!("{0}={0}.pcapng", one.point));
        let points: Vec<String> = points.collect();
        let points = points.iter().map(String::as_str);
        let arguments: Vec<&str> = ["trace", "--format", "json"]
            .into_iter()
            .chain(points)
            .collect();
        let report = self.commands().json(&arguments)?;
        self.keep("trace.json", &report)?;
        self.tell(&format!("trace: {}", text(&report["verdict"]["text"])));
        for finding in list(&report["findings"]) {
            let id = text(&finding["id"]);
            self.seen.observed |= self.incident.expect.findings.iter().any(|one| one == id);
            if text(&finding["blame"]) == "harms" {
                self.seen.accused.insert(id.to_owned());
            }
        }
        self.seen.captures = captured.into_iter().map(|one| one.file).collect();
        Ok(())
    }

    fn capture(&self) -> anyhow::Result<Vec<Captured>> {
        self.live.capture(self.place.path())?;
        let measured = self.live.measure();
        let mut captured = self.live.end_capture(self.place.path())?;
        measured?;
        if !self.incident.workload.upload {
            captured.reverse();
        }
        Ok(captured)
    }
}
