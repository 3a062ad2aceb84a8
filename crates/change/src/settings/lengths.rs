//! MTU, `gso_max_size` and `gro_max_size`.

use super::state::ipv6_mtu_path;
use super::{Error, InterfaceState, Item, Knob, Value};
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::route::Route;
use std::fs;

/// `IPV6_MIN_MTU`.
const IPV6_LEAST: u32 = 1280;
/// `GSO_LEGACY_MAX_SIZE`: setting a size up to it sets IPv4's as well (`netif_set_gso_max_size`,
/// `netif_set_gro_max_size`).
const IPV4_TOO: u32 = 65_536;

/// Refuses a length that cannot be set and restored; other settings pass.
pub(super) fn check(knob: &Knob, value: &Value, state: &InterfaceState) -> Result<(), Error> {
    let why = match knob {
        Knob::Mtu if loses_ipv6(value, state) => {
            "it takes IPv6 off the interface, with its addresses and settings"
        }
        Knob::Mtu if state.follows_ports() => {
            "a bridge that was given an MTU follows those of its ports no more: set theirs"
        }
        Knob::GsoMaxSize if has_two(state.gso_max_size, state.gso_ipv4_max_size) => TWO,
        Knob::GroMaxSize if has_two(state.gro_max_size, state.gro_ipv4_max_size) => TWO,
        _ => return Ok(()),
    };
    Err(Error::NotReversible {
        what: match knob {
            Knob::Mtu if loses_ipv6(value, state) => {
                format!("{}: mtu below {IPV6_LEAST}", state.name)
            }
            knob => format!("{}: {knob}", state.name),
        },
        why: why.to_owned(),
    })
}

const TWO: &str = "IPv4 has a size of its own, which goes along and would not come back";

fn loses_ipv6(value: &Value, state: &InterfaceState) -> bool {
    let low = matches!(value, Value::Number(mtu) if *mtu < IPV6_LEAST);
    low && state.ipv6_mtu.is_some()
}

/// Whether IPv4's size differs, or could not be restored by setting the other size.
fn has_two(size: Option<u32>, ipv4: Option<u32>) -> bool {
    ipv4.is_some_and(|ipv4| size != Some(ipv4) || ipv4 > IPV4_TOO)
}

/// Sets the MTU that IPv6 uses on an interface.
pub(crate) fn set_ipv6_mtu(interface: &str, mtu: u32) -> Result<(), Error> {
    let path = ipv6_mtu_path(interface);
    let written = fs::write(&path, mtu.to_string());
    written.map_err(Error::file("write", path.as_ref()))
}

/// Sets `gso_max_size` or `gro_max_size`.
pub(crate) fn set_size(state: &InterfaceState, item: &Item, bytes: u32) -> Result<(), Kernel> {
    let route = Route::open()?;
    match item {
        Item::GroMaxSize => route.set_gro_max_size(&state.name, state.index, bytes),
        _ => route.set_gso_max_size(&state.name, state.index, bytes),
    }
}

/// Sets a size back. The kernel moves IPv4's size along, so a size that somebody has set for IPv4
/// meanwhile is set again.
pub(crate) fn set_size_back(state: &InterfaceState, item: &Item, bytes: u32) -> Result<(), Kernel> {
    set_size(state, item, bytes)?;
    let (size, ipv4) = match item {
        Item::GroMaxSize => (state.gro_max_size, state.gro_ipv4_max_size),
        _ => (state.gso_max_size, state.gso_ipv4_max_size),
    };
    let Some(ipv4) = ipv4.filter(|_| has_two(size, ipv4)) else {
        return Ok(());
    };
    let route = Route::open()?;
    match item {
        Item::GroMaxSize => route.set_gro_ipv4_max_size(&state.name, state.index, ipv4),
        _ => route.set_gso_ipv4_max_size(&state.name, state.index, ipv4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(size: u32, ipv4: Option<u32>) -> InterfaceState {
        InterfaceState {
            gso_max_size: Some(size),
            gso_ipv4_max_size: ipv4,
            ..InterfaceState::default()
        }
    }

    #[test]
    fn a_size_of_ipv4s_own_is_not_touched() {
        let fits =
            |state: &InterfaceState| check(&Knob::GsoMaxSize, &Value::Number(1500), state).is_ok();
        // Kernels before 6.3 have one size for IPv4 and IPv6.
        assert!(fits(&state(65_536, None)) && fits(&state(200_000, None)));
        assert!(fits(&state(65_536, Some(65_536))));
        assert!(!fits(&state(200_000, Some(65_536))));
        // Setting 200,000 back would leave IPv4's size at 1,500.
        assert!(!fits(&state(200_000, Some(200_000))));
    }
}
