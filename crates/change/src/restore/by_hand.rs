//! Commands for settings that could not be restored.

use coalescope_host::safe::{sh, within};

use crate::journal::SysctlEntry;
use crate::settings::{InterfaceState, Item, NamespaceId, dotted};

/// The command for one setting of an interface, under the name that it has now.
pub(super) fn interface(
    namespace: &NamespaceId,
    is: &InterfaceState,
    item: &Item,
    was: &str,
) -> Option<String> {
    // The kernel accepts `x$(reboot)` as a name of an interface.
    let name = sh(&is.name);
    let command = match item {
        Item::Active(feature) | Item::Wanted(feature) => {
            format!("ethtool -K {name} {feature} {was}")
        }
        Item::Mtu | Item::GsoMaxSize | Item::GroMaxSize => {
            format!("ip link set dev {name} {item} {was}")
        }
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
        Some(name) => within(name, command),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Held;
    use coalescope_needs::shell;
    use std::path::Path;

    /// Names of interfaces, some of which the kernel accepts.
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
    fn runs_nothing(command: &str, folder: &Path) {
        assert!(shell::reads(command), "{command}");
        shell::run(command, folder, &folder.join("bin")).unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 1, "{command}");
    }

    #[test]
    fn no_name_makes_a_command_do_something_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bin")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", folder.path().join("bin/sh")).unwrap();
        let run = shell::confined(folder.path(), || run_all(folder.path()));
        if run.is_none() {
            coalescope_needs::skipped("commands by hand are run", "a kernel with Landlock");
        }
    }

    fn run_all(folder: &Path) {
        let all = [
            Item::Active("rx-gro".to_owned()),
            Item::Wanted("rx-gro".to_owned()),
            Item::Mtu,
            Item::Ipv6Mtu,
            Item::Coalescing("rx-usecs".to_owned()),
            Item::GroFlushTimeout,
            Item::NapiDeferHardIrqs,
            Item::GsoMaxSize,
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
                    let command = interface(&namespace, &is, item, "off").unwrap();
                    runs_nothing(&command, folder);
                }
                let entry = SysctlEntry {
                    namespace,
                    key: format!("net/ipv4/conf/{name}/forwarding"),
                    device: None,
                    held: Held::new(name),
                };
                runs_nothing(&sysctl(&entry), folder);
            }
        }
    }
}
