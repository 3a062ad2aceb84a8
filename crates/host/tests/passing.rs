//! Who passes packets on, by what its packet filter lets through and translates: a host with one NIC may, and one with
//! several need not.

use coalescope_host::model::Passage;
use coalescope_host::roles::{RoleName, roles};
use coalescope_host::sources::{Limits, read_bytes};

fn link(index: usize, name: &str, state: &str, more: &str) -> String {
    let (flags, state) = match state {
        "up" => ("BROADCAST,MULTICAST,UP,LOWER_UP", "UP"),
        _ => ("NO-CARRIER,BROADCAST,MULTICAST,UP", "DOWN"),
    };
    format!(
        "{index}: {name}: <{flags}> mtu 1500 qdisc mq {}state {state} mode DEFAULT group default qlen 1000\n    \
         link/ether 52:54:00:00:00:0{index} brd ff:ff:ff:ff:ff:ff promiscuity 0\n{more}",
        match more.split_once("MASTER ") {
            Some((_, name)) => format!("master {} ", name.trim_end()),
            None => String::new(),
        }
    )
}

const LO: &str = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    \
     link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0\n";

const ROUTES: &str = "default via 10.0.0.1 dev eth0 \n10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.5 \n\
    172.17.0.0/16 dev docker0 proto kernel scope link src 172.17.0.1 linkdown \n";

/// Whether an interface of these forwards, of a host that forwards IPv4 and has these rules.
fn forwards_at(interface: &str, links: &[String], rules: &[(&str, &str)]) -> bool {
    let links = format!("{LO}{}", links.concat());
    let first = [
        ("ip -d link", links.as_str()),
        ("ip route", ROUTES),
        ("sysctl net.ipv4.ip_forward", "net.ipv4.ip_forward = 1\n"),
    ];
    let outputs = first.iter().chain(rules);
    let text: String = outputs
        .map(|(command, output)| format!("root@gw1:~# {command}\n{output}"))
        .collect();
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    assert_eq!(hosts.len(), 1);
    let all = roles(&hosts[0].snapshot);
    let own = all.get(interface).expect("an interface");
    own.iter().any(|role| role.role == RoleName::Forwarder)
}

/// A NIC, and the bridge of Docker without a container.
fn one_nic() -> Vec<String> {
    let bridge = "    bridge forward_delay 1500 hello_time 200\n";
    vec![
        link(2, "eth0", "up", ""),
        link(3, "docker0", "down", bridge),
    ]
}

fn nft(chain: &str, rules: &str) -> String {
    format!("table inet nat {{\n\tchain c {{\n\t\ttype {chain};\n{rules}\t}}\n}}\n")
}

/// What Docker sets up without a container.
const DOCKER: &str = "*nat\n:PREROUTING ACCEPT [0:0]\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n\
    :DOCKER - [0:0]\n-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER\n\
    -A OUTPUT ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j DOCKER\n\
    -A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE\n-A DOCKER -i docker0 -j RETURN\nCOMMIT\n\
    *filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\n:DOCKER - [0:0]\n:DOCKER-ISOLATION-STAGE-1 - [0:0]\n\
    :DOCKER-ISOLATION-STAGE-2 - [0:0]\n:DOCKER-USER - [0:0]\n-A FORWARD -j DOCKER-USER\n-A FORWARD -j DOCKER-ISOLATION-STAGE-1\n\
    -A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n-A FORWARD -o docker0 -j DOCKER\n\
    -A FORWARD -i docker0 ! -o docker0 -j ACCEPT\n-A FORWARD -i docker0 -o docker0 -j ACCEPT\n\
    -A DOCKER-ISOLATION-STAGE-1 -i docker0 ! -o docker0 -j DOCKER-ISOLATION-STAGE-2\n-A DOCKER-ISOLATION-STAGE-1 -j RETURN\n\
    -A DOCKER-ISOLATION-STAGE-2 -o docker0 -j DROP\n-A DOCKER-ISOLATION-STAGE-2 -j RETURN\n-A DOCKER-USER -j RETURN\nCOMMIT\n";

