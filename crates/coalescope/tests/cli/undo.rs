//! What is said where something could not be changed, or not be taken back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use coalescope_change::journal::Store;
use coalescope_lab::{Link, Veth};
use coalescope_needs as needs;
use rustix::process::{Pid, Signal, kill_process};

use crate::ab::{Place, leave, now};
use crate::common::{stderr, stdout};
use crate::fix::{INTERFACES, RULE, hold, json};

const PATIENCE: Duration = Duration::from_secs(20);

fn until(done: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "it does not become so");
        sleep(Duration::from_millis(5));
    }
}

fn shell(line: &str) -> bool {
    let status = Command::new("sh").args(["-ec", line]).status();
    status.unwrap().success()
}

fn words(output: &Output) -> String {
    stdout(output) + &stderr(output)
}

pub(crate) fn set_timer(interface: &str) {
    Link::named(interface)
        .unwrap()
        .set_features(&[("rx-gro", true)])
        .unwrap();
    fs::write(
        format!("/sys/class/net/{interface}/gro_flush_timeout"),
        "2000000",
    )
    .unwrap();
}

fn timer(interface: &str) -> String {
    fs::read_to_string(format!("/sys/class/net/{interface}/gro_flush_timeout"))
        .unwrap()
        .trim()
        .to_owned()
}

#[test]
fn a_folder_that_is_read_only_is_called_that() {
    if !needs::programs("a_folder_that_is_read_only", &["mount"]) {
        return;
    }
    Place::with("a_folder_that_is_read_only", |place| {
        let folder = place.path("frozen");
        fs::create_dir(&folder).unwrap();
        assert!(shell(&format!(
            "mount -t tmpfs -o ro,mode=700 none {}",
            folder.display()
        )));
        hold();
        let was = now();
        let lines: [&[&str]; 2] = [
            &[
                "ab",
                "--save",
                "record.json",
                "--set",
                "t0:mtu=1400",
                "--",
                "true",
            ],
            &["fix", "--apply"],
        ];
        for line in lines {
            let output = place
                .command(line)
                .env("COALESCOPE_STATE", &folder)
                .output()
                .unwrap();
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains("Read-only file system") && said.contains("frozen"),
                "{said}"
            );
            assert!(
                !said.contains("deadline") && !said.contains("coalescope undo"),
                "{said}"
            );
        }
        assert_eq!((now(), timer("t0")), (was, "2000000".to_owned()));
    });
}

#[test]
fn while_the_guardian_is_stopped_nothing_is_called_undone() {
    Place::with("while_the_guardian_is_stopped", |place| {
        let was = now();
        let line = "touch changed; sleep 60";
        let set = ["ab", "--settle", "0", "--set", "t0:mtu=1400", "--", line];
        let mut ab = place.command(&set).spawn().unwrap();
        until(|| place.path("changed").exists() && place.journals() > 0);
        let children = format!("/proc/{0}/task/{0}/children", ab.id());
        let is_guardian = |pid: &&str| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.ends_with(b"__guardian\0"))
        };
        let children = fs::read_to_string(children).unwrap();
        let guardian = children.split_whitespace().find(is_guardian).unwrap();
        let pid = Pid::from_raw(guardian.parse().unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        ab.kill().unwrap();
        ab.wait().unwrap();
        let output = place.run(&["undo"]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("is stopped and restores nothing"), "{said}");
        assert!(said.contains(&format!("kill -CONT {guardian}")), "{said}");
        kill_process(pid, Signal::CONT).unwrap();
        until(|| place.journals() == 0);
        assert_eq!(now(), was);
    });
}

