//! Files that are changed to stay: written all or none, put back byte for byte, whoever is killed when.

use coalescope_change::journal::{State, Store};
use coalescope_change::restore::{self, Fate, FileWrite, Undone, apply_files};
use coalescope_change::settings::Error;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};
use tempfile::TempDir;

struct Room {
    folder: TempDir,
    store: Store,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("it works");
        let store = Store::at(&folder.path().join("state")).expect("it works");
        fs::create_dir(folder.path().join("etc")).expect("it works");
        Self { folder, store }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("etc").join(name)
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).expect("it works");
        path
    }

    fn write(&self, name: &str, text: &str) -> FileWrite {
        let path = self.path(name);
        FileWrite {
            before: fs::read(&path).ok(),
            path,
            bytes: text.as_bytes().to_vec(),
            mode_if_new: 0o600,
        }
    }

    fn apply(&self, writes: &[FileWrite]) -> Result<String, Error> {
        patiently(
            || self.apply_once(writes),
            |result| matches!(result, Err(Error::Busy { .. })),
        )
    }

    fn apply_once(&self, writes: &[FileWrite]) -> Result<String, Error> {
        apply_files(&self.store, vec!["coalescope".into(), "fix".into()], writes)
    }

    fn undo(&self) -> Vec<Undone> {
        let runs = |one: &Undone| one.fate.may_pass();
        patiently(
            || restore::undo(&self.store).expect("it works"),
            |undone| undone.iter().any(runs),
        )
    }

    /// Every file with its contents, rights and owner; links as links.
    fn tree(&self) -> Vec<(PathBuf, String, u32, u32)> {
        let mut all = Vec::new();
        list(&self.folder.path().join("etc"), &mut all);
        all.sort();
        all
    }
}

/// Tests beside this one start programs, which hold its locks from fork to exec.
fn patiently<T>(work: impl Fn() -> T, is_busy: impl Fn(&T) -> bool) -> T {
    for _ in 0..1000 {
        let result = work();
        if !is_busy(&result) {
            return result;
        }
        sleep(Duration::from_millis(5));
    }
    unreachable!("the locks stay")
}

fn list(folder: &Path, all: &mut Vec<(PathBuf, String, u32, u32)>) {
    for entry in fs::read_dir(folder).expect("it works").flatten() {
        let (path, about) = (entry.path(), entry.metadata().expect("it works"));
        let text = match about.file_type() {
            kind if kind.is_symlink() => format!("{:?}", fs::read_link(&path).expect("it works")),
            kind if kind.is_dir() => String::new(),
            _ => format!("{:?}", fs::read(&path).expect("it works")),
        };
        all.push((path.clone(), text, about.mode(), about.uid()));
        if about.is_dir() {
            list(&path, all);
        }
    }
}

fn is_restored(undone: &[Undone]) -> bool {
    let restored = |one: &Undone| matches!(one.fate, Fate::Restored { .. });
    !undone.is_empty() && undone.iter().all(restored)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it works");
}

#[test]
fn files_and_folders_come_and_go() {
    let room = Room::new();
    let old = room.path("interfaces");
    fs::write(&old, [0, 255, 13, 10, 9]).unwrap();
    set_mode(&old, 0o640);
    // Without root it stays one's own.
    let _ = chown(&old, Some(1234), Some(4321));
    let before = room.tree();
    let new = room.write("systemd/network/10-a.link", "[Link]\n");
    let id = room
        .apply(&[room.write("interfaces", "new"), new.clone()])
        .unwrap();
    assert_eq!(fs::read(&old).unwrap(), b"new");
    let (about, owner) = (fs::metadata(&old).unwrap(), &before[0]);
    assert_eq!((about.mode(), about.uid()), (owner.2, owner.3));
    assert_eq!(fs::read(&new.path).unwrap(), b"[Link]\n");
    assert_eq!(fs::metadata(&new.path).unwrap().mode() & 0o7777, 0o600);
    let folder = fs::metadata(room.path("systemd/network")).unwrap();
    assert_eq!(folder.mode() & 0o7777, 0o755);
    assert_eq!(room.store.read(&id).unwrap().state, State::Kept);
    let undone = room.undo();
    let Fate::Restored { changes, .. } = &undone[0].fate else {
        panic!("{undone:?}")
    };
    assert!(changes[0].starts_with("changed ") && changes[1].starts_with("made "));
    assert_eq!(room.tree(), before);
    assert!(room.store.list().unwrap().is_empty());
}

#[test]
fn a_folder_with_something_of_somebodys_stays() {
    let room = Room::new();
    room.apply(&[room.write("netplan/90-a.yaml", "a")]).unwrap();
    room.put("netplan/mine.yaml", "mine");
    assert!(is_restored(&room.undo()));
    assert!(!room.path("netplan/90-a.yaml").exists());
    assert!(room.path("netplan/mine.yaml").exists());
}