#[test]
fn one_nic_forwards_where_rules_translate_or_accept_what_leaves_by_it_again() {
    let at_end = "nat hook postrouting priority srcnat; policy accept";
    let at_begin = "nat hook prerouting priority dstnat; policy accept";
    let cases = [
        (at_end, "oifname \"eth0\" masquerade", true),
        (at_end, "masquerade", true),
        (
            at_end,
            "oifname { \"eth0\", \"eth9\" } counter packets 3 bytes 9 masquerade fully-random",
            true,
        ),
        (at_end, "oifname != \"lo\" masquerade", true),
        (
            at_end,
            "ip saddr 10.0.0.0/16 oifname \"eth0\" masquerade comment \"for the rest\"",
            true,
        ),
        (at_end, "ip saddr 10.0.0.0/24 snat to 10.0.0.5", true),
        (
            at_end,
            "ip saddr 172.17.0.0/16 oifname != \"docker0\" counter packets 3 bytes 9 masquerade",
            false,
        ),
        (at_end, "oifname \"docker0\" masquerade", false),
        (at_end, "iifname \"docker0\" masquerade", false),
        (
            at_end,
            "meta mark & 0x00004000 == 0x00004000 masquerade",
            false,
        ),
        (at_end, "ip daddr 172.17.0.2 masquerade", false),
        (at_begin, "tcp dport 443 dnat to 10.0.0.21:443", true),
        (
            at_begin,
            "iifname \"eth0\" tcp dport 443 dnat ip to 10.0.0.21",
            true,
        ),
        (
            at_begin,
            "iifname \"eth0\" tcp dport 443 dnat to 198.51.100.9:443",
            true,
        ),
        (
            at_begin,
            "iifname != \"docker0\" tcp dport 443 dnat to 172.17.0.2:443",
            false,
        ),
        (at_begin, "tcp dport 443 dnat to 127.0.0.1:8443", false),
        (at_begin, "tcp dport 443 redirect to :8443", false),
    ];
    for (chain, rule, forwards) in cases {
        let ruleset = nft(chain, &format!("\t\t{rule}\n"));
        let given = [("nft list ruleset", ruleset.as_str())];
        assert_eq!(forwards_at("eth0", &one_nic(), &given), forwards, "{rule}");
    }
    assert!(!forwards_at("eth0", &one_nic(), &[]));
}

#[test]
fn iptables_shows_the_same_of_one_nic() {
    let cases = [
        ("nat", "-A POSTROUTING -o eth0 -j MASQUERADE", true),
        (
            "nat",
            "-A POSTROUTING -s 10.0.0.0/16 -o eth0 -j MASQUERADE",
            true,
        ),
        (
            "nat",
            "-A POSTROUTING -j out\n-A out ! -o lo -j MASQUERADE --random-fully",
            true,
        ),
        (
            "nat",
            "-A PREROUTING -p tcp -m tcp --dport 443 -j DNAT --to-destination 10.0.0.21:443",
            true,
        ),
        (
            "nat",
            "-A POSTROUTING -s 172.17.0.0/16 ! -o docker0 -j MASQUERADE",
            false,
        ),
        (
            "nat",
            "-A POSTROUTING -s 172.17.0.0/16 -j CNI-1\n-A CNI-1 ! -d 224.0.0.0/4 -j MASQUERADE",
            false,
        ),
        (
            "nat",
            "-A POSTROUTING -m comment --comment \"a b\" -j KP\n-A KP -m mark ! --mark 0x4000/0x4000 -j RETURN\n-A KP -j MASQUERADE",
            false,
        ),
        (
            "nat",
            "-A POSTROUTING -m mark --mark 0x4000/0x4000 -j MASQUERADE",
            false,
        ),
        (
            "nat",
            "-A OUTPUT -p tcp -m tcp --dport 443 -j DNAT --to-destination 10.0.0.21:443",
            false,
        ),
        ("filter", "-A FORWARD -i eth0 -o eth0 -j ACCEPT", true),
        (
            "filter",
            "-A FORWARD -i eth0 -o eth0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
            false,
        ),
        (
            "filter",
            "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
            false,
        ),
        (
            "filter",
            "-A FORWARD -p icmp -j ACCEPT\n-A FORWARD -i lo -j ACCEPT",
            false,
        ),
        ("filter", "-A FORWARD -j ACCEPT", false),
        ("filter", "-A FORWARD -i docker0 -o eth0 -j ACCEPT", false),
        ("filter", "-A FORWARD -i eth0 -j ACCEPT", false),
    ];
    for (table, rules, forwards) in cases {
        let chains =
            "-P PREROUTING ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n-P POSTROUTING ACCEPT\n";
        let text = format!("{chains}{rules}\n");
        let command = format!("iptables -t {table} -S");
        let given = [(command.as_str(), text.as_str())];
        assert_eq!(forwards_at("eth0", &one_nic(), &given), forwards, "{rules}");
    }
    let alone = [link(2, "eth0", "up", "")];
    let rule = (
        "iptables -S",
        "-P FORWARD DROP\n-A FORWARD -i eth0 -j ACCEPT\n",
    );
    assert!(forwards_at("eth0", &alone, &[rule]));
    let rule = ("iptables -S", "-P FORWARD DROP\n");
    let masked = (
        "iptables -t nat -S",
        "-P POSTROUTING ACCEPT\n-A POSTROUTING -j MASQUERADE\n",
    );
    assert!(forwards_at("eth0", &alone, &[masked]));
    assert!(!forwards_at("eth0", &alone, &[rule, masked]));
}

