//! What `ab`, `fix` and `undo` say is what is in force, and they take nothing for theirs that is not.

use std::fs::{self, File};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use coalescope_lab::{Namespace, Veth};
use coalescope_needs as needs;
use serde_json::Value;

use crate::ab::{Place, now};
use crate::common::{stderr, stdout};
use crate::fix::{INTERFACES, RULE, hold, json};

/// An experiment with the timer, whose COMMAND is `line`.
fn timer<'a>(more: &[&'a str], line: &'a str) -> Vec<&'a str> {
    let set = ["--set", "t0:gro_flush_timeout=20000", "--seed", "1"];
    [&set[..], more, &["--", line]].concat()
}

/// A file of somebody else's, or the record of another experiment, is there no more once it is replaced.
#[test]
fn a_record_replaces_no_other_file() {
    Place::with("a_record_replaces_no_other_file", |place| {
        hold();
        let runs = ["--max-runs", "4", "--save", "record"];
        let refused = |line: &str, why: &str| {
            let was = fs::read(place.path("record")).unwrap();
            let (code, _, said) = place.ab(&timer(&runs, line));
            assert_eq!(code, 2, "{said}");
            assert!(said.contains(why), "{said}");
            assert_eq!(fs::read(place.path("record")).unwrap(), was);
        };
        for theirs in ["precious", "{}", "{\"schema\": \"coalescope/check/1\"}"] {
            fs::write(place.path("record"), theirs).unwrap();
            refused("true", "is no record of an experiment, and is not replaced");
        }
        // As mktemp(1) makes it.
        fs::write(place.path("record"), "").unwrap();
        let (code, _, said) = place.ab(&timer(&runs, "true"));
        assert_eq!(code, 0, "{said}");
        refused("exit 0", "the record of another experiment is there");
        let (code, _, said) = place.ab(&timer(&runs, "true"));
        assert_eq!(code, 0, "{said}");
        assert!(
            said.contains("record has an earlier record of this experiment"),
            "{said}"
        );
        let missing = ["--save", "missing/record"];
        let (code, _, said) = place.ab(&timer(&missing, "touch ran"));
        assert_eq!((code, place.path("ran").exists()), (2, false), "{said}");
    });
}

/// As NetworkManager, `ifup` or a bridge do: all runs are alike, which says nothing of the setting.
#[test]
fn a_setting_that_is_switched_back_is_not_cleared() {
    Place::with("a_setting_that_is_switched_back", |place| {
        hold();
        let file = "/sys/class/net/t0/gro_flush_timeout";
        let back = format!("test $(cat {file}) = 2000000 || echo 2000000 > {file}; sleep 0.01");
        for ignored in [&[][..], &["--ignore-failure"]] {
            let (code, report, said) = place.ab(&timer(ignored, &back));
            assert_eq!(code, 2, "{said}");
            assert_eq!(
                (&report["ended"], &report["restored"]),
                (&"failed".into(), &true.into())
            );
            let words = "t0:gro_flush_timeout=20000 did not hold";
            assert_eq!(report["verdict"], format!("not judged: {words}"));
            let error = report["error"].as_str().unwrap();
            assert!(
                error.contains("gro_flush_timeout is 2000000 again"),
                "{error}"
            );
            let runs = report["runs"].as_array().unwrap().iter();
            let of_it = runs.filter(|run| run["levels"][0] == "20000");
            assert_eq!(of_it.count(), 0, "{report}");
            for finding in report["findings"].as_array().unwrap() {
                assert_eq!(finding["now"], "open", "{finding}");
            }
        }
    });
}

