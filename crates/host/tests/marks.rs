//! What stands around or beside output where people and their tools put it: marks of pages, labels of each line, words of
//! others below, and files of a tree.

use std::fs;

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Host, Limits, read_bytes, read_hosts};

fn hosts(text: &str) -> Vec<Host> {
    read_bytes("given", text.as_bytes(), &Limits::default()).expect("it is understood")
}

fn one(text: &str) -> Snapshot {
    let mut all = hosts(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0).snapshot
}

fn has_lro(host: &Snapshot, name: &str) -> Option<bool> {
    let features = &host.interfaces.get(name)?.features;
    Some(features.get("large-receive-offload")?.active)
}

const FEATURES: &str = "Features for eth0:\nrx-checksumming: on\nlarge-receive-offload: on\n";
const LINKS: &str = "2: eth0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq master br0 state UP\n    \
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n";

/// A shell needs no blank before what ends a command.
#[test]
fn the_interface_of_a_command_ends_before_a_pipe() {
    let picked = "generic-receive-offload: on\nlarge-receive-offload: on\n";
    for rest in [
        "|grep offload",
        "| grep offload",
        "|cat",
        ";",
        " 2>&1|cat",
        ">&1",
    ] {
        for prompt in ["root@gw1:~# ", "~# ", "/tmp/x # ", "$ "] {
            let text = format!("{prompt}ethtool -k eth0{rest}\n{picked}");
            assert_eq!(has_lro(&one(&text), "eth0"), Some(true), "{text}");
        }
    }
}

/// A page has a backquote around code, at both ends of each line or of a block, and references in place of some characters.
#[test]
fn marks_of_a_page_are_none_of_the_output() {
    let typed = format!("root@gw1:~# ip link\n{LINKS}root@gw1:~# ethtool -k eth0\n{FEATURES}");
    let escaped = typed.replace('<', "&lt;").replace('>', "&gt;");
    let spanned = format!("as asked:\n\n`{}`\n\nthanks\n", typed.trim_end());
    let bold = format!(
        "**ip link show eth0**\n`{}`\n\n**ethtool -k eth0**\n`{}`\n",
        LINKS.trim_end(),
        FEATURES.trim_end()
    );
    let by_line =
        "`ethtool -k eth0`\n\n`large-receive-offload: on`\n\n`ip link`\n\n".to_owned() + LINKS;
    for text in [escaped, spanned, bold, by_line] {
        let host = one(&text);
        assert_eq!(has_lro(&host, "eth0"), Some(true), "{text}");
        assert_eq!(
            host.interfaces["eth0"].master.as_deref(),
            Some("br0"),
            "{text}"
        );
    }
}

/// A line as a tool prints it, with the name in front of it.
type Labelled<'a> = &'a dyn Fn(&str, &str) -> String;

/// Tools put a name in front of each line that a host or a container printed.
#[test]
fn labels_of_each_line_name_hosts() {
    let outputs = [
        FEATURES.to_owned(),
        FEATURES.replace("offload: on", "offload: off"),
    ];
    let forms: [Labelled<'_>; 5] = [
        &|host, line| format!("{host}:{line}\n"),
        &|host, line| format!("saved/{host}.log:{line}\n"),
        &|host, line| format!("{host:<6} | {line}\n"),
        &|host, line| format!("[pod/{host}/agent] {line}\n"),
        &|host, line| format!("{host}\t{line}\n"),
    ];
    for form in forms {
        let of = |(host, output): (&str, &String)| -> String {
            output.lines().map(|line| form(host, line)).collect()
        };
        let text: String = ["gw1", "gw2"].into_iter().zip(&outputs).map(of).collect();
        let lro: Vec<_> = hosts(&text)
            .iter()
            .map(|host| (host.snapshot.name.clone(), has_lro(&host.snapshot, "eth0")))
            .collect();
        let expected = [("gw1", true), ("gw2", false)];
        let expected = expected.map(|(name, lro)| (Some(name.to_owned()), Some(lro)));
        assert_eq!(lro, expected, "{text}");
    }
}

/// The names of files that grep(1) puts in front say which interface a line is of.
#[test]
fn labels_that_are_files_name_commands() {
    let text = "sos/ethtool_-k_eth0:large-receive-offload: on\nsos/ethtool_-k_eth1:large-receive-offload: off [fixed]\n";
    let more = FEATURES
        .replace("eth0", "eth1")
        .replace("offload: on", "offload: off");
    let by_hand = |file: &str, output: &str| -> String {
        output
            .lines()
            .map(|line| format!("{file}.txt:{line}\n"))
            .collect()
    };
    let by_hand = by_hand("ethtool_eth0", FEATURES) + &by_hand("ethtool_eth1", &more);
    for text in [text, &by_hand] {
        let host = one(text);
        assert_eq!(has_lro(&host, "eth0"), Some(true), "{text}");
        assert_eq!(has_lro(&host, "eth1"), Some(false), "{text}");
    }
}

