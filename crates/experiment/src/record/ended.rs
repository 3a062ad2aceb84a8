//! How a record ends with its experiment, which runs on Linux alone.

use super::{Ending, Record};
use crate::design::Design;
use crate::effects::AnalysisError;

impl Record {
    /// Concludes a record whose experiment is over.
    ///
    /// # Errors
    ///
    /// As [`conclude`](Self::conclude).
    pub(crate) fn end_as(&mut self, design: &Design, ending: Ending) -> Result<(), AnalysisError> {
        self.ended = ending;
        self.conclude(design)
    }

    /// Concludes a record whose experiment an error has ended. With a doubt, nothing is claimed of the runs.
    ///
    /// # Errors
    ///
    /// As [`conclude`](Self::conclude).
    pub(crate) fn fail(
        &mut self,
        design: &Design,
        why: &str,
        doubt: Option<String>,
    ) -> Result<(), AnalysisError> {
        self.error = Some(why.to_owned());
        self.end_as(design, Ending::Failed)?;
        if let Some(doubt) = doubt {
            self.effects.clear();
            self.verdict = format!("not judged: {doubt}");
        }
        Ok(())
    }
}