/// The kernel allows all but slashes, colons and spaces.
#[test]
fn the_name_of_one_interface_does_not_keep_others_from_being_fixed() {
    Place::with("the_name_of_one_interface", |place| {
        let pairs = [
            Veth::new("=1+1", "a=b", 1500).unwrap(),
            Veth::new("sysctl", "ns", 1500).unwrap(),
        ];
        let names = ["t0", "=1+1", "a=b", "ns", "sysctl"];
        names.iter().for_each(|name| set_timer(name));
        let output = place.run(&["fix", "gro-latency-hold", "--apply"]);
        let said = words(&output);
        // A script must not believe that all is mended.
        assert_eq!(output.status.code(), Some(2), "{said}");
        for words in [
            "warning: gro-latency-hold is left out: sysctl:",
            "\nleft out: gro-latency-hold: sysctl:",
        ] {
            assert!(said.contains(words), "{said}");
        }
        let timers = names.map(timer);
        assert!(
            timers[..4].iter().all(|timer| timer == "20000"),
            "{timers:?}"
        );
        assert_eq!(timers[4], "2000000");
        assert_eq!(json(place, &["fix", "--verify"]).0, Some(0));
        assert_eq!(json(place, &["undo"]).0, Some(0));
        assert_eq!(names.map(timer), [(); 5].map(|()| "2000000".to_owned()));
        drop(pairs);
    });
}

#[test]
fn what_is_left_of_an_interface_that_was_removed_can_be_forgotten() {
    if !needs::programs("what_is_left_of_an_interface", &["ip"]) {
        return;
    }
    Place::with("what_is_left_of_an_interface", |place| {
        let _pair = Veth::new("u0", "u1", 1500).unwrap();
        set_timer("u0");
        assert_eq!(
            json(place, &["fix", "gro-latency-hold", "--apply"]).0,
            Some(0)
        );
        assert!(shell("ip link del u0"));
        let (code, report) = json(place, &["undo"]);
        assert_eq!(code, Some(3), "{report}");
        let left = &report["journals"][0]["fate"]["unrestored"][0];
        assert_eq!(left["is"], "gone", "{report}");
        let command = left["by_hand"].as_str().unwrap().to_owned();
        assert!(command.ends_with(" --forget"), "{command}");
        let arguments: Vec<&str> = command.split(' ').skip(1).collect();
        let output = place.run(&arguments);
        assert!(output.status.success(), "{}", words(&output));
        assert_eq!(
            (place.run(&["undo"]).status.code(), place.journals()),
            (Some(0), 0)
        );
    });
}

/// Where a file cannot be written, what is said of the settings is what became of them.
#[test]
fn what_is_taken_back_is_said_and_nothing_else() {
    if !needs::programs("what_is_taken_back", &["ip", "ethtool", "mount"]) {
        return;
    }
    Place::with("what_is_taken_back", |place| {
        assert!(shell(
            "ip link add ifb9 type ifb && ethtool -K ifb9 gro off"
        ));
        assert!(shell(
            "mount -t tmpfs none /etc && mount -t tmpfs none /run"
        ));
        assert!(shell("mkdir -p /etc/network/.interfaces.coalescope-new"));
        fs::write("/etc/network/interfaces", INTERFACES).unwrap();
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE).unwrap();
        let output = place.run(&[
            "fix",
            "site-gro-off",
            "--apply",
            "--persist",
            "--rules",
            "rules",
        ]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("cannot write /etc/network/interfaces"),
            "{said}"
        );
        assert!(said.contains("All of it was taken back"), "{said}");
        assert!(shell(
            "ethtool -k ifb9 | grep -q 'generic-receive-offload: off'"
        ));
        assert_eq!(place.journals(), 0);
    });
}

