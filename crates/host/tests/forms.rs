//! One fact in each form in which people save it: around it, beside it, or by another option of its command.

use coalescope_host::model::Snapshot;
use coalescope_host::sources::{Host, Limits, read_bytes, read_hosts};

fn hosts(text: &str) -> Vec<Host> {
    read_bytes("given", text.as_bytes(), &Limits::default()).expect("it is understood")
}

fn one(text: &str) -> Snapshot {
    let mut all = hosts(text);
    let names: Vec<_> = all.iter().map(|host| host.snapshot.name.clone()).collect();
    assert_eq!(all.len(), 1, "{names:?} of\n{text}");
    all.remove(0).snapshot
}

const LINKS: &str = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    \
    link/ether 52:54:00:00:00:02 brd ff:ff:ff:ff:ff:ff\n\
    3: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    \
    link/ether 52:54:00:00:00:03 brd ff:ff:ff:ff:ff:ff\n";

fn has_lro(host: &Snapshot, name: &str) -> Option<bool> {
    let lro = host
        .interfaces
        .get(name)?
        .features
        .get("large-receive-offload")?;
    Some(lro.active)
}

/// Each host with the LRO of its eth0, where that was read.
fn lro_of(hosts: &[Host]) -> Vec<(String, bool)> {
    let named = hosts.iter().filter_map(|host| {
        let lro = has_lro(&host.snapshot, "eth0")?;
        Some((host.snapshot.name.clone()?, lro))
    });
    named.collect()
}

/// What stands below the name of an interface whose LRO is so.
type Body<'a> = &'a dyn Fn(&str, &str) -> String;

