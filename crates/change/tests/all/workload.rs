//! Commands, however they end.

use coalescope_change::workload::{End, Ended, Error, Vantage, Workload, capture, run};
use coalescope_needs as needs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// No test looks at a time but to tell an end from none.
const FOR_EVER: Duration = Duration::from_secs(60);

fn workload(words: &[&str], timeout: Option<f64>) -> Workload {
    Workload {
        command: words.iter().map(|&word| word.to_owned()).collect(),
        timeout: timeout.map(Duration::from_secs_f64),
    }
}

fn here(words: &[&str]) -> Result<Ended, Error> {
    run(
        &workload(words, None),
        &Vantage::Here,
        &AtomicBool::new(false),
    )
}

fn timed(line: &str, timeout: f64) -> Ended {
    let workload = workload(&[line], Some(timeout));
    run(&workload, &Vantage::Here, &AtomicBool::new(false)).expect("it was run")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn one_word_is_a_line_and_several_are_a_program() {
    let line = here(&["echo a b | tr a-z A-Z; echo bad >&2; exit 3"]).expect("it was run");
    assert_eq!(text(&line.stdout), "A B\n");
    assert_eq!(text(&line.stderr), "bad\n");
    assert_eq!(line.end, End::Exited(3));
    assert!(!line.succeeded() && !line.stdout_cut && line.wall_s > 0.0);
    let program = here(&["printf", "%s|", "$HOME", "a b", "|"]).expect("it was run");
    assert_eq!(text(&program.stdout), "$HOME|a b|||");
    assert!(program.succeeded());
}

#[test]
fn there_is_nothing_to_read_and_a_group_of_its_own() {
    let group = "read -r pid name state parent group rest </proc/$$/stat; echo $group $$";
    let ended = here(&[&format!("cat; {group}")]).expect("it was run");
    let printed = text(&ended.stdout);
    let words: Vec<_> = printed.split_whitespace().collect();
    assert!(words.len() == 2 && words[0] == words[1], "{printed}");
}

#[test]
fn a_signal_that_is_not_ours_is_told() {
    let ended = here(&["kill -KILL $$"]).expect("it was run");
    assert_eq!(ended.end, End::Signalled(9));
}

#[test]
fn what_cannot_be_run_is_an_error() {
    let message = |words: &[&str]| here(words).unwrap_err().to_string();
    assert!(message(&[]).contains("no command"));
    assert!(message(&["  "]).contains("no command"));
    assert!(message(&["", "a"]).contains("no command"));
    let missing = message(&["/nowhere/at-all", "a"]);
    assert!(missing.contains("/nowhere/at-all") && missing.contains("no such program"));
    assert!(message(&["/etc/passwd", "a"]).contains("not executable"));
    assert!(message(&["echo", "a\0b"]).contains("a\\0b"));
}

#[test]
fn much_output_is_read_and_its_end_kept() {
    let line = "i=0; while [ $i -lt 3000 ]; do echo $i >&2; i=$((i+1)); done & \
        head -c 30000000 /dev/zero | tr '\\0' x; wait; echo end; head -c 200000 /dev/zero >&2";
    let ended = here(&[line]).expect("it was run");
    assert!(ended.succeeded() && ended.stdout_cut);
    assert_eq!(ended.stdout.len(), 8 << 20);
    assert!(ended.stdout.ends_with(b"xend\n"));
    assert_eq!(ended.stderr.len(), 64 << 10);
}

#[test]
fn time_is_over_for_all_of_the_group() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let line = format!("sleep 600 & echo $! > {}; echo begun; wait", file.display());
    let ended = timed(&line, 0.5);
    assert_eq!(ended.end, End::TimedOut);
    assert_eq!(text(&ended.stdout), "begun\n");
    assert!(is_gone(&file), "the child lives on");
}

