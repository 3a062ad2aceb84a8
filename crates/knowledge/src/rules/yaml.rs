//! Files of rules as text: what is wrong in them, and in which line.

use coalescope_host::safe::printable_line;
use serde::de::DeserializeOwned;
use serde_saphyr::Error;

use super::error::RulesError;
use crate::nearest::meant;

/// Reads a file.
pub(super) fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, RulesError> {
    serde_saphyr::from_str(text).map_err(|error| malformed(file, &error))
}

/// Reports an unknown name with the one that was probably meant; for other errors the parser shows the lines.
fn malformed(file: &str, error: &Error) -> RulesError {
    let (what, name, known) = match error.without_snippet() {
        Error::SerdeUnknownField {
            field, expected, ..
        } => ("field", field, expected),
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => ("value", variant, expected),
        _ => {
            let (file, error) = (file.to_owned(), error.to_string());
            return RulesError::Malformed { file, error };
        }
    };
    let line = error
        .location()
        .map(|location| format!(":{}", location.line()));
    let meant = meant(name, known.iter().copied());
    RulesError::Malformed {
        file: format!("{file}{}", line.unwrap_or_default()),
        error: format!("there is no {what} {}: {meant}", printable_line(name)),
    }
}

/// `FILE:LINE` of a name in a rule: the first line that has the name, from the rule's id on, or the line of the id.
pub(super) fn place(file: &str, text: &str, id: &str, name: &str) -> String {
    let is_of = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        let value = line.strip_prefix("id:").map(str::trim);
        value.is_some_and(|value| value.trim_matches(['"', '\'']) == id)
    };
    let Some(begins) = text.lines().position(is_of) else {
        return file.to_owned();
    };
    let mut lines = text.lines().enumerate().skip(begins);
    let named = lines.find(|(_, line)| has_word(line, name));
    let line = named.map_or(begins, |(line, _)| line);
    format!("{file}:{}", line + 1)
}

fn has_word(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = line.match_indices(name);
    found.any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_the_lines_of_its_rule() {
        let text = "- id: one\n  when: interface.kindd\n- id: \"two\"\n  title: kinddd\n  when: a.kindd == 1\n";
        assert_eq!(place("f", text, "one", "kindd"), "f:2");
        assert_eq!(place("f", text, "two", "kindd"), "f:5");
        assert_eq!(place("f", text, "two", "nowhere"), "f:3");
        assert_eq!(place("f", text, "three", "kindd"), "f");
    }
}
