//! `coalescope check`, `diagnose`, `collect` and `rules`, on saved output made here.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Captures, coalescope, stderr, stdout};

/// A host as a folder with what its commands printed.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn features(name: &str, gro: &str) -> String {
    format!(
        "Features for {name}:\nrx-checksumming: on\ntcp-segmentation-offload: on\n\
         generic-segmentation-offload: on\ngeneric-receive-offload: {gro}\n\
         large-receive-offload: off [fixed]\n"
    )
}

const LINKS: &str = "\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 16436 qdisc noqueue state UNKNOWN \n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff
3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP qlen 1000\n    link/ether 02:00:00:00:00:02 brd ff:ff:ff:ff:ff:ff
";

const SERVICES: &str = "\
IP Virtual Server version 1.2.1 (size=4096)
Prot LocalAddress:Port Scheduler Flags
  -> RemoteAddress:Port           Forward Weight ActiveConn InActConn
TCP  192.0.2.80:80 wlc
  -> 10.0.0.11:80                 Masq    1      0          0
  -> 10.0.0.12:80                 Masq    1      0          0
";

/// A director of story D.
pub(crate) fn director(name: &str, gro: [&str; 2]) -> TempDir {
    let [eth0, eth1] = [features("eth0", gro[0]), features("eth1", gro[1])];
    let uname = format!(
        "Linux {name} 2.6.32-220.el6.x86_64 #1 SMP Wed Nov 9 08:03:13 EST 2011 x86_64 x86_64 x86_64 GNU/Linux\n"
    );
    folder(&[
        ("uname", &uname),
        ("links", LINKS),
        ("k0", &eth0),
        ("k1", &eth1),
        ("vs", SERVICES),
        (
            "sysctl",
            "net.ipv4.ip_forward = 1\nnet.ipv4.tcp_reordering = 3\n",
        ),
    ])
}

pub(crate) fn check(hosts: &[&Path], more: &[&str]) -> std::process::Output {
    let mut command = coalescope();
    command.arg("check");
    for host in hosts {
        command.arg("--from").arg(host);
    }
    command.args(more).output().unwrap()
}

#[test]
fn the_director_of_story_d_is_found_and_so_is_the_drift() {
    let (one, two) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["off", "on"]),
    );
    let output = check(&[one.path(), two.path()], &[]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
}

#[test]
fn its_json_has_what_the_contract_says() {
    let (one, two) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["off", "on"]),
    );
    let output = check(&[one.path(), two.path()], &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "coalescope/check/1");
    assert!(output.stdout.starts_with(b"{\n  \"schema\""));
    let finding = &document["findings"][0];
    assert_eq!(finding["id"], "ipvs-director-gro");
    assert_eq!(
        (&finding["host"], &finding["interface"]),
        (&"lvs2".into(), &"eth1".into())
    );
    assert_eq!(finding["proof"], "suspected");
    let kinds: Vec<&str> = finding["remedies"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|r| r["kind"].as_str())
        .collect();
    for kind in ["runtime", "persistent", "undo"] {
        assert!(kinds.contains(&kind), "no {kind} remedy");
    }
    let drifted = document["drift"].as_array().unwrap();
    let gro = drifted.iter().find(|d| {
        d["what"]
            .as_str()
            .unwrap()
            .starts_with("generic-receive-offload")
    });
    assert_eq!(gro.unwrap()["majority"], "off");
    assert_eq!(gro.unwrap()["hosts"][0]["host"], "lvs2");
    let interface = &document["hosts"][0]["interfaces"][0];
    assert_eq!(
        interface["features"]["generic-receive-offload"]["active"],
        false
    );
    assert!(
        interface["roles"]
            .as_array()
            .unwrap()
            .contains(&"ipvs-director".into())
    );
}

#[test]
fn nothing_is_found_when_gro_is_off_everywhere() {
    let host = director("lvs1", ["off", "off"]);
    let output = check(&[host.path()], &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with("Nothing wrong found on lvs1"));
}