/// A loop prints the name of each interface above its output: these are no hosts.
#[test]
fn names_of_interfaces_above_outputs_name_interfaces() {
    let headings = [
        "# {}",
        "## {}",
        "### {}",
        "=== {} ===",
        "--- {} ---",
        "***** {} *****",
        "{}",
        "{}:",
        "[{}]",
        "==> {} <==",
        "Interface: {}",
        "NIC {}:",
        "## ethtool {}",
        "-- {} --",
        ">>> {} <<<",
    ];
    let features = |name: &str, lro: &str| {
        format!("Features for {name}:\ngeneric-receive-offload: on\nlarge-receive-offload: {lro}\n")
    };
    let picked =
        |_: &str, lro: &str| format!("generic-receive-offload: on\nlarge-receive-offload: {lro}\n");
    let with_driver =
        |name: &str, lro: &str| format!("driver: ixgbe\nversion: 6.1\n{}", picked(name, lro));
    let bodies: [Body<'_>; 3] = [&features, &picked, &with_driver];
    let prompt = "[root@gw ~]# ";
    for heading in headings {
        for body in bodies {
            let below = |name: &str, lro: &str| {
                format!("{}\n{}", heading.replace("{}", name), body(name, lro))
            };
            let listed = format!(
                "{prompt}uname -a\nLinux gw 6.1.0 #1 SMP x86_64 GNU/Linux\n{prompt}ip link\n{LINKS}"
            );
            let command = "for i in eth0 eth1; do echo $i; ethtool -i $i | head -2; ethtool -k $i | grep recei; done";
            let text = format!(
                "{listed}{prompt}{command}\n{}{}",
                below("eth0", "on"),
                below("eth1", "off")
            );
            let host = one(&text);
            assert_eq!(host.name.as_deref(), Some("gw"));
            let lro = ["eth0", "eth1"].map(|name| has_lro(&host, name));
            assert_eq!(lro, [Some(true), Some(false)], "{text}");
            // The same in what a script wrote, without prompts.
            let bare = format!(
                "Linux gw 6.1.0 #1 SMP x86_64 GNU/Linux\n{LINKS}\n{}\n{}",
                below("eth0", "on"),
                below("eth1", "off")
            );
            let host = one(&bare);
            let lro = ["eth0", "eth1"].map(|name| has_lro(&host, name));
            assert_eq!(lro, [Some(true), Some(false)], "{bare}");
        }
    }
}

/// A loop may print the name below what is about it: nobody knows which it is then, and nothing is guessed.
#[test]
fn names_below_their_outputs_name_nothing_above_others() {
    let command = "for i in eth0 eth1; do ethtool -k $i | grep large-receive; echo $i; done";
    let text = format!(
        "root@gw:~# ip link\n{LINKS}root@gw:~# {command}\nlarge-receive-offload: off\neth0\nlarge-receive-offload: on\neth1\n"
    );
    let host = one(&text);
    assert_eq!(
        ["eth0", "eth1"].map(|name| has_lro(&host, name)),
        [None, None]
    );
}

/// A command in a fence of its own, and its output in the next.
#[test]
fn a_command_and_its_output_may_be_in_blocks_of_their_own() {
    let block = |text: &str| format!("```\n{text}```\n\n");
    let text = [
        block("root@gw:~# ip link\n"),
        block(LINKS),
        block("root@gw:~# sysctl -n net.ipv4.ip_forward\n"),
        block("1\n"),
        "That is all.\n".to_owned(),
    ];
    assert_eq!(forwarding(&one(&text.concat())), Some("1"));
}

/// A file that somebody collected may hold other hosts, and so may what a loop prints, whatever is typed beside it.
/// Markdown has blocks that are indented, with paragraphs at the left.
#[test]
fn blocks_that_are_indented_are_read_below_words_of_their_author() {
    let features = "Features for eth0:\ngeneric-receive-offload: on\nlarge-receive-offload: on\n";
    let blocks = [
        format!("$ ip link\n{LINKS}$ ethtool -k eth0\n{features}"),
        format!("{LINKS}\n{features}"),
        format!("root@gw:~# ip link\n{LINKS}\nroot@gw:~# ethtool -k eth0\n{features}"),
    ];
    for block in blocks {
        for indentation in ["    ", "\t"] {
            let set_in = |line: &str| match line {
                "" => "\n".to_owned(),
                line => format!("{indentation}{line}\n"),
            };
            let block: String = block.lines().map(set_in).collect();
            let text =
                format!("I have a slow box:\n\n{block}\nWhat is wrong with it?\n\nThanks!\n");
            let host = one(&text);
            assert_eq!(has_lro(&host, "eth0"), Some(true), "{text}");
            assert!(host.interfaces.contains_key("eth1"), "{text}");
        }
    }
}

#[test]
fn collected_hosts_stay_hosts_where_they_are_printed_at_a_prompt() {
    let share = |host: &str, lro: &str| {
        format!(
            "=== {host} ===\n{LINKS}Features for eth0:\nlarge-receive-offload: {lro}\nnet.ipv4.ip_forward = 1\n"
        )
    };
    let shares = [share("gw1", "on"), share("gw2", "off")].concat();
    for command in [
        "cat out.txt",
        "sudo cat /root/out.txt",
        "cat /run/user/1000/all.txt",
        "ip -br link; for h in gw1 gw2; do echo \"=== $h ===\"; ssh $h 'ip link; ethtool -k eth0'; done",
        "cat hosts | while read h; do echo \"=== $h ===\"; ssh -n $h 'ip link'; done",
    ] {
        let all = hosts(&format!("me@adm:~$ {command}\n{shares}"));
        assert_eq!(
            lro_of(&all),
            [("gw1".to_owned(), true), ("gw2".to_owned(), false)],
            "{command}"
        );
    }
}

/// Tabs get lost where a terminal is copied: the last line of a table is no title of what was typed or printed next.
#[test]
fn names_of_ports_at_the_left_are_no_titles() {
    let prompt = "root@kvm:~# ";
    let features = "Features for eth1:\nlarge-receive-offload: off\n";
    let brctl =
        "bridge name bridge id STP enabled interfaces\nbr0 8000.525400aabbcc no eth0\nvnet0\n";
    let ovs = "b5a7d5d0-0000-4000-8000-000000000001\nBridge br0\nPort br0\nInterface br0\ntype: internal\n\
        Port eth0\nInterface eth0\nPort vnet0\nInterface vnet0\n";
    for (command, table) in [("brctl show", brctl), ("ovs-vsctl show", ovs)] {
        for between in [format!("{prompt}ethtool -k eth1\n"), String::new()] {
            let text = format!(
                "{prompt}ip link\n{LINKS}4: vnet0: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n\
                 {prompt}{command}\n{table}{between}{features}"
            );
            let host = one(&text);
            let ports = match &host.ovs {
                Some(ovs) => ovs.bridges["br0"].ports.len(),
                None => {
                    let masters = host.interfaces.values();
                    1 + masters
                        .filter(|one| one.master.as_deref() == Some("br0"))
                        .count()
                }
            };
            assert_eq!(ports, 3, "{text}");
        }
    }
}

/// Hosts of a loop are hosts still, also with interfaces of each in a loop of their own.
#[test]
fn names_of_hosts_above_those_of_interfaces_stay_hosts() {
    let share = |host: &str, lro: &str| {
        format!(
            "=== {host} ===\n{LINKS}## eth0\nFeatures for eth0:\nlarge-receive-offload: {lro}\n"
        )
    };
    let all = hosts(&[share("gw", "on"), share("lb", "off")].concat());
    let lro: Vec<_> = all
        .iter()
        .map(|host| has_lro(&host.snapshot, "eth0"))
        .collect();
    assert_eq!(lro, [Some(true), Some(false)]);
}

/// A host may have the name of an interface: of a tunnel to it, or one that looks like the kernel's; and a loop over hosts is none
/// over interfaces.
/// Outputs of two times are of one host, and contradict each other: neither is taken.
#[test]
fn titles_of_times_name_no_hosts() {
    let features = |lro: &str| format!("Features for eth0:\nlarge-receive-offload: {lro}\n");
    let [before, after] = ["on", "off"].map(features);
    for titles in [
        ["Before:", "After:"],
        ["# earlier", "# now"],
        ["== before ==", "== after =="],
    ] {
        let text = format!(
            "{}\n{before}\n{}\n{after}\nroot@gw:~# ip link\n{LINKS}",
            titles[0], titles[1]
        );
        let host = one(&text);
        assert_eq!(host.name.as_deref(), Some("gw"), "{text}");
        assert_eq!(has_lro(&host, "eth0"), None, "{text}");
        assert!(!host.unread.is_empty(), "{text}");
    }
}

#[test]
fn hosts_that_are_named_like_interfaces_stay_hosts() {
    let lists = |tunnel: &str, lro: &str| {
        format!(
            "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue\n{LINKS}4: {tunnel}: <POINTOPOINT,UP> mtu 1420 qdisc noqueue\n\
             Features for eth0:\nlarge-receive-offload: {lro}\n"
        )
    };
    let typed = "admin@adm:~$ for h in gw1 gw2; do echo \"=== $h ===\"; ssh $h \"ip addr; ethtool -k eth0\"; done\n";
    for (names, front) in [
        (["fw2", "fw1"], ""),
        (["em01", "em02"], ""),
        (["ens1", "ens2"], ""),
        (["gw1", "gw2"], typed),
    ] {
        let [one, two] = names;
        let text = format!(
            "{front}=== {one} ===\n{}=== {two} ===\n{}",
            lists(two, "on"),
            lists(one, "off")
        );
        let all = hosts(&text);
        assert_eq!(
            lro_of(&all),
            [(one.to_owned(), true), (two.to_owned(), false)],
            "{text}"
        );
    }
}

/// Comments of a file that was printed at a prompt name no hosts, and what it says is for the next boot.
#[test]
fn comments_of_settings_are_no_hosts_and_what_is_in_force_wins() {
    let comments = [
        "# Controls IP packet forwarding",
        "# Do not accept source routing",
        "# LVS",
        "# lvs:",
        "# gateway",
        "## net",
        "# --- router ---",
        "# Uncomment the next line to enable packet forwarding for IPv4",
    ];
    let commands = [
        "cat /etc/sysctl.conf",
        "sudo cat /etc/sysctl.d/99-fw.conf",
        "head -7 /etc/sysctl.conf",
        "grep -v x /etc/sysctl.conf",
    ];
    for comment in comments {
        for command in commands {
            let file = format!(
                "{comment}\nnet.ipv4.ip_forward = 0\n# rp_filter\nnet.ipv4.conf.default.rp_filter = 1\n"
            );
            let live = "net.ipv4.ip_forward = 1\n";
            let text = format!(
                "[root@lvs1 ~]# uname -a\nLinux lvs1 2.6.32 #1 SMP x86_64 GNU/Linux\n[root@lvs1 ~]# {command}\n{file}\
                 [root@lvs1 ~]# sysctl net.ipv4.ip_forward\n{live}"
            );
            assert_eq!(forwarding(&one(&text)), Some("1"), "{text}");
        }
    }
}

fn forwarding(host: &Snapshot) -> Option<&str> {
    host.stack
        .sysctls
        .get("net.ipv4.ip_forward")
        .map(String::as_str)
}

/// By its name a file of settings is one, wherever a bundle has put it; what sysctl prints is in force.
#[test]
fn a_file_of_settings_yields_to_what_is_in_force_whichever_is_read_first() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [
        "99-k8s.conf",
        "sysctl.conf",
        "sysctl.conf.txt",
        "etc_sysctl.d_99-fw.conf",
        "a.conf",
    ] {
        for live in ["a-sysctl.txt", "zz-sysctl.txt"] {
            let place = folder.path().join(format!("{name}-{live}"));
            std::fs::create_dir(&place).expect("made");
            let all = "kernel.hostname = gw\nnet.core.somaxconn = 4096\n";
            std::fs::write(
                place.join(name),
                "net.ipv4.ip_forward = 1\nnet.ipv4.tcp_syncookies = 1\n",
            )
            .expect("written");
            std::fs::write(place.join(live), format!("{all}net.ipv4.ip_forward = 0\n"))
                .expect("written");
            let path = place.to_string_lossy().into_owned();
            let read = read_hosts(&[place]).expect("understood");
            assert_eq!(forwarding(&read[0].snapshot), Some("0"), "{path}");
        }
    }
    let prompt = "root@gw:~# ";
    for command in [
        "sysctl -p",
        "sudo sysctl -p /etc/sysctl.d/99-fw.conf",
        "sysctl --system",
    ] {
        let text = format!(
            "{prompt}sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 0\n{prompt}{command}\nnet.ipv4.ip_forward = 1\n"
        );
        assert_eq!(forwarding(&one(&text)), Some("1"), "{text}");
    }
}

