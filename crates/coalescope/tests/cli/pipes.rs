//! Pipes, signals and terminals.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::common::{Captures, simulated};

fn coalescope() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    command
}

/// Starts `trace -` and feeds it half a capture. It is longer than a pipe holds, so that the
/// command listens to signals when this comes back.
fn fed_with_half() -> Child {
    let mut child = coalescope()
        .args(["trace", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let capture = simulated("hyperv-rsc-jumbo");
    let bytes = &capture.point("CAP-02").unwrap().bytes;
    let half = &bytes[..bytes.len() / 2];
    child.stdin.as_mut().unwrap().write_all(half).unwrap();
    child
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn ctrl_c_ends_reading_and_reports() {
    let mut child = fed_with_half();
    let stdin = child.stdin.take();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{:?}",
        output.status
    );
    assert!(report.contains("stdin: "), "{report}");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("interrupted")
    );
}

#[test]
fn what_the_writer_still_says_after_ctrl_c_is_read() {
    let mut child = fed_with_half();
    interrupt(&child);
    // Like tcpdump, which ends too and closes the pipe.
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("stdin: "), "{report}");
}

#[test]
fn a_second_ctrl_c_kills() {
    let mut child = fed_with_half();
    let stdin = child.stdin.take();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) && child.try_wait().unwrap().is_none() {
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    for arguments in [
        &["trace", "--format", "json", "CAP-02.pcap"][..],
        &["demo", "list"],
    ] {
        let mut child = coalescope()
            .args(arguments)
            .current_dir(captures.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn demo_survives_a_closed_standard_error() {
    let mut child = coalescope()
        .args(["demo", "hyperv-rsc-jumbo"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// What a demo prints on a terminal of so many columns; 0 are those of one that does not say.
fn on_a_terminal(no_color: Option<&str>, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal: OwnedFd = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).unwrap();
    let mut command = coalescope();
    command.env_remove("COLUMNS");
    if let Some(value) = no_color {
        command.env("NO_COLOR", value);
    }
    let mut child = command
        .args(["demo", "hyperv-rsc-jumbo"])
        .stdout(terminal)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(command);
    let mut seen = Vec::new();
    // Its other end is closed: that is how reading from a terminal ends here.
    let _ = File::from(master).read_to_end(&mut seen);
    child.wait().unwrap();
    String::from_utf8(seen).unwrap()
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    assert!(on_a_terminal(None, 0).contains("\u{1b}[31m"));
    assert!(!on_a_terminal(Some("1"), 0).contains('\u{1b}'));
}

#[test]
fn text_is_as_wide_as_the_terminal() {
    let widest = |columns| {
        let said = on_a_terminal(Some("1"), columns);
        said.lines()
            .map(|line| line.trim_end().chars().count())
            .max()
    };
    assert!((90..=100).contains(&widest(0).unwrap()), "it does not say");
    assert!((60..=72).contains(&widest(72).unwrap()));
    assert!((110..=140).contains(&widest(140).unwrap()));
    assert!(
        widest(40) <= Some(60),
        "narrower than that is not supported"
    );
}