#[test]
fn a_file_that_is_not_as_it_was_planned_is_left_alone() {
    let room = Room::new();
    room.put("a", "old");
    room.put("b", "old");
    let writes = [room.write("a", "new"), room.write("b", "new")];
    room.put("b", "edited meanwhile");
    let before = room.tree();
    let error = room.apply(&writes).unwrap_err().to_string();
    assert!(
        error.contains("/etc/b") && error.contains("run it again"),
        "{error}"
    );
    assert_eq!(room.tree(), before);
    let twice = [room.write("a", "new"), room.write("a", "newer")];
    let error = room.apply(&twice).unwrap_err().to_string();
    assert!(error.contains("twice"), "{error}");
    assert!(room.store.list().unwrap().is_empty());
}

#[test]
fn all_or_none_are_written() {
    let room = Room::new();
    room.put("a", "old");
    fs::create_dir_all(room.path("d/.c.coalescope-new")).unwrap();
    let before = room.tree();
    // The third cannot be written: a folder is in the way of what is renamed.
    let writes = ["a", "n/b", "d/c"].map(|name| room.write(name, "new"));
    let error = room.apply(&writes).unwrap_err().to_string();
    assert!(
        error.contains("cannot write") && error.contains("d/c"),
        "{error}"
    );
    assert_eq!(room.tree(), before);
    assert!(room.store.list().unwrap().is_empty());
}

#[test]
fn a_start_of_the_machine_resets_no_file() {
    let room = Room::new();
    room.put("a", "old");
    let before = room.tree();
    let id = room.apply(&[room.write("a", "new")]).unwrap();
    let mut journal = room.store.read(&id).unwrap();
    journal.boot_id = "00000000-0000-0000-0000-000000000000".to_owned();
    // That has been reset, and cannot be looked at any more.
    journal.wanted = vec!["ns/coalescope-test-nowhere/eth0:gro=off".parse().unwrap()];
    journal.sysctls = vec![coalescope_change::journal::SysctlEntry {
        namespace: coalescope_change::settings::NamespaceId {
            name: Some("coalescope-test-nowhere".to_owned()),
            inode: 7,
            cookie: None,
        },
        key: "net/ipv4/tcp_reordering".to_owned(),
        device: None,
        held: coalescope_change::journal::Held {
            was: "3".to_owned(),
            set: vec!["127".to_owned()],
            is_open: false,
        },
    }];
    room.store.write(&journal).unwrap();
    let undone = room.undo();
    assert!(is_restored(&undone), "{undone:?}");
    assert_eq!(room.tree(), before);
}

#[test]
fn what_somebody_has_changed_since_is_not_overwritten() {
    let room = Room::new();
    for (name, text) in [("it's a file", "old"), ("b", "old"), ("gone", "old")] {
        room.put(name, text);
    }
    let names = ["it's a file", "b", "gone", "made"];
    let before = room.tree();
    let id = room
        .apply(&names.map(|name| room.write(name, "new")))
        .unwrap();
    room.put("it's a file", "new, and edited");
    room.put("made", "new, and edited");
    fs::remove_file(room.path("gone")).unwrap();
    let undone = room.undo();
    assert_eq!(restore::exit_code(&undone), restore::EXIT_UNRESTORED);
    let Fate::Failed { unrestored } = &undone[0].fate else {
        panic!("{undone:?}")
    };
    assert_eq!(unrestored.len(), 3, "{unrestored:?}");
    assert_eq!(
        fs::read(room.path("it's a file")).unwrap(),
        b"new, and edited"
    );
    assert_eq!(fs::read(room.path("b")).unwrap(), b"old");
    assert_eq!(room.store.read(&id).unwrap().state, State::Failed);
    // The journal stays until it is as it was, by the commands that were named.
    assert!(!is_restored(&room.undo()));
    for left in unrestored {
        let command = left.by_hand.as_ref().unwrap();
        let status = Command::new("sh").args(["-c", command]).status().unwrap();
        assert!(status.success(), "{command}");
    }
    assert!(is_restored(&room.undo()));
    assert_eq!(room.tree(), before);
    let names = fs::read_dir(room.store.path()).unwrap().flatten();
    let mut names = names.map(|entry| entry.file_name().into_string().unwrap());
    assert!(names.all(|name| name.starts_with("lock-file-")));
}