#[test]
fn services_of_ipvs_are_read_in_each_form() {
    let version = "IP Virtual Server version 1.2.1 (size=4096)\n";
    let counted = |titles: &str| {
        format!(
            "{version}Prot LocalAddress:Port {titles}\n  -> RemoteAddress:Port\nTCP  203.0.113.80:443    12  99  0  5000  0\n  \
             -> 10.1.1.11:443    6  50  0  2500  0\n  -> 10.1.1.12:443    6  49  0  2500  0\n"
        )
    };
    let saved = "-A -t 203.0.113.80:443 -s wlc -p 50\n-a -t 203.0.113.80:443 -r 10.1.1.11:443 -g -w 100\n\
        -a -t 203.0.113.80:443 -r 10.1.1.12:443 -m -w 100\n";
    for (command, text) in [
        (
            "ipvsadm -Ln --stats",
            counted("Conns InPkts OutPkts InBytes OutBytes"),
        ),
        (
            "ipvsadm -ln --rate",
            counted("CPS InPPS OutPPS InBPS OutBPS"),
        ),
        ("ipvsadm -S -n", saved.to_owned()),
    ] {
        let host = one(&format!("root@lvs:~# {command}\n{text}"));
        let services = host.stack.ipvs.expect("read");
        assert_eq!(services.len(), 1, "{text}");
        assert_eq!(services[0].address, "203.0.113.80:443");
        let servers: Vec<&str> = services[0]
            .destinations
            .iter()
            .map(|server| server.address.as_str())
            .collect();
        assert_eq!(servers, ["10.1.1.11:443", "10.1.1.12:443"]);
        assert_eq!(host.unread, [], "{text}");
    }
}