/// "Nothing wrong" would say more than anybody has looked at.
#[test]
fn a_platform_that_no_rule_is_about_is_not_judged() {
    let interfaces = "\
en0: flags=8863<UP,BROADCAST,SMART,RUNNING,SIMPLEX,MULTICAST> mtu 1500
\toptions=50b<RXCSUM,TXCSUM,VLAN_HWTAGGING,AV,CHANNEL_IO>
\tether f0:18:98:00:00:01
\tstatus: active
";
    let mac = folder(&[("ifconfig.txt", interfaces)]);
    let output = check(&[mac.path()], &[]);
    assert_eq!(output.status.code(), Some(0));
    let said = stdout(&output);
    assert!(
        said.starts_with("There is no rule about macOS, so "),
        "{said}"
    );
    let document = check(&[mac.path()], &["--format", "json"]);
    let document: Value = serde_json::from_slice(&document.stdout).unwrap();
    assert_eq!(document["hosts"][0]["judged"], false);

    let linux = director("lvs1", ["off", "off"]);
    let said = stdout(&check(&[linux.path(), mac.path()], &[]));
    assert!(said.starts_with("Nothing wrong found on lvs1"), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(" was not judged."), "{said}");
}

#[test]
fn a_path_without_anything_known_is_an_error() {
    let host = folder(&[("notes.txt", "the network is slow\n")]);
    let output = check(&[host.path()], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let missing = check(&[Path::new("/does/not/exist")], &[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("/does/not/exist"));
}

#[test]
fn rules_of_a_site_are_asked_too_and_bad_ones_refused() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md"))
            .unwrap();
    let example = text
        .split("```yaml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let good = folder(&[("site.yaml", example)]);
    let rules = |folder: &Path| {
        let mut command = coalescope();
        command
            .args(["rules", "test", "--rules"])
            .arg(folder)
            .output()
            .unwrap()
    };
    let output = rules(good.path());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let bad = folder(&[("site.yaml", &example.replace("blame: harms", "blame: evil"))]);
    let output = rules(bad.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("site.yaml"), "{}", stderr(&output));
    let broken = folder(&[(
        "site.yaml",
        &example.replace("'large-receive-offload' in", "nothing.like.this in"),
    )]);
    let output = rules(broken.path());
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("there is no nothing that the rule could see"),
        "{said}"
    );
}

/// A rule for a look: it has no fixtures.
const LOOK: &str = "\
- id: our-lro
  title: LRO is on at {{ interface.name }}
  blame: harms
  platforms: [linux]
  when: \"'large-receive-offload' in interface.off && interface.mtu_bytes == 1500\"
  mechanism: It is what we say.
  evidence: [\"{{ interface.key }}\"]
  sources: [ticket 4711]
";

#[test]
fn a_rule_without_fixtures_is_asked_and_rules_test_wants_them() {
    let (host, site) = (
        director("lvs1", ["off", "off"]),
        folder(&[("look.yaml", LOOK)]),
    );
    let file = site.path().join("look.yaml");
    for path in [site.path(), &file] {
        let output = check(&[host.path()], &["--rules", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stdout(&output).contains("[our-lro, suspected]"));
    }
    let mut command = coalescope();
    let tested = command
        .args(["rules", "test", "--rules"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(tested.status.code(), Some(1));
    let said = stderr(&tested);
    assert!(said.contains("our-lro (none): needs fixtures"), "{said}");
}

#[test]
fn a_typo_in_a_rule_is_told_with_its_line_and_what_was_meant() {
    let host = director("lvs1", ["off", "off"]);
    for (right, wrong, line, meant) in [
        ("mtu_bytes", "mtu_byte", 5, "did you mean mtu_bytes?"),
        (
            "interface.off",
            "intrface.off",
            5,
            "did you mean interface?",
        ),
        (
            "{{ interface.name }}",
            "{{ interface.nmae }}",
            2,
            "did you mean name?",
        ),
        ("interface.key", "interface.kye", 7, "did you mean key?"),
        ("blame:", "blames:", 3, "did you mean blame?"),
        ("blame: harms", "blame: harm", 3, "did you mean harms?"),
        ("[linux]", "[linus]", 4, "did you mean linux?"),
    ] {
        let site = folder(&[("look.yaml", &LOOK.replace(right, wrong))]);
        let output = check(&[host.path()], &["--rules", site.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let said = stderr(&output);
        assert!(
            said.contains(&format!("look.yaml:{line}: ")) && said.contains(meant),
            "{said}"
        );
    }
}

#[test]
fn rules_are_listed_and_shown() {
    let output = coalescope().args(["rules", "list"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let list = stdout(&output);
    let says = "GRO is on at enp3s0f0, the uplink of VMs";
    assert!(list.contains(says), "{list}");
    // What a rule says goes on below its name.
    let names = list.lines().filter(|line| !line.starts_with(' '));
    // A few: the command reads all rules each time, and a test of its own shows each.
    for line in names.step_by(15) {
        let id = line.split_whitespace().next().unwrap();
        let shown = coalescope().args(["rules", "show", id]).output().unwrap();
        assert_eq!(shown.status.code(), Some(0), "{id}");
        assert!(stdout(&shown).contains(id));
    }
    let unknown = coalescope()
        .args(["rules", "show", "no-such-rule"])
        .output()
        .unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}

/// The host of story E, as `collect` would print it.
const HYPER_V: &str = r#"{
    "schema": "coalescope/host/1", "name": "HV01", "platform": "windows", "kernel": "10.0.17763.1999",
    "switches": {"External": {"product": "hyper-v", "kind": "external", "software_rsc": true, "uplinks": ["Ethernet"]}},
    "interfaces": {"Ethernet": {"name": "Ethernet", "properties": {"*JumboPacket": 9014}}}
}"#;

pub(crate) fn diagnose(story: &str, points: &[&str]) -> Value {
    let host = folder(&[("host.json", HYPER_V)]);
    let captures = Captures::of(story);
    let mut command = coalescope();
    command
        .args(["diagnose", "--format", "json", "--from"])
        .arg(host.path());
    for point in points {
        command.arg(captures.path().join(format!("{point}.pcap")));
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn captures_raise_what_settings_let_suspect() {
    let document = diagnose("hyperv-rsc-jumbo", &["CAP-01", "CAP-02", "VM-01"]);
    assert_eq!(document["schema"], "coalescope/diagnose/1");
    assert_eq!(document["findings"][0]["id"], "hyperv-ws2019-rsc-jumbo");
    assert_eq!(document["findings"][0]["proof"], "observed");
    let shown = &document["trace"]["findings"][0];
    assert_eq!(
        (&shown["id"], &shown["blame"]),
        (&"merged-frames-lost".into(), &"harms".into())
    );
    assert!(!shown["remedies"].as_array().unwrap().is_empty());
}

#[test]
fn captures_in_which_merging_is_innocent_raise_nothing_and_say_so() {
    let document = diagnose("hyperv-rsc-1500", &["CAP-01", "CAP-02", "VM-01"]);
    assert_eq!(document["findings"][0]["proof"], "suspected");
    let evidence = document["findings"][0]["evidence"].to_string();
    assert!(evidence.contains("speak against it"), "{evidence}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_collect_prints_is_read_back_as_the_same_host() {
    let collected = coalescope().arg("collect").output().unwrap();
    assert_eq!(collected.status.code(), Some(0));
    let snapshot: Value = serde_json::from_slice(&collected.stdout).unwrap();
    assert_eq!(snapshot["schema"], "coalescope/host/1");
    let host = folder(&[("collected.json", &stdout(&collected))]);
    let output = check(&[host.path()], &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let read: Vec<&Value> = document["hosts"][0]["interfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| &i["name"])
        .collect();
    let live: Vec<Value> = snapshot["interfaces"]
        .as_object()
        .unwrap()
        .keys()
        .map(|key| key.as_str().into())
        .collect();
    assert_eq!(read, live.iter().collect::<Vec<_>>());
}
