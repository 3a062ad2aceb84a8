//! Journals on disk: damage is found, locks exclude, other boots are recognised.

use coalescope_change::journal::{
    Held, InterfaceEntry, Journal, KeyEntry, Lock, SCHEMA, State, Store, SysctlEntry,
};
use coalescope_change::restore::{self, Fate};
use coalescope_change::settings::{Error, InterfaceState, Item, NamespaceId};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("it works");
    let store = Store::at(&folder.path().join("deep/state")).expect("it works");
    (folder, store)
}

fn boot_id() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it works");
    text.trim().to_owned()
}

fn held(was: &str, set: &str) -> Held {
    Held {
        was: was.to_owned(),
        set: vec![set.to_owned()],
        is_open: false,
    }
}

/// About an interface that no machine has.
fn journal(id: &str) -> Journal {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let namespace = NamespaceId {
        name: Some("coalescope-test-nowhere".to_owned()),
        inode: 7,
        cookie: None,
    };
    let was = InterfaceState {
        name: "eth0".to_owned(),
        index: 3,
        mac: "02:00:00:00:00:01".to_owned(),
        mtu: 1500,
        known: names(&["rx-gro", "rx-lro"]),
        wanted: names(&["rx-gro"]),
        active: names(&["rx-gro"]),
        ..InterfaceState::default()
    };
    Journal {
        schema: SCHEMA.to_owned(),
        id: id.to_owned(),
        boot_id: boot_id(),
        begun_unix_s: 1_700_000_000,
        command: vec!["coalescope".to_owned(), "ab".to_owned()],
        interfaces: vec![InterfaceEntry {
            namespace: namespace.clone(),
            related: false,
            was,
            keys: vec![KeyEntry {
                item: Item::Wanted("rx-gro".to_owned()),
                held: held("on", "off"),
            }],
        }],
        sysctls: vec![SysctlEntry {
            namespace,
            key: "net/ipv4/tcp_reordering".to_owned(),
            device: None,
            held: held("3", "127"),
        }],
        wanted: vec![
            "ns/coalescope-test-nowhere/eth0:gro=off"
                .parse()
                .expect("it works"),
        ],
        ..Journal::default()
    }
}

fn same(read: &Journal, written: &Journal) -> bool {
    let mut read = read.clone();
    read.digest.clear();
    read == *written
}

#[test]
fn what_is_written_is_read() {
    let (_folder, store) = store();
    let written = journal("1-1");
    store.write(&written).unwrap();
    assert!(same(&store.read("1-1").unwrap(), &written));
    let file = fs::metadata(store.file("1-1")).unwrap();
    assert_eq!(file.mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(store.path()).unwrap().mode() & 0o777, 0o700);
    let mut again = written.clone();
    again.state = State::Kept;
    store.write(&again).unwrap();
    assert_eq!(store.read("1-1").unwrap().state, State::Kept);
    assert_eq!(store.list().unwrap(), ["1-1"]);
    store.remove("1-1").unwrap();
    store.remove("1-1").unwrap();
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn what_a_crash_left_half_written_is_not_looked_at() {
    let (_folder, store) = store();
    store.write(&journal("1-1")).unwrap();
    fs::write(store.path().join(".1-1.json.new"), "{\"schema\":").unwrap();
    fs::write(store.path().join(".2-1.json.new"), "").unwrap();
    assert_eq!(store.list().unwrap(), ["1-1"]);
    store.write(&journal("1-1")).unwrap();
    assert!(same(&store.read("1-1").unwrap(), &journal("1-1")));
}

#[test]
fn a_failed_write_leaves_the_one_before() {
    let (_folder, store) = store();
    store.write(&journal("1-1")).unwrap();
    // A folder in the way of the new file: root may write anywhere, but not there.
    fs::create_dir(store.path().join(".1-1.json.new")).unwrap();
    let mut again = journal("1-1");
    again.state = State::Failed;
    let error = store.write(&again).unwrap_err();
    assert!(error.to_string().contains("cannot write"), "{error}");
    assert_eq!(store.read("1-1").unwrap().state, State::Open);
}

#[test]
fn every_cut_is_found() {
    let bytes = journal("1-1").encode().unwrap();
    for length in 0..bytes.len() - 1 {
        let error = Journal::decode(&bytes[..length], Path::new("1-1.json")).expect_err("cut");
        assert!(matches!(error, Error::Journal { .. }), "{length}: {error}");
    }
}

/// Each byte, each of its bits.
#[test]
fn every_flipped_bit_is_an_error_that_names_the_file_or_changes_nothing() {
    let sound = journal("1-1");
    let bytes = sound.encode().unwrap();
    for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << bit;
        match Journal::decode(&flipped, Path::new("1-1.json")) {
            Ok(read) => assert!(same(&read, &sound), "byte {at}, bit {bit}"),
            Err(error) => assert!(error.to_string().contains("1-1.json"), "{error}"),
        }
    }
}