/// SIGTERM is ignored by all; SIGKILL is not.
#[test]
fn who_does_not_want_to_end_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let line = format!(
        "trap '' TERM; sleep 600 & echo $! > {}; wait; wait",
        file.display()
    );
    let begun = Instant::now();
    let ended = timed(&line, 0.2);
    assert_eq!(ended.end, End::TimedOut);
    assert!(begun.elapsed() < FOR_EVER);
    assert!(is_gone(&file), "the child lives on");
}

/// The leader ends at SIGTERM, its child does not.
#[test]
fn a_leader_that_ends_does_not_save_its_child() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let child = format!(
        "trap '' TERM; echo $$ > {}; while :; do sleep 1; done",
        file.display()
    );
    let line = format!("sh -c \"{}\" & wait", child.replace('$', "\\$"));
    assert_eq!(timed(&line, 0.5).end, End::TimedOut);
    assert!(is_gone(&file), "the child lives on");
}

/// A killed process is gone once init, or whoever took it over, has looked after it.
fn is_gone(file: &Path) -> bool {
    let pid = fs::read_to_string(file).expect("a process id");
    let status = format!("/proc/{}/stat", pid.trim());
    let lives = || fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    let begun = Instant::now();
    while lives() && begun.elapsed() < FOR_EVER {
        thread::sleep(Duration::from_millis(20));
    }
    !lives()
}

#[test]
fn it_can_be_stopped() {
    let stop = AtomicBool::new(false);
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
        });
        run(&workload(&["sleep", "600"], None), &Vantage::Here, &stop)
    });
    assert_eq!(ended.expect("it was run").end, End::Stopped);
}

/// The pipe is open until the grandchild ends; it is not waited for, and not ended either.
#[test]
fn a_grandchild_with_the_pipe_does_not_hang_us() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pid");
    let line = format!("sleep 600 & echo $! > {}; echo done", file.display());
    let begun = Instant::now();
    let ended = here(&[&line]).expect("it was run");
    assert!(begun.elapsed() < FOR_EVER);
    assert!(ended.succeeded() && ended.stdout == b"done\n");
    let pid = fs::read_to_string(&file).expect("a process id");
    let pid = Pid::from_raw(pid.trim().parse().expect("a process id"));
    kill(pid, Signal::SIGKILL).expect("it lives on");
}

