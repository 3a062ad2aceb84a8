//! An error in words.

use crate::system::meant::meant;

/// An error's words, with the name that was probably meant where an interface or a namespace is not
/// there.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    format!("{}{}", causes(error), meant(error))
}

/// An error and its causes; one that says its cause itself does not say it twice.
fn causes(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
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

    #[test]
    fn a_cause_is_said_once() {
        let denied = || std::io::Error::other("denied");
        let twice = anyhow::Error::new(denied()).context("cannot open it: denied");
        assert_eq!(explained(&twice), "cannot open it: denied");
        let once = anyhow::Error::new(denied()).context("cannot open it");
        assert_eq!(explained(&once), "cannot open it: denied");
    }
}
