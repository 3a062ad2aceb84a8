//! The managers' names of features; a test compares them with `features` of rules/recipes.yaml.

use crate::error::Error;
use crate::model::Manager;
use coalescope_host::glob;

/// A feature under the names of all who set it.
#[derive(Clone, Copy)]
struct Feature {
    /// ethtool's long name.
    name: &'static str,
    /// ethtool's short name.
    ethtool: &'static str,
    /// The kernel's names; `*` stands for any text. As `netlink::ethtool` has them, which is for Linux alone.
    kernel: &'static str,
    /// The key of systemd.link, if it has one.
    link: Option<&'static str>,
    /// The key of netplan, if it has one.
    netplan: Option<&'static str>,
}

const FEATURES: [Feature; 16] = [
    named("generic-receive-offload", "gro", "rx-gro")
        .in_link("GenericReceiveOffload")
        .in_netplan("generic-receive-offload"),
    named("large-receive-offload", "lro", "rx-lro")
        .in_link("LargeReceiveOffload")
        .in_netplan("large-receive-offload"),
    of_kernel("rx-gro-hw").in_link("GenericReceiveOffloadHardware"),
    of_kernel("rx-gro-list"),
    of_kernel("rx-udp-gro-forwarding"),
    named("tcp-segmentation-offload", "tso", "tx-tcp*-segmentation")
        .in_link("TCPSegmentationOffload")
        .in_netplan("tcp-segmentation-offload"),
    named(
        "generic-segmentation-offload",
        "gso",
        "tx-generic-segmentation",
    )
    .in_link("GenericSegmentationOffload")
    .in_netplan("generic-segmentation-offload"),
    named("rx-checksumming", "rx", "rx-checksum")
        .in_link("ReceiveChecksumOffload")
        .in_netplan("receive-checksum-offload"),
    named("tx-checksumming", "tx", "tx-checksum-*")
        .in_link("TransmitChecksumOffload")
        .in_netplan("transmit-checksum-offload"),
    of_kernel("tx-checksum-ip-generic"),
    of_kernel("tx-udp-segmentation"),
    of_kernel("tx-udp_tnl-segmentation"),
    of_kernel("esp-hw-offload"),
    of_kernel("tx-ipxip4-segmentation"),
    named("scatter-gather", "sg", "tx-scatter-gather*"),
    of_kernel("tx-udp_tnl-csum-segmentation"),
];

const fn named(name: &'static str, ethtool: &'static str, kernel: &'static str) -> Feature {
    Feature {
        name,
        ethtool,
        kernel,
        link: None,
        netplan: None,
    }
}

/// A feature for which ethtool has only the kernel's name.
const fn of_kernel(name: &'static str) -> Feature {
    named(name, name, name)
}

impl Feature {
    const fn in_link(self, key: &'static str) -> Self {
        Self {
            link: Some(key),
            ..self
        }
    }

    const fn in_netplan(self, key: &'static str) -> Self {
        Self {
            netplan: Some(key),
            ..self
        }
    }

    fn find(name: &str) -> Option<&'static Self> {
        FEATURES.iter().find(|feature| feature.name == name)
    }
}

/// ethtool's short name. It takes the kernel's own names as well, so one that is not listed stays.
pub(crate) fn ethtool(feature: &str) -> &str {
    Feature::find(feature).map_or(feature, |found| found.ethtool)
}

/// Whether a word names the feature to ethtool, or a part of the feature by the kernel's name; the scripts of ifupdown
/// turn `_` into `-`.
pub(crate) fn is_ethtool(word: &str, feature: &str) -> bool {
    let same = |name: &str| name.replace('_', "-") == word.replace('_', "-");
    let of_kernel = Feature::find(feature).map(|found| found.kernel);
    same(feature) || same(ethtool(feature)) || of_kernel.is_some_and(|own| glob::fits(own, word))
}

/// The key in a .link file.
pub(crate) fn link(feature: &str) -> Option<&'static str> {
    Feature::find(feature)?.link
}

/// The key in a device of a netplan file, with networkd as renderer.
pub(crate) fn netplan(feature: &str) -> Option<&'static str> {
    Feature::find(feature)?.netplan
}

/// The key in NetworkManager's section `ethtool`; it refuses names that it does not know.
pub(crate) fn networkmanager(feature: &str) -> Option<String> {
    Some(format!("feature-{}", Feature::find(feature)?.ethtool))
}

/// The error for a manager without a name for the feature.
pub(crate) fn none(manager: Manager, feature: &str) -> Error {
    Error::NoName {
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
        assert_eq!(linux.len(), FEATURES.len());
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
