//! `--report FILE.html`: what is written, when nothing is, and that what is printed stays as it was.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use coalescope_capture::provenance::digest;

use crate::common::{Captures, coalescope, stderr, stdout};

const STORY: &str = "hyperv-rsc-jumbo";
const POINTS: [&str; 3] = ["CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"];

fn page(captures: &Captures, name: &str) -> String {
    fs::read_to_string(captures.path().join(name)).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn what_is_printed_stays_as_it_was() {
    let captures = Captures::of(STORY);
    let plain = captures.trace(&POINTS);
    let with = captures.trace(&[POINTS[0], POINTS[1], POINTS[2], "--report", "p.html"]);
    assert_eq!(stdout(&with), stdout(&plain));
    assert_eq!(stderr(&with), stderr(&plain));
    assert_eq!(with.status.code(), Some(1));
    let page = page(&captures, "p.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("merged frames are lost here"));
    let expected = [&POINTS[..], &["p.html"]].concat();
    assert_eq!(names(captures.path()), expected);
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_work() {
    let captures = Captures::of(STORY);
    fs::create_dir(captures.path().join("folder.html")).unwrap();
    for (file, complaint) in [
        ("CAP-02.pcap", "name a file that ends in .html"),
        ("nowhere/page.html", "cannot write nowhere/page.html"),
        ("folder.html", "there is something that is not a file"),
    ] {
        let before = captures.path().join("CAP-02.pcap");
        let bytes = fs::read(&before).unwrap();
        // There is no such capture either: the page is looked at first.
        let output = captures.trace(&["no-such.pcap", "--report", file]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(complaint), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        assert_eq!(fs::read(&before).unwrap(), bytes);
    }
}

#[test]
fn a_page_that_was_there_stays_if_the_work_fails() {
    let captures = Captures::of(STORY);
    captures.write("old.html", b"old");
    let output = captures.trace(&["no-such.pcap", "--report", "old.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(page(&captures, "old.html"), "old");
    let output = captures.trace(&["VM-01.pcap", "--report", "old.html"]);
    assert!(output.status.code() < Some(2), "{}", stderr(&output));
    assert!(page(&captures, "old.html").starts_with("<!DOCTYPE html>"));
    let expected = [&POINTS[..], &["old.html"]].concat();
    assert_eq!(names(captures.path()), expected);
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_others_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let captures = Captures::of(STORY);
    captures.write("real.html", b"old");
    let link = captures.path().join("link.html");
    std::os::unix::fs::symlink("real.html", &link).unwrap();
    captures.trace(&["VM-01.pcap", "--report", "link.html"]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(page(&captures, "real.html").starts_with("<!DOCTYPE html>"));
    let mode = fs::metadata(&link).unwrap().permissions().mode();
    // As the umask of whoever runs this allows, and no less.
    let usual = captures.write("usual", b"");
    let usual = fs::metadata(usual).unwrap().permissions().mode();
    assert_eq!(mode, usual);
}

#[cfg(unix)]
#[test]
fn a_page_that_was_there_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt;
    let captures = Captures::of(STORY);
    let old = captures.write("old.html", b"old");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    captures.trace(&["VM-01.pcap", "--report", "old.html"]);
    assert!(page(&captures, "old.html").starts_with("<!DOCTYPE html>"));
    let mode = fs::metadata(&old).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
}

/// As `cp -a` does: the page is there, and what could not be kept is named.
#[cfg(target_os = "linux")]
#[test]
fn what_only_all_of_root_may_set_is_named_and_no_error() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let captures = Captures::of(STORY);
    let old = captures.write("old.html", b"old");
    for name in ["user.note", "trusted.note", "security.note"] {
        let set = setxattr(&old, name, b"kept", XattrFlags::empty());
        if coalescope_needs::had("what only root may set", set).is_none() {
            return;
        }
    }
    let output = captures.trace(&["VM-01.pcap", "--report", "old.html"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("warning: old.html has no security.note, trusted.note any more"),
        "{said}"
    );
    assert!(page(&captures, "old.html").starts_with("<!DOCTYPE html>"));
    let mut value = [0; 4];
    assert_eq!(getxattr(&old, "user.note", &mut value), Ok(4));
}

/// In a folder that is as /tmp is, another user has put a link, or a file, where the page is to be.
#[cfg(target_os = "linux")]
#[test]
fn what_another_user_has_planted_is_neither_followed_nor_written_over() {
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    const NOBODY: Option<u32> = Some(65_534);
    let captures = Captures::of(STORY);
    let precious = captures.write("precious", b"precious");
    let shared = captures.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    symlink(&precious, shared.join("link.html")).unwrap();
    symlink(captures.path(), shared.join("folder")).unwrap();
    fs::write(shared.join("file.html"), "theirs").unwrap();
    let planted = lchown(shared.join("link.html"), NOBODY, None)
        .and_then(|()| lchown(shared.join("folder"), NOBODY, None))
        .and_then(|()| chown(shared.join("file.html"), NOBODY, None));
    if coalescope_needs::had("what another user has planted", planted).is_none() {
        return;
    }
    for (path, why) in [
        ("shared/link.html", "is a link of the user 65534"),
        ("shared/folder/new.html", "is a link of the user 65534"),
        ("shared/file.html", "is of the user 65534"),
    ] {
        let output = captures.trace(&["VM-01.pcap", "--report", path]);
        let said = stderr(&output);
        assert_eq!(
            (output.status.code(), said.contains(why)),
            (Some(2), true),
            "{said}"
        );
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(fs::read(shared.join("file.html")).unwrap(), b"theirs");
    assert!(!captures.path().join("new.html").exists());
}

/// The command, the program, when, and the files as they lie on the disk; a stream has no hash.
#[test]
fn a_page_says_what_it_was_made_from() {
    let captures = Captures::of(STORY);
    captures.trace(&["A=CAP-02.pcap", "VM-01.pcap", "--report", "p.html"]);
    let page = page(&captures, "p.html");
    let made = page.split("<section id=\"made\"").nth(1).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        made.contains("<code>coalescope trace A=CAP-02.pcap VM-01.pcap --report p.html</code>")
    );
    assert!(made.contains(&format!("<dd>coalescope {version}</dd>")));
    for name in ["CAP-02.pcap", "VM-01.pcap"] {
        let mut file = fs::File::open(captures.path().join(name)).unwrap();
        let digest = digest(&mut file, &AtomicBool::new(false)).unwrap();
        let (size, sha256) = digest.unwrap();
        let after = made.split(&format!("<code>{name}</code>")).nth(1).unwrap();
        let after = after.split("</article>").next().unwrap();
        assert!(after.contains(&sha256), "{name}");
        assert!(after.contains(&size.to_string()[..1]), "{name}");
        assert!(
            after.contains(" UTC to ") && after.contains("snap length"),
            "{name}"
        );
    }
}

/// No more than that fits into mail: story A's page, which `demo` makes.
#[test]
fn the_page_of_the_demo_is_small_and_fetches_nothing() {
    let captures = Captures::of("openstack-gro");
    let mut names = names(captures.path());
    names.extend(["--report", "p.html"].map(str::to_owned));
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    captures.trace(&arguments);
    let page = page(&captures, "p.html");
    assert!(page.len() <= 1_000_000, "{}", page.len());
    assert!(page.contains("id=\"story-drawing\""));
    // A mark that cuts a picture to its frame is in the page itself.
    let page = page.replace("url(#", "");
    for fetches in [" src=", "url(", "@import", "<link"] {
        assert!(!page.contains(fetches), "{fetches}");
    }
}

#[test]
fn other_commands_write_pages_too() {
    let captures = Captures::of(STORY);
    captures.write("uname", b"Linux lb1 6.1.0 #1 SMP x86_64 GNU/Linux\n");
    captures.write("router.jsonl", crate::watch::RECORD.as_bytes());
    let commands: [(&[&str], &str); 5] = [
        (&["check", "--from", "uname"], "All interfaces"),
        (
            &["diagnose", "--from", "uname", "CAP-02.pcap", "VM-01.pcap"],
            "The path",
        ),
        (
            &["replay", "CAP-01.pcap", "--profile", "linux-gro"],
            "What became of the frames",
        ),
        (
            &["lab", "run", "slow-server", "--simulated"],
            "Published beside measured",
        ),
        (&["watch", "--replay", "router.jsonl"], "36 dropped (100%)"),
    ];
    for (arguments, heading) in commands {
        let mut command = coalescope();
        command.current_dir(captures.path()).args(arguments);
        let output = command.args(["--report", "other.html"]).output().unwrap();
        assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
        let page = page(&captures, "other.html");
        assert!(page.contains(heading), "{arguments:?}");
    }
}