#[test]
fn links_stay_links() {
    let room = Room::new();
    room.put("target", "old");
    symlink("target", room.path("link")).unwrap();
    symlink("nowhere", room.path("dangling")).unwrap();
    symlink("/dev/null", room.path("masked")).unwrap();
    fs::create_dir(room.path("folder")).unwrap();
    let before = room.tree();
    room.apply(&[room.write("link", "new")]).unwrap();
    assert_eq!(fs::read(room.path("target")).unwrap(), b"new");
    assert!(
        fs::symlink_metadata(room.path("link"))
            .unwrap()
            .is_symlink()
    );
    assert!(is_restored(&room.undo()));
    for (name, why) in [
        ("dangling", "cannot follow"),
        ("masked", "it leads to /dev"),
        ("folder", "not a plain file"),
        ("../etc/target", "not absolute and plain"),
    ] {
        let error = room
            .apply(&[room.write(name, "new")])
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{name}: {error}");
    }
    // One of each of two names for one file.
    let both = [room.write("link", "a"), room.write("target", "b")];
    assert!(room.apply(&both).unwrap_err().to_string().contains("twice"));
    assert_eq!(room.tree(), before);
}

#[test]
fn two_at_once_exclude_each_other() {
    let room = Room::new();
    room.put("a", "old");
    let write = room.write("a", "0");
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number: u8| {
                let (room, mut write) = (&room, write.clone());
                write.bytes = vec![b'0' + number];
                scope.spawn(move || room.apply_once(&[write]))
            })
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let done: Vec<_> = (0..8).filter(|&at| results[at].is_ok()).collect();
    assert_eq!(done.len(), 1, "{results:?}");
    let text = fs::read_to_string(room.path("a")).unwrap();
    assert_eq!(text, done[0].to_string());
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        let known = matches!(error, Error::Busy { .. } | Error::Unfinished { .. });
        assert!(
            known || error.to_string().contains("run it again"),
            "{error}"
        );
    }
    assert!(is_restored(&room.undo()));
    assert_eq!(fs::read(room.path("a")).unwrap(), b"old");
}

#[test]
fn later_ones_are_undone_first() {
    let room = Room::new();
    room.put("a", "one");
    let first = room.apply(&[room.write("a", "two")]).unwrap();
    room.apply(&[room.write("a", "three"), room.write("b", "three")])
        .unwrap();
    let undone = restore::undo_one(&room.store, &first).unwrap();
    assert!(undone.fate.is_failure());
    assert_eq!(fs::read(room.path("a")).unwrap(), b"three");
    // What failed is not in the way of the later one.
    assert!(is_restored(&room.undo()));
    assert_eq!(fs::read(room.path("a")).unwrap(), b"one");
    assert!(!room.path("b").exists());
}

/// Whatever had been done when the program was killed: the states between, made by hand.
#[test]
fn any_state_between_is_mended() {
    for written in 0..=3 {
        for half in [false, true] {
            let room = Room::new();
            room.put("a", "old");
            room.put("b", "old");
            let before = room.tree();
            let names = ["a", "b", "deep/er/c"];
            let id = room
                .apply(&names.map(|name| room.write(name, "new")))
                .unwrap();
            let mut journal = room.store.read(&id).unwrap();
            journal.state = State::Open;
            room.store.write(&journal).unwrap();
            if written < 3 {
                fs::remove_dir_all(room.path("deep")).unwrap();
            }
            for name in &names[written.min(2)..2] {
                room.put(name, "old");
            }
            if half && written < 2 {
                room.put(&format!(".{}.coalescope-new", names[written]), "ne");
            } else if half {
                fs::create_dir_all(room.path("deep/er")).unwrap();
                room.put("deep/er/.c.coalescope-new", "ne");
            }
            // What is not finished must not be taken for what was.
            let error = room.apply(&[room.write("b", "newer")]).unwrap_err();
            assert!(matches!(error, Error::Unfinished { .. }), "{error}");
            let undone = room.undo();
            assert!(is_restored(&undone), "{written} {half}: {undone:?}");
            assert_eq!(room.tree(), before, "{written} {half}");
        }
    }
}

/// The name, and what it is.
fn attributes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec![0; 4096];
    let length = rustix::fs::listxattr(path, &mut names[..]).expect("it works");
    let names = names[..length].split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty());
    let with_value = |name: &[u8]| {
        let name = String::from_utf8(name.to_vec()).expect("it works");
        let mut value = vec![0; 4096];
        let length = rustix::fs::getxattr(path, &*name, &mut value[..]).expect("it works");
        value.truncate(length);
        (name, value)
    };
    let mut all: Vec<_> = names.map(with_value).collect();
    all.sort();
    all
}

