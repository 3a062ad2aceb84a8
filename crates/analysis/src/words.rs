//! An error in words.

use std::error::Error;
use std::iter::successors;

/// An error and its causes; one that says its cause itself does not say it twice.
#[must_use]
pub fn words(error: &(dyn Error + 'static)) -> String {
    let mut words = String::new();
    for cause in successors(Some(error), |error| (**error).source()) {
        let cause = cause.to_string();
        if words.is_empty() {
            words = cause;
        } else if !words.ends_with(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Outer {
        text: &'static str,
        source: std::io::Error,
    }

    #[test]
    fn a_cause_is_said_once() {
        let source = || std::io::Error::other("denied");
        for text in ["cannot open it: denied", "cannot open it"] {
            let error = Outer {
                text,
                source: source(),
            };
            assert_eq!(words(&error), "cannot open it: denied");
        }
    }
}
