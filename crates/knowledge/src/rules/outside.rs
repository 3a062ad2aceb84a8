//! Commands for a network namespace, run from outside: printed commands run where the program was called.

use super::findings::{HostFinding, RemedyKind};
use coalescope_host::names::of_key;
use coalescope_host::safe::{is_plain, sh, within};

/// Makes a finding's commands work in the namespace of its interface. Remedies in files of network managers are
/// removed: no manager handles a namespace.
pub(crate) fn reach(finding: &mut HostFinding) {
    let key = finding.interface.as_deref().unwrap_or_default();
    let (Some(namespace), _) = of_key(key) else {
        return;
    };
    let namespace = namespace.to_owned();
    finding
        .remedies
        .retain(|remedy| remedy.kind == RemedyKind::Runtime || remedy.platform == "linux");
    for remedy in &mut finding.remedies {
        if remedy.platform == "linux" {
            remedy.command = reaching(&namespace, &remedy.command);
        }
    }
}

/// The command run in a namespace. A rule may have done so already, with a name: ip(8) takes no path.
fn reaching(namespace: &str, command: &str) -> String {
    let by_name = format!("ip netns exec {} ", sh(namespace));
    match command.strip_prefix(&by_name) {
        Some(inner) if namespace.starts_with('/') => within(namespace, inner),
        Some(_) => command.to_owned(),
        None => outside(namespace, command),
    }
}

/// The command of a rule that knows no namespace. Comments are unchanged.
fn outside(namespace: &str, command: &str) -> String {
    if command.starts_with('#') {
        return command.to_owned();
    }
    if command.split(' ').all(is_plain) {
        return within(namespace, command);
    }
    within(namespace, &format!("sh -c {}", sh(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_reach_into_the_namespace() {
        assert_eq!(
            reaching("vm", "ethtool -K eth0 gro off"),
            "ip netns exec vm ethtool -K eth0 gro off"
        );
        assert_eq!(
            reaching("vm", "ip netns exec vm ethtool -K eth0 gro off"),
            "ip netns exec vm ethtool -K eth0 gro off"
        );
        let path = "/proc/7/ns/net";
        assert_eq!(
            reaching(path, "ip netns exec /proc/7/ns/net ethtool -K eth0 gro off"),
            "nsenter --net=/proc/7/ns/net ethtool -K eth0 gro off"
        );
        assert_eq!(
            reaching("vm", "echo 'a' > /sys/b"),
            r"ip netns exec vm sh -c 'echo '\''a'\'' > /sys/b'"
        );
        assert_eq!(
            reaching("a;b", "ethtool -k e"),
            "ip netns exec 'a;b' ethtool -k e"
        );
        assert_eq!(reaching("vm", "# none"), "# none");
    }
}
