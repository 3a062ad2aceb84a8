//! Names of offloads: ethtool's short and long ones, and the kernel's features that they stand for.

use super::state::{InterfaceState, read_named};
use super::{Error, Knob, Space, Subject, What};
use coalescope_netlink::ethtool::{Offload, matches};

/// How many names an error proposes.
const NEAR: usize = 4;

/// The kernel's names that a name stands for, among those that the interface has.
pub(crate) fn members(state: &InterfaceState, name: &str) -> Result<Vec<String>, Error> {
    if state.known.contains(name) {
        return Ok(vec![name.to_owned()]);
    }
    // The parser has replaced `_` by `-`, and some of the kernel's names have a `_`.
    let offload = Offload::named(name);
    let alike = |known: &&String| match offload {
        Some(offload) => matches(known, offload.pattern),
        None => known.replace('_', "-") == name,
    };
    let found: Vec<_> = state.known.iter().filter(alike).cloned().collect();
    if found.is_empty() {
        return Err(unknown(state, name));
    }
    Ok(found)
}

/// Features, by the kernel's names, that two settings both change; none if one of them is no feature, or if they are of
/// different interfaces.
///
/// # Errors
///
/// If the interface cannot be read, or has no feature of such a name.
pub fn shared(one: &Subject, other: &Subject) -> Result<Vec<String>, Error> {
    let (Some((interface, first)), Some((same, second))) = (feature(one), feature(other)) else {
        return Ok(Vec::new());
    };
    let space = Space::open(one.namespace.as_deref())?;
    let beside = Space::open(other.namespace.as_deref())?;
    if interface != same || !space.id().is_same(beside.id()) {
        return Ok(Vec::new());
    }
    let state = read_named(&space, interface)?;
    let mut both = members(&state, first)?;
    let others = members(&state, second)?;
    both.retain(|name| others.contains(name));
    Ok(both)
}

fn feature(subject: &Subject) -> Option<(&str, &str)> {
    match &subject.what {
        What::Interface {
            name,
            knob: Knob::Feature(feature),
        } => Some((name, feature)),
        _ => None,
    }
}

/// ethtool's short name of a feature, if it has one.
pub(super) fn short(name: &str) -> &str {
    Offload::named(name).map_or(name, |offload| offload.short)
}

/// ethtool's long name of a feature, which snapshots and managers' files use.
pub(super) fn long(name: &str) -> &str {
    Offload::named(name).map_or(name, |offload| offload.long)
}

fn unknown(state: &InterfaceState, name: &str) -> Error {
    let mut alike: Vec<_> = state.known.iter().collect();
    let score = |known: &str| {
        let parts = name.split('-').filter(|part| known.contains(part));
        parts.map(str::len).sum::<usize>()
    };
    alike.retain(|known| score(known) > 2);
    alike.sort_by_key(|known| std::cmp::Reverse(score(known)));
    Error::UnknownFeature {
        interface: state.name.clone(),
        name: name.to_owned(),
        near: alike.into_iter().take(NEAR).cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> InterfaceState {
        let names = [
            "rx-gro",
            "tx-checksum-ipv4",
            "tx-checksum-ipv6",
            "tx-tcp-segmentation",
            "tx-tcp6-segmentation",
            "tx-udp_tnl-segmentation",
        ];
        InterfaceState {
            name: "eth0".to_owned(),
            known: names.map(str::to_owned).into(),
            ..InterfaceState::default()
        }
    }

    #[test]
    fn short_long_and_own_names_are_the_same() {
        let of = |name| members(&state(), name).unwrap();
        assert_eq!(of("gro"), ["rx-gro"]);
        assert_eq!(of("generic-receive-offload"), of("rx-gro"));
        assert_eq!(of("tso").len(), 2);
        assert_eq!(of("tx"), of("tx-checksumming"));
        assert_eq!(of("tx-udp-tnl-segmentation"), ["tx-udp_tnl-segmentation"]);
        let error = members(&state(), "tx-udp-flying").unwrap_err().to_string();
        assert!(error.contains("did you mean tx-udp_tnl"), "{error}");
    }
}
