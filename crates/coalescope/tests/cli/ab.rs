//! `coalescope ab` and `undo`, on a veth pair in a namespace of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use coalescope_change::settings::{Subject, read};
use coalescope_lab::{Link, Namespace, Veth};
use coalescope_needs as needs;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{is_as_its_schema_says, stderr};

/// What is left as it was.
const KNOBS: [&str; 4] = [
    "t0:gro",
    "t0:tso",
    "t0:mtu",
    "sysctl:net.ipv4.tcp_reordering",
];
/// Who owns nothing, on every Linux.
const NOBODY: u32 = 65534;
/// Restoring takes milliseconds; a loaded machine takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// A place of its own: a veth pair `t0` and `t1`, and a folder for state.
pub(crate) struct Place {
    state: TempDir,
}

impl Place {
    /// Runs `test` in it; where no such place can be made the test is skipped.
    pub(crate) fn with(name: &str, test: impl FnOnce(&Self) + Send) {
        let Some(namespace) = needs::had(name, Namespace::new()) else {
            return;
        };
        let inside = || {
            let pair = Veth::new("t0", "t1", 1500).unwrap();
            test(&Self {
                state: TempDir::new().unwrap(),
            });
            drop(pair);
        };
        namespace.enter(inside).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
        command
            .args(arguments)
            .current_dir(self.state.path())
            .env("COALESCOPE_STATE", self.state.path())
            .env("COALESCOPE_SSH", self.state.path().join("ssh"))
            .env_remove("SSH_CONNECTION")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs `ab` with JSON on standard output.
    pub(crate) fn ab(&self, arguments: &[&str]) -> (i32, Value, String) {
        let all = [&["ab", "--format", "json", "--settle", "0"], arguments].concat();
        let output = self.run(&all);
        let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        if !report.is_null() {
            is_as_its_schema_says("ab", &report);
        }
        (output.status.code().unwrap_or(-1), report, stderr(&output))
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.process_group(0);
        let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
        quiet.spawn().unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.state.path().join(name)
    }

    /// Journals that hold something.
    pub(crate) fn journals(&self) -> usize {
        self.journal_files().len()
    }

    pub(crate) fn journal_files(&self) -> Vec<PathBuf> {
        let folders = [self.state.path(), &self.path("persistent")];
        let entries = folders.map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let files = entries.into_iter().flatten().map(|entry| entry.path());
        let is_journal = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".json") && !name.starts_with('.')
        };
        files.filter(is_journal).collect()
    }

    /// Settings are as they were, and so is the journal: soon.
    fn becomes(&self, was: &[String]) -> Result<(), String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let is = now();
            if is == was && self.journals() == 0 {
                return Ok(());
            }
            if Instant::now() > end {
                return Err(format!(
                    "{is:?} is not {was:?}, {} journals",
                    self.journals()
                ));
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// What is set now, of what the tests change.
pub(crate) fn now() -> Vec<String> {
    let subjects = KNOBS.iter().map(|knob| knob.parse::<Subject>().unwrap());
    subjects
        .map(|subject| read(&subject).unwrap().to_string())
        .collect()
}

fn kill(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn every_level_is_run_in_every_block_and_restored() {
    Place::with("every_level_is_run", |place| {
        let was = now();
        let seen = place.path("seen");
        // What each run finds set is what it was told to find.
        let line = format!(
            "cat /proc/sys/net/ipv4/tcp_reordering >> {}",
            seen.display()
        );
        let (code, report, said) = place.ab(&[
            "--factor",
            "sysctl:net.ipv4.tcp_reordering=3,100",
            "--set",
            "t0:gro=on",
            "--max-runs",
            "12",
            "--seed",
            "7",
            "--",
            &line,
        ]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(now(), was);
        assert_eq!(report["schema"], "coalescope/ab/1");
        assert_eq!(report["restored"], true);
        let runs = report["runs"].as_array().unwrap();
        let found = fs::read_to_string(&seen).unwrap();
        let told = runs.iter().map(|run| run["levels"][1].as_str().unwrap());
        assert!(told.eq(found.split_whitespace()), "{found}");
        for block in 0..report["blocks"].as_u64().unwrap() {
            let mut cells: Vec<u64> = runs
                .iter()
                .filter(|run| run["block"] == block)
                .map(|run| run["cell"].as_u64().unwrap())
                .collect();
            cells.sort_unstable();
            assert_eq!(cells, [0, 1, 2, 3]);
        }
        assert!(report["before"]["interfaces"]["t0"].is_object());
        assert_eq!(
            report["before"]["interfaces"]["t0"]["features"],
            report["after"]["interfaces"]["t0"]["features"]
        );
        let effect = &report["effects"][0];
        for field in ["factor", "metric", "ratio", "low", "high", "p_value"] {
            assert!(effect.get(field).is_some(), "{field}");
        }
    });
}

#[test]
fn commands_make_levels_and_the_first_restores() {
    Place::with("commands_make_levels", |place| {
        let line = "test $(cat level) = off || sleep 0.05";
        let (code, report, said) = place.ab(&[
            "--do",
            "on: echo on > level",
            "--do",
            "off: echo off > level",
            "--max-runs",
            "16",
            "--seed",
            "1",
            "--",
            line,
        ]);
        assert_eq!(code, 0, "{said}");
        assert_eq!(fs::read_to_string(place.path("level")).unwrap(), "on\n");
        assert_eq!(report["effects"][0]["verdict"]["is"], "different");
        assert!(
            report["verdict"]
                .as_str()
                .unwrap()
                .starts_with("With do=off it is ")
        );
        assert_eq!(place.journals(), 0);

        // Killed, it is the guardian that runs the first command, where this one was run.
        let arguments = [
            "ab",
            "--settle",
            "0",
            "--save",
            "record",
            "--do",
            "on: echo on > level",
            "--do",
            "off: echo off > level; touch off",
            "--",
            "sleep 0.05",
        ];
        let mut child = place.start(&arguments);
        let end = Instant::now() + PATIENCE;
        while !place.path("off").exists() && Instant::now() < end {
            sleep(Duration::from_millis(2));
        }
        kill(&child, Signal::KILL);
        child.wait().unwrap();
        place.becomes(&now()).unwrap();
        assert_eq!(fs::read_to_string(place.path("level")).unwrap(), "on\n");
    });
}

#[test]
fn a_vantage_from_which_it_is_slow_is_named() {
    Place::with("a_vantage", |place| {
        let ssh = place.path("ssh");
        // Stands for ssh: what comes after the host is run here, and slowly.
        fs::write(
            &ssh,
            "#!/bin/sh\nwhile [ \"$1\" != far ]; do shift; done; shift\n\
             [ \"$1\" = -- ] && shift\nFAR=0.05 exec sh -c \"$*\"\n",
        )
        .unwrap();
        fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).unwrap();
        let run = |line: &str| {
            place.ab(&[
                "--from",
                "here,ssh:far",
                "--max-runs",
                "16",
                "--seed",
                "3",
                "--metric",
                "([0-9.]+) bit",
                "--sense",
                "speed",
                "--",
                line,
            ])
        };
        let (code, report, said) = run("sleep ${FAR:-0}; echo $(( ${FAR:+1}0 + 20 )) bit/s");
        assert_eq!(code, 0, "{said}");
        let (_, slow, said) = run("if [ -n \"$FAR\" ]; then echo 1 bit/s; else echo 50 bit/s; fi");
        let verdict = slow["verdict"].as_str().unwrap_or(&said);
        assert!(
            verdict.contains("Fast from here, slow from ssh:far"),
            "{verdict}"
        );
        assert!(!report["verdict"].as_str().unwrap().contains("slow from"));
        let (_, same, _) = run("echo 50 bit/s");
        assert!(
            same["verdict"]
                .as_str()
                .unwrap()
                .contains("The same from here and ssh:far")
        );
        assert_eq!(same["restored"], true);
    });
}

#[test]
fn what_goes_wrong_is_said_and_restored_and_can_be_gone_on_with() {
    Place::with("what_goes_wrong", |place| {
        let was = now();
        let record = place.path("kept/record.json");
        fs::create_dir(place.path("kept")).unwrap();
        let save = record.to_str().unwrap();
        let line = "echo x >> count; test $(wc -l < count) != 6";
        let (code, report, _) = place.ab(&[
            "--set",
            "t0:gro=on",
            "--max-runs",
            "12",
            "--save",
            save,
            "--",
            line,
        ]);
        assert_eq!(code, 2);
        assert_eq!(now(), was);
        assert_eq!(report["ended"], "failed");
        assert_eq!(report["restored"], true);
        assert!(report["error"].as_str().unwrap().contains("exit code 1"));
        assert_eq!(report["runs"].as_array().unwrap().len(), 5);

        let output = place.run(&["ab", "--format", "json", "--resume", save]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let runs = report["runs"].as_array().unwrap();
        assert!(
            runs.iter().filter(|run| run["block"].is_null()).count() == 2,
            "a second warm-up"
        );
        assert!(report["ended"] == "spent" || report["ended"] == "clear");
        assert_eq!(now(), was);

        let hang = ["--set", "t0:gro=on", "--timeout", "0.2", "--", "sleep 60"];
        let (code, report, _) = place.ab(&hang);
        assert_eq!(code, 2);
        assert!(
            report["error"]
                .as_str()
                .unwrap()
                .contains("the time-out (0.2 s)"),
            "{}",
            report["error"]
        );
        let silent = ["--set", "t0:gro=on", "--metric", "/bps", "--", "true"];
        let (code, report, _) = place.ab(&silent);
        assert_eq!(code, 2);
        assert!(
            report["error"].as_str().unwrap().contains("/bps"),
            "{}",
            report["error"]
        );
        assert_eq!(now(), was);
        assert_eq!(place.journals(), 0);
    });
}

#[test]
fn what_cannot_be_begun_changes_nothing() {
    Place::with("what_cannot_be_begun", |place| {
        let was = now();
        let refused = |arguments: &[&str], words: &str| {
            let (code, report, said) = place.ab(arguments);
            assert_eq!(code, 2, "{said}");
            assert_eq!(report, Value::Null);
            assert!(said.contains(words), "{said}");
        };
        refused(
            &["--set", "t0:grow=on", "--", "true"],
            "t0 has no feature grow",
        );
        refused(
            &["--set", "t9:gro=on", "--", "true"],
            "there is no interface t9",
        );
        refused(
            &["--set", "t0:gro=off", "--", "true"],
            "t0:gro is off already",
        );
        refused(
            &["--set", "t0:gro", "--", "true"],
            "write it as eth0:gro=off",
        );
        refused(&["--", "true"], "nothing to compare");
        refused(&["--set", "t0:gro=on"], "nothing to run");
        refused(&["--from", "here", "--", "true"], "nothing to compare");
        refused(&["--do", "on", "--", "true"], "NAME: COMMAND");
        refused(
            &["--set", "t0:gro=on", "--max-runs", "1", "--", "true"],
            "--max-runs is 1",
        );
        refused(
            &["--set", "ns/none/t0:gro=on", "--", "true"],
            "no network namespace none",
        );
        assert_eq!(now(), was);
    });
}

#[test]
fn an_interface_that_goes_in_the_middle_is_reported() {
    Place::with("an_interface_that_goes", |place| {
        let line = "echo x >> count; test $(wc -l < count) != 4 || touch gone; sleep 0.05";
        let child = place
            .command(&[
                "ab",
                "--settle",
                "0",
                "--format",
                "json",
                "--set",
                "t0:gro=on",
                "--",
                line,
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let end = Instant::now() + PATIENCE;
        while !place.path("gone").exists() && Instant::now() < end {
            sleep(Duration::from_millis(2));
        }
        // It goes with the namespace that it is moved to.
        let elsewhere = Namespace::new().unwrap();
        Link::named("t0").unwrap().move_to(&elsewhere).unwrap();
        drop(elsewhere);
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(3), "{report}");
        assert_eq!(report["restored"], false);
        assert!(report["unrestored"][0].as_str().unwrap().contains("t0"));
        assert!(report["runs"].as_array().unwrap().len() >= 3);
        // Dealt with by hand: there is nothing to restore it to.
        let list = place.run(&["undo", "--list", "--format", "json"]);
        let list: Value = serde_json::from_slice(&list.stdout).unwrap();
        let journal = list["journals"][0]["journal"].as_str().unwrap();
        assert_eq!(place.run(&["undo"]).status.code(), Some(3));
        assert!(place.run(&["undo", "--forget", journal]).status.success());
        assert_eq!(place.journals(), 0);
    });
}

#[test]
fn what_the_users_own_session_goes_over_is_changed_only_if_that_is_meant() {
    Place::with("the_users_own_session", |place| {
        Link::named("t0").unwrap().set_up().unwrap();
        let route = coalescope_netlink::route::Route::open().unwrap();
        let index = Link::named("t0").unwrap().index();
        let own = std::net::Ipv4Addr::new(192, 0, 2, 1);
        route.add_address("t0", index, own, 24).unwrap();
        let arguments = [
            "ab",
            "--settle",
            "0",
            "--max-runs",
            "2",
            "--set",
            "t0:gro=on",
        ];
        let session = |more: &[&str], peer: &str| {
            let mut command = place.command(&[&arguments[..], more, &["--", "true"]].concat());
            command.env("SSH_CONNECTION", format!("{peer} 50022 192.0.2.1 22"));
            command.output().unwrap()
        };
        let output = session(&[], "192.0.2.7");
        assert_eq!(output.status.code(), Some(2));
        let words = "your ssh session from 192.0.2.7 goes over t0";
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        let output = session(&["--yes"], "192.0.2.7");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains(words));
        // A session over another interface is nobody's business.
        assert_eq!(session(&[], "127.0.0.1").status.code(), Some(0));
    });
}

#[test]
fn without_rights_nothing_is_changed_and_it_is_said() {
    if !needs::programs("without_rights", &["setpriv"]) {
        return;
    }
    Place::with("without_rights", |_| {
        let was = now();
        let nobody = TempDir::new().unwrap();
        let program = nobody.path().join("coalescope");
        fs::copy(assert_cmd::cargo::cargo_bin!("coalescope"), &program).unwrap();
        std::os::unix::fs::chown(nobody.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        let id = NOBODY.to_string();
        let output = Command::new("setpriv")
            .args(["--reuid", &id, "--regid", &id, "--clear-groups", "--"])
            .arg(program)
            .args(["ab", "--settle", "0", "--set", "t0:gro=on", "--", "true"])
            .env("COALESCOPE_STATE", nobody.path())
            .current_dir("/")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).starts_with("error: to change t0:gro=on takes root"),
            "{}",
            stderr(&output)
        );
        assert_eq!(now(), was);
    });
}

#[test]
fn an_interface_that_is_not_there_gets_a_suggestion() {
    Place::with("a_suggestion", |place| {
        let (code, _, said) = place.ab(&["--set", "t00:gro=off", "--", "true"]);
        assert_eq!(code, 2);
        assert!(said.contains("there is no interface t00"), "{said}");
        assert!(said.contains("did you mean t0?"), "{said}");
    });
}

/// Before anything is run: the first run elsewhere would be for nothing.
#[test]
fn a_vantage_that_is_not_there_is_noticed_before_the_first_run() {
    Place::with("a_vantage", |place| {
        let (code, _, said) = place.ab(&["--from", "here,ns/no-such", "--", "touch ran"]);
        assert_eq!(code, 2);
        let words = "error: there is no network namespace no-such";
        assert!(said.starts_with(words), "{said}");
        assert!(!place.path("ran").exists());
    });
}

#[test]
fn two_experiments_on_one_interface_exclude_each_other() {
    Place::with("two_experiments", |place| {
        let was = now();
        let started = "touch started; sleep 0.2";
        let mut first = place.start(&["ab", "--set", "t0:gro=on", "--", started]);
        let end = Instant::now() + PATIENCE;
        while !place.path("started").exists() && Instant::now() < end {
            sleep(Duration::from_millis(5));
        }
        let (code, _, said) = place.ab(&["--set", "t0:mtu=1400", "--", "true"]);
        assert_eq!(code, 2);
        assert!(said.contains("in use by another experiment"), "{said}");
        let other = [
            "--set",
            "sysctl:net.ipv4.tcp_reordering=5",
            "--max-runs",
            "2",
            "--",
            "true",
        ];
        let (code, _, said) = place.ab(&other);
        assert_eq!(code, 0, "{said}");
        kill(&first, Signal::TERM);
        assert_eq!(
            first.wait().unwrap().code(),
            Some(0),
            "told to end, it does"
        );
        place.becomes(&was).unwrap();
    });
}

/// A few in each run of the tests; KILLS for more.
#[test]
fn killed_at_any_instant_settings_are_as_they_were() {
    Place::with("killed_at_any_instant", |place| {
        let asked = std::env::var("KILLS").ok();
        let times = asked.and_then(|times| times.parse().ok()).unwrap_or(9);
        let was = now();
        for time in 0..times {
            kill_once(place, time);
            place
                .becomes(&was)
                .unwrap_or_else(|error| panic!("kill {time}: {error}"));
        }
    });
}

/// Kills the program, its process group, or it and its guardian, which is what a power cut does.
fn kill_once(place: &Place, time: u32) {
    let arguments = [
        "ab",
        "--settle",
        "0",
        "--factor",
        "t0:gro=on,off",
        "--set",
        "t0:mtu=1400",
        "--set",
        "t0:tso=off",
        "--set",
        "sysctl:net.ipv4.tcp_reordering=9",
        "--",
        "sleep 0.01",
    ];
    let mut child = place.start(&arguments);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = u64::from(clock.unwrap().subsec_nanos());
    // From before the guardian is there until well into the runs.
    sleep(Duration::from_micros(nanoseconds % 1_800_000));
    let id = child.id();
    match time % 3 {
        0 => kill(&child, Signal::KILL),
        1 => kill_process_group(Pid::from_child(&child), Signal::KILL).unwrap(),
        _ => {
            let path = format!("/proc/{id}/task/{id}/children");
            let children = fs::read_to_string(path).unwrap_or_default();
            kill(&child, Signal::STOP);
            for guardian in children.split_whitespace() {
                let guardian = Pid::from_raw(guardian.parse().unwrap()).unwrap();
                // Its end may have come before.
                let _ = kill_process(guardian, Signal::KILL);
            }
            kill(&child, Signal::KILL);
        }
    }
    child.wait().unwrap();
    if time % 3 == 2 {
        let undone = place.run(&["undo"]);
        assert_eq!(
            undone.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&undone.stdout)
        );
    }
}

/// An experiment that has changed `t0:gro` is killed together with its guardian.
pub(crate) fn leave(place: &Place) {
    let line = "touch changed; sleep 20";
    let mut first = place.start(&[
        "ab",
        "--settle",
        "0",
        "--factor",
        "t0:gro=on,off",
        "--",
        line,
    ]);
    let end = Instant::now() + PATIENCE;
    while !place.path("changed").exists() && Instant::now() < end {
        sleep(Duration::from_millis(5));
    }
    let pid = first.id();
    let children = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(children).unwrap();
    kill(&first, Signal::STOP);
    for child in children.split_whitespace() {
        let child = Pid::from_raw(child.parse().unwrap()).unwrap();
        let _ = kill_process(child, Signal::KILL);
    }
    kill(&first, Signal::KILL);
    first.wait().unwrap();
    // What a killed one holds is let go when it is gone, which is later than the signal.
    while children.split_whitespace().any(is_at_work) && Instant::now() < end {
        sleep(Duration::from_millis(1));
    }
}

/// Whether a process is there, and not only waited for.
fn is_at_work(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// What the systemd unit runs, at boot and on request.
fn of_the_unit() -> Vec<&'static str> {
    let unit = include_str!("../../../../scripts/coalescope-undo.service");
    let mut lines = unit.lines();
    let command = lines.find_map(|line| line.strip_prefix("ExecStart=/usr/bin/coalescope "));
    command.unwrap().split(' ').collect()
}

#[test]
fn what_was_left_is_mentioned_and_found_beside_a_folder_that_is_of_no_use() {
    Place::with("what_was_left", |place| {
        // Not as the first level makes it, so that there is something to take back.
        let was = now();
        leave(place);
        let journal = place.journal_files().remove(0);
        let id = journal.file_stem().unwrap().to_str().unwrap().to_owned();
        for command in [&["check"][..], &["fix"]] {
            let said = stderr(&place.run(command));
            assert!(said.contains("ended without taking back"), "{said}");
            assert!(said.contains(&format!("`coalescope undo {id}`")), "{said}");
        }
        let unusable = place.path("persistent");
        fs::create_dir_all(&unusable).unwrap();
        fs::set_permissions(&unusable, fs::Permissions::from_mode(0o777)).unwrap();
        let output = place.run(&of_the_unit());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(text.contains("others can write to it"), "{text}");
        assert!(text.contains("restored: all is as it was"), "{text}");
        assert_eq!(now(), was);
        fs::set_permissions(&unusable, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(place.run(&["undo", "--all"]).status.success());
        let said = stderr(&place.run(&["check"]));
        assert!(!said.contains("ended without"), "{said}");
    });
}
