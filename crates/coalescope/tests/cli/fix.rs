//! `coalescope fix` and `undo`, on a veth pair in a namespace of its own.

use std::fs;
use std::process::Command;

use coalescope_lab::Link;
use coalescope_needs as needs;
use serde_json::Value;

use crate::ab::{Place, now};
use crate::common::{is_as_its_schema_says, stderr, stdout};

/// What fires `gro-latency-hold`: a timer of 2 ms with GRO on.
pub(crate) fn hold() {
    let on = [("rx-gro", true)];
    Link::named("t0").unwrap().set_features(&on).unwrap();
    fs::write("/sys/class/net/t0/gro_flush_timeout", "2000000").unwrap();
}

fn timer() -> String {
    let text = fs::read_to_string("/sys/class/net/t0/gro_flush_timeout").unwrap();
    text.trim().to_owned()
}

pub(crate) fn json(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = place.run(&[arguments, &["--format", "json"]].concat());
    let report = serde_json::from_slice(&output.stdout);
    if let Ok(report) = &report {
        is_as_its_schema_says(arguments[0], report);
    }
    (
        output.status.code(),
        report.unwrap_or_else(|_| stderr(&output).into()),
    )
}

#[test]
fn a_finding_is_shown_fixed_verified_and_taken_back() {
    Place::with("a_finding_is_fixed", |place| {
        hold();
        let was = now();
        let (code, report) = json(place, &["fix"]);
        assert_eq!(code, Some(1), "{report}");
        assert_eq!(report["schema"], "coalescope/fix/1");
        assert_eq!(report["fixes"][0]["id"], "gro-latency-hold");
        assert_eq!(
            report["fixes"][0]["settings"][0],
            "t0:gro_flush_timeout=20000"
        );
        assert_eq!(timer(), "2000000", "shown is not made");

        let (code, report) = json(place, &["fix", "gro-latency-hold", "--apply"]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["applied"], true);
        assert_eq!(timer(), "20000");
        for journal in place.journal_files() {
            let journal = fs::read(journal).unwrap();
            is_as_its_schema_says("journal", &serde_json::from_slice(&journal).unwrap());
        }
        assert_eq!(json(place, &["undo", "--list"]).0, Some(0));
        assert_eq!(json(place, &["fix"]).0, Some(0), "there is nothing left");
        assert_eq!(json(place, &["fix", "--verify"]).0, Some(0));

        fs::write("/sys/class/net/t0/gro_flush_timeout", "30000").unwrap();
        let (code, report) = json(place, &["fix", "--verify"]);
        assert_eq!(code, Some(1));
        assert_eq!(report["verified"][0]["is"], "30000");

        let (code, report) = json(place, &["undo"]);
        assert_eq!(code, Some(3), "{report}");
        let left = &report["journals"][0]["fate"]["unrestored"][0];
        let values = ["was", "set", "is"].map(|name| left[name].as_str().unwrap());
        assert_eq!(values, ["2000000", "20000", "30000"]);
        assert_eq!(timer(), "30000");
        let (code, report) = json(place, &["undo", "--force", "t0:gro_flush_timeout"]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["schema"], "coalescope/undo/1");
        assert_eq!(report["journals"][0]["fate"]["fate"], "restored");
        assert_eq!(timer(), "2000000");
        assert_eq!(now(), was);
        assert_eq!(place.journals(), 0);
        assert!(stdout(&place.run(&["undo"])).contains("nothing to undo"));
    });
}