#[test]
fn docker_alone_makes_no_router_of_a_host() {
    let given = [("iptables-save", DOCKER)];
    assert!(!forwards_at("eth0", &one_nic(), &given));
    let mut two = one_nic();
    two.push(link(4, "eth1", "up", ""));
    assert!(!forwards_at("eth0", &two, &given));
    assert!(!forwards_at("eth1", &two, &given));
    assert!(forwards_at("eth1", &two, &[]));
    let bridge = "    bridge forward_delay 1500 hello_time 200\n";
    let running = [
        two[0].clone(),
        link(3, "docker0", "up", bridge),
        two[2].clone(),
    ];
    assert!(forwards_at("eth1", &running, &given));
}

/// Of two NICs, by the rules of the filter.
#[test]
fn what_the_filter_drops_is_not_passed_on() {
    let two = [link(2, "eth0", "up", ""), link(3, "eth1", "up", "")];
    let est = "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n";
    let cases = [
        ("-P FORWARD ACCEPT\n".to_owned(), true),
        ("-P FORWARD DROP\n".to_owned(), false),
        (format!("-P FORWARD DROP\n{est}"), false),
        (
            format!("-P FORWARD DROP\n{est}-A FORWARD -i eth1 -o eth0 -j ACCEPT\n"),
            true,
        ),
        (
            format!("-P FORWARD DROP\n{est}-A FORWARD -i wg0 -o eth0 -j ACCEPT\n"),
            false,
        ),
        (
            "-P FORWARD DROP\n-A FORWARD -s 10.9.0.0/16 -j ACCEPT\n".to_owned(),
            true,
        ),
        (
            "-P FORWARD DROP\n-N fw\n-A FORWARD -j fw\n-A fw -i eth+ -j ACCEPT\n".to_owned(),
            true,
        ),
        (
            "-P FORWARD DROP\n-A FORWARD -j not-shown\n".to_owned(),
            true,
        ),
        (
            "-P FORWARD ACCEPT\n-A FORWARD -j REJECT --reject-with icmp-host-prohibited\n"
                .to_owned(),
            false,
        ),
        (
            "-P FORWARD ACCEPT\n-A FORWARD -i eth1 -j DROP\n".to_owned(),
            true,
        ),
        (
            "-P FORWARD DROP\n-A FORWARD -p icmp -j ACCEPT\n".to_owned(),
            false,
        ),
    ];
    for (rules, forwards) in &cases {
        let given = [("iptables -S", rules.as_str())];
        assert_eq!(forwards_at("eth0", &two, &given), *forwards, "{rules}");
        // Of IPv6 they are, and IPv4 is forwarded.
        let given = [("ip6tables -S", rules.as_str())];
        assert!(forwards_at("eth0", &two, &given), "{rules}");
        let more = "net.ipv6.conf.all.forwarding = 1\n";
        let given = [("iptables -S", rules.as_str()), ("sysctl -a", more)];
        assert!(forwards_at("eth0", &two, &given), "{rules}");
    }
}

