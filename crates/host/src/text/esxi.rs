//! Saved output of ESXi: `esxcli`, `esxcfg-*`, `vmware -v`.
//!
//! Settings have the path that `esxcli system settings advanced` gives them (`/Net/Vmxnet3HwLRO`);
//! those outside `/Net/` are left out. VMkernel adapters are of kind `vmkernel`. The kernel is version
//! and build: `7.0.3-20328353`.

mod blocks;
mod nics;
mod other;
mod settings;
mod switches;
mod table;

use super::Reader;

/// Readers of this platform, the most particular first.
pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "esxcli network nic list",
        recognises: nics::recognises_list,
        read: nics::read_list,
    },
    Reader {
        name: "esxcfg-nics -l",
        recognises: nics::recognises_esxcfg,
        read: nics::read_esxcfg,
    },
    Reader {
        name: "esxcfg-nics -e",
        recognises: nics::recognises_ens,
        read: nics::read_ens,
    },
    Reader {
        name: "esxcli network nic get",
        recognises: nics::recognises_get,
        read: nics::read_get,
    },
    Reader {
        name: "esxcli network nic stats get",
        recognises: nics::recognises_stats,
        read: nics::read_stats,
    },
    Reader {
        name: "esxcli network vswitch standard list",
        recognises: switches::recognises_list,
        read: switches::read_list,
    },
    Reader {
        name: "esxcfg-vswitch -l",
        recognises: switches::recognises_esxcfg,
        read: switches::read_esxcfg,
    },
    Reader {
        name: "esxcli network ip interface list",
        recognises: switches::recognises_interfaces,
        read: switches::read_interfaces,
    },
    Reader {
        name: "esxcli system settings advanced list",
        recognises: settings::recognises_list,
        read: settings::read_list,
    },
    Reader {
        name: "esxcfg-advcfg -g",
        recognises: settings::recognises_advcfg,
        read: settings::read_advcfg,
    },
    Reader {
        name: "esxcli system version get",
        recognises: settings::recognises_version,
        read: settings::read_version,
    },
    Reader {
        name: "vmware -v",
        recognises: settings::recognises_vmware,
        read: settings::read_vmware,
    },
    Reader {
        name: "ESXi output that is not used",
        recognises: other::recognises,
        read: other::read,
    },
];