#[test]
fn others_and_other_versions_are_named() {
    let decode = |text: &str| Journal::decode(text.as_bytes(), Path::new("x.json")).unwrap_err();
    let foreign = decode(r#"{"schema":"coalescope/ab/1"}"#).to_string();
    assert!(foreign.contains("coalescope/ab/1"), "{foreign}");
    assert!(
        decode("[]")
            .to_string()
            .contains("no JSON document of ours")
    );
    assert!(decode("").to_string().contains("it is empty"));
    for version in ["0", "1", "17"] {
        let error = decode(&format!(
            r#"{{"schema":"coalescope/journal/{version}","x":1}}"#
        ));
        assert!(matches!(error, Error::JournalVersion { .. }), "{error}");
    }
    let bytes = journal("1-1").encode().unwrap();
    let renamed = Journal::decode(&bytes, Path::new("2-1.json")).unwrap_err();
    assert!(renamed.to_string().contains("the one of 1-1"), "{renamed}");
}

proptest! {
    #[test]
    fn no_change_of_bytes_changes_what_is_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let sound = journal("1-1");
        let mut bytes = sound.encode().unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // White space may change.
        if let Ok(read) = Journal::decode(&bytes, Path::new("1-1.json")) {
            prop_assert!(same(&read, &sound));
        }
    }

    #[test]
    fn any_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(Journal::decode(&bytes, Path::new("1-1.json")).is_err());
    }

    #[test]
    fn any_other_numbers_are_found(mtu in any::<u32>(), index in any::<u32>()) {
        let text = String::from_utf8(journal("1-1").encode().unwrap()).unwrap();
        let text = text.replace("\"mtu\": 1500", &format!("\"mtu\": {mtu}"));
        let text = text.replace("\"index\": 3", &format!("\"index\": {index}"));
        let read = Journal::decode(text.as_bytes(), Path::new("1-1.json"));
        prop_assert_eq!(read.is_ok(), (mtu, index) == (1500, 3));
    }
}

#[test]
fn a_store_that_others_can_write_to_is_refused() {
    let (_folder, store) = store();
    store.write(&journal("1-1")).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    mode(&store.file("1-1"), 0o666).unwrap();
    let error = store.read("1-1").unwrap_err().to_string();
    assert!(error.contains("others can write"), "{error}");
    symlink("/etc/passwd", store.file("2-1")).unwrap();
    assert!(
        store
            .read("2-1")
            .unwrap_err()
            .to_string()
            .contains("not a file")
    );
    mode(store.path(), 0o777).unwrap();
    let error = Store::at(store.path()).unwrap_err().to_string();
    assert!(error.contains("others can write") && error.contains("COALESCOPE_STATE"));
}

#[test]
fn locks_exclude_and_name_their_holder() {
    let (_folder, store) = store();
    let held = Lock::take(&store, "net1-if2", "eth0", "`coalescope ab`, process 9").unwrap();
    let error = Lock::take(&store, "net1-if2", "eth0", "me").unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("eth0 is in use") && text.contains("process 9"),
        "{text}"
    );
    Lock::take(&store, "net1-if3", "eth1", "me").unwrap();
    drop(held);
    Lock::take(&store, "net1-if2", "eth0", "me").unwrap();
    // Names that would leave the folder stay in it.
    Lock::take(&store, "../../x", "x", "me").unwrap();
    assert!(!store.path().join("../../x").exists());
}

#[test]
fn a_boot_since_has_reset_everything() {
    let (_folder, store) = store();
    let mut old = journal("3-1");
    old.boot_id = "00000000-0000-0000-0000-000000000000".to_owned();
    store.write(&old).unwrap();
    let undone = restore::undo(&store).unwrap();
    assert!(
        matches!(undone[..], [ref one] if one.fate == Fate::Reset),
        "{undone:?}"
    );
    assert_eq!(restore::exit_code(&undone), 0);
    assert!(store.list().unwrap().is_empty());
}

#[test]
fn what_cannot_be_undone_is_named_and_kept() {
    let (_folder, store) = store();
    store.write(&journal("5-1")).unwrap();
    fs::write(store.file("4-1"), "{").unwrap();
    let undone = restore::undo(&store).unwrap();
    assert_eq!(restore::exit_code(&undone), restore::EXIT_UNRESTORED);
    let [gone, damaged] = &undone[..] else {
        panic!("{undone:?}")
    };
    let Fate::Failed { unrestored } = &gone.fate else {
        panic!("{gone:?}")
    };
    assert!(
        unrestored.iter().all(|left| left.why.contains("nowhere")),
        "{unrestored:?}"
    );
    assert!(
        matches!(&damaged.fate, Fate::Unusable { problem } if problem.to_string().contains("by hand"))
    );
    assert_eq!(store.read("5-1").unwrap().state, State::Failed);
    assert_eq!(store.list().unwrap().len(), 2);
    for id in ["5-1", "4-1"] {
        restore::forget(&store, id).unwrap();
    }
    assert!(restore::undo(&store).unwrap().is_empty());
}
