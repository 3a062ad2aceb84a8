//! After a power cut there is what was, or what is to be: every renaming is on disk before the next step.

use std::fs;
use std::process::Command;

use coalescope_needs::{self as needs, calls};

use crate::ab::Place;
use crate::common::Captures;
use crate::fix::{INTERFACES, RULE, hold};

/// Runs a command, looks at its renamings and those of whatever it starts, and gives back how many these were.
fn renamings(place: &Place, arguments: &[&str]) -> usize {
    let calls = "rename,renameat,renameat2,fsync,fdatasync";
    let calls = calls::of(&mut place.command(arguments), calls, None).unwrap();
    let (not_synced, renamings) = calls::not_synced(&calls.calls);
    assert!(not_synced.is_empty(), "{arguments:?}: {not_synced:?}");
    renamings
}

#[test]
fn journals_records_and_files_are_on_disk_before_what_they_are_about() {
    if !needs::programs(
        "what is renamed is synced",
        &["strace", "ip", "ethtool", "mount"],
    ) {
        return;
    }
    Place::with("what is renamed is synced", |place| {
        let shell = |line: &str| {
            Command::new("sh")
                .args(["-ec", line])
                .status()
                .unwrap()
                .success()
        };
        assert!(shell(
            "ip link add ifb9 type ifb && ethtool -K ifb9 gro off"
        ));
        assert!(shell(
            "mount -t tmpfs none /etc && mkdir /etc/network && mount -t tmpfs none /run"
        ));
        fs::write("/etc/network/interfaces", INTERFACES).unwrap();
        fs::create_dir(place.path("rules")).unwrap();
        fs::write(place.path("rules/site.yaml"), RULE).unwrap();
        hold();
        let set = [
            "ab",
            "--settle",
            "0",
            "--max-runs",
            "4",
            "--save",
            "record.json",
        ];
        let ab = [&set[..], &["--set", "t0:mtu=1400", "--", "true"]].concat();
        // At each change twice: what is about to be set, and what came of it.
        assert!(renamings(place, &ab) >= 8);
        let fix = ["fix", "--apply", "--persist", "--rules", "rules"];
        // Journals of settings and of files, and the file.
        assert!(renamings(place, &fix) >= 5);
        assert!(renamings(place, &["undo"]) >= 1);
        assert_eq!(
            fs::read_to_string("/etc/network/interfaces").unwrap(),
            INTERFACES
        );
        let story = Captures::of("hyperv-rsc-jumbo");
        fs::copy(story.path().join("VM-01.pcap"), place.path("a.pcap")).unwrap();
        assert_eq!(
            renamings(place, &["--quiet", "trace", "a.pcap", "--report", "a.html"]),
            1
        );
    });
}
