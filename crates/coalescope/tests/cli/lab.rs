//! `coalescope lab`: the chain over incidents, live and simulated, and what a killed one leaves.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use coalescope_needs as needs;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{is_as_its_schema_says, stderr, stdout};

fn lab(arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    command.arg("lab").args(arguments).output().unwrap()
}

fn run(arguments: &[&str]) -> Value {
    let output = lab(&[&["run", "--format", "json"], arguments].concat());
    let report = serde_json::from_slice(&output.stdout);
    assert!(report.is_ok(), "{}", stderr(&output));
    let report: Value = report.unwrap();
    is_as_its_schema_says("lab", &report);
    what_is_missing_is_an_error(&report, &output);
    report
}

/// Where this machine can run nothing of what was named, that is no success.
fn what_is_missing_is_an_error(report: &Value, output: &std::process::Output) {
    let [run, skipped] = ["incidents", "skipped"].map(|list| report[list].as_array().unwrap());
    if run.is_empty() && !skipped.is_empty() {
        let why = skipped[0]["why"].as_str().unwrap();
        let said = stderr(output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("error: ") && said.contains(why), "{said}");
    }
}

/// The incidents of a report, or a line for each that cannot be run here.
fn incidents(report: &Value) -> &[Value] {
    for skipped in report["skipped"].as_array().unwrap() {
        let test = format!("lab run {}", skipped["name"]);
        needs::skipped(&test, skipped["why"].as_str().unwrap());
    }
    report["incidents"].as_array().unwrap()
}

/// A user who may make no namespaces, as in a container or on a system that forbids them to users: in a
/// namespace in which this user has no number, Linux makes no other.
fn without_namespaces(test: &str, arguments: &[&str]) -> Option<std::process::Output> {
    if !needs::programs(test, &["setpriv", "unshare"]) {
        return None;
    }
    let program = assert_cmd::cargo::cargo_bin!("coalescope");
    let mut command = match rustix::process::geteuid().is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "unshare",
            ]);
            command
        }
        false => Command::new("unshare"),
    };
    command.arg("--user").arg(program).args(arguments);
    let output = command.env_remove("COALESCOPE_STATE").output().unwrap();
    let is_refused = stderr(&output).starts_with("unshare: ");
    if is_refused || output.status.code() == Some(126) {
        needs::skipped(test, stderr(&output).trim());
        return None;
    }
    Some(output)
}

#[test]
fn without_namespaces_the_demo_shows_a_simulated_incident_and_the_lab_says_what_is_missing() {
    let test = "without_namespaces";
    let Some(demo) = without_namespaces(test, &["demo"]) else {
        return;
    };
    let said = stderr(&demo);
    assert_eq!(demo.status.code(), Some(0), "{said}");
    assert!(
        said.contains("not here: cannot make a user namespace: "),
        "{said}"
    );
    assert!(stdout(&demo).contains("between CAP-02 and VM-01"), "{said}");
    let lab = without_namespaces(test, &["lab", "run", "openstack-gro", "ipvs-gro"]).unwrap();
    let said = stderr(&lab);
    assert_eq!(lab.status.code(), Some(2), "{said}");
    assert!(
        said.contains("error: ") && said.contains("run as root"),
        "{said}"
    );
}

#[test]
fn an_incident_is_found_proven_fixed_and_undone() {
    let report = run(&["openstack-gro"]);
    assert_eq!(report["schema"], "coalescope/lab/1");
    for incident in incidents(&report) {
        is_found_proven_fixed_and_undone(incident);
        assert!(incident["published"]["ratio"].as_f64().unwrap() > 40.0);
    }
}