#[test]
fn a_run_that_the_deadline_ends_does_not_count() {
    Place::with("a_run_that_the_deadline_ends", |place| {
        let was = now();
        let line = "test $(cat /sys/class/net/t0/mtu) = 1500 || { touch began; exec sleep 60; }";
        let set = ["--set", "t0:mtu=1400", "--seed", "1", "--save", "record"];
        let end = ["--deadline", "1", "--ignore-failure", "--", line];
        let (code, report, said) = place.ab(&[&set[..], &end].concat());
        assert_eq!(code, 2, "{said}");
        let error = report["error"].as_str().unwrap();
        assert!(error.contains("the deadline (1 s) is over"), "{error}");
        assert!(place.path("began").exists());
        let runs = report["runs"].as_array().unwrap().iter();
        assert_eq!(runs.filter(|run| run["levels"][0] == "1400").count(), 0);
        assert_eq!((now(), place.journals()), (was, 0));
        // Gone on with, how the first part ended is over.
        let text = fs::read_to_string(place.path("record")).unwrap();
        let mut record: Value = serde_json::from_str(&text).unwrap();
        record["asked"]["command"] = serde_json::json!(["true"]);
        record["asked"]["deadline_s"] = Value::Null;
        fs::write(place.path("record"), record.to_string()).unwrap();
        let (code, report) = json(place, &["ab", "--resume", "record"]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["error"], Value::Null);
    });
}

#[test]
fn one_feature_under_two_names_is_one_factor() {
    Place::with("one_feature_under_two_names", |place| {
        let was = now();
        for other in ["rx-gro", "generic-receive-offload"] {
            let twice = format!("t0:{other}=on");
            let set = ["--set", "t0:gro=on", "--set", &twice, "--", "touch ran"];
            let (code, report, said) = place.ab(&set);
            assert_eq!((code, &report), (2, &Value::Null), "{said}");
            let words = format!("t0:gro and t0:{other} are one setting (rx-gro)");
            assert!(said.contains(&words), "{said}");
        }
        let both = [
            "--set",
            "t0:tso=off",
            "--set",
            "t0:tx-tcp6-segmentation=off",
        ];
        let (code, _, said) = place.ab(&[&both[..], &["--", "touch ran"]].concat());
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("are one setting (tx-tcp6-segmentation)"),
            "{said}"
        );
        assert!(!place.path("ran").exists());
        // The same names at another interface are another setting.
        let two = ["--set", "t0:gro=on", "--set", "t1:rx-gro=on"];
        let few = ["--max-runs", "4", "--", "true"];
        let (code, _, said) = place.ab(&[&two[..], &few].concat());
        assert_eq!(code, 0, "{said}");
        assert_eq!(now(), was);
    });
}

#[test]
fn a_session_goes_over_the_interface_of_its_zone_and_over_none_without_a_route() {
    Place::with("a_session_goes_over", |place| {
        hold();
        let fix = |client: &str, more: &[&str]| {
            let mut command = place.command(&[&["fix", "--apply"], more].concat());
            let output = command.env("SSH_CONNECTION", format!("{client} 50022 192.0.2.1 22"));
            output.output().unwrap()
        };
        let output = fix("fe80::1%t0", &[]);
        assert_eq!(output.status.code(), Some(2));
        let words = "your ssh session from fe80::1%t0 goes over t0";
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        // Nothing here leads to the client: the session is of another namespace.
        for client in ["192.0.2.7", "2001:db8::7", "fe80::1%eth9"] {
            let output = fix(client, &[]);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{client}: {}",
                stderr(&output)
            );
            assert!(place.run(&["undo"]).status.success());
        }
        assert_eq!(fix("fe80::1%t0", &["--yes"]).status.code(), Some(0));
    });
}

/// A namespace of a container has no name: its commands are for it all the same.
#[test]
fn a_namespace_by_its_path_is_shown_changed_and_taken_back() {
    Place::with("a_namespace_by_its_path", |place| {
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE.replace("ifb9", "u0")).unwrap();
        let container = Namespace::new().unwrap();
        thread::scope(|scope| {
            let (ready, readiness) = mpsc::channel();
            let (release, released) = mpsc::channel::<()>();
            let inside = move || {
                let _pair = Veth::new("u0", "u1", 1500).unwrap();
                let thread = fs::read_link("/proc/thread-self").unwrap();
                ready
                    .send(format!("/proc/{}/ns/net", thread.display()))
                    .unwrap();
                let _ = released.recv();
            };
            let inside = scope.spawn(|| container.enter(inside));
            by_its_path(place, &readiness.recv().unwrap());
            drop(release);
            inside.join().unwrap().unwrap();
        });
    });
}

