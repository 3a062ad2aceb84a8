//! The analysis, as `coalescope trace` runs it, over captures in memory.

use std::io::Cursor;

use anyhow::{Context, Result};
use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};
use coalescope_knowledge::{Diagnosis, judge, judge_pair};

use crate::case::Case;

/// The diagnosis of a case.
pub(crate) fn analyse(case: &Case, captures: &[(String, Vec<u8>)]) -> Result<Diagnosis> {
    let inputs = captures
        .iter()
        .map(|(name, bytes)| input(name, std::slice::from_ref(bytes)));
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

/// A point, by its files in their order.
pub(crate) fn input(name: &str, files: &[Vec<u8>]) -> Result<PointInput> {
    let sources = (0..).zip(files);
    let sources = sources.map(|(number, bytes)| source(name, number, bytes));
    Ok(PointInput {
        name: name.to_owned(),
        sources: sources.collect::<Result<_>>()?,
    })
}

/// One of a point's files.
pub(crate) fn source(point: &str, number: usize, bytes: &[u8]) -> Result<(String, Source)> {
    let name = format!("{point}-{number}");
    let reader = Box::new(Cursor::new(bytes.to_vec()));
    let source = Source::from_reader(&name, reader, Some(bytes.len() as u64))?;
    Ok((name, source))
}

/// What is found, at which hops, and for what reasons.
pub(crate) fn said(diagnosis: &Diagnosis) -> impl Iterator<Item = String> {
    diagnosis.findings.iter().map(|finding| {
        let hop = finding.hop.as_ref();
        let hop = hop.map(|hop| format!(" {}>{}", hop.from, hop.to));
        let reason = finding.reason.map(|reason| format!(" for {reason:?}"));
        let (hop, reason) = (hop.unwrap_or_default(), reason.unwrap_or_default());
        format!("{}{hop}{reason}", finding.id.name())
    })
}