#[test]
fn vantages_are_written_as_they_are_read() {
    for text in [
        "here",
        "ns/blue",
        "ssh:host",
        "ssh:me@host",
        "ssh:me@2001:db8::1",
    ] {
        let vantage: Vantage = text.parse().expect("a vantage");
        assert_eq!(vantage.to_string(), text);
        let json = serde_json::to_string(&vantage).expect("JSON");
        assert_eq!(json, format!("\"{text}\""));
        assert_eq!(
            serde_json::from_str::<Vantage>(&json).expect("a vantage"),
            vantage
        );
    }
    for text in [
        "",
        "there",
        "ns/",
        "ns/..",
        "ns/a/b",
        "ssh:",
        "ssh:-oProxyCommand=x",
        "ssh:a b",
        "ssh",
    ] {
        let error = text.parse::<Vantage>().unwrap_err().to_string();
        assert!(
            error.contains("write it as here, ns/NAME or ssh:HOST"),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_short_command_must_succeed() {
    let done = capture(&Vantage::Here, &["printf", "%s", "a  b"]).expect("printed");
    assert_eq!(done, b"a  b");
    let error = capture(&Vantage::Here, &["sh", "-c", "echo why >&2; exit 7"]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("at here exited with 7: why"), "{error}");
}

#[test]
fn a_namespace_is_where_it_runs() {
    let name = format!("coalescope-workload-{}", std::process::id());
    let vantage = Vantage::Namespace(name.clone());
    let error = capture(&vantage, &["true"]).unwrap_err().to_string();
    assert!(
        error.contains("no network namespace") && error.contains(&name),
        "{error}"
    );
    let test = "a_namespace_is_where_it_runs";
    if !needs::programs(test, &["ip"]) {
        return;
    }
    let ip = |word: &str| Command::new("ip").args(["netns", word, &name]).output();
    if !ip("add").is_ok_and(|output| output.status.success()) {
        return needs::skipped(test, "a network namespace with a name cannot be made here");
    }
    let inside = capture(
        &vantage,
        &["sh", "-c", "readlink /proc/self/ns/net; ls /sys/class/net"],
    );
    let own = fs::read_link("/proc/self/ns/net").expect("a namespace");
    let deleted = ip("del");
    let inside = text(&inside.expect("printed"));
    assert!(deleted.is_ok_and(|output| output.status.success()));
    assert!(
        inside.starts_with("net:[") && inside.ends_with("\nlo\n"),
        "{inside}"
    );
    assert!(!inside.contains(&*own.to_string_lossy()), "{inside}");
}

/// Behaves as ssh does, without a network: after `--` is a line for the other end's shell.
const SSH: &str = "#!/bin/sh
[ \"$1 $2\" = '-o BatchMode=yes' ] || exit 99
host=$3
[ \"$4\" = -- ] || exit 99
shift 4
[ \"$host\" = nowhere ] && { echo 'ssh: connect to host nowhere port 22: No route' >&2; exit 255; }
exec sh -c \"$*\"
";

/// The environment of a process is changed only when it is started: hence this test again, in one of
/// its own, with ssh's name in it.
#[test]
fn ssh_is_told_from_the_command() {
    if std::env::var_os("COALESCOPE_SSH").is_some() {
        return over_ssh();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let ssh = folder.path().join("ssh");
    fs::write(&ssh, SSH).expect("written");
    fs::set_permissions(&ssh, fs::Permissions::from_mode(0o755)).expect("executable");
    let again = |ssh: &Path| {
        let mut test = Command::new(std::env::current_exe().expect("a name"));
        test.args([
            "--exact",
            "workload::ssh_is_told_from_the_command",
            "--nocapture",
        ]);
        test.env("COALESCOPE_SSH", ssh)
            .env("COALESCOPE_SSH_IS", ssh.exists().to_string());
        test.output().expect("run again")
    };
    for ssh in [&ssh, &folder.path().join("none")] {
        let output = again(ssh);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(
            output.status.success() && printed.contains("1 passed"),
            "{printed}"
        );
    }
}

fn over_ssh() {
    let host = Vantage::Ssh("me@host".to_owned());
    let at =
        |host: &Vantage, words: &[&str]| run(&workload(words, None), host, &AtomicBool::new(false));
    if std::env::var("COALESCOPE_SSH_IS").as_deref() == Ok("false") {
        let error = at(&host, &["true", "a"]).expect_err("no ssh").to_string();
        assert!(
            error.contains("there is no such program") && error.contains("none"),
            "{error}"
        );
        return;
    }
    let odd = [
        "printf", "%s|", "a b", "it's", "$HOME", "*", "", "\"\\", "-n", "a;b",
    ];
    assert_eq!(
        text(&capture(&host, &odd).expect("printed")),
        "a b|it's|$HOME|*||\"\\|-n|a;b|"
    );
    let line = at(&host, &["echo \"$((1+1))\" | cat; exit 4"]).expect("it was run");
    assert_eq!(
        (text(&line.stdout), line.end),
        ("2\n".to_owned(), End::Exited(4))
    );
    let own = at(&host, &["echo sorry >&2; exit 255"]).expect("it was run");
    assert_eq!(
        (text(&own.stderr), own.end),
        ("sorry\n".to_owned(), End::Exited(255))
    );
    let killed = at(&host, &["kill -TERM $$"]).expect("it was run");
    assert_eq!(killed.end, End::Exited(128 + 15));
    let error = at(&Vantage::Ssh("nowhere".to_owned()), &["true"])
        .expect_err("no way")
        .to_string();
    assert!(
        error.contains("ssh to nowhere failed: ssh: connect to host nowhere port 22: No route")
    );
}
