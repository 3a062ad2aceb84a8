//! The whole chain over one incident, live: measure, `watch`, `check`, `trace`, `ab`, `fix`, measure, `undo`,
//! measure; and the controls.

mod traced;
mod watched;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use coalescope_incident::{Build, Figures, Found, Incident, LabAgreement, Nearer, Steps};
use coalescope_lab::incident::{Live, Measured};
use coalescope_lab::uml::is_inside;
use coalescope_report::{LabIncident, figure};
use serde_json::Value;

use super::commands::{Commands, list};
use super::{others, table};
use crate::place::Place;
use crate::speech;

/// Runs of the experiment at most: a difference of 20 times is clear long before.
const MAX_RUNS: &str = "16";
/// The record of the experiment.
const RECORD: &str = "ab.json";
/// A run that takes longer hangs.
const TIMEOUT_S: &str = "60";

/// Runs the chain.
pub(super) fn run(incident: &Incident, place: &Place) -> anyhow::Result<LabIncident> {
    let begun = Instant::now();
    let mut chain = Chain::start(incident, place)?;
    let slow = chain.measure("as it is")?;
    chain.watch()?;
    chain.check()?;
    chain.trace()?;
    chain.experiment()?;
    let fast_bps = chain.mend()?;
    let undone_bps = chain.take_back([slow.bps(), fast_bps])?;
    let seen = chain.stop()?;
    let [slow_bps, fast_bps] = others::settled(incident, [slow.bps(), fast_bps])?;
    let figures = Figures {
        slow_bps,
        fast_bps,
        window: incident.effective_window(slow_bps),
        controls: others::controls(incident, place, [slow_bps, fast_bps])?,
    };
    let mut done = report(incident, place, seen, figures, undone_bps);
    done.table = table::rows(incident)?;
    done.agreement = LabAgreement::of(&done.table);
    done.took_s = begun.elapsed().as_secs_f64();
    Ok(done)
}

/// Results of the commands.
#[derive(Default)]
struct Seen {
    /// Id of the finding of `check` about the remedy's setting.
    suspected: Option<String>,
    /// See [`LabIncident::watched`].
    watched: Option<bool>,
    observed: bool,
    proven: bool,
    fixed: bool,
    /// Journals of `fix`.
    journals: Vec<String>,
    accused: BTreeSet<String>,
    /// Files with findings, which the experiment settles.
    reports: Vec<&'static str>,
    captures: Vec<PathBuf>,
}

struct Chain<'a> {
    incident: &'a Incident,
    live: Live,
    place: &'a Place,
    /// The remedy, as an argument of `ab` on this machine.
    remedy: String,
    seen: Seen,
}

impl<'a> Chain<'a> {
    fn start(incident: &'a Incident, place: &'a Place) -> anyhow::Result<Self> {
        let live = Live::start(incident, Build::AsIs)?;
        let rules = place.path().join("rules");
        fs::create_dir_all(&rules)?;
        fs::write(rules.join("lab.yaml"), coalescope_incident::RULES)
            .context("cannot write the lab's rules")?;
        Ok(Self {
            incident,
            remedy: live.setting(&incident.remedy)?,
            live,
            place,
            seen: Seen::default(),
        })
    }

