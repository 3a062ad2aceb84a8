//! The result of an incident, compared with its file.

use crate::model::{Incident, Kind, Nearer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Another measurement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LabControl {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Bits per second.
    pub bps: f64,
    /// Segments a round trip.
    pub effective_window_segments: f64,
    /// How long the workload took, in seconds; none if it was simulated.
    pub took_s: Option<f64>,
    /// Frames with data at the first point, as captured there; none where the file does not ask.
    pub data_frames: Option<u64>,
}

/// What was measured of an incident.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Bits per second as it was.
    pub slow_bps: f64,
    /// Bits per second with the remedy.
    pub fast_bps: f64,
    /// Segments a round trip, as it was.
    pub window: f64,
    /// What its controls came to.
    pub controls: Vec<LabControl>,
}

/// The findings of the commands.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// `trace` found what the file expects.
    pub observed: bool,
    /// Ids of findings that blame merging, by whichever command.
    pub accused: &'a [String],
}

/// Which steps of the chain succeeded, live.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// `check` suspected the remedy's setting.
    pub suspected: bool,
    /// `watch` found what the file expects; none where it could not count frames.
    pub watched: Option<bool>,
    /// `ab` proved it.
    pub proven: bool,
    /// `fix` made it fast.
    pub fixed: bool,
    /// `undo` made it as it was.
    pub undone: bool,
}

impl Incident {
    /// Differences between the results and the file, in figures and findings.
    #[must_use]
    pub fn problems(&self, figures: &Figures, found: Found<'_>) -> Vec<String> {
        let bps = [figures.slow_bps, figures.fast_bps];
        let mut problems = self.problems_of_throughput(bps, figures.window);
        let controls = || figures.controls.iter();
        problems.extend(controls().filter_map(|one| speed(self, figures, one)));
        problems.extend(controls().flat_map(|one| limits(self, one)));
        if !self.expect.findings.is_empty() && !found.observed {
            let expected = self.expect.findings.join(" or ");
            problems.push(format!("trace does not find {expected}"));
        }
        if self.kind == Kind::Innocent && !found.accused.is_empty() {
            let accused = found.accused.join(", ");
            problems.push(format!("merging is innocent, and blamed by {accused}"));
        }
        problems
    }

    /// What is not as the file says of two throughputs, as it was and with the remedy, and of the segments in a round
    /// trip when slow.
    #[must_use]
    pub fn problems_of_throughput(&self, bps: [f64; 2], window: f64) -> Vec<String> {
        let mut problems = self.problems_of_ratio(bps);
        problems.extend(self::window(self, window));
        problems
    }

    fn problems_of_ratio(&self, [slow_bps, fast_bps]: [f64; 2]) -> Vec<String> {
        let expect = &self.expect;
        let ratio = ratio(slow_bps, fast_bps);
        let least = expect.ratio_at_least.filter(|least| ratio < *least);
        let most = expect.ratio_at_most.filter(|most| ratio > *most);
        let limits = [(least, "least"), (most, "most")];
        let crossed = limits
            .into_iter()
            .filter_map(|(limit, word)| Some((limit?, word)));
        crossed
            .map(|(limit, word)| {
                format!("{ratio:.1} times faster with the remedy, not {limit} at {word}")
            })
            .collect()
    }

    /// The steps of a live chain that had to succeed, and did not.
    #[must_use]
    pub fn problems_of_steps(&self, steps: Steps) -> Vec<String> {
        let needed = [
            (
                steps.suspected,
                "check does not suspect the setting of the remedy",
            ),
            (steps.proven, "ab does not prove it"),
            (steps.fixed, "fix does not mend it"),
            (steps.undone, "undo does not make it as it was"),
        ];
        let failed = needed.iter().filter(|(done, _)| self.has_remedy() && !done);
        let mut problems: Vec<String> = failed.map(|(_, words)| (*words).to_owned()).collect();
        if !self.expect.watched.is_empty() && steps.watched == Some(false) {
            let expected = self.expect.watched.join(" or ");
            problems.push(format!("watch does not find {expected}"));
        }
        problems
    }

    /// Whether the remedy must be found: merging harms, or its cure is there to be measured.
    fn has_remedy(&self) -> bool {
        match self.kind {
            Kind::Harm => true,
            Kind::Cure => self.expect.ratio_at_least.is_some(),
            Kind::Innocent => false,
        }
    }
}

impl Figures {
    /// How many times faster it is with the remedy.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        ratio(self.slow_bps, self.fast_bps)
    }

    /// Which of the two measurements another throughput is like.
    #[must_use]
    pub fn nearer(&self, bps: f64) -> Nearer {
        Nearer::of(bps, self.slow_bps, self.fast_bps)
    }
}

/// How many times faster the second throughput is; one of nothing counts as 1 bit/s.
pub(crate) fn ratio(slow_bps: f64, fast_bps: f64) -> f64 {
    fast_bps / slow_bps.max(1.0)
}

fn window(incident: &Incident, segments: f64) -> Option<String> {
    let [least, most] = incident.expect.window?;
    (!(least..=most).contains(&segments))
        .then(|| format!("{segments:.2} segments a round trip when slow, not {least} to {most}"))
}

/// A control that is like the wrong one of the two measurements.
fn speed(incident: &Incident, figures: &Figures, control: &LabControl) -> Option<String> {
    let expected = incident.control(&control.name)?.expect?;
    let is = figures.nearer(control.bps);
    let name = &control.name;
    (is != expected).then(|| format!("{name} is {is}, and must be {expected}"))
}

/// Whether a control's frames and time are within the limits of its file.
fn limits(incident: &Incident, measured: &LabControl) -> Vec<String> {
    let Some(control) = incident.control(&measured.name) else {
        return Vec::new();
    };
    let name = &measured.name;
    let frames = control.frames.zip(measured.data_frames);
    let frames = frames.filter(|([least, most], frames)| !(least..=most).contains(&frames));
    let frames = frames.map(|([least, most], frames)| {
        format!("{name} arrives in {frames} frames, and must in {least} to {most}")
    });
    let late = control.within_s.zip(measured.took_s);
    let late = late.filter(|(most, took)| took > most);
    let late =
        late.map(|(most, took)| format!("{name} takes {took:.2} s, and must {most} s at most"));
    frames.into_iter().chain(late).collect()
}
