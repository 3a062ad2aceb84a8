//! Moves: the keys that a change sets, and those that the kernel moves along.
//!
//! Others may change other keys at the same moment. So a change counts only the keys that the
//! kernel is known to move along; any other difference is somebody else's.

use super::{InterfaceState, Item, Knob, differences};

/// The one feature that the kernel turns off on lower interfaces when it is turned off on an upper
/// one (`NETIF_F_UPPER_DISABLES`).
const SPREADS_DOWN: &str = "rx-lro";

/// A key of an interface that goes from one value to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    /// Number of the interface.
    pub(crate) index: u32,
    /// Which key.
    pub(crate) item: Item,
    /// Its value before.
    pub(crate) from: String,
    /// Its value afterwards.
    pub(crate) to: String,
    /// Whether the key was asked for; otherwise it moves along with another key.
    pub(crate) is_asked: bool,
}

impl Move {
    /// Whether both moves are of the same key.
    pub(crate) fn is_of(&self, other: &Self) -> bool {
        self.index == other.index && self.item == other.item
    }

    /// This move with the value that its key has in `after`.
    pub(super) fn became(&self, after: &[InterfaceState]) -> Option<Self> {
        let now = after.iter().find(|state| state.index == self.index)?;
        Some(Self {
            to: now.shown(&self.item),
            ..self.clone()
        })
    }
}

/// Whether the driver changes a coalescing setting by itself (adaptive coalescing).
pub(crate) fn is_adaptive(state: &InterfaceState, name: &str) -> bool {
    let on = |flag: &str| state.coalescing.get(flag) == Some(&1);
    (name.starts_with("rx-") && on("adaptive-rx")) || (name.starts_with("tx-") && on("adaptive-tx"))
}

/// The moves of a change before it is made. For a feature this is the wanted one, since active
/// features follow from wanted ones.
pub(super) fn foreseen(
    asked: &[(Item, String)],
    before: &InterfaceState,
    others: &[InterfaceState],
) -> Vec<Move> {
    let mut all = Vec::new();
    for (item, to) in asked {
        let key = match item {
            Item::Active(name) => Item::Wanted(name.clone()),
            item => item.clone(),
        };
        for item in follows(&key, to) {
            let theirs = others
                .iter()
                .filter(|other| has(other, &item) && !follows_by_itself(other, &item));
            all.extend(theirs.map(|other| one(other, &item, to, false)));
        }
        if key == Item::Mtu && has(before, &Item::Ipv6Mtu) {
            all.push(one(before, &Item::Ipv6Mtu, to, false));
        }
        all.push(one(before, &key, to, true));
    }
    all
}

/// Items of upper and lower interfaces that take the same value.
fn follows(key: &Item, to: &str) -> Vec<Item> {
    match key {
        Item::Mtu => vec![Item::Mtu, Item::Ipv6Mtu],
        Item::Wanted(name) if name == SPREADS_DOWN && to == "off" => vec![key.clone()],
        _ => Vec::new(),
    }
}

/// Whether a key is restored by restoring others: a bridge's MTU follows its ports.
fn follows_by_itself(state: &InterfaceState, item: &Item) -> bool {
    *item == Item::Mtu && state.follows_ports()
}

fn has(state: &InterfaceState, item: &Item) -> bool {
    match item {
        Item::Ipv6Mtu => state.ipv6_mtu.is_some(),
        Item::Wanted(name) => state.changeable.contains(name),
        _ => true,
    }
}

fn one(state: &InterfaceState, item: &Item, to: &str, is_asked: bool) -> Move {
    Move {
        index: state.index,
        item: item.clone(),
        from: state.shown(item),
        to: to.to_owned(),
        is_asked,
    }
}

/// Differences of the interface itself that a change of `knob` makes or moves along.
pub(super) fn own(knob: &Knob, before: &InterfaceState, after: &InterfaceState) -> Vec<Move> {
    moved(before, after, |item| match (knob, item) {
        (Knob::Feature(_) | Knob::Mtu, Item::Active(_)) | (Knob::Mtu, Item::Ipv6Mtu) => true,
        (Knob::Coalescing(_), Item::Coalescing(name)) => {
            !is_adaptive(before, name) && !is_adaptive(after, name)
        }
        _ => false,
    })
}

/// Differences of an upper or lower interface that move along.
pub(super) fn along(knob: &Knob, before: &InterfaceState, after: &InterfaceState) -> Vec<Move> {
    moved(before, after, |item| {
        *knob == Knob::Mtu
            && matches!(item, Item::Mtu | Item::Ipv6Mtu)
            && !follows_by_itself(before, item)
    })
}

fn moved(
    before: &InterfaceState,
    after: &InterfaceState,
    counts: impl Fn(&Item) -> bool,
) -> Vec<Move> {
    let all = differences(before, after).into_iter();
    let all = all.filter(|difference| counts(&difference.item));
    all.map(|difference| {
        one(
            before,
            &difference.item,
            &after.shown(&difference.item),
            false,
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(index: u32, mtu: u32, on: &[&str]) -> InterfaceState {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        InterfaceState {
            index,
            mtu,
            ipv6_mtu: Some(mtu),
            wanted: names(on),
            active: names(on),
            changeable: names(&["rx-gro", "rx-lro", "tx"]),
            ..InterfaceState::default()
        }
    }

    #[test]
    fn only_what_goes_along_counts() {
        let (before, after) = (state(1, 1500, &["rx-gro", "tx"]), state(1, 1400, &["tx"]));
        let items = |moves: Vec<Move>| moves.into_iter().map(|one| one.item).collect::<Vec<_>>();
        let gro = Knob::Feature("gro".to_owned());
        let active = Item::Active("rx-gro".to_owned());
        assert_eq!(
            items(own(&gro, &before, &after)),
            std::slice::from_ref(&active)
        );
        assert_eq!(
            items(own(&Knob::Mtu, &before, &after)),
            [active, Item::Ipv6Mtu]
        );
        assert!(items(along(&gro, &before, &after)).is_empty());
        assert_eq!(
            items(along(&Knob::Mtu, &before, &after)),
            [Item::Mtu, Item::Ipv6Mtu]
        );
    }

    #[test]
    fn what_follows_is_foreseen() {
        let (own, upper) = (state(1, 1500, &["rx-lro"]), state(2, 1500, &[]));
        let mtu = [(Item::Mtu, "1400".to_owned())];
        let all = foreseen(&mtu, &own, std::slice::from_ref(&upper));
        let asked: Vec<_> = all.iter().filter(|one| one.is_asked).collect();
        assert_eq!((all.len(), asked.len()), (4, 1));
        let lro = [(Item::Active("rx-lro".to_owned()), "off".to_owned())];
        assert_eq!(foreseen(&lro, &own, &[upper]).len(), 2);
    }
}
