//! Saved output of FreeBSD and of what is built on it; `ifconfig` of OpenBSD and macOS as well.
//!
//! Features have the names of ifconfig's options. What `sysctl` says of a driver (`dev.mce.0.conf.
//! hw_lro`) stays among the sysctls under its whole name, and is a property (`conf.hw_lro`) of the
//! interface. `jls` sets `settings["jails"]` if it lists one that runs.

mod devices;
mod ifconfig;
mod names;
mod product;
mod protocols;
mod sysctl;
mod system;
mod tables;
#[cfg(test)]
mod tests;

use super::Reader;

/// Readers of this platform, the most particular first.
pub(super) const READERS: &[Reader] = &[
    Reader {
        name: "ifconfig (BSD)",
        recognises: ifconfig::recognises,
        read: ifconfig::read,
    },
    Reader {
        name: "sysctl (BSD)",
        recognises: sysctl::recognises,
        read: sysctl::read,
    },
    Reader {
        name: "netstat -s (BSD)",
        recognises: protocols::recognises,
        read: protocols::read,
    },
    Reader {
        name: "netstat -i (BSD)",
        recognises: tables::recognises_interfaces,
        read: tables::read_interfaces,
    },
    Reader {
        name: "netstat -r (BSD)",
        recognises: tables::recognises_routes,
        read: tables::read_routes,
    },
    Reader {
        name: "pciconf -l",
        recognises: devices::recognises_pciconf,
        read: devices::read_pciconf,
    },
    Reader {
        name: "kldstat",
        recognises: devices::recognises_kldstat,
        read: devices::read_kldstat,
    },
    Reader {
        name: "uname (BSD)",
        recognises: system::recognises_uname,
        read: system::read_uname,
    },
    Reader {
        name: "freebsd-version",
        recognises: system::recognises_version,
        read: system::read_version,
    },
    Reader {
        name: "opnsense-version",
        recognises: system::recognises_opnsense,
        read: system::read_opnsense,
    },
    Reader {
        name: "/etc/version",
        recognises: system::recognises_truenas,
        read: system::read_truenas,
    },
    Reader {
        name: "pfctl -sn",
        recognises: system::recognises_pfctl,
        read: system::read_pfctl,
    },
    Reader {
        name: "jls",
        recognises: system::recognises_jls,
        read: system::read_jls,
    },
    Reader {
        name: "rc.conf",
        recognises: system::recognises_rc_conf,
        read: system::read_rc_conf,
    },
];
