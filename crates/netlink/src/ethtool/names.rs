//! Names of offloads: ethtool's short and long ones, and the kernel's features that they stand for.

/// An offload by ethtool's names, and the kernel's features that these stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// As `ethtool -K` takes it.
    pub short: &'static str,
    /// As `ethtool -k` prints it.
    pub long: &'static str,
    /// The kernel's names; `*` stands for any text.
    pub pattern: &'static str,
}

/// All offloads that have names of ethtool's own.
pub const OFFLOADS: [Offload; 14] = [
    offload("rx", "rx-checksumming", "rx-checksum"),
    offload("tx", "tx-checksumming", "tx-checksum-*"),
    offload("sg", "scatter-gather", "tx-scatter-gather*"),
    offload("tso", "tcp-segmentation-offload", "tx-tcp*-segmentation"),
    offload("ufo", "udp-fragmentation-offload", "tx-udp-fragmentation"),
    offload(
        "gso",
        "generic-segmentation-offload",
        "tx-generic-segmentation",
    ),
    offload("gro", "generic-receive-offload", "rx-gro"),
    offload("lro", "large-receive-offload", "rx-lro"),
    offload("rxvlan", "rx-vlan-offload", "rx-vlan-hw-parse"),
    offload("txvlan", "tx-vlan-offload", "tx-vlan-hw-insert"),
    offload("ntuple", "ntuple-filters", "rx-ntuple-filter"),
    offload("rxhash", "receive-hashing", "rx-hashing"),
    offload("hw-gro", "rx-gro-hw", "rx-gro-hw"),
    offload("uso", "tx-udp-segmentation", "tx-udp-segmentation"),
];

const fn offload(short: &'static str, long: &'static str, pattern: &'static str) -> Offload {
    Offload {
        short,
        long,
        pattern,
    }
}

impl Offload {
    /// The offload of a short or long name of ethtool.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        let mut all = OFFLOADS.iter();
        all.find(|offload| offload.short == name || offload.long == name)
    }
}

/// Whether a kernel's feature name matches a [pattern](Offload::pattern).
#[must_use]
pub fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => name
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    }
}
