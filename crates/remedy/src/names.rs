//! What each manager calls a feature; a test holds it against `features` of rules/recipes.yaml.

use crate::model::Manager;

/// ethtool's long name, its short one, systemd.link's and netplan's (empty: none).
const NAMES: [(&str, &str, &str, &str); 16] = [
    (
        "generic-receive-offload",
        "gro",
        "GenericReceiveOffload",
        "generic-receive-offload",
    ),
    (
        "large-receive-offload",
        "lro",
        "LargeReceiveOffload",
        "large-receive-offload",
    ),
    (
        "rx-gro-hw",
        "rx-gro-hw",
        "GenericReceiveOffloadHardware",
        "",
    ),
    ("rx-gro-list", "rx-gro-list", "", ""),
    ("rx-udp-gro-forwarding", "rx-udp-gro-forwarding", "", ""),
    (
        "tcp-segmentation-offload",
        "tso",
        "TCPSegmentationOffload",
        "tcp-segmentation-offload",
    ),
    (
        "generic-segmentation-offload",
        "gso",
        "GenericSegmentationOffload",
        "generic-segmentation-offload",
    ),
    (
        "rx-checksumming",
        "rx",
        "ReceiveChecksumOffload",
        "receive-checksum-offload",
    ),
    (
        "tx-checksumming",
        "tx",
        "TransmitChecksumOffload",
        "transmit-checksum-offload",
    ),
    ("tx-checksum-ip-generic", "tx-checksum-ip-generic", "", ""),
    ("tx-udp-segmentation", "tx-udp-segmentation", "", ""),
    ("tx-udp_tnl-segmentation", "tx-udp_tnl-segmentation", "", ""),
    ("esp-hw-offload", "esp-hw-offload", "", ""),
    ("tx-ipxip4-segmentation", "tx-ipxip4-segmentation", "", ""),
    ("scatter-gather", "sg", "", ""),
    (
        "tx-udp_tnl-csum-segmentation",
        "tx-udp_tnl-csum-segmentation",
        "",
        "",
    ),
];

/// ethtool's short name. It takes the kernel's own names as well, so one that is not listed stays.
pub(crate) fn ethtool(feature: &str) -> &str {
    let row = NAMES.iter().find(|row| row.0 == feature);
    row.map_or(feature, |row| row.1)
}

/// Whether a word names the feature to ethtool; the scripts of ifupdown turn `_` into `-`.
pub(crate) fn is_ethtool(word: &str, feature: &str) -> bool {
    let same = |name: &str| name.replace('_', "-") == word.replace('_', "-");
    same(feature) || same(ethtool(feature))
}

/// The key in a .link file.
pub(crate) fn link(feature: &str) -> Option<&'static str> {
    let row = NAMES.iter().find(|row| row.0 == feature);
    row.map(|row| row.2).filter(|name| !name.is_empty())
}

/// The key in a device of a netplan file, with networkd as renderer.
pub(crate) fn netplan(feature: &str) -> Option<&'static str> {
    let row = NAMES.iter().find(|row| row.0 == feature);
    row.map(|row| row.3).filter(|name| !name.is_empty())
}

/// The key in NetworkManager's section `ethtool`; it refuses names that it does not know.
pub(crate) fn networkmanager(feature: &str) -> Option<String> {
    let row = NAMES.iter().find(|row| row.0 == feature);
    row.map(|row| format!("feature-{}", row.1))
}

/// For a manager without a name for it.
pub(crate) fn none(manager: Manager, feature: &str) -> crate::Error {
    crate::Error::NoName {
        manager,
        feature: feature.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(serde::Deserialize)]
    struct Recipes {
        features: BTreeMap<String, BTreeMap<String, String>>,
    }

    #[test]
    fn they_are_those_of_the_recipes() {
        let text = include_str!("../../knowledge/rules/recipes.yaml");
        let recipes: Recipes = serde_saphyr::from_str(text).unwrap();
        let linux = recipes.features.iter();
        let linux: Vec<_> = linux
            .filter(|(_, names)| names.contains_key("ethtool"))
            .collect();
        assert_eq!(linux.len(), NAMES.len());
        for (feature, names) in linux {
            let name = |tool: &str| names.get(tool).cloned();
            assert_eq!(
                Some(ethtool(feature).to_owned()),
                name("ethtool"),
                "{feature}"
            );
            assert_eq!(link(feature).map(str::to_owned), name("link"), "{feature}");
            assert_eq!(
                netplan(feature).map(str::to_owned),
                name("netplan"),
                "{feature}"
            );
            assert_eq!(networkmanager(feature), name("nm"), "{feature}");
        }
    }
}
