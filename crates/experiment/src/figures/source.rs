//! Sources of figures (`--metric`).

use super::error::{last_line, shown};
use super::number::number;
use super::{Figure, FigureError, json};
use crate::effects::Sense;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::str::FromStr;

/// The source of a figure.
#[derive(Clone, Debug)]
pub enum Source {
    /// The known programs: iperf3, netperf, curl and wrk.
    Auto,
    /// A regular expression, of which the last match counts, since programs print their result
    /// last. Its first group is the number, or without one the whole match. `^` and `$` are the ends
    /// of a line.
    Regex(Regex),
    /// A JSON pointer (RFC 6901) to a number, or to a string that is one. The output may have other
    /// text before the JSON.
    Pointer(String),
}

impl FromStr for Source {
    type Err = FigureError;

    /// Text that begins with `/` is a JSON pointer; any other text is a regular expression.
    fn from_str(text: &str) -> Result<Self, FigureError> {
        let wrong = |problem: String| FigureError::Source {
            text: text.to_owned(),
            problem,
        };
        if text.is_empty() {
            return Err(wrong("there is nothing to look for".to_owned()));
        }
        if text.starts_with('/') {
            return Ok(Self::Pointer(text.to_owned()));
        }
        let regex = RegexBuilder::new(text).multi_line(true).build();
        regex
            .map(Self::Regex)
            .map_err(|error| wrong(error.to_string()))
    }
}

impl Source {
    /// The name of its metric, as it was written; that of [`Source::Auto`] depends on the output.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Auto => "auto",
            Self::Regex(regex) => regex.as_str(),
            Self::Pointer(pointer) => pointer,
        }
    }

    /// The figure that the source finds.
    pub(super) fn figure(&self, text: &str) -> Result<Figure, FigureError> {
        let found = match self {
            Self::Auto => None,
            Self::Regex(regex) => last_match(regex, text).map(str::to_owned),
            Self::Pointer(pointer) => self.pointed(pointer, text)?,
        };
        let found = found.ok_or_else(|| FigureError::NotFound {
            metric: self.name().to_owned(),
            last: last_line(text),
        })?;
        let value = number(&found).ok_or_else(|| FigureError::NotANumber {
            metric: self.name().to_owned(),
            found: shown(&found),
            last: last_line(text),
        })?;
        Ok(Figure::new(self.name(), "", Sense::Plain, value))
    }

    fn pointed(&self, pointer: &str, text: &str) -> Result<Option<String>, FigureError> {
        let documents = json::documents(text);
        if documents.is_empty() {
            return Err(FigureError::NoJson {
                metric: self.name().to_owned(),
                last: last_line(text),
            });
        }
        let mut values = documents.iter().filter_map(|json| json.pointer(pointer));
        Ok(values.next().map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }))
    }
}

fn last_match<'a>(regex: &Regex, text: &'a str) -> Option<&'a str> {
    let found = regex.captures_iter(text).last()?;
    let group = if regex.captures_len() > 1 { 1 } else { 0 };
    Some(found.get(group)?.as_str())
}
