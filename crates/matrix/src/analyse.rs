//! The analysis, as `coalescope trace` runs it, over captures in memory.

use std::io::Cursor;

use anyhow::{Context, Result};
use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_knowledge::{Diagnosis, judge, judge_pair};

use crate::case::Case;

/// The diagnosis of a case.
pub(crate) fn analyse(case: &Case, captures: &[(String, Vec<u8>)]) -> Result<Diagnosis> {
    let inputs = captures.iter().map(|(name, bytes)| input(name, bytes));
    let options = Options {
        separate: case.is_comparison(),
        points_by_interface: case.in_one_file,
        ..Options::default()
    };
    let trace = trace(inputs.collect::<Result<_>>()?, &options, &mut |_| {})?;
    if !case.is_comparison() {
        return Ok(judge(&trace));
    }
    let (_, diagnosis) = judge_pair(&trace).context("nothing to compare")?;
    Ok(diagnosis)
}

fn input(name: &str, bytes: &[u8]) -> Result<PointInput> {
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    let source = Source::from_reader(name, reader, Some(bytes.len() as u64))?;
    Ok(PointInput {
        name: name.to_owned(),
        sources: vec![(name.to_owned(), source)],
    })
}

/// The findings, with their hops and reasons.
pub(crate) fn said(diagnosis: &Diagnosis) -> impl Iterator<Item = String> {
    diagnosis.findings.iter().map(|finding| {
        let hop = finding.hop.as_ref();
        let hop = hop.map(|hop| format!(" {}>{}", hop.from, hop.to));
        let reason = finding.reason.map(|reason| format!(" for {reason:?}"));
        let (hop, reason) = (hop.unwrap_or_default(), reason.unwrap_or_default());
        format!("{}{hop}{reason}", finding.id.name())
    })
}
