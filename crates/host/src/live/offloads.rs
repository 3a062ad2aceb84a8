//! Offloads under the names that `ethtool -k` prints.

use crate::model::Feature;
use coalescope_netlink::ethtool::{Feature as Linux, Features, OFFLOADS, matches};
use std::collections::BTreeMap;

/// As ethtool shows them: where its name stands for one feature, that feature goes by it; where it
/// stands for several, it is on if one of them is, and they are there by their own names too.
pub(super) fn by_ethtool(features: &Features) -> BTreeMap<String, Feature> {
    let mut shown: BTreeMap<_, _> = features
        .iter()
        .map(|(name, feature)| (name.to_owned(), one(feature)))
        .collect();
    for offload in OFFLOADS {
        let members: Vec<_> = features
            .iter()
            .filter(|(name, _)| matches(name, offload.pattern))
            .collect();
        match members[..] {
            [] => {}
            [(name, feature)] => {
                shown.remove(name);
                shown.insert(offload.long.to_owned(), one(feature));
            }
            _ => {
                shown.insert(offload.long.to_owned(), sum(&members));
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

/// For a group of features, ethtool does not show whether it is wanted or fixed.
fn sum(members: &[(&str, Linux)]) -> Feature {
    Feature {
        active: members.iter().any(|(_, feature)| feature.active),
        wanted: None,
        fixed: None,
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