fn by_its_path(place: &Place, path: &str) {
    let fix = ["fix", "site-gro-off", "--netns", path, "--rules", "rules"];
    let (code, report) = json(place, &fix);
    assert_eq!(code, Some(1), "{report}");
    let shown = &report["fixes"][0];
    let command = format!("nsenter --net={path} ethtool -K u0 gro on");
    assert_eq!(shown["commands"][0], command);
    assert_eq!(shown["settings"][0], format!("ns/{path}/u0:gro=on"));
    let (code, report) = json(place, &[&fix[..], &["--apply"]].concat());
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(json(place, &[&fix[..2], &["--verify"]].concat()).0, Some(0));
    assert_eq!(
        json(place, &["fix", "--netns", path, "--rules", "rules"]).0,
        Some(0)
    );
    let (code, report) = json(place, &["undo"]);
    assert_eq!((code, place.journals()), (Some(0), 0), "{report}");
    assert_eq!(json(place, &fix).0, Some(1), "it is off again");
}

fn shell(line: &str) {
    let status = Command::new("sh").args(["-ec", line]).status().unwrap();
    assert!(status.success(), "{line}");
}

/// Tried first, then made to last: `check` has no finding any more of what our own fix has set.
#[test]
fn what_was_applied_before_is_made_to_last() {
    if !needs::programs("what_was_applied_before", &["ip", "ethtool", "mount"]) {
        return;
    }
    Place::with("what_was_applied_before", |place| {
        shell("ip link add ifb9 type ifb && ethtool -K ifb9 gro off");
        shell("mount -t tmpfs none /etc && mkdir /etc/network && mount -t tmpfs none /run");
        let file = "/etc/network/interfaces";
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE).unwrap();
        let line = "    post-up ethtool -K ifb9 gro on";
        for named in [&[][..], &["site-gro-off"]] {
            fs::write(file, INTERFACES).unwrap();
            let fix = [&["fix"], named, &["--rules", "rules"]].concat();
            let with = |more: &[&'static str]| json(place, &[&fix[..], more].concat());
            assert_eq!(with(&["--apply"]).0, Some(0));
            assert_eq!(json(place, &["fix", "--rules", "rules"]).0, Some(0));
            let (code, report) = with(&["--persist"]);
            assert_eq!(code, Some(1), "{report}");
            assert_eq!(report["in_force"][0], "ifb9:gro=on");
            assert_eq!(fs::read_to_string(file).unwrap(), INTERFACES);
            let (code, report) = with(&["--apply", "--persist"]);
            assert_eq!(code, Some(0), "{report}");
            assert!(fs::read_to_string(file).unwrap().contains(line), "{report}");
            let (code, report) = with(&["--apply", "--persist"]);
            let files = report["files"]["files"].as_array().unwrap();
            assert_eq!((code, files.len()), (Some(0), 0), "{report}");
            assert_eq!(json(place, &["undo"]).0, Some(0));
            assert_eq!(fs::read_to_string(file).unwrap(), INTERFACES);
        }
        // Of another finding's fix nothing is written.
        assert_eq!(
            json(place, &["fix", "--rules", "rules", "--apply"]).0,
            Some(0)
        );
        let other = ["fix", "other", "--rules", "rules", "--apply", "--persist"];
        assert_eq!(place.run(&other).status.code(), Some(2));
        assert_eq!(fs::read_to_string(file).unwrap(), INTERFACES);
    });
}