#[test]
fn nft_and_a_list_in_columns_say_what_the_filter_drops() {
    let two = [link(2, "eth0", "up", ""), link(3, "eth1", "up", "")];
    let filter = "filter hook forward priority filter; policy drop";
    for (rules, forwards) in [
        ("", false),
        ("\t\tct state established,related accept\n", false),
        (
            "\t\tct state vmap { established : accept, related : accept, invalid : drop }\n",
            false,
        ),
        (
            "\t\tct state { established, related } accept\n\t\tiifname \"eth1\" oifname \"eth0\" accept\n",
            true,
        ),
        ("\t\tiifname \"eth0\" oifname \"wg0\" accept\n", false),
        ("\t\tiifname { \"eth0\",\n\t\t\t  \"eth7\" } accept\n", true),
        (
            "\t\tiifname vmap { \"eth0\" : jump a, \"eth1\" : jump b }\n",
            true,
        ),
        (
            "\t\ticmp type echo-request accept\n\t\tmeta l4proto { icmp, ipv6-icmp } accept\n",
            false,
        ),
        ("\t\tip daddr @open tcp dport 443 accept\n", true),
    ] {
        let ruleset = nft(filter, rules);
        let given = [("nft list ruleset", ruleset.as_str())];
        assert_eq!(forwards_at("eth0", &two, &given), forwards, "{rules}");
    }
    let titles = "target     prot opt source               destination         \n";
    let wide = " pkts bytes target     prot opt in     out     source               destination         \n";
    for (list, forwards) in [
        (format!("Chain FORWARD (policy DROP)\n{titles}"), false),
        (format!("Chain FORWARD (policy ACCEPT)\n{titles}"), true),
        (
            format!(
                "Chain FORWARD (policy DROP)\n{titles}ACCEPT     all  --  anywhere             anywhere            \n"
            ),
            true,
        ),
        (
            format!(
                "Chain FORWARD (policy DROP)\n{titles}ACCEPT     all  --  anywhere             anywhere             ctstate RELATED,ESTABLISHED\n"
            ),
            false,
        ),
        (
            format!(
                "Chain FORWARD (policy DROP 0 packets, 0 bytes)\n{wide}    0     0 ACCEPT     all  --  wg0    *       0.0.0.0/0            0.0.0.0/0           \n"
            ),
            false,
        ),
        (
            format!(
                "Chain FORWARD (policy DROP 0 packets, 0 bytes)\n{wide}    0     0 ACCEPT     all  --  eth0   *       0.0.0.0/0            0.0.0.0/0           \n"
            ),
            true,
        ),
    ] {
        let given = [("iptables -L -v -n", list.as_str())];
        assert_eq!(forwards_at("eth0", &two, &given), forwards, "{list}");
    }
}

/// A text that ends too early may not have shown the rule that accepts.
#[test]
fn half_a_ruleset_drops_nothing() {
    let two = [link(2, "eth0", "up", ""), link(3, "eth1", "up", "")];
    let whole = nft(
        "filter hook forward priority filter; policy drop",
        "\t\tct state invalid drop\n",
    );
    let half = whole.trim_end().trim_end_matches(['}', '\n', '\t']);
    let given = [("nft list ruleset", whole.as_str())];
    assert!(!forwards_at("eth0", &two, &given));
    let half = format!("{half}\n");
    assert!(forwards_at(
        "eth0",
        &two,
        &[("nft list ruleset", half.as_str())]
    ));
    let saved = "*filter\n:FORWARD DROP [0:0]\n";
    assert!(forwards_at("eth0", &two, &[("iptables-save", saved)]));
}

/// Neither has what another program left of a ruleset, nor a bundle, from which the collector takes most of its rules.
#[test]
fn a_part_of_the_rules_shows_nothing() {
    let two = [link(2, "eth0", "up", ""), link(3, "eth1", "up", "")];
    let some = [("iptables -S | grep -w DROP", "-P FORWARD DROP\n")];
    assert!(forwards_at("eth0", &two, &some));
    let links = format!("{LO}{}", one_nic().concat());
    let rules = "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n";
    let sections = [
        ("ip -d link", links.as_str()),
        ("sysctl net.ipv4.ip_forward", "net.ipv4.ip_forward = 1\n"),
        ("iptables-save -t nat", rules),
    ];
    let mut bundle = "# coalescope bundle 1\n".to_owned();
    for (at, (command, body)) in sections.iter().enumerate() {
        let lines: String = body.lines().map(|line| format!("|{line}\n")).collect();
        let count = body.lines().count();
        bundle += &format!(
            "#= section {} rc=0 lines={count} {command}\n{lines}",
            at + 1
        );
    }
    bundle += "#= end sections=3\n";
    let hosts = read_bytes("given", bundle.as_bytes(), &Limits::default()).expect("understood");
    let snapshot = &hosts[0].snapshot;
    assert!(snapshot.stack.nat.is_some(), "{:?}", snapshot.unread);
    let own = &roles(snapshot)["eth0"];
    assert!(
        own.iter().all(|role| role.role == RoleName::Endpoint),
        "{own:?}"
    );
}

