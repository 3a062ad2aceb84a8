//! The table of `watch` on a terminal: it gives the terminal back as it was, whatever ends it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

const PATIENCE: Duration = Duration::from_secs(20);
/// Leaves the screen that is not scrolled.
const LEFT: &str = "\u{1b}[?1049l";
/// What the test itself writes when the program has ended.
const ALL_READ: &str = "all is read";
const NO_CURSOR: &str = "\u{1b}[?25l";
const CURSOR: &str = "\u{1b}[?25h";

/// A terminal with `watch` on it.
struct Terminal {
    child: Child,
    master: File,
    slave: OwnedFd,
    before: Termios,
    seen: Arc<Mutex<String>>,
}

impl Terminal {
    fn new(columns: u16, arguments: &[&str]) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave: OwnedFd = open(name, flags, Mode::empty()).unwrap();
        size(&slave, columns);
        let before = tcgetattr(&slave).unwrap();
        let mut command = Command::new(cargo_bin("coalescope"));
        command.args(["watch", "lo", "--every", "100ms"]);
        command.args(arguments);
        let end = || slave.try_clone().unwrap();
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn();
        let master = File::from(master);
        let seen = Arc::new(Mutex::new(String::new()));
        let (mut source, into) = (master.try_clone().unwrap(), Arc::clone(&seen));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
                into.lock().unwrap().push_str(&text);
            }
        });
        Self {
            child: child.unwrap(),
            master,
            slave,
            before,
            seen,
        }
    }

    fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until something was drawn.
    fn wait(&self, text: &str) {
        let begun = Instant::now();
        while !self.seen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?}: {:?}", self.seen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and says that the terminal is as it was.
    fn end(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                self.child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(20));
        };
        // A terminal gives in the order in which it takes: what stands before these words is all that was written.
        rustix::io::write(&self.slave, ALL_READ.as_bytes()).unwrap();
        self.wait(ALL_READ);
        let seen = self.seen();
        assert!(seen.contains(LEFT), "{seen:?}");
        // Nothing hides the cursor before something is drawn.
        if seen.contains(NO_CURSOR) {
            assert!(seen.contains(CURSOR), "{seen:?}");
        }
        let now = tcgetattr(&self.slave).unwrap();
        assert_eq!(now.local_modes, self.before.local_modes);
        assert_eq!(now.input_modes, self.before.input_modes);
        assert_eq!(now.output_modes, self.before.output_modes);
        (status, seen)
    }
}

fn size(terminal: &OwnedFd, columns: u16) {
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}

/// 0 and 4 alike: whether BPF is allowed is not the question here.
fn has_reported((status, seen): (ExitStatus, String)) {
    assert!(matches!(status.code(), Some(0 | 4)), "{status} {seen:?}");
    let after = seen.rsplit(LEFT).next().unwrap();
    assert!(after.contains("received"), "the report: {seen:?}");
}

#[test]
fn keys_end_it() {
    for key in ["q", "\u{3}"] {
        let mut terminal = Terminal::new(80, &[]);
        terminal.wait("q end");
        terminal.press(key);
        has_reported(terminal.end());
    }
}

#[test]
fn signals_end_it() {
    for signal in [Signal::TERM, Signal::INT] {
        let terminal = Terminal::new(80, &[]);
        terminal.wait("q end");
        terminal.signal(signal);
        has_reported(terminal.end());
    }
}

#[test]
fn it_ends_by_itself() {
    let terminal = Terminal::new(80, &["--for", "300ms"]);
    has_reported(terminal.end());
}

#[test]
fn a_narrow_terminal_and_one_that_is_resized() {
    let mut terminal = Terminal::new(40, &[]);
    terminal.wait("Enter open");
    for columns in [10, 1, 80, 200] {
        size(&terminal.slave, columns);
        terminal.signal(Signal::WINCH);
        thread::sleep(Duration::from_millis(150));
    }
    // Drawn sooner or later, since no other size follows.
    terminal.wait("PgUp, PgDn");
    terminal.press("q");
    has_reported(terminal.end());
}

#[test]
fn what_cannot_be_written_ends_it() {
    let terminal = Terminal::new(80, &["--record", "/dev/full"]);
    let (status, seen) = terminal.end();
    assert_eq!(status.code(), Some(2), "{seen:?}");
    let after = seen.rsplit(LEFT).next().unwrap();
    assert!(after.contains("/dev/full"), "{seen:?}");
}

#[test]
fn lines_on_a_terminal_if_asked_for() {
    let mut terminal = Terminal::new(80, &["--plain", "--for", "400ms"]);
    terminal.wait("received");
    terminal.child.wait().unwrap();
    assert!(!terminal.seen().contains(LEFT), "{:?}", terminal.seen());
}
