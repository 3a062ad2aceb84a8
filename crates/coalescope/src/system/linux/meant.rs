//! Suggestions for unknown names of this host.

use coalescope_change::settings::Error;
use coalescope_experiment::ab;
use coalescope_knowledge::nearest;

use super::host;
use crate::cli::LiveArgs;

/// ` (did you mean eth0?)`, or nothing.
pub(crate) fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let name = nearest(given, known);
    name.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// ` (did you mean eth0?)` for an error about an unknown interface or namespace, or nothing.
pub(crate) fn meant(error: &anyhow::Error) -> String {
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
            let known = host::namespaces();
            hint(namespace, known.iter().map(String::as_str))
        }
        _ => String::new(),
    }
}

/// A suggestion for an unknown interface of a namespace, or of this one.
pub(crate) fn interface(given: &str, namespace: Option<&str>) -> String {
    let known = interfaces(namespace);
    hint(given, known.iter().map(String::as_str))
}

/// Names of the interfaces of a namespace, or of this one.
fn interfaces(namespace: Option<&str>) -> Vec<String> {
    let here = LiveArgs {
        netns: namespace.map(str::to_owned),
        all_netns: false,
    };
    let snapshot = host::collect(&here);
    snapshot.map_or_else(|_| Vec::new(), |host| host.interfaces.into_keys().collect())
}
