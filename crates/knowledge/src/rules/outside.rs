//! Commands for a network namespace, run from outside: printed commands run where the program was called.

use super::findings::{HostFinding, RemedyKind};
use coalescope_host::names::of_key;
use coalescope_host::safe::{is_plain, sh};

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
        if remedy.platform == "linux" && !remedy.command.starts_with("ip netns exec ") {
            remedy.command = within(&namespace, &remedy.command);
        }
    }
}

/// The command run in a namespace. Comments are unchanged.
fn within(namespace: &str, command: &str) -> String {
    let namespace = sh(namespace);
    if command.starts_with('#') {
        return command.to_owned();
    }
    if command.split(' ').all(is_plain) {
        return format!("ip netns exec {namespace} {command}");
    }
    format!("ip netns exec {namespace} sh -c {}", sh(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_reach_into_the_namespace() {
        assert_eq!(
            within("vm", "ethtool -K eth0 gro off"),
            "ip netns exec vm ethtool -K eth0 gro off"
        );
        assert_eq!(
            within("vm", "echo 'a' > /sys/b"),
            r"ip netns exec vm sh -c 'echo '\''a'\'' > /sys/b'"
        );
        assert_eq!(
            within("a;b", "ethtool -k e"),
            "ip netns exec 'a;b' ethtool -k e"
        );
        assert_eq!(within("vm", "# none"), "# none");
    }
}
