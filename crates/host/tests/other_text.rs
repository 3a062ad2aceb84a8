//! Saved output of FreeBSD, Windows and ESXi.

#[path = "other_text/bsd.rs"]
mod bsd;
#[path = "other_text/esxi.rs"]
mod esxi;
#[path = "other_text/windows.rs"]
mod windows;

use bsd::Sample;
use coalescope_host::model::{Platform, Snapshot};
use coalescope_host::text::{Reading, Text, read};
use proptest::prelude::*;
use serde_json::{Value, json};

fn samples() -> impl Iterator<Item = &'static Sample> {
    let all = [bsd::SAMPLES, windows::SAMPLES, esxi::SAMPLES];
    all.into_iter().flatten()
}

fn try_read(command: Option<&str>, body: &str) -> Option<Reading> {
    let origin = "saved";
    read(&Text {
        origin,
        command,
        body,
    })
}

fn snapshot(body: &str) -> Snapshot {
    try_read(None, body).expect("a known kind").snapshot
}

/// Whether a note has these words.
fn notes(snapshot: &Snapshot, words: &str) -> bool {
    let mut all = snapshot.unread.iter();
    all.any(|note| format!("{} {}", note.what, note.why).contains(words))
}

#[test]
fn every_sample_says_what_it_says() {
    for (name, command, body) in samples() {
        let reading = try_read(*command, body).unwrap_or_else(|| panic!("{name} is nobody's"));
        let shown = json!({"kind": reading.kind, "snapshot": reading.snapshot});
        insta::assert_json_snapshot!(*name, shown);
    }
}

#[test]
fn story_b_shows_lro_on_a_port_of_the_jails_bridge() {
    let snapshot = snapshot(bsd::STORY_B);
    let ix0 = &snapshot.interfaces["ix0"];
    assert_eq!(snapshot.platform, Some(Platform::Freebsd));
    assert!(ix0.features["LRO"].active);
    assert_eq!(ix0.master.as_deref(), Some("bridge0"));
    let bridge = snapshot.interfaces["bridge0"].bridge.as_ref();
    assert_eq!(bridge.map(|bridge| bridge.members.len()), Some(2));
    // Its other end is in the jail.
    let peer = snapshot.interfaces["epair0a"].peer.as_ref();
    assert_eq!(peer.map(|peer| peer.name.clone()), Some(None));
}

#[test]
fn story_e_shows_software_rsc_and_the_build() {
    let switch = &snapshot(windows::STORY_E).switches["LAN"];
    assert_eq!(switch.software_rsc, Some(true));
    assert_eq!(switch.kind.as_deref(), Some("external"));
    let kernel = snapshot(windows::VER).kernel;
    assert_eq!(kernel.as_deref(), Some("10.0.17763.1999"));
}

#[test]
fn linux_ifconfig_and_others_are_not_taken() {
    let others = [
        "eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        inet 192.0.2.1\n",
        "net0: flags=100001000843<UP,RUNNING> mtu 1500 index 2\n",
        "wm0: flags=0x8843<UP,BROADCAST> mtu 1500\n",
        "net.ipv4.ip_forward = 1\nnet.ipv4.ip_default_ttl = 64\n",
        "net.inet.ip.forwarding=1\n",
        "Ip:\n    3405107 total packets received\n",
        "Kernel IP routing table\nDestination Gateway Genmask Flags MSS Window irtt Iface\n",
        "Kernel Interface table\nIface MTU RX-OK RX-ERR\n",
        "Linux gate 6.1.0-25-amd64 #1 SMP Debian x86_64 GNU/Linux\n",
        "Features for eth0:\nrx-checksumming: on\n",
        "anonymous_enable=NO\nlocal_enable=YES\n",
        "NAME=\"Debian\"\nID=debian\n",
        "driver: virtio_net\nversion: 1.0.0\n",
        "[{\"ifname\": \"eth0\", \"mtu\": 1500}]",
        "Name : something\nValue : else\n\n",
        "",
        "\n\n",
    ];
    for body in others {
        let kind = try_read(None, body).map(|reading| reading.kind);
        let ours = [
            "BSD", "Get-", "esx", "ESXi", "rc.conf", "freebsd", "jls", "pfctl",
        ];
        let taken = kind.filter(|kind| ours.iter().any(|word| kind.contains(word)));
        assert_eq!(taken, None, "{body:?}");
    }
}