/// Two changes of one key, written down in places of their own, the later one in the place that is looked at last.
#[test]
fn what_was_changed_last_is_undone_first_wherever_it_is_written_down() {
    if !needs::programs("what_was_changed_last", &["mount"]) {
        return;
    }
    Place::with("what_was_changed_last", |place| {
        assert!(shell(
            "mount -t tmpfs -o mode=755 none /run && mount -t tmpfs -o mode=755 none /var/lib"
        ));
        hold();
        let fix = ["fix", "gro-latency-hold", "--apply"];
        assert!(place.run(&fix).status.success());
        assert_eq!(timer("t0"), "20000");
        fs::write("/sys/class/net/t0/gro_flush_timeout", "3000000").unwrap();
        let elsewhere = place
            .command(&fix)
            .env_remove("COALESCOPE_STATE")
            .output()
            .unwrap();
        assert!(elsewhere.status.success(), "{}", words(&elsewhere));
        assert_eq!(timer("t0"), "20000");
        // A name that is not there is an error before anything is done.
        let id = place
            .journal_files()
            .remove(0)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(place.run(&["undo", &id, "0-1"]).status.code(), Some(2));
        assert_eq!((timer("t0"), place.journals()), ("20000".to_owned(), 1));
        let output = place.run(&["undo"]);
        assert_eq!(timer("t0"), "3000000", "{}", words(&output));
    });
}

