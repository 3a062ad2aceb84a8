//! Saved output of whole hosts, through everything: files, archives, bundles, and `collect.sh`.

use coalescope_needs as needs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use coalescope_host::model::{Platform, Snapshot};
use coalescope_host::sources::{Limits, read_bytes, read_hosts};

fn one(bytes: &[u8]) -> Snapshot {
    let mut hosts = read_bytes("given", bytes, &Limits::default()).expect("it is understood");
    assert_eq!(hosts.len(), 1);
    hosts.remove(0).snapshot
}

fn unread(snapshot: &Snapshot) -> Vec<String> {
    let lines = snapshot.unread.iter();
    lines
        .map(|line| format!("{}: {}", line.what, line.why))
        .collect()
}

const FEATURES: &str = "Features for eno1:\nrx-checksumming: on\ngeneric-receive-offload: on\n\
                        large-receive-offload: off [fixed]\n";

/// What a command writes to stderr stands in front of what it prints.
#[test]
fn complaints_in_front_of_a_text_are_passed_over() {
    let said = "Cannot get device udp-fragmentation-offload settings: Operation not supported\n";
    let host = one(format!("{said}netlink error: x\n\n{FEATURES}").as_bytes());
    assert!(host.interfaces["eno1"].features["generic-receive-offload"].active);
    assert_eq!(unread(&host), [""; 0]);
    let cut = "Dump was interrupted and may be inconsistent.\n";
    let host = one(format!("{cut}{FEATURES}").as_bytes());
    assert!(host.interfaces.contains_key("eno1"));
    assert_eq!(unread(&host).len(), 1, "{:?}", unread(&host));
}

/// So does a login, and a mail indents what it quotes. A file of a tree may be anything, and is what it begins with.
#[test]
fn a_login_in_front_of_a_list_and_an_indented_list_are_read() {
    let motd = "Welcome to Ubuntu 24.04.1 LTS (GNU/Linux 6.8.0-45-generic x86_64)\n\n \
        * Documentation:  https://help.example.com\n\n  System load:  0.08\n\nLast login: Mon Nov 23 09:12:44 2026\n";
    let links = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\n";
    for front in ["[sudo] password for admin: \n", "hello\n", motd] {
        for list in [FEATURES, links] {
            let host = one(format!("{front}{list}").as_bytes());
            assert_eq!(host.interfaces.len(), 1, "{front}{list}");
            let said = unread(&host);
            assert!(
                said.len() == 1 && said[0].contains("in front of it left out"),
                "{said:?}"
            );
        }
        let typed = format!("root@a:~# sudo ethtool -k eno1\n{front}{FEATURES}");
        assert!(
            one(typed.as_bytes()).interfaces.contains_key("eno1"),
            "{front}"
        );
    }
    let indented: String = FEATURES
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    assert!(one(indented.as_bytes()).interfaces.contains_key("eno1"));
    assert!(read_bytes("given", b"some words\nhost\n5.1.0\n", &Limits::default()).is_err());
    let tree = tempfile::tempdir().expect("a folder");
    let note = format!("As I saw on the other host:\n{FEATURES}");
    fs::write(tree.path().join("notes"), note).expect("written");
    fs::write(tree.path().join("ip-link"), links).expect("written");
    let hosts = read_hosts(&[tree.path().to_owned()]).expect("it is understood");
    assert!(!hosts[0].snapshot.interfaces.contains_key("eno1"));
}

