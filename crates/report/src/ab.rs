//! The report of an experiment.

use std::io::{self, BufWriter, Write};

use coalescope_experiment::record::{Record, Run, SCHEMA};
use coalescope_knowledge::Settled;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::document::{self, Document};
use crate::made::Made;
use crate::text::{self, TextOptions};
use crate::{html, separated};

/// What `coalescope ab` has to say.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AbReport {
    /// The record, which has the schema `coalescope/ab/1`.
    #[serde(flatten)]
    pub(crate) record: Record,
    /// Findings that the experiment was about, and what became of them.
    pub(crate) findings: Vec<Settled>,
}

impl AbReport {
    /// A report of a record and of the settled findings.
    #[must_use]
    pub fn new(record: Record, findings: Vec<Settled>) -> Self {
        Self { record, findings }
    }

    /// The record.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    fn header(&self) -> Vec<String> {
        let first = ["run", "block"].map(str::to_owned).into_iter();
        let factors = self.record.factors.iter().map(|factor| factor.name.clone());
        let metrics = self.record.metrics.iter().map(|metric| metric.name.clone());
        let last = ["begun_s", "problem"].map(str::to_owned);
        first.chain(factors).chain(metrics).chain(last).collect()
    }

    /// A row of the CSV. A warm-up has no block; a missing figure is empty.
    fn row(&self, number: usize, run: &Run) -> Vec<String> {
        let block = run.block.map(|block| (block + 1).to_string());
        let first = [number.to_string(), block.unwrap_or_default()].into_iter();
        let figures = self.record.metrics.iter().map(|metric| {
            let figure = run.figures.get(&metric.name);
            figure.map(ToString::to_string).unwrap_or_default()
        });
        let last = [
            format!("{:.3}", run.begun_s),
            run.problem.clone().unwrap_or_default(),
        ];
        first
            .chain(run.levels.iter().cloned())
            .chain(figures)
            .chain(last)
            .collect()
    }
}

impl Document for AbReport {
    fn schema() -> Schema {
        document::schema::<Self>(SCHEMA)
    }

    fn warnings(&self) -> Vec<String> {
        let notes = self.record.notes.iter().cloned();
        notes.chain(self.record.unrestored.clone()).collect()
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::new(out);
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// One row per run.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let runs = self.record.runs.iter().enumerate();
        let rows = runs.map(|(number, run)| Ok(self.row(number + 1, run)));
        separated::write(out, &self.header(), rows)
    }

    fn write_text(&self, out: &mut dyn Write, options: &TextOptions) -> io::Result<()> {
        text::write_ab(self, out, options)
    }

    fn write_html(&self, made: &Made, out: &mut dyn Write) -> io::Result<()> {
        html::write_ab(self, made, out)
    }
}
