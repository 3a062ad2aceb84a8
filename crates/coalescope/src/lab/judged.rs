//! Whether an incident came out as its file says.

use anyhow::bail;
use coalescope_incident::{Incident, Kind, Nearer};
use coalescope_report::{LabControl, LabReport};

use crate::Outcome;

/// Whether all came out as it must; an error where this machine could run nothing, since that proves nothing.
pub(crate) fn outcome(report: &LabReport) -> anyhow::Result<Outcome> {
    if report.ran_nothing() {
        bail!(
            "nothing could be run on this machine: {}",
            report.lacking().join("; ")
        );
    }
    if let Some(failed) = report
        .failed
        .first()
        .filter(|_| report.incidents.is_empty())
    {
        bail!("incident {}: {}", failed.name, failed.why);
    }
    Ok(Outcome::of(!report.is_as_expected()))
}

/// What was measured.
pub(crate) struct Measurements {
    pub(crate) slow_bps: f64,
    pub(crate) fast_bps: f64,
    /// Segments a round trip, as it was.
    pub(crate) window: f64,
    pub(crate) controls: Vec<LabControl>,
}

/// What is not as it must be.
pub(crate) fn problems(
    incident: &Incident,
    measured: &Measurements,
    observed: bool,
    accused: &[String],
) -> Vec<String> {
    let both = [measured.slow_bps, measured.fast_bps];
    let mut problems = throughput(incident, both, measured.window);
    problems.extend(controls(incident, measured));
    let limits = measured
        .controls
        .iter()
        .flat_map(|one| limits(incident, one));
    problems.extend(limits);
    if !incident.expect.findings.is_empty() && !observed {
        let expected = incident.expect.findings.join(" or ");
        problems.push(format!("trace does not find {expected}"));
    }
    if incident.kind == Kind::Innocent && !accused.is_empty() {
        problems.push(format!(
            "merging is innocent, and blamed by {}",
            accused.join(", ")
        ));
    }
    problems
}

/// What is not as it must be of the ratio of two throughputs: as it was, and with the remedy.
fn ratio(incident: &Incident, [slow_bps, fast_bps]: [f64; 2]) -> Vec<String> {
    let expect = &incident.expect;
    let ratio = fast_bps / slow_bps.max(1.0);
    let mut problems = Vec::new();
    if let Some(least) = expect.ratio_at_least.filter(|least| ratio < *least) {
        problems.push(format!(
            "{ratio:.1} times faster with the remedy, not {least} at least"
        ));
    }
    if let Some(most) = expect.ratio_at_most.filter(|most| ratio > *most) {
        problems.push(format!(
            "{ratio:.1} times faster with the remedy, not {most} at most"
        ));
    }
    problems
}

/// What is not as it must be of two throughputs, as it was and with the remedy, and of the segments in a round trip when
/// slow.
pub(crate) fn throughput(incident: &Incident, bps: [f64; 2], window: f64) -> Vec<String> {
    let mut problems = ratio(incident, bps);
    if let Some([least, most]) = incident.expect.window
        && !(least..=most).contains(&window)
    {
        problems.push(format!(
            "{window:.2} segments a round trip when slow, not {least} to {most}"
        ));
    }
    problems
}

fn controls(incident: &Incident, measured: &Measurements) -> Vec<String> {
    let wrong = measured.controls.iter().filter_map(|control| {
        let expected = incident.control(&control.name)?.expect?;
        let is = Nearer::of(control.bps, measured.slow_bps, measured.fast_bps);
        let word = |nearer| match nearer {
            Nearer::Slow => "slow",
            Nearer::Fast => "fast",
        };
        (is != expected).then(|| {
            format!(
                "{} is {}, and must be {}",
                control.name,
                word(is),
                word(expected)
            )
        })
    });
    wrong.collect()
}

/// What a control's file says of its frames and its time.
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

#[cfg(test)]
mod tests {
    use super::*;
    use coalescope_report::Skipped;

    #[test]
    fn where_nothing_could_be_run_that_is_an_error_with_each_reason_once() {
        let skipped = |name: &str, why: &str| Skipped {
            name: name.to_owned(),
            why: why.to_owned(),
        };
        let mut report = LabReport::default();
        assert!(matches!(outcome(&report), Ok(Outcome::Done)));
        report.skipped = vec![
            skipped("a", "no kernel"),
            skipped("b", "no kernel"),
            skipped("c", "no rights"),
        ];
        let said = outcome(&report).map_or_else(|error| error.to_string(), |_| String::new());
        assert_eq!(
            said,
            "nothing could be run on this machine: no kernel; no rights"
        );
        assert!(!report.is_as_expected());
    }

    #[test]
    fn one_that_broke_off_is_a_problem_and_an_error_where_it_is_all() {
        let failed = Skipped {
            name: "a".to_owned(),
            why: "no answer".to_owned(),
        };
        let report = LabReport {
            failed: vec![failed],
            ..LabReport::default()
        };
        assert!(!report.is_as_expected() && !report.ran_nothing());
        let said = outcome(&report).map_or_else(|error| error.to_string(), |_| String::new());
        assert_eq!(said, "incident a: no answer");
    }
}