#[test]
fn brief_lists_of_iproute2_are_read() {
    let host = one(b"lo               UNKNOWN        127.0.0.1/8 ::1/128 \n\
        eth0             UP             192.0.2.1/24 metric 100 2001:db8::1/64 \n\
        eth1             DOWN           \n\
        ppp0             UNKNOWN        192.0.2.9 peer 192.0.2.10/32 \n\
        eth0.5@eth0      UP             198.51.100.1/24 \n");
    assert_eq!(unread(&host), [""; 0]);
    let of = |name: &str| &host.interfaces[name];
    assert_eq!(of("eth0").addresses, ["192.0.2.1/24", "2001:db8::1/64"]);
    assert_eq!(
        (of("eth0").up, of("eth1").carrier),
        (Some(true), Some(false))
    );
    assert_eq!(of("eth0.5").parent.as_deref(), Some("eth0"));
    assert!(of("eth1").addresses.is_empty());
    let host = one(
        b"lo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP> \n\
        eth0             UP             52:54:00:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP> \n",
    );
    assert_eq!(unread(&host), [""; 0]);
    assert_eq!(
        host.interfaces["eth0"].mac.as_deref(),
        Some("52:54:00:00:00:01")
    );
    // Words in columns are no links.
    assert!(read_bytes("given", b"eth0 UP today\n", &Limits::default()).is_err());
}

/// collect.sh looks for the lines of the log that rules know, and for no others.
/// With -j iproute2 says of nothing that it is an empty list: that is not a text that nobody knows.
#[test]
fn an_empty_list_is_nothing_that_was_not_read() {
    let host = one(b"# coalescope bundle 1\n#= by test\n\
        #= section 1 rc=0 lines=1 bridge -j -d link show\n|[]\n\
        #= section 2 rc=0 lines=1 uname -r\n|6.1.0-25-amd64\n#= end sections=2\n");
    assert_eq!(host.kernel.as_deref(), Some("6.1.0-25-amd64"));
    assert_eq!(unread(&host), [""; 0]);
}

#[test]
fn the_collector_knows_the_same_lines_of_the_log() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = fs::read_to_string(here.join("../../scripts/collect.sh")).expect("it is there");
    let known = fs::read_to_string(here.join("src/signatures.rs")).expect("it is there");
    let (_, list) = known.split_once("SIGNATURES: [").expect("the list");
    let list = list.split_once("];").expect("its end").0;
    let lines = list
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('"'));
    let mut seen = 0;
    for line in lines {
        let words = line.trim_matches(['"', ',']);
        let asks = [
            format!("-e {words} "),
            format!("-e '{words}'"),
            format!("-e {words}\n"),
        ];
        assert!(asks.iter().any(|asks| script.contains(asks)), "{words}");
        seen += 1;
    }
    assert!(seen > 5, "the list is not where it was");
}

#[test]
fn pasted_commands_of_a_linux_host() {
    let text = format!(
        "root@hv1:~# ethtool -k eno1\n{FEATURES}root@hv1:~# cat /proc/sys/net/ipv4/ip_forward\n1\n\
         root@hv1:~# ethtool -S eno1\nNIC statistics:\n     rx_packets: 12\n     rx_gro: 3\n\
         root@hv1:~# uname -r\n"
    );
    let host = one(text.as_bytes());
    assert_eq!(host.name.as_deref(), Some("hv1"));
    assert_eq!(host.platform, Some(Platform::Linux));
    let interface = &host.interfaces["eno1"];
    assert!(interface.features["generic-receive-offload"].active);
    assert_eq!(interface.statistics["rx_packets"], 12);
    assert_eq!(host.stack.sysctls["net.ipv4.ip_forward"], "1");
    assert_eq!(unread(&host), [""; 0]);
}