/// `ip neigh` begins like the route to a host, and is none.
#[test]
fn neighbours_are_no_routes() {
    for state in ["REACHABLE", "STALE", "PERMANENT", "router STALE"] {
        let text = format!(
            "root@gw1:~# ip neigh\n192.0.2.7 dev eth0 lladdr 52:54:00:00:00:07 {state}\n192.0.2.8 dev eth0  FAILED\n\
             root@gw1:~# ip link\n{LINKS}"
        );
        assert_eq!(one(&text).stack.routes, [], "{text}");
    }
    let host = one("root@gw1:~# ip route\n192.0.2.7 dev eth0 scope link\n");
    assert_eq!(host.stack.routes.len(), 1);
}

/// Words of an author stand below a list as well as above.
#[test]
fn words_below_a_brief_list_are_named_and_the_list_is_read() {
    for command in [
        "ip -br addr",
        "ip -4 -br addr",
        "ip --brief addr",
        "ip -brief a",
    ] {
        let text = format!(
            "$ {command}\nlo               UNKNOWN        127.0.0.1/8\neth0             UP             192.0.2.1/24\n\n\
             That is all: no more links\n"
        );
        let host = one(&text);
        assert_eq!(
            host.interfaces["eth0"].addresses,
            ["192.0.2.1/24"],
            "{text}"
        );
        let unread: Vec<_> = host.unread.iter().map(|unread| &unread.what).collect();
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert!(unread[0].contains("That is all"), "{unread:?}");
    }
}

/// Files of /proc/sys hold several numbers with a tab between them, as `cat -n` has one before each line.
#[test]
fn settings_of_several_numbers_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("proc/sys/net/ipv4");
    fs::create_dir_all(&settings).unwrap();
    for (name, value) in [
        ("tcp_rmem", "4096\t131072\t6291456\n"),
        ("ip_local_port_range", "1\t65535\n"),
    ] {
        fs::write(settings.join(name), value).unwrap();
    }
    let found = read_hosts(&[folder.path().to_owned()]).unwrap();
    let sysctls = &found[0].snapshot.stack.sysctls;
    assert_eq!(sysctls["net.ipv4.tcp_rmem"], "4096\t131072\t6291456");
    assert_eq!(sysctls["net.ipv4.ip_local_port_range"], "1\t65535");
}

/// A sosreport has files of each interface and namespace that nothing here reads: they are counted, and those that could have
/// been of use are named.
#[test]
fn only_what_could_be_of_use_is_named_as_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("sos_commands/networking/ethtool_-k_eth0", FEATURES),
        (
            "sos_commands/networking/ethtool_-T_eth0",
            "Time stamping parameters for eth0:\n",
        ),
        (
            "sos_commands/networking/ethtool_--show-eee_eth0",
            "netlink error: x\n",
        ),
        (
            "sos_commands/networking/ip_netns_exec_blue_conntrack_-S",
            "cpu=0 found=0\n",
        ),
        ("proc/sys/vm/swappiness", "60\n"),
        ("sos_commands/networking/ethtool_-g_eth0", "cut\n"),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let found = read_hosts(&[folder.path().to_owned()]).unwrap();
    let notes = found[0].snapshot.unread.iter();
    let notes: Vec<_> = notes
        .map(|note| format!("{}: {}", note.what, note.why))
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes
            .iter()
            .any(|note| note.contains("ethtool_-g_eth0: not recognised")),
        "{notes:?}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.contains("4 files: not output")),
        "{notes:?}"
    );
}

/// Drivers without a version of their own have the kernel's.
#[test]
fn the_kernel_is_told_by_a_driver() {
    let driver = |version: &str| {
        one(&format!(
            "$ ethtool -i eth0\ndriver: ixgbe\nversion: {version}\nbus-info: 0000:01:00.0\n"
        ))
        .kernel
    };
    assert_eq!(driver("6.1.0-25-amd64").as_deref(), Some("6.1.0-25-amd64"));
    assert_eq!(driver("5.1.0-k"), None);
}

/// Of the definition of a guest, people show the element of its interface alone, with quotes of either kind.
#[test]
fn an_interface_of_a_guest_is_one_without_the_rest_of_its_definition() {
    let element = "<interface type='bridge'>\n  <source bridge='br0'/>\n  <target dev='vnet3'/>\n</interface>\n";
    for element in [element.to_owned(), element.replace('\'', "\"")] {
        let host = one(&format!("The guest has:\n\n{element}"));
        assert_eq!(
            host.interfaces["vnet3"].master.as_deref(),
            Some("br0"),
            "{element}"
        );
        let said: Vec<_> = host.unread.iter().map(|unread| &unread.why).collect();
        assert!(said.iter().all(|why| !why.contains("middle")), "{said:?}");
    }
}

/// A program for macOS prints like `ip addr`, of interfaces that are none of Linux.
#[test]
fn links_of_macos_are_none_of_linux() {
    let text = "1: lo0: <UP,LOOPBACK,RUNNING> mtu 16384 status UNKNOWN\n\tinet 127.0.0.1/8\n\
        2: en0: <UP,BROADCAST,RUNNING> mtu 1500 status UP\n\tether 52:54:00:00:00:02\n";
    assert!(read_bytes("given", text.as_bytes(), &Limits::default()).is_err());
}
