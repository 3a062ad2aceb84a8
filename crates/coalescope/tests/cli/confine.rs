//! Rights that are given up before a stranger's file is read.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coalescope_needs::{self as needs, calls};
use tempfile::TempDir;

use crate::common::{Captures, simulated, stderr};

/// The user that root becomes (`/proc/sys/kernel/overflowuid`).
const NOBODY: &str = "65534";

fn coalescope(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    command.args(arguments).current_dir(folder);
    command
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The command while it waits for more of its standard input, of which it has had the first bytes.
struct Waiting(Child);

impl Waiting {
    fn on(arguments: &[&str], folder: &Path, first: &[u8]) -> Self {
        let mut command = coalescope(arguments, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        // More than a pipe holds: written means that reading has begun.
        let more = vec![0; (1 << 17) - first.len().min(1 << 16)];
        let stdin = child.stdin.as_mut().unwrap();
        let _ = stdin.write_all(first).and_then(|()| stdin.write_all(&more));
        Self(child)
    }

    /// A line of `/proc/PID/task/TID/status` of each thread.
    fn says(&self, key: &str) -> Vec<String> {
        let tasks = format!("/proc/{}/task", self.0.id());
        let tasks = fs::read_dir(tasks).unwrap().flatten();
        let status = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
        let line = |text: String| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default().trim().to_owned()
        };
        status.map(line).collect()
    }

    /// Waits until all threads say it, or fails.
    fn must_say(&self, key: &str, expected: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        loop {
            let said = self.says(key);
            if !said.is_empty() && said.iter().all(|one| expected(one)) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{key} {said:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The beginning of a capture that goes on.
fn capture() -> Vec<u8> {
    let outcome = simulated("hyperv-rsc-jumbo");
    outcome.points[0].bytes[..1 << 16].to_vec()
}

#[test]
fn every_reader_of_strangers_files_has_no_privileges_while_it_reads() {
    let folder = TempDir::new().unwrap();
    let capture = capture();
    let text = b"# ethtool -k eth0\nFeatures for eth0:\n".to_vec();
    let readers: [(&[&str], &[u8]); 6] = [
        (&["trace", "-"], &capture),
        (&["trace", "-", "--threads", "1"], &capture),
        (&["replay", "-", "--profile", "linux-gro"], &capture),
        (&["check", "--from", "-"], &text),
        (&["diagnose", "--from", ".", "-"], &capture),
        (&["diagnose", "--from", "-"], &text),
    ];
    for (arguments, first) in readers {
        let waiting = Waiting::on(arguments, folder.path(), first);
        waiting.must_say("NoNewPrivs:", |value| value == "1");
        let has_folder = arguments.contains(&".");
        // CAP_DAC_READ_SEARCH alone, where files of a folder are still to be opened.
        let kept = if has_folder && is_root() {
            1_u64 << 2
        } else {
            0
        };
        waiting.must_say("CapEff:", |value| value == format!("{kept:016x}"));
        waiting.must_say("CapPrm:", |value| value == format!("{kept:016x}"));
        if is_root() {
            waiting.must_say("Uid:", |value| value.split('\t').all(|uid| uid == NOBODY));
            waiting.must_say("Gid:", |value| value.split('\t').all(|gid| gid == NOBODY));
            waiting.must_say("Groups:", str::is_empty);
        }
    }
}

#[test]
fn a_page_is_whoever_calls() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let arguments = ["trace", "CAP-01.pcap", "--report", "page.html"];
    let output = coalescope(&arguments, captures.path()).output().unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        stderr(&output)
    );
    let page = fs::metadata(captures.path().join("page.html")).unwrap();
    assert_eq!(page.uid(), rustix::process::geteuid().as_raw());
    let arguments = [
        "replay",
        "CAP-01.pcap",
        "--profile",
        "linux-gro",
        "--write",
        "out.pcapng",
    ];
    let output = coalescope(&arguments, captures.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let written = fs::metadata(captures.path().join("out.pcapng")).unwrap();
    assert_eq!(written.uid(), rustix::process::geteuid().as_raw());
}

/// A file given, or in a folder given, is read with the rights of whoever calls.
#[test]
fn what_only_its_owner_may_read_is_read() {
    let folder = TempDir::new().unwrap();
    let bundle = folder.path().join("host");
    fs::create_dir(&bundle).unwrap();
    let file = bundle.join("ethtool-k.txt");
    fs::write(&file, "Features for eth0:\ngeneric-receive-offload: on\n").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    fs::set_permissions(&bundle, PermissionsExt::from_mode(0o700)).unwrap();
    for given in ["host", "host/ethtool-k.txt"] {
        let output = coalescope(&["check", "--from", given], folder.path())
            .output()
            .unwrap();
        assert!(
            output.status.code() == Some(4),
            "{given}: {}",
            stderr(&output)
        );
    }
}

/// A link in a folder of strangers leads nowhere, and `-v` says what was given up.
#[test]
fn verbose_says_what_was_given_up() {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("a.txt"),
        "Features for eth0:\nrx-gro-hw: off [fixed]\n",
    )
    .unwrap();
    symlink("/etc/passwd", folder.path().join("b.txt")).unwrap();
    let output = coalescope(&["-v", "check", "--from", "."], folder.path())
        .output()
        .unwrap();
    let said = stderr(&output);
    assert!(said.contains("confined: no new privileges; no "), "{said}");
    let output = coalescope(&["check", "--from", "."], folder.path())
        .output()
        .unwrap();
    assert!(!stderr(&output).contains("confined"), "{}", stderr(&output));
}

/// A kernel that was built without Landlock, and one in which it is off (`lsm=`): files are read all the same, with
/// the other rights given up, and what is missing is said once, of all threads.
#[test]
fn without_landlock_files_are_read_all_the_same() {
    let test = "without_landlock_files_are_read";
    if !needs::programs(test, &["strace"]) {
        return;
    }
    let captures = Captures::of("hyperv-rsc-jumbo");
    let text = "Features for eth0:\ngeneric-receive-offload: on\n";
    fs::write(captures.path().join("ethtool-k.txt"), text).unwrap();
    let call = "landlock_create_ruleset";
    for error in ["ENOSYS", "EOPNOTSUPP"] {
        let inject = format!("{call}:error={error}");
        for (arguments, expected) in [
            (&["-v", "check", "--from", "ethtool-k.txt"][..], "eth0"),
            (&["-v", "trace", "CAP-01.pcap"], "CAP-01"),
            (&["-v", "trace", "CAP-01.pcap", "--threads", "2"], "CAP-01"),
        ] {
            let mut command = coalescope(arguments, captures.path());
            let traced = calls::of(&mut command, call, Some(&inject));
            let Some(traced) = needs::had(test, traced) else {
                return;
            };
            let said = traced.said;
            let missing = "confined: no new privileges; no Landlock in this kernel; ";
            assert_eq!(said.matches(missing).count(), 1, "{arguments:?}: {said}");
            assert!(said.contains("no capabilities\n"), "{arguments:?}: {said}");
            assert!(said.contains(expected), "{arguments:?}: {said}");
        }
    }
}
