//! Without rights: a clear error before anything is written or changed.

use coalescope_change::guardian::{Guard, Options, serve_if_asked};
use coalescope_change::journal::Store;
use coalescope_change::settings::{Error, Value, read};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked() {
        return code;
    }
    if geteuid().is_root() {
        // If this test were wrong, it should be wrong about a loopback interface of its own.
        unshare(CloneFlags::CLONE_NEWNET).expect("a namespace");
        become_nobody();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(&folder.path().join("state")).expect("a store");
    let options = Options::new(store.clone(), vec!["test".to_owned()]);
    reading_is_allowed();
    let mut guard = Guard::start(&options).expect("a guardian");
    for text in [
        "lo:gro=off",
        "lo:mtu=1500",
        "sysctl:net.ipv4.tcp_reordering=3",
    ] {
        let before = read(
            &text
                .split('=')
                .next()
                .unwrap_or(text)
                .parse()
                .expect("a subject"),
        );
        let setting = text.parse().expect("a setting");
        let done = guard.change(&setting);
        // What is so already takes no rights to find out.
        let harmless = match &done {
            Err(error) => matches!(error, Error::NoRights { .. }),
            Ok(change) => change.to_string().contains("already"),
        };
        assert!(harmless, "{text}: {done:?}");
        println!("{text}: {done:?}");
        let after = read(&setting.subject);
        assert_eq!(before.expect("read"), after.expect("read"));
    }
    let report = guard.finish().expect("a report");
    assert!(report.is_complete(), "{report}");
    assert!(store.list().expect("a list").is_empty());
    println!("without rights nothing is changed");
    ExitCode::SUCCESS
}

fn reading_is_allowed() {
    let is = read(&"lo:gro".parse().expect("a subject")).expect("read");
    assert!(matches!(is, Value::Switch(_)));
}

fn become_nobody() {
    let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
    setgroups(&[]).expect("no groups");
    setresgid(group, group, group).expect("another group");
    setresuid(user, user, user).expect("another user");
    // Linux gives /proc/self of a process that changed its user to root, until told otherwise.
    nix::sys::prctl::set_dumpable(true).expect("dumpable");
}