/// A page is a record of a change for whoever did not make it.
#[test]
fn pages_of_a_fix_and_of_its_way_back() {
    Place::with("pages_of_a_fix", |place| {
        hold();
        let page = |name: &str| fs::read_to_string(place.path(name)).unwrap();
        let output = place.run(&["fix", "--apply", "--report", "no/such.html"]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(timer(), "2000000", "nothing is changed without the page");

        let output = place.run(&["fix", "--report", "shown.html"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let shown = page("shown.html");
        assert!(shown.contains("gro-latency-hold") && shown.contains("Nothing was changed."));

        let output = place.run(&["fix", "--apply", "--report", "fixed.html"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let fixed = page("fixed.html");
        let journal = place.journal_files().pop().unwrap();
        let journal = journal.file_stem().unwrap().to_str().unwrap();
        assert!(
            fixed.contains(&format!("coalescope undo {journal}")),
            "{fixed}"
        );
        assert!(fixed.contains("<code>coalescope fix --apply --report fixed.html</code>"));

        let output = place.run(&["fix", "--verify", "--report", "holds.html"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(page("holds.html").contains("All that was applied holds."));

        for (arguments, words) in [
            (&["undo", "--list"][..], "this is what there is to undo"),
            (&["undo"], "restored: all is as it was"),
            (&["undo"], "There is nothing to undo."),
        ] {
            let output = place.run(&[arguments, &["--report", "undone.html"]].concat());
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert!(page("undone.html").contains(words), "{arguments:?}");
        }
        assert_eq!(timer(), "2000000");
    });
}

/// As in a user namespace, where what the machine's root has is not to be read.
#[test]
fn a_journal_that_is_named_is_undone_though_another_place_cannot_be_read() {
    Place::with("a_journal_that_is_named", |place| {
        hold();
        let (code, report) = json(place, &["fix", "--apply"]);
        assert_eq!(code, Some(0), "{report}");
        let journal = report["journals"][0].as_str().unwrap();
        fs::write(place.path("persistent"), "no folder").unwrap();

        let (code, report) = json(place, &["undo", "--list"]);
        assert_eq!(code, Some(3), "{report}");
        let (code, report) = json(place, &["undo", journal]);
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(timer(), "2000000");
    });
}

#[test]
fn what_is_not_found_is_not_fixed() {
    Place::with("what_is_not_found", |place| {
        let output = place.run(&["fix", "no-such-finding", "--apply"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            stderr(&output)
                .contains("no finding is called no-such-finding here: `coalescope check` finds")
        );
        let output = place.run(&["undo", "no-such-journal"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("there is no journal no-such-journal"));
    });
}

#[test]
fn an_experiment_settles_the_finding_that_it_is_about() {
    Place::with("an_experiment_settles", |place| {
        hold();
        let line = "test $(cat /sys/class/net/t0/gro_flush_timeout) = 20000 || sleep 0.1";
        let sys = [
            "--set",
            "t0:gro_flush_timeout=20000",
            "--max-runs",
            "16",
            "--",
            line,
        ];
        let (code, report, said) = place.ab(&sys);
        assert_eq!(code, 0, "{said}");
        let finding = &report["findings"][0];
        assert_eq!(finding["id"], "gro-latency-hold");
        // Nothing was sent over it here, so that nothing is claimed, however clear the figures are.
        assert_eq!(report["effects"][0]["verdict"]["is"], "different");
        assert_eq!(finding["now"], "open", "{finding}");
        assert!(
            finding["why"]
                .as_str()
                .unwrap()
                .contains("next to nothing over that interface")
        );
    });
}

/// The record of an experiment on this host, as far as `fix` reads it.
fn keep_record(place: &Place, now: &str, change: impl FnOnce(&mut Value)) {
    let output = place.run(&["collect"]);
    let mut before: Value = serde_json::from_slice(&output.stdout).unwrap();
    change(&mut before);
    let finding = serde_json::json!({ "id": "gro-latency-hold", "place": "t0", "now": now });
    let record = serde_json::json!({
        "host": before["name"],
        "begun_unix_s": 951_782_400,
        "verdict": "With t0:gro_flush_timeout=20000 it is 12 times faster",
        "before": before,
        "findings": [finding],
    });
    fs::create_dir_all(place.path("ab")).unwrap();
    fs::write(place.path("ab/951782400-1.json"), record.to_string()).unwrap();
}

#[test]
fn what_an_experiment_has_shown_is_said() {
    Place::with("what_an_experiment_has_shown", |place| {
        hold();
        let text = |place: &Place| stdout(&place.run(&["fix"]));
        let experiment = "coalescope ab --set t0:gro_flush_timeout=20000";
        assert!(text(place).contains(experiment));

        keep_record(place, "proven", |_| {});
        let said = text(place);
        let proof =
            "proven by `coalescope ab` on 2000-02-29 00:00 UTC: With t0:gro_flush_timeout=20000";
        assert!(said.contains(proof), "{said}");
        assert!(said.contains("[gro-latency-hold, proven]"), "{said}");
        assert!(!said.contains(experiment), "it is proven:\n{said}");
        let (_, report) = json(place, &["fix"]);
        assert_eq!(report["fixes"][0]["shown"]["now"], "proven");

        keep_record(place, "cleared", |_| {});
        assert!(text(place).contains("cleared by `coalescope ab`"));
        let (_, report) = json(place, &["fix"]);
        assert_eq!(report["fixes"][0]["proof"], "suspected");

        // Another card that has this name now.
        keep_record(place, "proven", |before| {
            before["interfaces"]["t0"]["mac"] = "02:ff:ff:ff:ff:ff".into();
        });
        let said = text(place);
        assert!(said.contains(experiment), "{said}");
        keep_record(place, "proven", |before| before["name"] = "another".into());
        assert!(text(place).contains(experiment));
        // A damaged record proves nothing, and is no reason to end.
        fs::write(place.path("ab/951782400-1.json"), "{").unwrap();
        assert!(text(place).contains(experiment));
    });
}

/// A site's rule: GRO is to be on at `t0`.
pub(crate) const RULE: &str = r#"
- id: site-gro-off
  title: GRO is off at {{ interface.name }}
  blame: missed
  platforms: [linux]
  when: "interface.name == 'ifb9' && 'generic-receive-offload' in interface.off"
  mechanism: It is to be on here.
  evidence: [it is off]
  experiment: "coalescope ab --set {{ interface.key }}:gro=on -- COMMAND"
  remedies:
    - set: {generic-receive-offload: true}
  sources: [this test]
  fixtures:
    fires: {platform: linux, interfaces: {ifb9: {name: ifb9, features: {generic-receive-offload: {active: false}}}}}
    almost: {platform: linux, interfaces: {ifb9: {name: ifb9, features: {generic-receive-offload: {active: true}}}}}
"#;
pub(crate) const INTERFACES: &str =
    "# ours\nauto ifb9\niface ifb9 inet static\n    address 192.0.2.1/24\n    # end\n";

#[test]
fn what_is_to_last_is_written_for_the_manager_and_taken_back_byte_for_byte() {
    if !needs::programs("what_is_to_last", &["ip", "ethtool", "mount"]) {
        return;
    }
    Place::with("what_is_to_last", |place| {
        // Files of this machine must not be in reach: the thread's mounts are its own.
        let mounts = |of: &str| fs::read_link(format!("/proc/{of}/ns/mnt")).unwrap();
        assert_ne!(mounts("thread-self"), mounts("self"));
        let shell = |line: &str| {
            let status = Command::new("sh").args(["-ec", line]).status().unwrap();
            status.success()
        };
        let tools = "ip link add ifb9 type ifb && ethtool -K ifb9 gro off";
        assert!(shell(tools));
        assert!(shell(
            "mount -t tmpfs none /etc && mkdir /etc/network && mount -t tmpfs none /run"
        ));
        let file = "/etc/network/interfaces";
        fs::write(file, INTERFACES).unwrap();
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE).unwrap();

        let rules = ["--rules", "rules"];
        let (code, report) = json(place, &[&["fix"], &rules[..]].concat());
        assert_eq!(code, Some(1), "{report}");
        let diff = report["files"]["files"][0]["diff"].as_str().unwrap();
        assert!(
            diff.contains("+    post-up ethtool -K ifb9 gro on"),
            "{diff}"
        );
        assert_eq!(report["files"]["files"][0]["owner"], "ifupdown");
        assert_eq!(fs::read_to_string(file).unwrap(), INTERFACES);

        let (code, report) = json(
            place,
            &[&["fix", "--apply", "--persist"], &rules[..]].concat(),
        );
        assert_eq!(code, Some(0), "{report}");
        assert_eq!(report["journals"].as_array().unwrap().len(), 2);
        assert!(
            fs::read_to_string(file)
                .unwrap()
                .contains("ethtool -K ifb9 gro on")
        );
        let (code, report) = json(place, &["fix", "--verify"]);
        assert_eq!(
            (code, report["verified"].as_array().unwrap().len()),
            (Some(0), 2)
        );

        assert_eq!(json(place, &["undo"]).0, Some(0));
        assert_eq!(fs::read_to_string(file).unwrap(), INTERFACES);
        assert_eq!(place.journals(), 0);
        assert_eq!(
            json(place, &[&["fix"], &rules[..]].concat()).0,
            Some(1),
            "it is off again"
        );
    });
}

/// A script that asks for changes that last must not take those for such which the next start takes back.
#[test]
fn what_cannot_be_made_to_last_is_not_changed() {
    if !needs::programs("what_cannot_be_made_to_last", &["ip", "ethtool", "mount"]) {
        return;
    }
    Place::with("what_cannot_last", |place| {
        let tools = "ip link add ifb9 type ifb && ethtool -K ifb9 gro off && mount -t tmpfs none /etc && \
                     mount -t tmpfs none /run";
        assert!(
            Command::new("sh")
                .args(["-ec", tools])
                .status()
                .unwrap()
                .success()
        );
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE).unwrap();
        let is_off = || {
            let line = "ethtool -k ifb9 | grep -q 'generic-receive-offload: off'";
            Command::new("sh")
                .args(["-c", line])
                .status()
                .unwrap()
                .success()
        };

        let lasting = ["fix", "--apply", "--persist", "--rules", "rules"];
        let output = place.run(&lasting);
        let said = stdout(&output).replace('\n', " ");
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("cannot be made to last: generic-receive-offload on of ifb9"),
            "{said}"
        );
        assert!(said.contains("Without --persist it is changed"), "{said}");
        assert!(is_off() && place.journals() == 0);
        let (code, report) = json(place, &lasting);
        assert_eq!(
            (code, report["applied"].as_bool()),
            (Some(2), Some(false)),
            "{report}"
        );

        assert_eq!(
            json(place, &["fix", "--apply", "--rules", "rules"]).0,
            Some(0)
        );
        assert!(!is_off());
    });
}

#[test]
fn what_was_to_stay_is_nothing_that_was_left() {
    Place::with("what_was_to_stay", |place| {
        hold();
        assert_eq!(
            json(place, &["fix", "gro-latency-hold", "--apply"]).0,
            Some(0)
        );
        assert!(place.run(&["undo", "--left"]).status.success());
        assert_eq!((place.journals(), timer()), (1, "20000".to_owned()));
        let said = stderr(&place.run(&["check"]));
        assert!(!said.contains("ended without"), "{said}");
        assert!(place.run(&["undo", "--all"]).status.success());
        assert_eq!((place.journals(), timer()), (0, "2000000".to_owned()));
    });
}