#[test]
fn a_sosreport_and_its_namespaces() {
    let top = "sosreport-hv1-2024-03-01-abcdefg";
    let folder = tempfile::tempdir().unwrap();
    let networking = format!("{top}/sos_commands/networking");
    for (name, text) in [
        (format!("{networking}/ethtool_-k_eno1"), FEATURES),
        (
            format!("{networking}/namespaces/blue/ip_netns_exec_blue_ethtool_-k_eno1"),
            FEATURES,
        ),
        (format!("{top}/proc/sys/net/ipv4/ip_forward"), "1\n"),
        (
            format!("{top}/etc/sysctl.conf"),
            "# comment\nnet.ipv4.ip_forward = 0\n",
        ),
        (format!("{top}/var/log/messages"), "something else\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let hosts = read_hosts(&[folder.path().to_owned()]).unwrap();
    assert_eq!(hosts.len(), 1);
    let host = &hosts[0].snapshot;
    assert_eq!(host.name.as_deref(), Some("hv1"));
    assert_eq!(
        host.interfaces["ns/blue/eno1"].namespace.as_deref(),
        Some("blue")
    );
    assert_eq!(host.stack.sysctls["net.ipv4.ip_forward"], "1");
}

#[test]
fn windows_output_in_utf16() {
    let text = "PS C:\\> Get-NetAdapterRsc | fl\r\n\r\nName                 : Ethernet\r\n\
                IPv4Enabled          : True\r\nIPv6Enabled          : False\r\n\
                IPv4OperationalState : True\r\nIPv6OperationalState : False\r\n\r\nPS C:\\> \r\n";
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    let host = one(&bytes);
    assert_eq!(host.platform, Some(Platform::Windows));
    assert!(host.interfaces["Ethernet"].features["rsc-ipv4"].active);
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/collect.sh")
}

/// Interfaces of a namespace that the test makes for itself.
const INTERFACES: &str = "set -e; ip link set lo up; ip link add br0 type bridge; \
    ip link add v0 type veth peer name v1; ip link set v0 mtu 1400 master br0 up; \
    ethtool -K v0 gro off 2>/dev/null >&2; echo 1 >/proc/sys/net/ipv4/ip_forward; set +e; ";

/// Runs a shell in a new network namespace; `None` if that may not be, and the test is skipped.
fn in_namespace(test: &str, shell: &[&str], text: &str) -> Option<Output> {
    if !needs::programs(test, &["unshare", "mount", "ip", "ethtool", shell[0]]) {
        return None;
    }
    // With a /sys of its own: that of another namespace shows other interfaces.
    let mount = "mount -t sysfs none /sys && ";
    let text = format!("{mount}{INTERFACES}{text}");
    let mut command = Command::new("unshare");
    command.args(["-n", "-m"]).args(shell).args(["-c", &text]);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && (said.contains("not permitted") || said.contains("denied")) {
        needs::skipped(test, format_args!("no new network namespace: {said}"));
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(output)
}

fn check_collected(host: &Snapshot) {
    let v0 = &host.interfaces["v0"];
    assert_eq!(
        (v0.mtu_bytes, v0.master.as_deref()),
        (Some(1400), Some("br0"))
    );
    assert!(!v0.features["generic-receive-offload"].active);
    assert_eq!(host.stack.sysctls["net.ipv4.ip_forward"], "1");
    assert_eq!(host.platform, Some(Platform::Linux));
    assert!(host.kernel.is_some() && host.name.is_some() && !host.softnet.is_empty());
}

#[test]
fn what_collect_sh_prints_is_read() {
    for (shell, timeout) in [
        (&["dash"][..], ""),
        (&["busybox", "sh"], "1"),
        (&["bash"], "1"),
    ] {
        let run = format!("COLLECT_WITHOUT_TIMEOUT={timeout} . {}", script().display());
        let Some(output) = in_namespace("what_collect_sh_prints_is_read", shell, &run) else {
            continue;
        };
        let host = one(&output.stdout);
        check_collected(&host);
        let lines = unread(&host);
        let bad = [
            "not recognised",
            "lines are there",
            "end of the bundle",
            "no collector",
        ];
        let bad: Vec<_> = lines
            .iter()
            .filter(|line| bad.iter().any(|word| line.contains(word)))
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }
}

/// With neither ip nor ethtool to be found, `/sys` and `/proc` are read.
#[test]
fn collect_sh_does_without_ip_and_ethtool() {
    let tools = tempfile::tempdir().unwrap();
    for tool in [
        "sed", "grep", "cat", "wc", "id", "uname", "readlink", "tr", "cut", "sleep", "sort",
    ] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {tool}")])
            .output()
            .unwrap();
        let path = String::from_utf8(found.stdout).unwrap();
        fs::write(
            tools.path().join(tool),
            format!("#!/bin/sh\nexec {} \"$@\"\n", path.trim()),
        )
        .unwrap();
    }
    let text = fs::read_to_string(script()).unwrap();
    let text = text.replace("\nPATH=$PATH:", "\nunused=");
    let copy = tools.path().join("collect.sh");
    fs::write(&copy, text).unwrap();
    let run = format!(
        "chmod +x {0}/*; PATH={0}; . {1}",
        tools.path().display(),
        copy.display()
    );
    let Some(output) = in_namespace("collect_sh_does_without_ip_and_ethtool", &["dash"], &run)
    else {
        return;
    };
    let host = one(&output.stdout);
    let v0 = &host.interfaces["v0"];
    assert_eq!(
        (v0.mtu_bytes, v0.master.as_deref()),
        (Some(1400), Some("br0"))
    );
    assert_eq!(host.stack.sysctls["net.ipv4.ip_forward"], "1");
    let lines = unread(&host);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("ethtool: not installed")),
        "{lines:?}"
    );
}