#[test]
fn a_line_without_its_end_is_left_out_and_named() {
    let body = bsd::STORY_B.trim_end_matches("\tgroups: enc\n");
    let cut = body.get(..body.len() - 6).unwrap_or_default();
    assert!(notes(&snapshot(cut), "last line without a line end"));
}

#[test]
fn two_hosts_in_one_text_are_not_mixed() {
    let both = format!(
        "{}{}",
        bsd::STORY_B,
        bsd::STORY_B.replace("mtu 1500", "mtu 9000")
    );
    let snapshot = snapshot(&both);
    assert_eq!(snapshot.interfaces["ix0"].mtu_bytes, Some(1500));
    assert!(notes(&snapshot, "another host"));
}

#[test]
fn a_switch_of_another_host_is_left_out() {
    let other = windows::STORY_E
        .replace(": LAN", ": WAN")
        .replace("HV01", "HV02");
    let snapshot = snapshot(&format!("{}{other}", windows::STORY_E));
    let names: Vec<&String> = snapshot.switches.keys().collect();
    assert_eq!(names, ["LAN", "inside"]);
    assert!(notes(&snapshot, "a second host"));
}

#[test]
fn first_lines_that_mail_broke_are_put_together() {
    let mail = bsd::STORY_B.replace("> metric", ">\nmetric");
    let broken = snapshot(&mail);
    assert_eq!(broken.interfaces, snapshot(bsd::STORY_B).interfaces);
    assert!(broken.unread.is_empty());
}

#[test]
fn two_adapters_of_nic_get_are_not_mixed() {
    let one = |name: &str, firmware: &str| {
        let head = "   Advertised Auto Negotiation: true\n   Driver Info:\n";
        format!("{head}         Driver: igbn\n{firmware}   Name: {name}\n")
    };
    let both = one("vmnic0", "") + &one("vmnic1", "         Firmware Version: 7\n");
    let snapshot = snapshot(&both);
    let firmware = |name: &str| {
        snapshot.interfaces[name]
            .driver
            .as_ref()?
            .firmware
            .as_deref()
    };
    assert_eq!(firmware("vmnic0"), None);
    assert_eq!(firmware("vmnic1"), Some("7"));
}

#[test]
fn notes_are_bounded() {
    let mut body = "ix0: flags=8843<UP,RUNNING> metric 0 mtu 1500\n".to_owned();
    for at in 0..1000 {
        body.push_str(&format!("\tstrange{at} thing\n"));
    }
    body.extend((1..=30).map(|length| format!("\t{} thing\n", "x".repeat(length))));
    let unread = snapshot(&body).unread;
    assert_eq!(unread.len(), 20);
    assert!(unread[0].why.ends_with("(1000 times)"), "{:?}", unread[0]);
    assert!(
        unread
            .last()
            .is_some_and(|last| last.what.contains("12 more"))
    );
}

#[test]
fn cut_json_gives_nothing_but_a_note() {
    let body = "[{\"Name\": \"LAN\", \"SwitchType\": 2, \"SoftwareRscEn";
    let snapshot = snapshot(body);
    assert!(snapshot.switches.is_empty());
    assert!(notes(&snapshot, "cut or damaged"));
}

#[test]
fn an_ambiguous_number_of_uplinks_is_not_guessed() {
    let body = "\
Name                            : LAN
SwitchType                      : External
NetAdapterInterfaceDescriptions : {A, B, C, D...}

";
    let snapshot = snapshot(body);
    assert!(snapshot.switches["LAN"].uplinks.is_empty());
}

