use super::*;

/// The begin of an output, told apart by the address.
fn links(last: u8) -> String {
    format!("2: eth0: <UP> mtu 1500 qdisc mq\n    link/ether 02:00:00:00:00:{last:02x}\n")
}

fn gathered(shares: Option<Vec<Share<'_>>>) -> Vec<(Option<&str>, String)> {
    let shares = shares.unwrap_or_default().into_iter();
    shares
        .map(|share| {
            let host = share.host.map(|host| match host {
                Cow::Borrowed(host) => host,
                Cow::Owned(host) => panic!("{host} stands nowhere"),
            });
            (host, share.text.trim().to_owned())
        })
        .collect()
}

fn expected<'a>(hosts: &[&'a str]) -> Vec<(Option<&'a str>, String)> {
    let hosts = hosts.iter().zip(1..);
    hosts
        .map(|(host, last)| (Some(*host), links(last).trim_end().to_owned()))
        .collect()
}

/// Of each host a heading, and what it printed.
fn under(heading: impl Fn(&str) -> String, hosts: &[&str]) -> String {
    let hosts = hosts.iter().zip(1..);
    hosts
        .map(|(host, last)| heading(host) + &links(last))
        .collect()
}

const HOSTS: [&str; 3] = ["gw", "lb-1.example.org", "192.0.2.7"];

#[test]
fn headings_of_tools_are_certain() {
    let rule = |len| "-".repeat(len);
    let forms: [&dyn Fn(&str) -> String; 9] = [
        &|host| format!("{host} | CHANGED | rc=0 >>\n"),
        &|host| format!("{host} | SUCCESS | rc=0 >>\n"),
        &|host| format!("{host} | FAILED | rc=2 >>\n"),
        &|host| format!("[1] 10:01:01 [SUCCESS] {host}\n"),
        &|host| format!("[12] 10:01:01 [FAILURE] root@{host}:22 Exited with error code 1\n"),
        &|host| format!("{0}\n{host}\n{0}\n", rule(15)),
        &|host| format!("{0}\n{host}\n{0}\n", rule(16)),
        &|host| format!("=== host: {host} ===\n"),
        &|host| format!("### Hostname {host}\n"),
    ];
    for form in forms {
        let text = under(form, &HOSTS);
        assert_eq!(gathered(certain(&text)), expected(&HOSTS), "{text}");
        // One host, which is named.
        let text = under(form, &HOSTS[..1]);
        assert_eq!(gathered(certain(&text)), expected(&HOSTS[..1]), "{text}");
    }
}

#[test]
fn lines_with_the_host_in_front_are_gathered_however_they_are_mixed() {
    let [one, two] = [links(1), links(2)];
    let mixed: String = one
        .lines()
        .zip(two.lines())
        .map(|(one, two)| format!("gw: {one}\nlb-1: {two}\n"))
        .collect();
    assert_eq!(gathered(certain(&mixed)), expected(&["gw", "lb-1"]));
    let salt: String = [("gw", one), ("lb-1", two)]
        .map(|(host, text)| {
            let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
            format!("{host}:\n{lines}")
        })
        .concat();
    assert_eq!(gathered(certain(&salt)), expected(&["gw", "lb-1"]));
}

/// A line as a tool prints it, with the name in front of it.
type Labelled<'a> = &'a dyn Fn(&str, &str) -> String;

#[test]
fn labels_at_the_begin_of_each_line_name_hosts() {
    let forms: [Labelled<'_>; 6] = [
        &|host, line| format!("{host}:{line}\n"),
        &|host, line| format!("out/{host}.txt:{line}\n"),
        &|host, line| format!("{host:<9} | {line}\n"),
        &|host, line| format!("web.1.x2vq@{host}    | {line}\n"),
        &|host, line| format!("[pod/{host}/agent] {line}\n"),
        &|host, line| format!("{host}\t{line}\n"),
    ];
    let hosts = ["gw", "lb-1", "node2"];
    for form in forms {
        for hosts in [&hosts[..], &hosts[..1]] {
            let of = |(host, last)| -> String {
                let lines = links(last);
                lines.lines().map(|line| form(host, line)).collect()
            };
            let text: String = hosts.iter().copied().zip(1..).map(of).collect();
            assert_eq!(gathered(certain(&text)), expected(hosts), "{text}");
        }
    }
}

/// grep(1) puts the names of files in front, which say which command printed what was found.
#[test]
fn labels_that_are_names_of_commands_name_no_host() {
    let text = "ethtool_-k_eth0.txt:large-receive-offload: on\na/ethtool_-k_eth1:large-receive-offload: off\n";
    let shares = certain(text).unwrap();
    let files: Vec<_> = shares
        .iter()
        .map(|share| (share.file, &share.host))
        .collect();
    assert_eq!(
        files,
        [
            (Some("ethtool_-k_eth0.txt"), &None),
            (Some("a/ethtool_-k_eth1"), &None)
        ]
    );
}

#[test]
fn words_above_outputs_are_likely() {
    let forms: [&dyn Fn(&str) -> String; 9] = [
        &|host| format!("=== {host} ===\n"),
        &|host| format!("== {host}\n"),
        &|host| format!("*** {host} ***\n"),
        &|host| format!("##### root@{host} #####\n"),
        &|host| format!("---------- {host}:\n\n"),
        &|host| format!(">>> {host} <<<\n"),
        &|host| format!("=========\n{host}\n=========\n"),
        &|host| format!("[{host}]\n"),
        &|host| format!("{host}:\n"),
    ];
    for form in forms {
        let text = under(form, &HOSTS);
        assert_eq!(certain(&text), None, "{text}");
        assert_eq!(gathered(likely(&text)), expected(&HOSTS), "{text}");
        assert_eq!(likely(&under(form, &HOSTS[..1])), None);
    }
}

