//! Offloads in a table: those of a platform, and words for their state.

use coalescope_host::model::{Interface, Platform};

use super::units::on_off;

/// The text for a value that was not read.
pub(crate) const UNREAD: &str = "?";

/// A column: its head, and the offload's name in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offload {
    pub(crate) head: &'static str,
    name: &'static str,
}

const fn offload(head: &'static str, name: &'static str) -> Offload {
    Offload { head, name }
}

/// ethtool(8)'s short names (`-K`), as far as there are any.
const LINUX: [Offload; 7] = [
    offload("gro", "generic-receive-offload"),
    offload("lro", "large-receive-offload"),
    offload("tso", "tcp-segmentation-offload"),
    offload("gso", "generic-segmentation-offload"),
    offload("hw gro", "rx-gro-hw"),
    offload("gro list", "rx-gro-list"),
    offload("udp fwd", "rx-udp-gro-forwarding"),
];

const BSD: [Offload; 5] = [
    offload("LRO", "LRO"),
    offload("TSO4", "TSO4"),
    offload("TSO6", "TSO6"),
    offload("RX CSUM", "RXCSUM"),
    offload("TX CSUM", "TXCSUM"),
];

const WINDOWS: [Offload; 2] = [
    offload("RSC IPv4", "rsc-ipv4"),
    offload("RSC IPv6", "rsc-ipv6"),
];

/// The offloads that decide how large frames become on a platform; empty where settings of the host
/// or of its switches decide.
pub(crate) fn offloads(platform: Option<Platform>) -> &'static [Offload] {
    match platform {
        Some(Platform::Linux) => &LINUX,
        Some(Platform::Freebsd | Platform::Openbsd | Platform::Macos) => &BSD,
        Some(Platform::Windows) => &WINDOWS,
        Some(Platform::Esxi) | None => &[],
    }
}

impl Offload {
    /// `on`, `off`, or that it was not read.
    pub(crate) fn state(self, interface: &Interface) -> &'static str {
        let feature = interface.features.get(self.name);
        feature.map_or(UNREAD, |feature| on_off(feature.active))
    }
}

#[cfg(test)]
mod tests {
    use coalescope_host::model::Feature;

    use super::*;

    #[test]
    fn what_was_not_read_is_not_off() {
        let mut interface = Interface::default();
        let off = Feature::default();
        interface
            .features
            .insert("generic-receive-offload".to_owned(), off);
        let columns = offloads(Some(Platform::Linux));
        let states: Vec<_> = columns.iter().map(|one| one.state(&interface)).collect();
        assert_eq!(states, ["off", "?", "?", "?", "?", "?", "?"]);
    }
}
