//! The commands that would restore what could not be restored.

use coalescope_host::safe::sh;

use crate::journal::SysctlEntry;
use crate::settings::{InterfaceState, Item, NamespaceId, dotted};

/// The command for one setting of an interface, under the name that it has now.
pub(super) fn interface(
    namespace: &NamespaceId,
    is: &InterfaceState,
    item: &Item,
    was: &str,
) -> Option<String> {
    // A kernel takes `x$(reboot)` for a name.
    let name = sh(&is.name);
    let command = match item {
        Item::Active(feature) | Item::Wanted(feature) => {
            format!("ethtool -K {name} {feature} {was}")
        }
        Item::Mtu => format!("ip link set dev {name} mtu {was}"),
        Item::Ipv6Mtu => {
            let key = format!("net/ipv6/conf/{}/mtu={was}", is.name);
            format!("sysctl -w {}", sh(&key))
        }
        Item::Coalescing(setting) => format!("ethtool -C {name} {setting} {was}"),
        Item::GroFlushTimeout | Item::NapiDeferHardIrqs => {
            let file = format!("/sys/class/net/{}/{item}", is.name);
            let inner = format!("echo {} > {}", sh(was), sh(&file));
            format!("sh -c {}", sh(&inner))
        }
        Item::Sysctl(_) => return None,
    };
    Some(inside(namespace, &command))
}

/// The command for a sysctl.
pub(super) fn sysctl(entry: &SysctlEntry) -> String {
    let command = format!(
        "sysctl -w {}={}",
        sh(&dotted(&entry.key)),
        sh(&entry.held.was.replace('\t', " "))
    );
    inside(&entry.namespace, &command)
}

fn inside(namespace: &NamespaceId, command: &str) -> String {
    match &namespace.name {
        None => command.to_owned(),
        Some(name) => format!("ip netns exec {} {command}", sh(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Held;
    use std::process::{Command, Stdio};

    /// What the kernel allows in names of interfaces, and what it does not.
    const NAMES: [&str; 10] = [
        "x$(>PWN)",
        "a;>PWN",
        "`>PWN`",
        "a'>PWN'",
        "\">PWN",
        "=1+1",
        "\u{1b}[2J",
        "\u{202e}0hte",
        "a\n>PWN",
        "<script>",
    ];

    /// Runs a command in a folder where nothing is, by a shell that finds no program but `sh`.
    fn runs_nothing(command: &str) {
        let folder = tempfile::tempdir().unwrap();
        let sh = folder.path().join("bin");
        std::fs::create_dir(&sh).unwrap();
        std::os::unix::fs::symlink("/bin/sh", sh.join("sh")).unwrap();
        let shell = |option: &str| {
            let mut shell = Command::new("/bin/sh");
            shell.args([option, command]).env_clear().env("PATH", &sh);
            shell.current_dir(folder.path()).stderr(Stdio::null());
            shell.status().unwrap()
        };
        assert!(shell("-nc").success(), "{command}");
        shell("-c");
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "{command}");
    }

    #[test]
    fn no_name_makes_a_command_do_something_else() {
        let all = [
            Item::Active("rx-gro".to_owned()),
            Item::Wanted("rx-gro".to_owned()),
            Item::Mtu,
            Item::Ipv6Mtu,
            Item::Coalescing("rx-usecs".to_owned()),
            Item::GroFlushTimeout,
            Item::NapiDeferHardIrqs,
        ];
        for name in NAMES {
            for inside in [None, Some(name)] {
                let namespace = NamespaceId {
                    name: inside.map(str::to_owned),
                    ..NamespaceId::default()
                };
                let is = InterfaceState {
                    name: name.to_owned(),
                    ..InterfaceState::default()
                };
                for item in &all {
                    runs_nothing(&interface(&namespace, &is, item, "off").unwrap());
                }
                runs_nothing(&sysctl(&SysctlEntry {
                    namespace,
                    key: format!("net/ipv4/conf/{name}/forwarding"),
                    held: Held::new(name),
                }));
            }
        }
    }
}
