//! What is said: of captures alone as `trace` does, beside hosts as `diagnose` does.

use coalescope_capture::facts::Trace;
use coalescope_knowledge::{judge, judge_pair};
use coalescope_report::{DiagnoseReport, Document, Report};

use crate::asked::Asked;
use crate::hosts::Hosts;
use crate::pictures;

const ALONE: &str = "what hosts printed is checked beside captures that are points of one path: leave it out, or choose that";

/// A report of one of the two sorts.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Captures alone.
    Trace(Box<Report>),
    /// Hosts, and captures if there are any.
    Diagnose(Box<DiagnoseReport>),
}

impl Answer {
    /// Judges what was read.
    pub(crate) fn of(
        asked: &Asked,
        hosts: Option<Hosts>,
        captured: Option<Trace>,
    ) -> Result<Self, String> {
        if let Some(hosts) = hosts {
            if asked.compare || asked.by_interface {
                return Err(ALONE.to_owned());
            }
            return Ok(Self::Diagnose(Box::new(hosts.beside(captured))));
        }
        let captured = captured.ok_or("there is nothing to judge")?;
        if asked.compare {
            return Ok(Self::Trace(Box::new(compared(captured)?)));
        }
        let diagnosis = judge(&captured);
        Ok(Self::Trace(Box::new(Report::new(captured, diagnosis))))
    }

    /// To be written.
    pub(crate) fn document(&self) -> &dyn Document {
        match self {
            Self::Trace(report) => &**report,
            Self::Diagnose(report) => &**report,
        }
    }

    /// What the captures say.
    pub(crate) fn traced(&self) -> Option<&Report> {
        match self {
            Self::Trace(report) => Some(report),
            Self::Diagnose(report) => report.traced(),
        }
    }

    /// The first lines.
    pub(crate) fn verdict(&self) -> String {
        match self {
            Self::Trace(report) => report.diagnosis().verdict.text.clone(),
            Self::Diagnose(report) => report.verdict(),
        }
    }

    /// With the frames of a few connections, for which captures are read again.
    pub(crate) fn with_pictures(self, asked: &Asked) -> Self {
        let Some(pictures) = self.traced().map(|report| pictures(asked, report)) else {
            return self;
        };
        match self {
            Self::Trace(report) => Self::Trace(Box::new(report.with_series(pictures))),
            Self::Diagnose(report) => Self::Diagnose(Box::new(report.with_series(pictures))),
        }
    }
}

fn compared(trace: Trace) -> Result<Report, String> {
    let Some((comparison, diagnosis)) = judge_pair(&trace) else {
        return Err("there is nothing to compare: one of the two captures shows no TCP connection that carries data".to_owned());
    };
    Ok(Report::new(trace, diagnosis).with_comparison(comparison))
}
