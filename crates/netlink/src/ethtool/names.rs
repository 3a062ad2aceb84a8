//! The names of offloads: ethtool's short and long ones, and the kernel's that they stand for.

/// Short name, long name, and the kernel's names; `*` is any text.
pub const NAMES: [(&str, &str, &str); 14] = [
    ("rx", "rx-checksumming", "rx-checksum"),
    ("tx", "tx-checksumming", "tx-checksum-*"),
    ("sg", "scatter-gather", "tx-scatter-gather*"),
    ("tso", "tcp-segmentation-offload", "tx-tcp*-segmentation"),
    ("ufo", "udp-fragmentation-offload", "tx-udp-fragmentation"),
    (
        "gso",
        "generic-segmentation-offload",
        "tx-generic-segmentation",
    ),
    ("gro", "generic-receive-offload", "rx-gro"),
    ("lro", "large-receive-offload", "rx-lro"),
    ("rxvlan", "rx-vlan-offload", "rx-vlan-hw-parse"),
    ("txvlan", "tx-vlan-offload", "tx-vlan-hw-insert"),
    ("ntuple", "ntuple-filters", "rx-ntuple-filter"),
    ("rxhash", "receive-hashing", "rx-hashing"),
    ("hw-gro", "rx-gro-hw", "rx-gro-hw"),
    ("uso", "tx-udp-segmentation", "tx-udp-segmentation"),
];

/// Whether a kernel's name is one of those that a pattern of [`NAMES`] stands for.
#[must_use]
pub fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => name
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    }
}