/// A NIC without a carrier receives nothing; the others route.
#[test]
fn what_has_no_carrier_passes_nothing_on() {
    let nic = "";
    let three = [
        link(2, "eth0", "up", nic),
        link(3, "eth1", "up", nic),
        link(4, "eth2", "down", nic),
    ];
    let drivers = ["eth0", "eth1", "eth2"].map(|name| format!("ethtool -i {name}"));
    let driver = "driver: ixgbe\nversion: 6.1\nbus-info: 0000:01:00.0\n";
    let given = drivers.each_ref().map(|command| (command.as_str(), driver));
    assert!(forwards_at("eth0", &three, &given));
    assert!(!forwards_at("eth2", &three, &given));
}

/// A VRF has a table of routes of its own.
#[test]
fn interfaces_of_different_vrfs_do_not_route_to_each_other() {
    let of = |name: &str| format!("    vrf_slave table 10 addrgenmode eui64\nMASTER {name}");
    let port = |index: usize, name: &str, vrf: &str| {
        let text = link(index, name, "up", &of(vrf));
        text.split("MASTER ").next().unwrap_or_default().to_owned()
    };
    let vrf = |index: usize, name: &str| link(index, name, "up", "    vrf table 10\n");
    let management = [
        link(2, "eth0", "up", ""),
        link(3, "eth1", "up", ""),
        port(4, "mgmt0", "mgmt"),
        vrf(5, "mgmt"),
    ];
    assert!(forwards_at("eth0", &management, &[]));
    assert!(!forwards_at("mgmt0", &management, &[]));
    let customers = [
        port(2, "eth0", "red"),
        port(3, "eth1", "red"),
        port(4, "eth2", "blue"),
        vrf(5, "red"),
        vrf(6, "blue"),
    ];
    assert!(forwards_at("eth0", &customers, &[]));
    assert!(!forwards_at("eth2", &customers, &[]));
}

/// Of many interfaces on both sides not each way between two is kept: behind some of them, anything may pass.
#[test]
fn ways_between_many_interfaces_are_bounded() {
    let names = |side: char| {
        let names: Vec<String> = (0..2_000).map(|i| format!("\"{side}{i}\"")).collect();
        names.join(", ")
    };
    let rule = format!(
        "\t\tiifname {{ {} }} oifname {{ {} }} accept\n",
        names('a'),
        names('b')
    );
    let rules = nft(
        "filter hook forward priority filter; policy drop",
        &rule.repeat(20),
    );
    let text = format!("root@gw1:~# nft list ruleset\n{rules}");
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).expect("understood");
    let passages = &hosts[0].snapshot.stack.passages["inet nat c"];
    assert!(passages.drops_others);
    assert_eq!(passages.rules, [Passage::default()]);
}

/// IPv6 that reaches no further than a link is not forwarded, whatever the setting says.
#[test]
fn addresses_of_a_link_alone_are_not_forwarded() {
    let forwards = |address: &str, route: &str| {
        let inet6 = |n: usize| format!("    inet6 {address}{n}/64 scope x\n");
        let links = [1, 2].map(|n| {
            let name = format!("eth{}", n - 1);
            link(
                n + 1,
                &name,
                "up",
                &format!("    inet 10.{n}.0.1/24 scope global {name}\n{}", inet6(n)),
            )
        });
        let text = format!(
            "root@gw1:~# ip -d addr\n{LO}{}root@gw1:~# ip -6 route\n{route} dev eth0 proto kernel metric 256 pref medium\n\
             root@gw1:~# sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding\n\
             net.ipv4.ip_forward = 0\nnet.ipv6.conf.all.forwarding = 1\n",
            links.concat()
        );
        let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).unwrap();
        let all = roles(&hosts[0].snapshot);
        let of = all.get("eth0").into_iter().flatten();
        of.clone().any(|role| role.role == RoleName::Forwarder)
    };
    assert!(!forwards("fe80::", "fe80::/64"));
    assert!(forwards("2001:db8::", "fe80::/64"));
    assert!(forwards("fe80::", "2001:db8::/64"));
    assert!(forwards("fd00::", "fd00::/64"));
}
