//! What belongs to a file stays its own when it is replaced, and nobody else chooses what is written over.

#![cfg(target_os = "linux")]

use coalescope_files::{
    Replacement, Rights, attributes, check, check_folders, existing, private, real, replace,
};
use coalescope_needs as needs;
use needs::calls::{self, Call};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;
use tempfile::TempDir;

/// A user that is not the one of the tests.
const OTHER: u32 = 4321;

fn folder() -> TempDir {
    tempfile::tempdir().expect("it works")
}

fn write(path: &Path, rights: Rights, text: &str) -> io::Result<()> {
    replace(&Replacement::of(path, rights), |file| {
        file.write_all(text.as_bytes())
    })
    .map(drop)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it works");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it works").mode() & 0o7777
}

fn names(folder: &Path) -> usize {
    fs::read_dir(folder).expect("it works").count()
}

fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1024];
    let length = getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

/// An ACL as the kernel takes one: version 2, then tag, permissions and number of each entry.
fn acl(user: u32) -> Vec<u8> {
    let none = u32::MAX;
    let entries = [
        (1_u16, 6_u16, none),
        (2, 4, user),
        (4, 4, none),
        (16, 4, none),
        (32, 0, none),
    ];
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, number) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

/// Whether the machine lets a test set one.
fn has(test: &str, path: &Path, name: &str, value: &[u8]) -> bool {
    let set = setxattr(path, name, value, XattrFlags::empty());
    needs::had(test, set.map_err(|error| format!("{name}: {error}"))).is_some()
}

#[test]
fn a_new_file_has_the_rights_that_were_asked_for() {
    let folder = folder();
    let path = folder.path().join("new");
    write(&path, Rights::Exactly(0o640), "text").unwrap();
    assert_eq!(
        (mode(&path), fs::read(&path).unwrap()),
        (0o640, b"text".to_vec())
    );
    assert_eq!(names(folder.path()), 1);
}

#[test]
fn owner_and_permissions_stay() {
    let folder = folder();
    let path = folder.path().join("old");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o600);
    write(&path, Rights::Exactly(0o644), "new").unwrap();
    assert_eq!(
        (mode(&path), fs::read(&path).unwrap()),
        (0o600, b"new".to_vec())
    );
    if needs::had(
        "owners of replaced files",
        chown(&path, Some(OTHER), Some(OTHER)),
    )
    .is_none()
    {
        return;
    }
    set_mode(&path, 0o4750);
    write(&path, Rights::Usual, "newer").unwrap();
    let about = fs::metadata(&path).unwrap();
    assert_eq!(
        (about.uid(), about.gid(), mode(&path)),
        (OTHER, OTHER, 0o4750)
    );
}

