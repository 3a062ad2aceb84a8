//! An error in words.

use std::error::Error;
use std::iter::successors;

/// An error and its causes; a cause that an error's own text contains is not repeated.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let causes = successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |words, cause| {
        let cause = cause.to_string();
        match words.ends_with(&cause) {
            true => words,
            false => format!("{words}: {cause}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::{fmt, io};

    use super::*;

    #[derive(Debug)]
    struct Outer {
        text: &'static str,
        source: io::Error,
    }

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.text)
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.source)
        }
    }

    #[test]
    fn a_cause_is_said_once() {
        let source = || io::Error::other("denied");
        for text in ["cannot open it: denied", "cannot open it"] {
            let error = Outer {
                text,
                source: source(),
            };
            assert_eq!(with_causes(&error), "cannot open it: denied");
        }
    }
}
