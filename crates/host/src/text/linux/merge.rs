//! Two descriptions of one interface in one text.

use std::collections::BTreeMap;

use crate::model::Interface;

/// Adds what `new` says to `known`. Where both say something else, `known` stays: the names of
/// those fields come back. Costs what `new` holds, however much is known.
pub(super) fn merge(known: &mut Interface, new: Interface) -> Vec<String> {
    // Named one by one, so that a field that is new in the model is not lost here.
    #[rustfmt::skip]
    let Interface {
        name: _, namespace: _, index, kind, description, driver, mtu_bytes, max_mtu_bytes, up, carrier,
        speed_bps, mac, addresses, master, master_kind, parent, peer, default_route, features,
        coalescing, rings, channels, statistics, counters, properties, gso, xdp, bridge, bridge_port,
        bond, vlan, tunnel, tun, napi, rss,
    } = new;
    let mut clashes = Vec::new();
    macro_rules! values {
        ($($field:ident)*) => {$(
            let clash = value(&mut known.$field, $field);
            clashes.extend(clash.then(|| stringify!($field).to_owned()));
        )*};
    }
    macro_rules! maps {
        ($($field:ident)*) => {$(
            let clash = map(&mut known.$field, $field);
            clashes.extend(clash.into_iter().map(|key| format!("{} {key}", stringify!($field))));
        )*};
    }
    values!(index kind description driver mtu_bytes max_mtu_bytes up carrier speed_bps mac master);
    values!(master_kind parent peer default_route gso xdp bridge bridge_port bond vlan tunnel tun napi rss);
    maps!(features coalescing rings channels statistics counters properties);
    if list(&mut known.addresses, addresses) {
        clashes.push("addresses".to_owned());
    }
    clashes
}

fn value<T: PartialEq>(known: &mut Option<T>, new: Option<T>) -> bool {
    match (&known, new) {
        (None, new) => *known = new,
        (Some(known), Some(new)) => return *known != new,
        (Some(_), None) => {}
    }
    false
}

fn map<T: PartialEq>(known: &mut BTreeMap<String, T>, new: BTreeMap<String, T>) -> Vec<String> {
    let mut clashes = Vec::new();
    for (key, value) in new {
        if known.get(&key).is_some_and(|known| *known != value) {
            clashes.push(key);
        } else {
            known.insert(key, value);
        }
    }
    clashes
}

fn list(known: &mut Vec<String>, new: Vec<String>) -> bool {
    if known.is_empty() {
        *known = new;
        return false;
    }
    !new.is_empty() && *known != new
}