#[test]
fn attributes_stay() {
    let folder = folder();
    let path = folder.path().join("old");
    fs::write(&path, "old").unwrap();
    let label = b"system_u:object_r:net_conf_t:s0\0";
    let all = [
        ("user.comment", b"mine".to_vec()),
        ("user.empty", Vec::new()),
        ("system.posix_acl_access", acl(OTHER)),
        ("security.selinux", label.to_vec()),
        ("trusted.note", b"root's".to_vec()),
    ];
    let set =
        |(name, value): &&(&str, Vec<u8>)| has("attributes of replaced files", &path, name, value);
    let all: Vec<_> = all.iter().filter(set).collect();
    let before = mode(&path);
    write(&path, Rights::Usual, "new").unwrap();
    for (name, value) in &all {
        assert_eq!(attribute(&path, name).as_ref(), Some(value), "{name}");
    }
    assert_eq!(mode(&path), before);
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

/// Those of the system's, and what happens to them where the right to set them was given up.
#[test]
fn what_this_user_may_not_set_is_an_error_or_named() {
    let folder = folder();
    let path = folder.path().join("old");
    fs::write(&path, "old").unwrap();
    for name in ["user.note", "trusted.note", "security.note"] {
        if !has("attributes that may be lost", &path, name, b"kept") {
            return;
        }
    }
    let seen = attributes(&path).unwrap();
    let without_rights = thread::spawn(move || {
        let held = capabilities(None).unwrap().permitted;
        let fewer = CapabilitySets {
            effective: held - CapabilitySet::SYS_ADMIN,
            permitted: held - CapabilitySet::SYS_ADMIN,
            inheritable: CapabilitySet::empty(),
        };
        set_capabilities(None, fewer).unwrap();
        let error = write(&path, Rights::Usual, "new").unwrap_err().to_string();
        assert!(error.contains("security.note cannot be kept"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let shown = Replacement {
            may_lose: true,
            ..Replacement::of(&path, Rights::Usual)
        };
        let lost = replace(&shown, |file| file.write_all(b"new")).unwrap();
        assert_eq!(lost, ["security.note"]);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(attribute(&path, "user.note").unwrap(), b"kept");
        attributes(&path).unwrap()
    });
    // Without that right it cannot even be seen that there was another one.
    let left = without_rights.join().unwrap();
    let lost: Vec<_> = seen.difference(&left).collect();
    assert_eq!(lost, ["security.note", "trusted.note"]);
}

/// Where the kernel, or a container's filter, has no `openat2`.
const OTHER_WAYS: [&str; 2] = ["openat2:error=ENOSYS", "openat2:error=EPERM"];

/// All of the tests here, run again and looked at.
fn again(inject: Option<&str>) -> io::Result<Vec<Call>> {
    let mut tests = Command::new(std::env::current_exe()?);
    tests.args([
        "--test-threads=1",
        "--skip",
        "the_kernel",
        "--skip",
        "umask",
    ]);
    let names = "rename,renameat,renameat2,fsync,fdatasync,openat2";
    let traced = calls::of(&mut tests, names, inject)?;
    assert!(traced.has_succeeded, "{inject:?}: {}", traced.said);
    Ok(traced.calls)
}

#[test]
fn the_kernel_keeps_paths_in_their_folders_and_each_renaming_is_synced() {
    if !needs::programs("each renaming is synced", &["strace"]) {
        return;
    }
    let Some(calls) = needs::had("each renaming is synced", again(None)) else {
        return;
    };
    let (not_synced, renamings) = calls::not_synced(&calls);
    assert!(
        not_synced.is_empty() && renamings >= 5,
        "{renamings}: {not_synced:?}"
    );
    let opened = calls.iter().filter(|call| call.name == "openat2");
    let inside = "RESOLVE_NO_SYMLINKS|RESOLVE_BENEATH";
    let kept = opened.filter(|call| call.has_succeeded && call.arguments.contains(inside));
    if kept.count() < 100 {
        needs::skipped("paths are kept in their folders", "Linux 5.6");
    }
}

#[test]
fn without_the_kernels_help_all_is_the_same() {
    if !needs::programs("without openat2", &["strace"]) {
        return;
    }
    for way in OTHER_WAYS {
        let Some(calls) = needs::had("without openat2", again(Some(way))) else {
            return;
        };
        let (not_synced, renamings) = calls::not_synced(&calls);
        assert!(
            not_synced.is_empty() && renamings >= 5,
            "{renamings}: {not_synced:?}"
        );
        // Asked once, by the process; nothing is opened by it.
        let opened: Vec<_> = calls.iter().filter(|call| call.name == "openat2").collect();
        assert!(opened.len() == 1 && !opened[0].has_succeeded, "{opened:?}");
    }
}

#[test]
fn what_the_folder_gives_to_new_files_does_not_let_others_in() {
    let folder = folder();
    let path = folder.path().join("old");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o640);
    if !has(
        "a default ACL",
        folder.path(),
        "system.posix_acl_default",
        &acl(OTHER),
    ) {
        return;
    }
    write(&path, Rights::Usual, "new").unwrap();
    assert_eq!(attribute(&path, "system.posix_acl_access"), None);
    assert_eq!(mode(&path), 0o640);
}

#[test]
fn a_failure_leaves_all_as_it_was() {
    let folder = folder();
    let path = folder.path().join("old");
    fs::write(&path, "old").unwrap();
    let failed = replace(&Replacement::of(&path, Rights::Usual), |file| {
        file.write_all(b"half")?;
        Err(io::Error::other("no more space"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no more space");
    assert_eq!(
        (fs::read(&path).unwrap(), names(folder.path())),
        (b"old".to_vec(), 1)
    );
    let nowhere = folder.path().join("no/where");
    assert_eq!(check(&nowhere).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(
        check(folder.path())
            .unwrap_err()
            .to_string()
            .contains("not a plain file")
    );
    check(&path).unwrap();
    assert_eq!(names(folder.path()), 1);
}

#[test]
fn ones_own_link_stays_one() {
    let folder = folder();
    let (link, target) = (
        folder.path().join("link"),
        folder.path().join("deep/target"),
    );
    fs::create_dir(folder.path().join("deep")).unwrap();
    symlink(
        "elsewhere/../deep/../nothing",
        folder.path().join("nowhere"),
    )
    .unwrap();
    symlink("./deep/../deep/target", &link).unwrap();
    for text in ["new", "newer"] {
        write(&link, Rights::Usual, text).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), text);
    }
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(real(&link).unwrap(), target.canonicalize().unwrap());
    assert!(write(&folder.path().join("nowhere"), Rights::Usual, "x").is_err());
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(write(&folder.path().join("loop"), Rights::Usual, "x").is_err());
}

#[test]
fn nobody_elses_link_is_followed() {
    let folder = folder();
    let target = folder.path().join("precious");
    fs::write(&target, "precious").unwrap();
    let (link, inner) = (folder.path().join("link"), folder.path().join("inner"));
    symlink(&target, &link).unwrap();
    symlink(folder.path(), &inner).unwrap();
    let own = lchown(&link, Some(OTHER), None).and_then(|()| lchown(&inner, Some(OTHER), None));
    if needs::had("links of other users", own).is_none() {
        return;
    }
    for path in [link, inner.join("precious"), inner.join("new")] {
        let error = write(&path, Rights::Usual, "x").unwrap_err().to_string();
        assert!(error.contains("is a link of the user 4321"), "{error}");
        assert!(real(&path).is_err());
    }
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(names(folder.path()), 3);
}

#[test]
fn a_file_that_somebody_has_put_into_an_open_folder_is_not_written_over() {
    let folder = folder();
    let path = folder.path().join("theirs");
    fs::write(&path, "theirs").unwrap();
    set_mode(folder.path(), 0o1777);
    if needs::had("files of other users", chown(&path, Some(OTHER), None)).is_none() {
        return;
    }
    let error = write(&path, Rights::Usual, "x").unwrap_err().to_string();
    assert!(
        error.contains("is of the user 4321, in a folder that others can write to"),
        "{error}"
    );
    set_mode(folder.path(), 0o755);
    write(&path, Rights::Usual, "x").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().uid(), OTHER);
}

#[test]
fn a_planted_file_beside_is_replaced_and_never_written_through() {
    let folder = folder();
    let (path, target) = (folder.path().join("file"), folder.path().join("precious"));
    fs::write(&target, "precious").unwrap();
    symlink(&target, folder.path().join("file.new")).unwrap();
    let replacement = Replacement {
        beside: Some("file.new".as_ref()),
        ..Replacement::of(&path, Rights::Exactly(0o600))
    };
    replace(&replacement, |file| file.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"precious");
    assert_eq!(
        (fs::read(&path).unwrap(), names(folder.path())),
        (b"new".to_vec(), 2)
    );
}

#[test]
fn a_private_folder_is_made_with_all_above_it() {
    let folder = folder();
    let path = folder.path().join("a/b/c");
    assert_eq!(private(&path).unwrap(), path.canonicalize().unwrap());
    for path in path.ancestors().take(3) {
        assert_eq!(mode(path), 0o700);
    }
    assert_eq!(private(&path).unwrap(), existing(&path).unwrap());
    assert!(existing(&path.join("d")).is_err());
    fs::write(path.join("file"), "").unwrap();
    assert!(
        private(&path.join("file"))
            .unwrap_err()
            .to_string()
            .contains("not a folder")
    );
}

#[test]
fn a_folder_that_others_can_write_to_or_replace_is_none() {
    let folder = folder();
    let path = folder.path().join("above/own");
    private(&path).unwrap();
    set_mode(&path, 0o770);
    let error = private(&path).unwrap_err().to_string();
    assert!(
        error.contains("others can write to it") && error.contains("chmod 700"),
        "{error}"
    );
    set_mode(&path, 0o755);
    existing(&path).unwrap();
    let above = path.parent().unwrap();
    set_mode(above, 0o777);
    let error = private(&path).unwrap_err().to_string();
    assert!(
        error.contains("others can write to") && error.contains("above"),
        "{error}"
    );
    assert!(check_folders(&path.join("file")).is_err());
    // As /tmp is: what is one's own stays where it is.
    set_mode(above, 0o1777);
    private(&path).unwrap();
    set_mode(above, 0o755);
    if needs::had("folders of other users", chown(above, Some(OTHER), None)).is_none() {
        return;
    }
    let error = private(&path).unwrap_err().to_string();
    assert!(error.contains("belongs to the user 4321"), "{error}");
    assert!(check_folders(&path.join("file")).is_err());
}