    fn commands(&self) -> Commands<'_> {
        Commands::new(self.place.path())
    }

    fn tell(&self, text: &str) {
        speech::tell(&format!("{}: {text}", self.incident.name));
    }

    fn measure(&self, when: &str) -> anyhow::Result<Measured> {
        let measured = self.live.measure()?;
        self.tell(&format!(
            "{when}: {}",
            figure(measured.bps(), Some("bit/s"))
        ));
        Ok(measured)
    }

    /// Runs `check` on the lab's hosts, and on no other interface of this machine.
    fn check(&mut self) -> anyhow::Result<()> {
        let arguments = [
            "check",
            "--all-netns",
            "--rules",
            "rules",
            "--format",
            "json",
        ];
        let mut report = self.commands().json(&arguments)?;
        let findings = self.ours(&report)?;
        for finding in &findings {
            self.note(finding);
        }
        report["findings"] = findings.into();
        self.keep("check.json", &report)
    }

    fn keep(&mut self, file: &'static str, report: &Value) -> anyhow::Result<()> {
        fs::write(self.place.path().join(file), report.to_string())?;
        if !self.seen.reports.contains(&file) {
            self.seen.reports.push(file);
        }
        Ok(())
    }

    /// Findings about the lab's hosts, and not about others of this machine.
    fn ours(&self, report: &Value) -> anyhow::Result<Vec<Value>> {
        let rooms = self.rooms()?;
        let is_ours = |finding: &&Value| {
            let place = text(&finding["interface"]);
            rooms.iter().any(|room| place.starts_with(room.as_str()))
        };
        Ok(list(&report["findings"]).filter(is_ours).cloned().collect())
    }

    /// Prefixes of the names of the rooms' interfaces.
    fn rooms(&self) -> anyhow::Result<Vec<String>> {
        let rooms = self.incident.rooms();
        rooms
            .map(|room| Ok(format!("ns/{}/", self.live.room_name(&room.name)?)))
            .collect()
    }

    fn note(&mut self, finding: &Value) {
        let id = text(&finding["id"]);
        if sets(finding, &self.remedy) {
            self.tell(&format!(
                "check: {} [{id}, suspected]",
                text(&finding["title"])
            ));
            self.seen.suspected = Some(id.to_owned());
        }
        if ["harms", "bad-remedy"].contains(&text(&finding["blame"])) {
            self.seen.accused.insert(id.to_owned());
        }
    }

    /// The remedy's setting against what is, and nothing else.
    fn experiment(&mut self) -> anyhow::Result<()> {
        let from = format!("ns/{}", self.live.room_name(self.live.client())?);
        let factor = [
            "ab",
            "--format",
            "json",
            "--set",
            &self.remedy,
            "--from",
            &from,
        ];
        let limits = [
            "--max-runs",
            MAX_RUNS,
            "--timeout",
            TIMEOUT_S,
            "--settle",
            "0.2",
        ];
        let workload = &self.incident.workload;
        let address = self.live.address().to_string();
        let (bytes, limit) = (workload.trial().to_string(), workload.limit_s.to_string());
        let fetch = [
            "/proc/self/exe",
            "lab",
            "get",
            &address,
            &bytes,
            "--limit",
            &limit,
        ];
        // Of an earlier lab with `--keep`, whose namespaces had other names: `ab` replaces no record of another experiment.
        let _ = fs::remove_file(self.place.path().join(RECORD));
        let reports = self.seen.reports.iter();
        let findings: Vec<&str> = reports.flat_map(|report| ["--findings", report]).collect();
        let kept = ["--save", RECORD, "--"];
        let arguments = [&factor[..], &limits, &findings, &kept, &fetch].concat();
        let report = self.commands().json(&arguments)?;
        self.tell(&format!(
            "ab, {} a run: {}",
            figure(workload.trial() as f64, Some("byte")),
            text(&report["verdict"])
        ));
        let findings = list(&report["findings"]);
        let proven = findings.filter(|one| text(&one["now"]) == "proven");
        let proven: BTreeSet<&str> = proven.map(|one| text(&one["id"])).collect();
        self.seen.proven = !proven.is_empty();
        for id in proven {
            self.tell(&format!("ab proves {id}"));
        }
        Ok(())
    }

    /// Measures with the remedy: applied by `fix` if `check` proposes it, otherwise applied just
    /// for the measurement; the path ends afterwards.
    fn mend(&mut self) -> anyhow::Result<f64> {
        let Some(id) = &self.seen.suspected else {
            self.live.set(&self.incident.remedy)?;
            return Ok(self.measure("with the setting that one would try")?.bps());
        };
        let room = self.live.room_name(&self.incident.remedy.room)?;
        let arguments = [
            "fix", id, "--apply", "--netns", room, "--rules", "rules", "--format", "json",
        ];
        let report = self.commands().json(&arguments)?;
        self.seen.fixed = report["applied"] == true;
        let journals = report["journals"].as_array().into_iter().flatten();
        let journals = journals.filter_map(|one| one.as_str().map(str::to_owned));
        self.seen.journals = journals.collect();
        thread::sleep(OBEYED);
        Ok(self.measure("fixed")?.bps())
    }

    /// As it was, and slow again; `None` where nothing was changed. Where one run says otherwise, the one in the middle of
    /// more counts.
    fn take_back(&mut self, [slow, fast]: [f64; 2]) -> anyhow::Result<Option<f64>> {
        if !self.seen.fixed {
            return Ok(None);
        }
        // By name, since this host may have other journals.
        for journal in &self.seen.journals {
            self.commands()
                .json(&["undo", journal, "--format", "json"])?;
        }
        thread::sleep(OBEYED);
        let first = self.measure("undone")?.bps();
        if Nearer::of(first, slow, fast) == Nearer::Slow {
            return Ok(Some(first));
        }
        let again = || Ok(self.measure("undone, again")?.bps());
        others::middle_of_more(first, again).map(Some)
    }

    fn stop(self) -> anyhow::Result<Seen> {
        self.live.stop()?;
        Ok(self.seen)
    }
}

/// How long elements of the path may take to follow a setting: they read settings every 50 ms.
const OBEYED: Duration = Duration::from_millis(200);

fn report(
    incident: &Incident,
    place: &Place,
    seen: Seen,
    figures: Figures,
    undone_bps: Option<f64>,
) -> LabIncident {
    let accused: Vec<String> = seen.accused.into_iter().collect();
    let observed = seen.observed;
    let accuses = Found {
        observed,
        accused: &accused,
    };
    let mut problems = incident.problems(&figures, accuses);
    let steps = Steps {
        suspected: seen.suspected.is_some(),
        watched: seen.watched,
        proven: seen.proven,
        fixed: seen.fixed && figures.fast_bps > figures.slow_bps,
        undone: undone_bps.is_some_and(|bps| figures.nearer(bps) == Nearer::Slow),
    };
    problems.extend(incident.problems_of_steps(steps));
    LabIncident {
        name: incident.name.clone(),
        title: incident.title.clone(),
        kind: incident.kind,
        kernel: kernel(),
        published: incident.published.clone(),
        slow_bps: figures.slow_bps,
        fast_bps: figures.fast_bps,
        ratio: figures.ratio(),
        effective_window_segments: figures.window,
        undone_bps,
        suspected: steps.suspected,
        watched: steps.watched,
        observed,
        proven: steps.proven,
        fixed: steps.fixed,
        undone: steps.undone,
        accused,
        controls: figures.controls,
        table: Vec::new(),
        agreement: Vec::new(),
        problems,
        captures: place.kept(seen.captures),
        took_s: 0.0,
    }
}

fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    match is_inside() {
        true => format!("Linux {} (user-mode-linux)", release.trim()),
        false => release.trim().to_owned(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether a finding has this setting as a remedy.
fn sets(finding: &Value, setting: &str) -> bool {
    let remedies = list(&finding["remedies"]);
    let mut settings = remedies.flat_map(|remedy| list(&remedy["settings"]));
    settings.any(|one| one == setting)
}
