//! Offloads under the names that `ethtool -k` prints.

use crate::model::Feature;
use coalescope_netlink::ethtool::{Feature as Linux, Features};
use std::collections::BTreeMap;

/// ethtool's own names, and the kernel's that each stands for; `*` is any text.
const NAMES: [(&str, &str); 12] = [
    ("rx-checksumming", "rx-checksum"),
    ("tx-checksumming", "tx-checksum-*"),
    ("scatter-gather", "tx-scatter-gather*"),
    ("tcp-segmentation-offload", "tx-tcp*-segmentation"),
    ("udp-fragmentation-offload", "tx-udp-fragmentation"),
    ("generic-segmentation-offload", "tx-generic-segmentation"),
    ("generic-receive-offload", "rx-gro"),
    ("large-receive-offload", "rx-lro"),
    ("rx-vlan-offload", "rx-vlan-hw-parse"),
    ("tx-vlan-offload", "tx-vlan-hw-insert"),
    ("ntuple-filters", "rx-ntuple-filter"),
    ("receive-hashing", "rx-hashing"),
];

/// As ethtool shows them: where its name stands for one feature, that feature goes by it; where it
/// stands for several, it is on if one of them is, and they are there by their own names too.
pub(super) fn by_ethtool(features: &Features) -> BTreeMap<String, Feature> {
    let mut shown: BTreeMap<_, _> = features
        .iter()
        .map(|(name, feature)| (name.to_owned(), one(feature)))
        .collect();
    for (own, pattern) in NAMES {
        let members: Vec<_> = features
            .iter()
            .filter(|(name, _)| matches(name, pattern))
            .collect();
        match members[..] {
            [] => {}
            [(name, feature)] => {
                shown.remove(name);
                shown.insert(own.to_owned(), one(feature));
            }
            _ => {
                shown.insert(own.to_owned(), sum(&members));
            }
        }
    }
    shown
}

fn one(feature: Linux) -> Feature {
    Feature {
        active: feature.active,
        wanted: Some(feature.wanted),
        fixed: Some(feature.fixed),
    }
}

/// Of a sum ethtool does not say whether it was asked for or is fixed.
fn sum(members: &[(&str, Linux)]) -> Feature {
    Feature {
        active: members.iter().any(|(_, feature)| feature.active),
        wanted: None,
        fixed: None,
    }
}

fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => name
            .strip_prefix(start)
            .is_some_and(|rest| rest.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_ethtool_does() {
        assert!(matches("tx-tcp6-segmentation", "tx-tcp*-segmentation"));
        assert!(matches("tx-tcp-segmentation", "tx-tcp*-segmentation"));
        assert!(matches("tx-scatter-gather", "tx-scatter-gather*"));
        assert!(!matches("tx-udp-segmentation", "tx-tcp*-segmentation"));
        assert!(!matches("rx-gro-hw", "rx-gro"));
    }
}
