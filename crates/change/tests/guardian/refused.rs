//! What cannot be taken back, or not for certain, is named with its values and stays in the journal; once nothing is in
//! the way any more, another `undo` does the rest.

use super::{change, guard, ip, restored, set_feature, start, value};
use coalescope_change::journal::{Store, Unrestored};
use coalescope_change::restore::{self, Fate};
use coalescope_needs as needs;
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::route::Route;
use std::fs;
use std::path::Path;

const REORDERING: &str = "sysctl:net.ipv4.tcp_reordering";
const FILE: &str = "/proc/sys/net/ipv4/tcp_reordering";

/// What `undo` leaves of the only journal, with exit code 3.
fn left(store: &Store) -> Vec<Unrestored> {
    let mut undone = restore::undo(store).unwrap();
    assert_eq!(restore::exit_code(&undone), 3, "{undone:?}");
    match undone.remove(0).fate {
        Fate::Failed { unrestored } => unrestored,
        other => panic!("{other:?}"),
    }
}

/// Each with what it is, and what it was.
fn values(left: &[Unrestored]) -> Vec<(&str, &str, &str)> {
    let values = left
        .iter()
        .map(|one| (one.what.as_str(), one.is.as_str(), one.was.as_str()));
    values.collect()
}

/// `undo` does all that was left, and nothing is left of the journal.
fn rest_is_done(store: &Store) {
    let undone = restore::undo(store).unwrap();
    assert!(
        matches!(undone[..], [ref one] if matches!(one.fate, Fate::Restored { .. })),
        "{undone:?}"
    );
    assert!(store.list().unwrap().is_empty());
}

/// The guardian was killed between writing down what it was about to set, and what came of it: a third value is the
/// kernel's, or somebody else's.
pub(super) fn open(store: &Store) {
    let mut guard = guard(store);
    change(&mut guard, "sysctl:net.ipv4.tcp_reordering=127").unwrap();
    let mut journal = store.read(guard.journal()).unwrap();
    restored(guard, store);
    let held = &mut journal.sysctls[0].held;
    (held.set, held.is_open) = (vec!["3".to_owned(), "127".to_owned()], true);
    store.write(&journal).unwrap();
    fs::write(FILE, "50").unwrap();
    let unrestored = left(store);
    assert_eq!(values(&unrestored), [(REORDERING, "50", "3")]);
    assert_eq!(unrestored[0].set.as_deref(), Some("3 or 127"));
    assert_eq!(value(REORDERING), "50");
    assert!(
        !unrestored[0].why.contains("somebody else has set it since"),
        "that is not known: {}",
        unrestored[0].why
    );
    // It is as it was about to be set after all.
    fs::write(FILE, "127").unwrap();
    rest_is_done(store);
    assert_eq!(value(REORDERING), "3");
}

pub(super) fn read_only(store: &Store) {
    let mut guard = guard(store);
    change(&mut guard, "sysctl:net.ipv4.tcp_reordering=127").unwrap();
    change(&mut guard, "a:mtu=1400").unwrap();
    guard.keep().unwrap();
    if !start("mount", &format!("--bind {FILE} {FILE}")) {
        rest_is_done(store);
        return needs::skipped(
            "a sysctl that is read-only is named",
            "nothing can be mounted",
        );
    }
    assert!(start("mount", &format!("-o remount,bind,ro {FILE}")));
    let unrestored = left(store);
    assert_eq!(values(&unrestored), [(REORDERING, "127", "3")]);
    assert!(unrestored[0].why.contains("Read-only"), "{unrestored:?}");
    let by_hand = unrestored[0].by_hand.as_deref();
    assert_eq!(by_hand, Some("sysctl -w net.ipv4.tcp_reordering=3"));
    assert_eq!(value("a:mtu"), "1500");
    // What went back is whoever's who sets it now.
    assert!(ip("link set dev a mtu 1400"));
    assert!(start("umount", FILE));
    rest_is_done(store);
    assert_eq!([REORDERING, "a:mtu"].map(value), ["3", "1400"]);
}