/// A command that hangs costs its time, and nothing else; with and without timeout(1).
#[test]
fn collect_sh_gives_up_what_hangs() {
    let tools = tempfile::tempdir().unwrap();
    fs::write(
        tools.path().join("bridge"),
        "#!/bin/sh\necho cut\nexec sleep 60\n",
    )
    .unwrap();
    for timeout in ["", "1"] {
        let run = format!(
            "chmod +x {0}/bridge; PATH={0}:$PATH COLLECT_SECONDS=1 COLLECT_WITHOUT_TIMEOUT={timeout} \
             dash {1}",
            tools.path().display(),
            script().display()
        );
        let Some(output) = in_namespace("collect_sh_gives_up_what_hangs", &["dash"], &run) else {
            return;
        };
        let host = one(&output.stdout);
        check_collected(&host);
        let lines = unread(&host);
        assert!(
            lines.iter().any(|line| line.contains("it took too long")),
            "{lines:?}"
        );
    }
}

/// Each answer puts a mark before what it quotes, and words of its own in front or between.
#[test]
fn what_a_mail_quotes_is_read_whatever_stands_between() {
    let typed =
        format!("root@gw:~# ethtool -k eno1\n{FEATURES}root@gw:~# uname -r\n6.1.0-18-amd64\n");
    let plain = one(typed.as_bytes());
    let answer = "Hi Tom,\n\nhere is what you asked for.\n\nAm 12.03.24 um 10:11 schrieb Tom:\n";
    for mark in ["> ", ">> ", "> > ", ">>> ", "> >> "] {
        let quoted: String = typed
            .lines()
            .map(|line| format!("{mark}{line}\n"))
            .collect();
        for text in [
            quoted.clone(),
            format!("{answer}{quoted}"),
            format!("{quoted}\nbye\n"),
        ] {
            assert_eq!(one(text.as_bytes()), plain, "{text}");
        }
    }
    let page = format!("Look:\n\n```\n{typed}```\n");
    let host = one(page.as_bytes());
    assert!(host.interfaces["eno1"].features["generic-receive-offload"].active);
}

/// OpenBSD prints what is a line of a file of settings elsewhere: only its command says that this is set.
#[test]
fn sysctls_of_openbsd_are_read_after_their_command() {
    let typed = "puffy# sysctl net.inet.ip.forwarding\nnet.inet.ip.forwarding=1\n";
    let host = one(typed.as_bytes());
    assert_eq!(host.platform, Some(Platform::Openbsd));
    assert_eq!(host.stack.sysctls["net.inet.ip.forwarding"], "1");
    assert_eq!(unread(&host), [""; 0]);
    for other in [
        "puffy# cat /etc/sysctl.conf\nnet.inet.ip.forwarding=1\n",
        "net.inet.ip.forwarding=1\n",
    ] {
        let read = read_bytes("given", other.as_bytes(), &Limits::default());
        let is_set = |hosts: Vec<coalescope_host::sources::Host>| {
            !hosts[0].snapshot.stack.sysctls.is_empty()
        };
        assert!(!read.is_ok_and(is_set), "{other}");
    }
}

