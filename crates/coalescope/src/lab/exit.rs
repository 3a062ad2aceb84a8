//! The exit code of a run of the lab.

use anyhow::bail;
use coalescope_report::LabReport;

use crate::Outcome;

/// Done if all incidents came out as expected; an error if this machine could run none, since that proves nothing.
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