/// The machine has started anew: what a journal says of before is not set, nor is anybody told of it but who asks.
#[test]
fn of_another_boot_nothing_is_set_back() {
    Place::with("of_another_boot", |place| {
        leave(place);
        let is = now();
        let store = Store::at(&place.path("")).unwrap();
        let id = store.list().unwrap().remove(0);
        let mut journal = store.read(&id).unwrap();
        journal.boot_id = "00000000-0000-4000-8000-000000000000".to_owned();
        store.write(&journal).unwrap();
        let said = stderr(&place.run(&["check"]));
        assert!(!said.contains("ended without"), "{said}");
        let output = place.run(&["undo"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        let said = stdout(&output);
        assert!(
            said.contains("the machine has started anew since"),
            "{said}"
        );
        assert_eq!((now(), place.journals()), (is, 0));
    });
}

/// Whoever mistypes what is to be forced is told before anything is done, and not that it was.
#[test]
fn what_is_forced_is_there() {
    Place::with("what_is_forced_is_there", |place| {
        leave(place);
        let is = now();
        for (key, said) in [
            ("t0:gor", "there is no setting in a journal called t0:gor"),
            ("t0:mtu", "there is no setting in a journal called t0:mtu"),
            ("t1:gro", "there is no setting in a journal called t1:gro"),
        ] {
            let output = place.run(&["undo", "--force", key]);
            assert_eq!(output.status.code(), Some(2), "{}", words(&output));
            assert!(stderr(&output).contains(said), "{}", words(&output));
            assert_eq!((now(), place.journals()), (is.clone(), 1), "{key}");
        }
        let output = place.run(&["undo", "--force", "t0:gro"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        // Nothing is left that could be forced.
        assert!(place.run(&["undo", "--force", "t0:gor"]).status.success());
    });
}

/// A folder that an ordinary user may not read (root may) is named, and costs the others nothing.
#[test]
fn a_folder_that_cannot_be_read_is_named_and_costs_nothing_else() {
    Place::with("a_folder_that_cannot_be_read", |place| {
        leave(place);
        let (closed, id) = (place.path("home/coalescope"), ordinary());
        fs::create_dir_all(&closed).unwrap();
        let store = Store::at(&place.path("")).unwrap();
        let mut journal = store.read(&store.list().unwrap()[0]).unwrap();
        journal.boot_id = "00000000-0000-4000-8000-000000000000".to_owned();
        store.write(&journal).unwrap();
        let own = [place.path(""), place.path("home"), closed.clone()];
        // Locks as well, of which `undo` takes its own.
        let beside = fs::read_dir(place.path("")).unwrap().flatten();
        let beside = beside.filter(|entry| entry.path().is_file());
        let mut own = own.into_iter().chain(beside.map(|entry| entry.path()));
        let given = own.try_for_each(|path| chown(&path, Some(id), Some(id)));
        if needs::had("a_folder_that_cannot_be_read", given).is_none() {
            return;
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let undo = |arguments: &[&str]| {
            let mut command = place.command(arguments);
            command
                .uid(id)
                .gid(id)
                .env("XDG_STATE_HOME", place.path("home"));
            command.output()
        };
        if let Some(output) = needs::had("a_folder_that_cannot_be_read", undo(&["undo"])) {
            assert_eq!(output.status.code(), Some(3), "{}", words(&output));
            let said = words(&output);
            assert!(said.contains("Permission denied"), "{said}");
            assert_eq!(said.matches("home/coalescope").count(), 1, "{said}");
            assert_eq!(place.journals(), 0, "{said}");
        }
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    });
}

/// Somebody whom modes of files concern.
fn ordinary() -> u32 {
    let own = rustix::process::geteuid().as_raw();
    if own == 0 { 65_534 } else { own }
}

/// A bridge over a card with LRO, and a jail behind it.
const FREEBSD: &str = "\
ix0: flags=1008943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
\toptions=4e53fbb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,TSO6,LRO,\
WOL_UCAST,WOL_MCAST,WOL_MAGIC,VLAN_HWFILTER,VLAN_HWTSO,RXCSUM_IPV6,TXCSUM_IPV6,MEXTPG>
\tether a0:36:9f:00:00:01
\tmedia: Ethernet autoselect (10Gbase-T <full-duplex>)
\tstatus: active
epair0a: flags=1008943<UP,BROADCAST,RUNNING,PROMISC,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
\toptions=8<VLAN_MTU>
\tether 02:aa:bb:cc:dd:0a
\tgroups: epair
bridge0: flags=1008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LOWER_UP> metric 0 mtu 1500
\tether 58:9c:fc:00:00:01
\tmember: epair0a flags=143<LEARNING,DISCOVER,AUTOEDGE,AUTOPTP>
\tmember: ix0 flags=143<LEARNING,DISCOVER,AUTOEDGE,AUTOPTP>
\tgroups: bridge
";

#[test]
fn of_freebsd_it_is_shown_what_would_be_done_and_nothing_is() {
    Place::with("of_freebsd_it_is_shown", |place| {
        fs::create_dir(place.path("host")).unwrap();
        fs::write(place.path("host/ifconfig"), FREEBSD).unwrap();
        fs::write(
            place.path("host/sysctl"),
            "net.inet.ip.forwarding: 0\nnet.inet6.ip6.forwarding: 0\n",
        )
        .unwrap();
        let output = place.run(&["fix", "--from", "host"]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in [
            "freebsd-bridge-jail-lro",
            "ifconfig ix0 -lro",
            "rc.conf",
            "Nothing was changed: these are commands for the host that this was saved on.",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let output = place.run(&["fix", "--apply", "--from", "host"]);
        assert_eq!(output.status.code(), Some(2), "{}", words(&output));
        assert!(!place.path("persistent").exists() && place.journals() == 0);
    });
}

/// The same finding on two hosts is two fixes, and whoever runs the commands has to know where.
#[test]
fn of_several_hosts_each_is_named_with_its_fixes() {
    Place::with("of_several_hosts", |place| {
        for host in ["left", "right"] {
            fs::create_dir(place.path(host)).unwrap();
            fs::write(place.path(&format!("{host}/ifconfig")), FREEBSD).unwrap();
            fs::write(place.path(&format!("{host}/hostname")), format!("{host}\n")).unwrap();
            let sysctl = "net.inet.ip.forwarding: 0\nnet.inet6.ip6.forwarding: 0\n";
            fs::write(place.path(&format!("{host}/sysctl")), sysctl).unwrap();
        }
        let output = place.run(&["fix", "--from", "left", "--from", "right"]);
        let said = words(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for part in [
            "left: ",
            "right: ",
            "Nothing was changed: these are commands for the hosts that are named with them.",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let json = place.run(&[
            "fix", "--from", "left", "--from", "right", "--format", "json",
        ]);
        let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        let hosts: Vec<&str> = json["fixes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["host"].as_str().unwrap())
            .collect();
        assert!(
            hosts.contains(&"left") && hosts.contains(&"right"),
            "{hosts:?}"
        );
    });
}