/// A router refuses merged frames for a smaller MTU that each of their segments fits: `watch` says so without settings
/// or captures, and `ab` proves what `watch` found.
#[test]
fn a_router_that_refuses_merged_frames_is_found_by_watch_alone() {
    let output = lab(&["run", "--format", "json", "gso-size-guessed"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for incident in incidents(&report) {
        is_found_proven_fixed_and_undone(incident);
        match &incident["watched"] {
            Value::Null => needs::skipped("lab run, watch", "BPF programs may not be loaded"),
            watched => {
                assert_eq!(*watched, true, "{incident:#}");
                let said = stderr(&output);
                assert!(said.contains("ab proves merged-frames-dropped"), "{said}");
            }
        }
        let accused = incident["accused"].as_array().unwrap();
        let is_blamed = accused.contains(&"merged-frames-dropped".into());
        assert_eq!(is_blamed, incident["watched"] == true);
    }
}

/// What sends is to blame, which no finding of a capture proves: it is the rule's own experiment.
#[test]
fn a_sender_is_found_proven_fixed_and_undone() {
    for incident in incidents(&run(&["vm-frames-bare"])) {
        is_found_proven_fixed_and_undone(incident);
    }
}

fn is_found_proven_fixed_and_undone(incident: &Value) {
    for step in ["suspected", "observed", "proven", "fixed", "undone"] {
        assert_eq!(incident[step], true, "{step}: {incident:#}");
    }
    assert_eq!(incident["problems"], Value::Array(Vec::new()));
    assert!(incident["ratio"].as_f64().unwrap() >= 20.0, "{incident:#}");
}

/// The kernel's own IPVS refuses what a card merged without its segment size; so does a bridge behind an
/// ESP tunnel of the kernel's.
#[test]
fn incidents_run_in_user_mode_linux() {
    let kept = TempDir::new().unwrap();
    let keep = kept.path().to_str().unwrap();
    let names = ["ipvs-gro", "freebsd-bridge-lro"];
    let report = run(&[&names[..], &["--kernel", "uml", "--keep", keep]].concat());
    let [director, tunnel] = incidents(&report) else {
        assert_eq!(report["skipped"].as_array().unwrap().len(), names.len());
        return;
    };
    for incident in [director, tunnel] {
        let kernel = incident["kernel"].as_str().unwrap();
        assert!(kernel.ends_with("(user-mode-linux)"), "{kernel}");
        for step in ["suspected", "observed", "proven", "fixed", "undone"] {
            assert_eq!(incident[step], true, "{step}: {incident:#}");
        }
        assert_eq!(incident["problems"], Value::Array(Vec::new()));
    }
    let frames = |name: &str| {
        let mut controls = director["controls"].as_array().unwrap().iter();
        let control = controls.find(|control| control["name"] == name);
        control.unwrap()["data_frames"].as_u64().unwrap()
    };
    assert!(frames("picture") > frames("picture-direct"), "{director:#}");
    let folder = kept.path().join("freebsd-bridge-lro");
    assert_eq!(connections(&folder.join("WIRE.pcapng")), 2);
    assert_eq!(connections(&folder.join("TUNNEL.pcapng")), 0);
}

/// How many connections are seen in a capture, which has frames.
fn connections(capture: &Path) -> usize {
    let mut trace = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    trace.args(["trace", "--format", "json"]).arg(capture);
    let report: Value = serde_json::from_slice(&trace.output().unwrap().stdout).unwrap();
    let point = &report["points"][0];
    assert!(point["frames"].as_u64().unwrap() > 100, "{point:#}");
    point["connections"].as_array().unwrap().len()
}

#[test]
fn an_innocent_path_is_not_blamed() {
    let report = run(&["slow-server"]);
    for incident in incidents(&report) {
        assert_eq!(
            incident["accused"],
            Value::Array(Vec::new()),
            "{incident:#}"
        );
        assert_eq!(incident["proven"], false);
        assert_eq!(incident["problems"], Value::Array(Vec::new()));
    }
}

#[test]
fn simulated_all_come_out_as_their_files_say() {
    let report = run(&["--all", "--simulated"]);
    let incidents = report["incidents"].as_array().unwrap();
    assert!(incidents.len() >= 10);
    for incident in incidents {
        assert_eq!(
            incident["problems"],
            Value::Array(Vec::new()),
            "{incident:#}"
        );
        assert_eq!(incident["kernel"], "virtual clock");
    }
    assert_eq!(
        run(&["openstack-gro", "--simulated"])["incidents"][0]["slow_bps"],
        incidents[0]["slow_bps"]
    );
}

#[test]
fn captures_are_kept_where_they_are_asked_for() {
    let folder = TempDir::new().unwrap();
    let keep = folder.path().to_str().unwrap();
    let report = run(&["hyperv-rsc-jumbo", "--simulated", "--keep", keep]);
    let captures = report["incidents"][0]["captures"].as_array().unwrap();
    assert_eq!(captures.len(), 3);
    for capture in captures {
        assert!(fs::metadata(capture.as_str().unwrap()).unwrap().len() > 1000);
    }
}

#[test]
fn files_of_ones_own_are_run_and_wrong_ones_refused_with_the_line() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("mine.yaml");
    let name = file.to_str().unwrap();
    let shown = stdout(&lab(&["show", "slow-server"]));
    fs::write(&file, &shown).unwrap();
    assert_eq!(
        run(&[name, "--simulated"])["incidents"][0]["name"],
        "slow-server"
    );

    fs::write(&file, shown.replace("rtt_us:", "rtt_years:")).unwrap();
    let output = lab(&["run", name, "--simulated"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("rtt_years") && said.contains("mine.yaml"),
        "{said}"
    );
    let line = shown
        .lines()
        .position(|line| line.starts_with("rtt_us:"))
        .unwrap()
        + 1;
    assert!(said.contains(&line.to_string()), "{said}");

    let output = lab(&["run", "atlantis"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("`coalescope lab list` lists them all"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_killed_lab_leaves_nothing_after_clean() {
    let started = Instant::now();
    let temporary = TempDir::new().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"))
        .args(["lab", "run", "openstack-gro"])
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let prefix = format!("cs-{}-", child.id());
    let named = || {
        let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let ours = names.filter(|name| name.file_name().to_string_lossy().starts_with(&prefix));
        ours.count()
    };
    while named() < 3 && started.elapsed() < Duration::from_secs(10) {
        if child.try_wait().unwrap().is_some() {
            return needs::skipped("a_killed_lab", "no named namespaces can be made here");
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || fs::read_dir(temporary.path()).unwrap().count();
    assert!(left() > 0);
    let mut clean = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    clean.args(["lab", "clean"]).env("TMPDIR", temporary.path());
    let output = clean.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!((named(), left()), (0, 0));
}

/// What root's labs have left is not for others to remove, and no reason to fail.
#[test]
fn whoever_is_not_root_cleans_up_after_own_labs() {
    if !needs::programs("whoever_is_not_root", &["setpriv"]) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return needs::skipped("whoever_is_not_root", "only root can be somebody else");
    }
    let places = TempDir::new().unwrap();
    let [program, state] = ["coalescope", "state"].map(|name| places.path().join(name));
    fs::copy(assert_cmd::cargo::cargo_bin!("coalescope"), &program).unwrap();
    fs::set_permissions(places.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(state.join("lab")).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
        .args([&program])
        .args(["lab", "clean"])
        .env("COALESCOPE_STATE", &state)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("sudo coalescope lab clean"));
}

/// Each signal that asks for an end is heeded at once, and one more does no harm.
#[test]
fn a_lab_that_is_told_to_end_does_and_leaves_nothing() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, times) in [
        (Signal::INT, 1),
        (Signal::TERM, 2),
        (Signal::HUP, 1),
        (Signal::QUIT, 1),
    ] {
        let folder = TempDir::new().unwrap();
        let errors = folder.path().join("errors");
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"))
            .args(["lab", "run", "openstack-gro"])
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        let said = || fs::read_to_string(&errors).unwrap();
        let started = Instant::now();
        while !said().contains("as it is: ") {
            if child.try_wait().unwrap().is_some() || started.elapsed() > Duration::from_secs(60) {
                let _ = child.kill();
                child.wait().unwrap();
                return needs::skipped("a_lab_that_is_told_to_end", said());
            }
            sleep(Duration::from_millis(10));
        }
        for _ in 0..times {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let end = Instant::now() + Duration::from_secs(20);
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "{signal:?}: {}", said());
            sleep(Duration::from_millis(10));
        }
        assert_eq!(child.wait().unwrap().code(), Some(2), "{}", said());
        assert!(
            said().contains("a signal ended it before openstack-gro was done"),
            "{}",
            said()
        );
        let left = fs::read_dir(folder.path()).unwrap().flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["errors"], "{signal:?}");
        let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let prefix = format!("cs-{}-", child.id());
        let is_left = |name: &fs::DirEntry| name.file_name().to_string_lossy().starts_with(&prefix);
        assert_eq!(names.filter(is_left).count(), 0, "{signal:?}");
    }
}

/// A terminal that goes away ends the shell, and the lab with it.
#[test]
fn a_shell_whose_terminal_goes_away_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    if !needs::programs("a_shell_whose_terminal", &["setsid"]) {
        return;
    }
    let folder = TempDir::new().unwrap();
    let shell = folder.path().join("shell");
    let lines = format!(
        "#!/bin/sh\ntrap '' INT\ntouch {}/ready\nsleep 60\n",
        folder.path().display()
    );
    fs::write(&shell, lines).unwrap();
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o700)).unwrap();
    for is_only_told in [false, true] {
        let (terminal, slave) = terminal();
        let errors = fs::File::create(folder.path().join("errors")).unwrap();
        let mut child = Command::new("setsid")
            .arg("--ctty")
            .arg(assert_cmd::cargo::cargo_bin!("coalescope"))
            .args(["lab", "shell", "openstack-gro"])
            .env("SHELL", &shell)
            .stdin(slave.try_clone().unwrap())
            .stdout(slave)
            .stderr(errors)
            .spawn()
            .unwrap();
        // A user's lab has a /run of its own, which is gone with it.
        let run = match rustix::process::geteuid().is_root() {
            true => "/run/netns".to_owned(),
            false => format!("/proc/{}/{}", child.id(), "root/run/netns"),
        };
        let named = || {
            let names = fs::read_dir(&run).into_iter().flatten().flatten();
            let prefix = format!("cs-{}-", child.id());
            names
                .filter(|name| name.file_name().to_string_lossy().starts_with(&prefix))
                .count()
        };
        let started = Instant::now();
        while !folder.path().join("ready").exists() {
            if started.elapsed() > Duration::from_secs(20) {
                let said = fs::read_to_string(folder.path().join("errors")).unwrap();
                child.kill().unwrap();
                child.wait().unwrap();
                return needs::skipped("a_shell_whose_terminal", said);
            }
            sleep(Duration::from_millis(10));
        }
        assert!(named() > 0);
        if is_only_told {
            rustix::process::kill_process(
                rustix::process::Pid::from_child(&child),
                rustix::process::Signal::TERM,
            )
            .unwrap();
        } else {
            drop(terminal);
        }
        let (prefix, end) = (
            format!("cs-{}-", child.id()),
            Instant::now() + Duration::from_secs(20),
        );
        while child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "{prefix} does not end");
            sleep(Duration::from_millis(10));
        }
        let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
        let left: Vec<_> = names
            .map(|name| name.file_name())
            .filter(|name| name.to_string_lossy().starts_with(&prefix))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        fs::remove_file(folder.path().join("ready")).unwrap();
    }
}

/// Both ends of a terminal.
fn terminal() -> (std::os::fd::OwnedFd, fs::File) {
    use rustix::fs::OFlags;
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let slave = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).unwrap();
    (master, slave.into())
}