/// Of a rule with two settings one is so already, which a reboot would not know.
#[test]
fn what_is_so_already_is_made_to_last_beside_what_is_changed() {
    if !needs::programs("what_is_so_already", &["ip", "ethtool", "mount"]) {
        return;
    }
    Place::with("what_is_so_already", |place| {
        shell("ip link add ifb9 type ifb && ethtool -K ifb9 gro off tso on");
        shell("mount -t tmpfs none /etc && mkdir /etc/network && mount -t tmpfs none /run");
        fs::write("/etc/network/interfaces", INTERFACES).unwrap();
        fs::create_dir(place.path("rules")).unwrap();
        let both = "{generic-receive-offload: true, tcp-segmentation-offload: true}";
        let rule = RULE.replace("{generic-receive-offload: true}", both);
        fs::write(place.path("rules/site.yaml"), rule).unwrap();
        let fix = ["fix", "--rules", "rules", "--apply", "--persist"];
        let (code, report) = json(place, &fix);
        assert_eq!(code, Some(0), "{report}");
        let settings = report["fixes"][0]["settings"].as_array().unwrap();
        assert_eq!(
            (settings.len(), report.get("in_force")),
            (1, None),
            "{report}"
        );
        let written = fs::read_to_string("/etc/network/interfaces").unwrap();
        for feature in ["gro on", "tso on"] {
            let line = format!("ethtool -K ifb9 {feature}");
            assert!(written.contains(&line), "{written}");
        }
        assert_eq!(json(place, &["undo"]).0, Some(0));
    });
}

/// With nobody to read the report, the exit code says what is in force.
#[test]
fn what_is_in_force_is_said_where_the_report_cannot_be_written() {
    Place::with("what_is_in_force_is_said", |place| {
        let full = |arguments: &[&str]| -> Output {
            let full = File::options().write(true).open("/dev/full").unwrap();
            let mut command = place.command(arguments);
            let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
            child.wait_with_output().unwrap()
        };
        hold();
        let is_set = || {
            let is = fs::read_to_string("/sys/class/net/t0/gro_flush_timeout").unwrap();
            is.trim() == "20000"
        };
        let fix = ["fix", "gro-latency-hold", "--apply"];
        let output = full(&fix);
        assert_eq!((output.status.code(), is_set()), (Some(0), true));
        let said = stderr(&output);
        assert!(
            said.contains("what was changed is in force: `coalescope undo "),
            "{said}"
        );
        let output = full(&["undo"]);
        assert_eq!((output.status.code(), is_set()), (Some(0), false));
        assert!(
            stderr(&output).contains("what it had to do is done"),
            "{}",
            stderr(&output)
        );
        let ab = [
            "ab",
            "--settle",
            "0",
            "--max-runs",
            "2",
            "--set",
            "t0:mtu=1400",
            "--",
            "true",
        ];
        let output = full(&ab);
        assert_eq!(output.status.code(), Some(0));
        assert!(stderr(&output).contains("all settings are as they were"));
        // Nothing was done, and the error is one.
        assert_eq!(full(&["fix"]).status.code(), Some(2));
        assert_eq!(full(&["undo", "--list"]).status.code(), Some(2));
        // A reader that has gone changes nothing of what is in force.
        assert!(place.run(&fix).status.success());
        fs::write("/sys/class/net/t0/gro_flush_timeout", "30000").unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let code = place
            .command(&["undo"])
            .stdout(writer)
            .status()
            .unwrap()
            .code();
        assert_eq!(code, Some(3));
        // Nor is it said of a fix that it ended: it was to stay, and an undo failed.
        let said = stderr(&place.run(&["check"]));
        let words = "warning: not all that `coalescope fix gro-latency-hold --apply` changed";
        assert!(
            said.contains(words) && !said.contains("ended without"),
            "{said}"
        );
    });
}

/// Whoever runs `undo` from elsewhere would look for another folder.
#[test]
fn a_relative_folder_for_state_is_refused() {
    Place::with("a_relative_folder_for_state", |place| {
        hold();
        let relative = |arguments: &[&str]| {
            let mut command = place.command(arguments);
            command.env("COALESCOPE_STATE", "state").output().unwrap()
        };
        let fix = relative(&["fix", "--apply"]);
        assert_eq!(fix.status.code(), Some(2), "{}", stdout(&fix));
        let words = "COALESCOPE_STATE has a relative path";
        assert!(stderr(&fix).contains(words), "{}", stderr(&fix));
        let undo = relative(&["undo"]);
        assert_eq!(undo.status.code(), Some(3), "{}", stdout(&undo));
        assert!(stdout(&undo).contains(words), "{}", stdout(&undo));
        let vantages = relative(&["ab", "--do", "a: true", "--do", "b: true", "--", "true"]);
        assert_eq!(vantages.status.code(), Some(2));
        assert!(!place.path("state").exists());
    });
}