/// Whether all that `part` says `whole` says too.
fn within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part.iter().all(|(key, value)| {
            let same = whole.get(key).is_some_and(|other| within(value, other));
            key == "unread" || same
        }),
        (Value::Array(part), Value::Array(whole)) => {
            let mut elements = part.iter();
            elements.all(|one| whole.iter().any(|other| within(one, other)))
        }
        _ => part == whole,
    }
}

#[test]
fn no_cut_says_what_the_whole_does_not() {
    for (name, command, body) in samples() {
        let whole = try_read(*command, body).map(|reading| json!(reading.snapshot));
        for (at, _) in body.char_indices().step_by(3) {
            let Some(cut) = try_read(*command, &body[..at]) else {
                continue;
            };
            let part = json!(cut.snapshot);
            let sound = whole.as_ref().is_some_and(|whole| within(&part, whole));
            assert!(sound, "{name} cut at {at}: {part:#}");
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(body in "(?s).{0,400}") {
        let _ = try_read(None, &body);
    }

    #[test]
    fn no_change_of_a_sample_makes_it_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        long in 0_usize..40,
        new in "[ -~\\n\\tä…語]{0,12}",
    ) {
        let all: Vec<_> = samples().collect();
        let (_, command, body) = which.get(&all);
        let mut chars: Vec<char> = body.chars().collect();
        let start = at.index(chars.len());
        let end = (start + long).min(chars.len());
        chars.splice(start..end, new.chars());
        let body: String = chars.into_iter().collect();
        let _ = try_read(*command, &body);
    }

    #[test]
    fn lines_of_several_samples_do_not_make_it_panic(
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..30),
    ) {
        let all: Vec<_> = samples().collect();
        let line = |(which, at): &(prop::sample::Index, prop::sample::Index)| {
            let lines: Vec<&str> = which.get(&all).2.lines().collect();
            format!("{}\n", at.get(&lines))
        };
        let body: String = picks.iter().map(line).collect();
        let _ = try_read(None, &body);
    }
}

/// As Microsoft's documents ask for them: a switch without its name, which the command has, and two lines of systeminfo.
#[test]
fn what_microsoft_asks_for_is_read() {
    use coalescope_host::sources::{Limits, read_bytes};

    let of = |text: &str| {
        let hosts = read_bytes("given", text.as_bytes(), &Limits::default());
        hosts.map(|mut hosts| hosts.remove(0).snapshot)
    };
    let table = "\nSoftwareRscEnabled RscOffloadEnabled\n------------------ -----------------\n              True             False\n\n";
    for command in [
        "Get-VMSwitch -Name vSwitch0 | Select-Object *RSC*",
        "Get-VMSwitch \"vSwitch0\" | Select *RSC*",
    ] {
        let host = of(&format!("PS C:\\> {command}\n{table}")).expect("understood");
        assert_eq!(
            host.switches["vSwitch0"].software_rsc,
            Some(true),
            "{command}"
        );
    }
    let unnamed = of(&format!(
        "PS C:\\> Get-VMSwitch | Select-Object *RSC*\n{table}"
    ));
    assert!(unnamed.is_err() || unnamed.is_ok_and(|host| host.switches.is_empty()));
    let lines = "OS Name:                   Microsoft Windows Server 2019 Standard\nOS Version:                10.0.17763 N/A Build 17763\n";
    let typed = "C:\\>systeminfo | findstr /B /C:\"OS Name\" /C:\"OS Version\"\n";
    let host = of(&format!("{typed}{lines}\n")).expect("understood");
    assert_eq!(host.kernel.as_deref(), Some("10.0.17763"));
    let version = host
        .distribution
        .and_then(|distribution| distribution.version);
    assert_eq!(version.as_deref(), Some("2019"));
}
