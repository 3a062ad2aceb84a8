//! Offloads: the whole wanted set in one request, since one at a time could be undone by the next.

use crate::settings::InterfaceState;
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::ethtool::Ethtool;

/// Asks for the wanted set as it was. With `insist`, a set that is the same and not active as it was
/// is asked for in two steps, because the kernel looks at its dependencies only when the set changes.
pub(super) fn restore(
    was: &InterfaceState,
    is: &InterfaceState,
    insist: bool,
) -> Result<(), Kernel> {
    let wanted = wanted(was, is);
    let differs = wanted
        .iter()
        .any(|(name, on)| is.wanted.contains(*name) != *on);
    let stale = stale(was, is, &wanted);
    if !differs && insist && !stale.is_empty() {
        Ethtool::open()?.set_features(&is.name, &stale)?;
    } else if !differs {
        return Ok(());
    }
    Ethtool::open()?.set_features(&is.name, &wanted).map(drop)
}

/// All that can be changed, then and now.
fn wanted<'a>(was: &'a InterfaceState, is: &InterfaceState) -> Vec<(&'a str, bool)> {
    let both = was.changeable.intersection(&is.changeable);
    let names = both.filter_map(|name| was.changeable.get(name));
    names
        .map(|name| (name.as_str(), was.wanted.contains(name)))
        .collect()
}

/// The opposite of those that are not active as they were.
fn stale<'a>(
    was: &InterfaceState,
    is: &InterfaceState,
    wanted: &[(&'a str, bool)],
) -> Vec<(&'a str, bool)> {
    let differs = |name: &str| was.active.contains(name) != is.active.contains(name);
    let stale = wanted.iter().filter(|(name, _)| differs(name));
    stale.map(|(name, on)| (*name, !on)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(wanted: &[&str], active: &[&str]) -> InterfaceState {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        InterfaceState {
            wanted: set(wanted),
            active: set(active),
            changeable: set(&["a", "b"]),
            ..InterfaceState::default()
        }
    }

    #[test]
    fn what_is_stale_is_turned_over() {
        let was = state(&["a", "b"], &["a", "b", "fixed"]);
        let is = state(&["a", "b"], &["a"]);
        let all = wanted(&was, &is);
        assert_eq!(all, [("a", true), ("b", true)]);
        assert_eq!(stale(&was, &is, &all), [("b", false)]);
    }
}
