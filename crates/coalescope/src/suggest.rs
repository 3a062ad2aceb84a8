//! What a name that is not known was probably meant to be.

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

/// ` (did you mean eth0?)`, or nothing.
#[cfg(target_os = "linux")]
pub(crate) fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name = nearest(given, known);
    name.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

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

#[cfg(target_os = "linux")]
fn meant(error: &anyhow::Error) -> String {
    use coalescope_change::settings::Error;
    use coalescope_experiment::ab;

    let setting = error.chain().find_map(|cause| {
        let inner = cause.downcast_ref::<ab::Error>();
        match inner {
            Some(ab::Error::Setting(setting)) => Some(setting),
            _ => cause.downcast_ref::<Error>(),
        }
    });
    match setting {
        Some(Error::Gone {
            interface,
            namespace,
            ..
        }) => self::interface(interface, namespace.as_deref()),
        Some(Error::NamespaceGone { namespace, .. }) => {
            let known = crate::hosts::namespaces();
            hint(namespace, known.iter().map(String::as_str))
        }
        _ => String::new(),
    }
}

#[cfg(not(target_os = "linux"))]
fn meant(_: &anyhow::Error) -> String {
    String::new()
}

/// What an interface of a namespace, or of this one, was probably meant to be.
#[cfg(target_os = "linux")]
pub(crate) fn interface(given: &str, namespace: Option<&str>) -> String {
    let known = interfaces(namespace);
    hint(given, known.iter().map(String::as_str))
}

/// Names of the interfaces of a namespace, or of this one.
#[cfg(target_os = "linux")]
fn interfaces(namespace: Option<&str>) -> Vec<String> {
    let here = crate::cli::LiveArgs {
        netns: namespace.map(str::to_owned),
        all_netns: false,
    };
    let snapshot = crate::hosts::collect(&here);
    snapshot.map_or_else(|_| Vec::new(), |host| host.interfaces.into_keys().collect())
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

    #[test]
    fn nobody_is_told_of_what_is_not_alike() {
        let text = unknown("incident", "xyz", ["openstack-gro"], "see the list");
        assert_eq!(text, "there is no incident xyz: see the list");
    }
}