/// Outputs of one command have words in front of colons, words alone and rules as well.
#[test]
fn outputs_of_one_host_are_none_of_several() {
    for text in [
        "driver: ixgbe\nversion: 5.1\nbus-info: 0000:01:00.0\n",
        "net.inet.ip.forwarding: 1\nnet.inet6.ip6.forwarding: 0\n",
        "Features for eth0:\ngeneric-receive-offload: on\n",
        "ix0: flags=8843<UP> metric 0 mtu 1500\n\tether 02:00:00:00:00:01\nix1: flags=8843<UP> mtu 1500\n",
        "network:\n    version: 2\n    ethernets:\n        eth0:\n            mtu: 1500\n",
        "Inter-|   Receive\n face |bytes\n    lo:    0\n  eth0:  1\n",
        "Name  Mtu\n----  ---\neth0  1500\n",
        "Ip:\n    1 total packets received\nTcp:\n    2 active connection openings\n",
        "=== ip link ===\n2: eth0: <UP> mtu 1500\n=== sysctl ===\nnet.ipv4.ip_forward = 1\n",
        "2: eth0: <UP> mtu 1500\n\nFeatures for eth0:\ntx-checksumming: on\n",
        "",
    ] {
        assert_eq!(certain(text), None, "{text}");
        assert_eq!(likely(text), None, "{text}");
    }
}

#[test]
fn what_stands_in_front_is_of_no_host_and_lines_are_counted() {
    let text = format!("hello\n\ngw | CHANGED | rc=0 >>\n{}", links(1));
    let shares = certain(&text).unwrap();
    let places: Vec<_> = shares
        .iter()
        .map(|share| (share.host.as_deref(), share.before))
        .collect();
    assert_eq!(places, [(None, 0), (Some("gw"), 3)]);
}

/// What hosts printed as JSON, with what Ansible says around it.
#[test]
fn results_of_a_playbook_are_unwrapped() {
    let of = |field: &str, host: &str, last: u8| {
        let text = links(last);
        let value = match field {
            "stdout_lines" | "r.stdout_lines" => {
                let lines: Vec<String> = text.lines().map(|line| format!("{line:?}")).collect();
                format!("[\n        {}\n    ]", lines.join(",\n        "))
            }
            _ => format!("{text:?}"),
        };
        format!("ok: [{host}] => {{\n    \"changed\": false,\n    \"{field}\": {value}\n}}\n")
    };
    for field in [
        "r.stdout_lines",
        "stdout_lines",
        "r.stdout",
        "stdout",
        "msg",
    ] {
        let text = format!(
            "PLAY [all] ****\n\nTASK [Gathering Facts] ****\nok: [gw]\n\nTASK [debug] ****\n{}{}\nPLAY RECAP ****\n\
             gw   : ok=3    changed=1    unreachable=0\n",
            of(field, HOSTS[0], 1),
            of(field, HOSTS[1], 2)
        );
        assert_eq!(gathered(certain(&text)), expected(&HOSTS[..2]), "{text}");
    }
    let gone = "fatal: [db9]: UNREACHABLE! => {\"changed\": false, \"msg\": \"timed out\", \"unreachable\": true}\n";
    let text = format!("{gone}{}", of("stdout_lines", HOSTS[0], 1));
    let mut all = vec![(Some("db9"), String::new())];
    all.extend(expected(&HOSTS[..1]));
    assert_eq!(gathered(certain(&text)), all);
    // Half an object tells nothing.
    assert_eq!(
        certain("ok: [gw] => {\n    \"stdout\": \"2: eth0: <UP> mtu"),
        None
    );
}

#[test]
fn one_line_for_each_host_is_unfolded() {
    let line = |host: &str, last: u8| {
        let folded = links(last).replace('\\', "\\\\").replace('\n', "\\n");
        format!("{host} | CHANGED | rc=0 | (stdout) {folded}\n")
    };
    let text = format!("{}{}", line(HOSTS[0], 1), line(HOSTS[1], 2));
    assert_eq!(gathered(certain(&text)), expected(&HOSTS[..2]), "{text}");
    let text = format!("{text}db9 | UNREACHABLE!: Failed to connect to the host via ssh\n");
    let mut all = expected(&HOSTS[..2]);
    all.push((Some("db9"), String::new()));
    assert_eq!(gathered(certain(&text)), all);
    let text = format!("{text}and this is something else\n");
    assert_eq!(certain(&text), None);
}

#[test]
fn lines_of_fabric_are_gathered() {
    let of = |host: &str, last: u8| -> String {
        let lines = links(last);
        let lines = lines.lines().map(|line| format!("[{host}] out: {line}\n"));
        format!(
            "[{host}] run: ip link\n{}[{host}] out: \n",
            lines.collect::<String>()
        )
    };
    let text = format!("{}{}", of(HOSTS[0], 1), of("root@lb-1.example.org:22", 2));
    assert_eq!(gathered(certain(&text)), expected(&HOSTS[..2]), "{text}");
}