#[test]
fn owner_acl_label_and_other_attributes_stay() {
    const ACL: [u8; 44] = [
        2, 0, 0, 0, // version
        1, 0, 6, 0, 255, 255, 255, 255, // its owner
        2, 0, 4, 0, 57, 48, 0, 0, // the user 12345
        4, 0, 4, 0, 255, 255, 255, 255, // its group
        16, 0, 4, 0, 255, 255, 255, 255, // the mask
        32, 0, 0, 0, 255, 255, 255, 255, // all others
    ];
    let room = Room::new();
    let path = room.put("a", "old");
    let _ = chown(&path, Some(1234), Some(4321));
    for (name, value) in [
        ("user.origin", &b"the admin"[..]),
        ("system.posix_acl_access", &ACL),
        ("security.selinux", b"system_u:object_r:net_conf_t:s0\0"),
    ] {
        let set = rustix::fs::setxattr(&path, name, value, rustix::fs::XattrFlags::empty());
        let set = set.map_err(|error| format!("{name}: {error}"));
        coalescope_needs::had("extended attributes of changed files", set);
    }
    let (tree, all) = (room.tree(), attributes(&path));
    room.apply(&[room.write("a", "new")]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!((room.tree()[0].2, room.tree()[0].3), (tree[0].2, tree[0].3));
    assert_eq!(attributes(&path), all);
    assert!(is_restored(&room.undo()));
    assert_eq!(room.tree(), tree);
    assert_eq!(attributes(&path), all);
}

#[test]
fn what_somebody_has_done_to_its_rights_since_stays() {
    let room = Room::new();
    let path = room.put("a", "old");
    set_mode(&path, 0o640);
    room.apply(&[room.write("a", "new")]).unwrap();
    set_mode(&path, 0o600);
    let _ = chown(&path, Some(1234), None);
    let about = fs::metadata(&path).unwrap();
    assert!(is_restored(&room.undo()));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let now = fs::metadata(&path).unwrap();
    assert_eq!((now.mode() & 0o7777, now.uid()), (0o600, about.uid()));
}

#[test]
fn a_folder_above_that_others_write_to_is_refused() {
    let room = Room::new();
    fs::create_dir_all(room.path("open/own")).unwrap();
    set_mode(&room.path("open"), 0o777);
    for name in ["open/a", "open/own/a", "open/own/new/a"] {
        let error = room
            .apply(&[room.write(name, "x")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("others can write to"), "{error}");
    }
    assert!(!room.path("open/own/new").exists());
    set_mode(&room.path("open"), 0o1777);
    room.apply(&[room.write("open/own/a", "x")]).unwrap();
}

#[test]
fn damage_of_what_was_is_found() {
    let room = Room::new();
    room.put("a", "old");
    let id = room.apply(&[room.write("a", "new")]).unwrap();
    let file = room.store.file(&id);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"b2xk\""), "{text}");
    fs::write(&file, text.replace("b2xk", "b2xr")).unwrap();
    let undone = room.undo();
    assert!(
        matches!(undone[0].fate, Fate::Unusable { .. }),
        "{undone:?}"
    );
    assert_eq!(fs::read(room.path("a")).unwrap(), b"new");
}

const VICTIM: &str = "COALESCOPE_TEST_FILES_VICTIM";
const NAMES: [&str; 4] = ["a", "b", "deep/er/c", "deep/d"];

/// What is killed: this executable, run again for this test alone.
#[test]
fn victim() {
    let Some(folder) = env::var_os(VICTIM) else {
        return;
    };
    let store = Store::at(&Path::new(&folder).join("state")).unwrap();
    let write = |name| {
        let path = Path::new(&folder).join("etc").join(name);
        FileWrite {
            before: fs::read(&path).ok(),
            path,
            bytes: vec![b'n'; 5000],
            mode_if_new: 0o644,
        }
    };
    println!("\nready");
    loop {
        apply_files(&store, vec!["victim".to_owned()], &NAMES.map(write)).unwrap();
        assert!(is_restored(&restore::undo(&store).unwrap()));
    }
}

#[test]
fn whenever_it_is_killed_undo_mends() {
    let mut random = Pcg64Mcg::new(7);
    let mut begun = 0;
    for round in 0..60 {
        let room = Room::new();
        room.put("a", "old a");
        room.put("b", "old b");
        let before = room.tree();
        kill_a_victim(
            room.folder.path(),
            Duration::from_micros(random.next_u64() % 20_000),
        );
        begun += usize::from(!room.store.list().unwrap().is_empty());
        let undone = room.undo();
        assert_eq!(restore::exit_code(&undone), 0, "round {round}: {undone:?}");
        assert_eq!(room.tree(), before, "round {round}: {undone:?}");
        assert!(room.store.list().unwrap().is_empty());
    }
    assert!(begun > 0, "the instants are not those of changes");
}

fn kill_a_victim(folder: &Path, after: Duration) {
    let mut command = Command::new(env::current_exe().expect("it works"));
    command.args(["--exact", "files::victim", "--nocapture"]);
    command.env(VICTIM, folder).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().expect("it works");
    let mut lines = BufReader::new(child.stdout.take().expect("it works")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line == "ready")));
    sleep(after);
    child.kill().expect("it works");
    child.wait().expect("it works");
}
