//! Runs `watch` while the workload runs.

use std::thread;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::Value;

use super::{Chain, list, text};

/// Time until `watch` counts on a busy machine; if it begins later, part of the workload is not counted.
const BEGUN: Duration = Duration::from_secs(1);
/// The exit code of a command that saw too little to decide.
const UNDECIDED: i32 = 4;

impl Chain<'_> {
    /// Counts frames in the lab's rooms while the workload runs, without reading settings or captures.
    pub(super) fn watch(&mut self) -> anyhow::Result<()> {
        let limit_s = self.incident.workload.limit_s;
        let time = format!("{:.0}s", (limit_s + BEGUN.as_secs_f64()).ceil());
        let arguments = ["watch", "--all-netns", "--for", &time, "--format", "json"];
        let mut report = thread::scope(|scope| {
            let commands = self.commands();
            let watch = scope.spawn(move || commands.json_of(&arguments, &[0, 1, UNDECIDED]));
            thread::sleep(BEGUN);
            self.live.measure()?;
            watch.join().map_err(|_| anyhow!("watching broke off"))?
        })?;
        if text(&report["level"]) != "bpf" {
            let why = list(&report["unseen"]).next();
            let why = why.map_or("", |unseen| text(&unseen["why"]));
            self.tell(&format!(
                "watch: left out, since frames cannot be counted one by one: {why}"
            ));
            return Ok(());
        }
        let findings = self.ours(&report)?;
        self.note_watched(&findings);
        report["findings"] = findings.into();
        self.keep("watch.json", &report)
    }

    fn note_watched(&mut self, findings: &[Value]) {
        let mut seen = false;
        for finding in findings {
            let id = text(&finding["id"]);
            let expected = &self.incident.expect.watched;
            let harms = text(&finding["blame"]) == "harms";
            seen |= expected.iter().any(|one| one == id) || harms && expected.is_empty();
            if harms {
                self.tell(&format!(
                    "watch: {} [{id}, observed]",
                    text(&finding["title"])
                ));
                self.seen.accused.insert(id.to_owned());
            }
        }
        if !seen {
            self.tell("watch: no kernel on the path drops merged frames where single ones pass");
        }
        self.seen.watched = Some(seen);
    }
}