#[test]
fn sockets_of_captures_are_read_without_titles() {
    let line = "p_raw  UNCONN  0  0  *:ens2f1  *  users:((\"Suricata-Main\",pid=900,fd=8))\n";
    let host = one(&format!("root@ids:~# ss -H -lnp0\n{line}"));
    let sockets = host.stack.packet_sockets.expect("read");
    assert_eq!(sockets[0].interface.as_deref(), Some("ens2f1"));
}

#[test]
fn single_files_of_proc_and_sys_are_read_by_their_path() {
    for text in [
        "root@h:~# cat /sys/class/net/eth0/gro_flush_timeout\n20000000\n",
        "root@h:~# grep . /sys/class/net/*/gro_flush_timeout\n/sys/class/net/eth0/gro_flush_timeout:20000000\n",
    ] {
        let host = one(text);
        let napi = host.interfaces["eth0"].napi.as_ref().expect("read");
        assert_eq!(napi.gro_flush_timeout_ns, Some(20_000_000));
    }
    for text in [
        "root@h:~# cat /proc/sys/net/ipv4/ip_forward\n1\n",
        "root@h:~# sysctl -n net.ipv4.ip_forward\n1\n",
        "root@h:~# grep -r . /proc/sys/net/ipv4\n/proc/sys/net/ipv4/tcp_sack:1\n/proc/sys/net/ipv4/ip_forward:1\n",
    ] {
        assert_eq!(forwarding(&one(text)), Some("1"), "{text}");
    }
    let bsd = one(
        "root@h:~ # sysctl -n net.inet.ip.forwarding\n0\nroot@h:~ # sysctl -n net.inet6.ip6.forwarding\n1\n",
    );
    assert_eq!(bsd.stack.sysctls["net.inet.ip.forwarding"], "0");
    assert_eq!(bsd.stack.sysctls["net.inet6.ip6.forwarding"], "1");
    assert_eq!(bsd.platform, None);
}

