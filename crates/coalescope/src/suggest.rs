//! Suggestions for unknown names.

use std::fmt::Display;

use coalescope_host::safe::printable_line;
use coalescope_knowledge::nearest;

/// `there is no incident opnstack-gro: did you mean openstack-gro? coalescope lab list has them all`
pub(crate) fn unknown<'a>(
    kind: impl Display,
    given: &str,
    known: impl IntoIterator<Item = &'a str>,
    see: &str,
) -> String {
    let given = &*printable_line(given);
    match nearest(given, known) {
        Some(name) => format!("there is no {kind} {given}: did you mean {name}? {see}"),
        None => format!("there is no {kind} {given}: {see}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_of_what_is_not_alike() {
        let text = unknown("incident", "xyz", ["openstack-gro"], "see the list");
        assert_eq!(text, "there is no incident xyz: see the list");
    }
}
