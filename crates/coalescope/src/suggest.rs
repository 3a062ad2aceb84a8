//! What a name that is not known was probably meant to be.

use std::fmt::Display;

use coalescope_host::safe::printable_line;

/// Names that are less alike (Jaro-Winkler, from 0 to 1) are other names, not mistakes. It is what
/// clap uses for its own suggestions.
const ALIKE: f64 = 0.8;

/// The known name that is most like the one that was given, if one is.
fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let rated = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name));
    let alike = rated.filter(|(rate, name)| *rate > ALIKE || is_one_off(&given, name));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, name)| name)
}

/// Of short names, such as interfaces have, one letter is a large part.
fn is_one_off(given: &str, name: &str) -> bool {
    given.len() > 2 && strsim::osa_distance(given, &name.to_lowercase()) == 1
}

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
    use coalescope_experiment::{ab, settings::Error};

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
    fn what_is_alike_is_meant() {
        let names = ["openstack-gro", "openstack-gro-fixed", "ipvs-gro", "jumbo"];
        assert_eq!(nearest("opnstack-gro", names), Some("openstack-gro"));
        assert_eq!(nearest("OpenStack-GRO", names), Some("openstack-gro"));
        assert_eq!(nearest("jumob", names), Some("jumbo"));
        assert_eq!(nearest("something else", names), None);
        let interfaces = ["lo", "eth0", "enp3s0f0", "br0"];
        assert_eq!(nearest("eht0", interfaces), Some("eth0"));
        assert_eq!(nearest("enp3sof0", interfaces), Some("enp3s0f0"));
        assert_eq!(nearest("wlan7", interfaces), None);
    }

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