/// What stands around an output in a page, a pager or a log costs no output, be it one line.
#[test]
fn what_stands_around_one_line_is_left_out() {
    let output = "root@gw:~# ip link\n{LINKS}root@gw:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n"
        .replace("{LINKS}", LINKS);
    for (before, after) in [
        ("Hi,\n```\n", "```\nIt is slow since Monday, any idea?\n"),
        ("Hi,\n{noformat}\n", "{noformat}\nIt is slow.\nReally.\n"),
        ("Hi,\n[code]\n", "[/code]\nIt is slow.\n"),
        ("", "(END)\n"),
        ("<pre>\n", "</pre>\nIt is slow.\n"),
    ] {
        let text = format!("{before}{output}{after}");
        let host = one(&text);
        assert_eq!(forwarding(&host), Some("1"), "{text}");
        assert!(host.interfaces.contains_key("eth1"));
    }
    let numbered: String = output
        .lines()
        .zip(1..)
        .map(|(line, at)| format!("{at:6}\t{line}\n"))
        .collect();
    assert_eq!(forwarding(&one(&numbered)), Some("1"));
    let logged: String = output
        .lines()
        .map(|line| format!("May 06 10:11:12 hv1 dump[12]: {line}\n"))
        .collect();
    assert_eq!(forwarding(&one(&logged)), Some("1"));
    let padded = format!("{output}\0\0\0\0\0");
    assert_eq!(forwarding(&one(&padded)), Some("1"));
}

/// ClusterShell folds what several hosts printed alike.
#[test]
fn folded_hosts_are_each_a_host() {
    let rule = "---------------\n";
    let share = |set: &str, body: &str| format!("{rule}{set}\n{rule}{body}");
    let text = [
        share("gw[1-3] (3)", LINKS),
        share(
            "gw[1,3] (2)",
            "Features for eth0:\nlarge-receive-offload: off\n",
        ),
        share("gw2", "Features for eth0:\nlarge-receive-offload: on\n"),
    ]
    .concat();
    let mut lro: Vec<_> = hosts(&text)
        .iter()
        .map(|host| {
            (
                host.snapshot.name.clone().unwrap_or_default(),
                has_lro(&host.snapshot, "eth0"),
            )
        })
        .collect();
    lro.sort();
    let expected = [
        ("gw1", Some(false)),
        ("gw2", Some(true)),
        ("gw3", Some(false)),
    ];
    assert_eq!(lro, expected.map(|(name, lro)| (name.to_owned(), lro)));
}

/// The first three lines of systeminfo are host, product and version in every language.
#[test]
fn the_build_of_windows_is_read_in_any_language() {
    let text = "PS C:\\> systeminfo\n\nHostname:                  HVDE1\n\
        Betriebssystemname:        Microsoft Windows Server 2019 Standard\n\
        Betriebssystemversion:     10.0.17763 Nicht zutreffend Build 17763\n\
        Betriebssystemhersteller:  Microsoft Corporation\n";
    let host = one(text);
    assert_eq!(host.kernel.as_deref(), Some("10.0.17763"));
    assert_eq!(host.name.as_deref(), Some("HVDE1"));
}

/// OpenBSD shows LRO among the flags.
#[test]
fn lro_of_openbsd_is_a_flag() {
    let text = "fw$ uname -a\nOpenBSD fw 7.5 GENERIC.MP#82 amd64\nfw$ ifconfig\n\
        ix0: flags=2008843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST,LRO> mtu 1500\n\tlladdr a0:36:9f:00:00:01\n";
    assert!(one(text).interfaces["ix0"].features["LRO"].active);
}