/// Outputs of which nothing is of use are no reason for a warning.
#[test]
fn queues_and_macsec_are_known() {
    let links = "3: macsec0@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1468 qdisc noqueue state UP\n    \
        link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535\n    \
        macsec sci 5254000000020001 protect on cipher GCM-AES-128 icvlen 16 encodingsa 0 validate strict encrypt on \
        send_sci on end_station off scb off replay off\n";
    let text = format!(
        "root@a:~# tc qdisc show\nqdisc noqueue 0: dev lo root refcnt 2 \nqdisc mq 0: dev eth0 root \n\
         root@a:~# ip -d link\n{links}"
    );
    let host = one(text.as_bytes());
    assert_eq!(unread(&host), [""; 0]);
    assert_eq!(host.interfaces["macsec0"].kind.as_deref(), Some("macsec"));
}

/// FreeBSD lists what is enabled, with its number: LRO that is not among it is off, where the list is whole.
#[test]
fn what_freebsd_does_not_list_is_off() {
    for (options, lro) in [
        (
            "800a8<VLAN_MTU,JUMBO_MTU,VLAN_HWCSUM,LINKSTATE>",
            Some(false),
        ),
        ("0", Some(false)),
        ("800428<VLAN_MTU,JUMBO_MTU,LRO,LINKSTATE>", Some(true)),
        // Wrapped or edited.
        ("800428<VLAN_MTU,JUMBO_MTU", None),
        ("800428<VLAN_MTU,JUMBO_MTU,LINKSTATE>", None),
    ] {
        let text = format!(
            "vtnet0: flags=8843<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\toptions={options}\n\tether 52:54:00:00:00:01\n"
        );
        let host = one(text.as_bytes());
        let read = host.interfaces["vtnet0"].features.get("LRO");
        assert_eq!(read.map(|feature| feature.active), lro, "{options}");
    }
}

/// A file of settings says what is set at the next start, and nothing of what is.
#[test]
fn a_file_of_settings_tells_nothing_of_what_is() {
    let file = "root@gw:~# cat /etc/sysctl.d/99-router.conf\nnet.ipv4.ip_forward=1\nnet.ipv6.conf.all.forwarding=1\n";
    let links = "root@gw:~# ip link\n1: lo: <UP> mtu 65536 qdisc noqueue state UNKNOWN\n";
    assert!(
        one(format!("{file}{links}").as_bytes())
            .stack
            .sysctls
            .is_empty()
    );
    let asked = "root@gw:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n";
    for text in [format!("{file}{asked}"), format!("{asked}{file}")] {
        let host = one(text.as_bytes());
        let known: Vec<_> = host.stack.sysctls.iter().collect();
        assert_eq!(
            known,
            [(&"net.ipv4.ip_forward".to_owned(), &"0".to_owned())],
            "{text}"
        );
    }
}

/// ethtool prints what it has changed where this is more than was asked for.
#[test]
fn changes_that_ethtool_prints_are_later_than_what_was_on() {
    let text = format!(
        "root@a:~# ethtool -k eno1\n{}root@a:~# sudo ethtool -K eno1 gro on lro off\nActual changes:\n\
         large-receive-offload: off\nrx-gro-hw: off [not requested]\n",
        FEATURES.replace("off [fixed]", "on")
    );
    let host = one(text.as_bytes());
    let features = &host.interfaces["eno1"].features;
    assert!(features["generic-receive-offload"].active);
    assert!(!features["large-receive-offload"].active && !features["rx-gro-hw"].active);
}