/// Moved to another namespace and back: its number and all settings stay.
pub(super) fn moved(store: &Store) {
    let other = Namespace::create().unwrap();
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    change(&mut guard, "b:mtu=1400").unwrap();
    guard.keep().unwrap();
    let home = Namespace::open(Path::new("/proc/thread-self/ns/net")).unwrap();
    let index = Route::open().unwrap().link("a").unwrap().index;
    Route::open().unwrap().move_to("a", index, &other).unwrap();
    let unrestored = left(store);
    assert_eq!(unrestored.len(), 1, "{unrestored:?}");
    assert!(
        unrestored[0].is == "gone" && unrestored[0].why.contains("moved to another namespace"),
        "{unrestored:?}"
    );
    assert_eq!(value("b:mtu"), "1500");
    let back = || {
        let route = Route::open().unwrap();
        let index = route.link("a").unwrap().index;
        route.move_to("a", index, &home).unwrap();
    };
    other.enter(back).unwrap();
    rest_is_done(store);
    assert_eq!(["a:tx", "a:tso"].map(value), ["on", "on"]);
}

pub(super) fn address(store: &Store) {
    let mut guard = guard(store);
    change(&mut guard, "a:tx=off").unwrap();
    guard.keep().unwrap();
    assert!(ip("link set dev a address 02:00:00:00:99:99"));
    assert!(ip("link set dev a down") && ip("link set dev a name z"));
    rest_is_done(store);
    assert_eq!(["z:tx", "z:tso"].map(value), ["on", "on"]);
}

/// One of its ports takes no more than what is beneath it.
pub(super) fn bond(store: &Store) {
    let test = "a bond that refuses is named";
    if !ip("link add bond0 mtu 9000 type bond") {
        return needs::skipped(test, "the kernel has no bond");
    }
    let mut guard = guard(store);
    change(&mut guard, "bond0:mtu=1400").unwrap();
    change(&mut guard, "b:gro=on").unwrap();
    guard.keep().unwrap();
    if !ip("link add link a name a.7 type vlan id 7") {
        rest_is_done(store);
        return needs::skipped(test, "the kernel has no VLAN");
    }
    assert!(ip("link set dev a.7 master bond0"));
    let unrestored = left(store);
    assert_eq!(values(&unrestored), [("bond0: mtu", "1400", "9000")]);
    let by_hand = unrestored[0].by_hand.as_deref();
    assert_eq!(by_hand, Some("ip link set dev bond0 mtu 9000"));
    assert_eq!(["b:gro", "bond0:mtu"].map(value), ["off", "1400"]);
    assert!(ip("link set dev a.7 nomaster"));
    set_feature("b", "rx-gro", true);
    rest_is_done(store);
    assert_eq!(["b:gro", "bond0:mtu"].map(value), ["on", "9000"]);
}

/// A name in a sysctl's path is given anew.
pub(super) fn made_anew(store: &Store) {
    let key = "sysctl:net.ipv4.conf.a.rp_filter";
    let file = "/proc/sys/net/ipv4/conf/a/rp_filter";
    let was = value(key);
    let mut guard = guard(store);
    change(&mut guard, "sysctl:net.ipv4.conf.a.rp_filter=2").unwrap();
    guard.keep().unwrap();
    assert!(ip("link set dev a down") && ip("link set dev a name old"));
    assert!(ip("link add dev a type veth peer name e"));
    fs::write(file, "2").unwrap();
    let unrestored = left(store);
    assert!(
        unrestored.len() == 1 && unrestored[0].what == key,
        "{unrestored:?}"
    );
    assert_eq!(value(key), "2", "the new one's");
    assert!(ip("link del dev a") && ip("link set dev old name a"));
    rest_is_done(store);
    assert_eq!(value(key), was);
}
