//! What goes along with a change goes back as it was, and not further: others may have set it meanwhile.

use super::{change, guard, ip, limits, restored, set_feature, snapshot, value};
use coalescope_change::journal::Store;
use coalescope_change::restore::{self, Fate};
use coalescope_change::settings::Error;
use coalescope_needs as needs;
use coalescope_netlink::route::Route;

/// A bridge's MTU is the least of its ports', as the kernel keeps it, until somebody sets it.
pub(super) fn bridge(store: &Store) {
    let test = "a bridge is left to follow its ports";
    if !(ip("link add br0 type bridge") && ip("link add c type veth peer name d")) {
        return needs::skipped(test, "no bridge can be made");
    }
    for words in ["a master br0", "c master br0", "br0 up"] {
        assert!(ip(&format!("link set dev {words}")));
    }
    let mut guard = guard(store);
    // Set once, it follows no more, and there is no way back.
    let error = change(&mut guard, "br0:mtu=1400").unwrap_err();
    assert!(matches!(error, Error::NotReversible { .. }), "{error}");
    change(&mut guard, "a:mtu=1400").unwrap();
    assert_eq!(value("br0:mtu"), "1400");
    // Somebody else's, which the bridge follows.
    assert!(ip("link set dev c mtu 1350"));
    restored(guard, store);
    assert_eq!(["a:mtu", "br0:mtu"].map(value), ["1500", "1350"]);
    assert!(ip("link set dev c mtu 1500"));
    assert_eq!(value("br0:mtu"), "1500", "it still follows");
}

/// A bond whose first port has an MTU of its own; false where the kernel has none.
fn make_bond(test: &str) -> bool {
    if !ip("link add bond0 type bond") {
        needs::skipped(test, "the kernel has no bond");
        return false;
    }
    for port in ["a", "c"] {
        assert!(port == "a" || ip("link add c type veth peer name d"));
        assert!(ip(&format!("link set dev {port} down")));
        assert!(ip(&format!("link set dev {port} master bond0")));
    }
    assert!(ip("link set dev a mtu 1450"));
    true
}

const BOND: [&str; 3] = ["bond0:mtu", "a:mtu", "c:mtu"];

/// A bond's MTU is given to all of its ports, whatever theirs were.
pub(super) fn bond(store: &Store) {
    if !make_bond("a bond's ports have MTUs of their own") {
        return;
    }
    for levels in [&["1400"][..], &["1400", "1500", "1420"]] {
        let mut guard = guard(store);
        for level in levels {
            change(&mut guard, &format!("bond0:mtu={level}")).unwrap();
            assert_eq!(BOND.map(value), [*level; 3]);
        }
        restored(guard, store);
        assert_eq!(BOND.map(value), ["1500", "1450", "1500"]);
    }
}

pub(super) fn bond_meddled(store: &Store) {
    if !make_bond("MTUs of ports that others set stay") {
        return;
    }
    let mut guard = guard(store);
    change(&mut guard, "bond0:mtu=1400").unwrap();
    assert!(ip("link set dev c mtu 1350"));
    // One that comes since, with an MTU of its own.
    assert!(ip("link add dev e type veth peer name f") && ip("link set dev e master bond0"));
    assert!(ip("link set dev e mtu 1360"));
    let report = guard.finish().unwrap();
    assert_eq!(value("e:mtu"), "1360", "{report}");
    assert_eq!(BOND.map(value), ["1500", "1450", "1350"], "{report}");
    let text = report.to_string();
    assert!(
        report.exit_code() == 3
            && text.contains("c: mtu is 1350, was 1500, was set to 1400")
            && report
                .unrestored
                .iter()
                .all(|left| left.what.starts_with("c:")),
        "{text}"
    );
    assert!(ip("link set dev c mtu 1500"));
    let undone = restore::undo(store).unwrap();
    assert!(
        matches!(undone[0].fate, Fate::Restored { .. }),
        "{undone:?}"
    );
    assert_eq!(BOND.map(value), ["1500", "1450", "1500"]);
}

/// Setting the one for both sets IPv4's.
pub(super) fn ipv4_sizes(store: &Store) {
    if limits().gso_ipv4_max_size.is_none() {
        return needs::skipped("IPv4's largest sizes are others'", "Linux before 6.3");
    }
    let mut guard = guard(store);
    change(&mut guard, "a:gso_max_size=1500").unwrap();
    change(&mut guard, "a:gro_max_size=9000").unwrap();
    let route = Route::open().unwrap();
    let index = route.link("a").unwrap().index;
    route.set_gso_ipv4_max_size("a", index, 3000).unwrap();
    route.set_gro_ipv4_max_size("a", index, 4000).unwrap();
    restored(guard, store);
    let is = limits();
    assert_eq!(
        (is.gso_max_size, is.gro_max_size),
        (Some(65_536), Some(65_536))
    );
    assert_eq!(
        (is.gso_ipv4_max_size, is.gro_ipv4_max_size),
        (Some(3000), Some(4000))
    );
}

/// It goes down with the interface beneath it, and not up again by itself.
pub(super) fn vlan(store: &Store) {
    if !ip("link add link a name a.7 type vlan id 7") {
        return needs::skipped(
            "a VLAN that was lowered is raised again",
            "the kernel has no VLAN",
        );
    }
    for theirs in [None, Some("1300")] {
        let mut guard = guard(store);
        change(&mut guard, "a:mtu=1400").unwrap();
        assert_eq!(value("a.7:mtu"), "1400");
        if let Some(mtu) = theirs {
            assert!(ip(&format!("link set dev a.7 mtu {mtu}")));
        }
        let report = guard.finish().unwrap();
        assert_eq!(report.is_complete(), theirs.is_none(), "{report}");
        let is = ["a:mtu", "a.7:mtu"].map(value);
        assert_eq!(is, ["1500", theirs.unwrap_or("1500")]);
    }
}

/// What is active on interfaces above follows from those beneath; wishes for them are their own.
pub(super) fn uppers(store: &Store) {
    let kinds = [
        (
            "bridge",
            "link add dev u type bridge",
            "link set dev a master u",
        ),
        (
            "VLAN",
            "link add link a name u type vlan id 7",
            "link set dev a up",
        ),
        (
            "bond",
            "link add dev u type bond",
            "link set dev a master u",
        ),
    ];
    for (kind, add, join) in kinds {
        let test = "features of interfaces above follow";
        if !ip(add) {
            needs::skipped(test, format!("the kernel has no {kind}"));
            continue;
        }
        assert!(ip("link set dev a down") && ip(join) && ip("link set dev a up"));
        for settings in [
            &["a:tx=off", "a:mtu=1400"][..],
            &["u:tx=off", "a:sg=off", "a:tx=on", "u:gso=off"],
        ] {
            features_above(store, settings);
        }
        assert!(ip("link del dev u"));
    }
}

/// Somebody else turns a feature of the upper one over meanwhile.
fn features_above(store: &Store, settings: &[&str]) {
    let before = snapshot();
    let mut guard = guard(store);
    for setting in settings {
        change(&mut guard, setting).unwrap();
    }
    set_feature("u", "rx-gro", false);
    restored(guard, store);
    assert_eq!(value("u:rx-gro"), "off", "{settings:?}");
    set_feature("u", "rx-gro", true);
    assert_eq!(snapshot(), before, "{settings:?}");
}
