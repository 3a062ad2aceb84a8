use std::env;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::tcgetattr;

const CHILD: &str = "COALESCOPE_PANICS_ON_A_TERMINAL";

/// What ends the table otherwise is tried from outside (tests/cli/terminal.rs); no input makes it panic.
#[test]
fn a_panic_gives_the_terminal_back() {
    if env::var_os(CHILD).is_some() {
        let _terminal = ratatui::try_init().unwrap();
        panic!("on purpose");
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave: OwnedFd = open(name, flags, Mode::empty()).unwrap();
    let before = tcgetattr(&slave).unwrap();
    let end = || slave.try_clone().unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--nocapture", "a_panic_gives_the_terminal_back"]);
    child.env(CHILD, "1");
    child.stdin(end()).stdout(end()).stderr(end());
    assert!(!child.status().unwrap().success());
    let now = tcgetattr(&slave).unwrap();
    assert_eq!(now.local_modes, before.local_modes);
    assert_eq!(now.output_modes, before.output_modes);
    drop((child, slave));
    let mut seen = Vec::new();
    // No more writers: that is how reading from a terminal ends here.
    let _ = File::from(master).read_to_end(&mut seen);
    let seen = String::from_utf8_lossy(&seen).into_owned();
    let (_, after) = seen
        .split_once("\u{1b}[?1049l")
        .unwrap_or_else(|| panic!("{seen:?}"));
    assert!(after.contains("on purpose"), "{seen:?}");
}
