//! Several hosts in one file, commands that ran elsewhere, and one setting at several times.

use super::*;

/// Each host, its interfaces, and how many lines it has of what was not read.
fn read(text: &str) -> Vec<(String, Vec<String>, usize)> {
    let hosts = of_bytes(text.as_bytes()).unwrap().into_iter();
    let each = hosts.map(|host| {
        let names = host.snapshot.interfaces.keys().cloned().collect();
        let name = host.snapshot.name.unwrap_or_default();
        (name, names, host.snapshot.unread.len())
    });
    each.collect()
}

fn host(name: &str, interfaces: &[&str]) -> (String, Vec<String>, usize) {
    let interfaces = interfaces.iter().map(|&name| name.to_owned()).collect();
    (name.to_owned(), interfaces, 0)
}

#[test]
fn hosts_that_prompts_name_are_hosts_of_their_own() {
    let text = "root@hv1:~# a\nstub\nmtu eth0 1500\nroot@hv2:~# c\nstub\nmtu eth2 1\n\
        root@hv1.example.org:~# b\nstub\nmtu eth1 1500\n";
    let expected = [host("hv1", &["eth0", "eth1"]), host("hv2", &["eth2"])];
    assert_eq!(read(text), expected);
}

#[test]
fn so_are_hosts_that_a_tool_names_though_nothing_of_them_differs() {
    for form in [
        "HOST | CHANGED | rc=0 >>\n",
        "[1] 10:00:00 [SUCCESS] HOST\n",
    ] {
        let heading = |host| form.replace("HOST", host);
        let text = format!(
            "{}stub\nmtu eth0 1500\n{}stub\nsysctl a.b 1\n{}stub\nmtu eth1 1500\n",
            heading("gw"),
            heading("lb"),
            heading("gw.example.org")
        );
        let expected = [host("gw", &["eth0", "eth1"]), host("lb", &[])];
        assert_eq!(read(&text), expected, "{text}");
    }
}

/// The begin of an output makes the words above it likely, and what is set makes hosts of them.
#[test]
fn words_above_outputs_are_hosts_where_settings_differ_and_else_sections() {
    let links = |name: &str, mtu: u32| format!("2: {name}: <UP> mtu {mtu} qdisc mq\n");
    let text = |other: &str| format!("=== one ===\n{}=== two ===\n{other}", links("eth0", 1500));
    let hosts = |text: &str| {
        let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).unwrap();
        hosts.len()
    };
    assert_eq!(hosts(&text(&links("eth0", 9000))), 2);
    assert_eq!(hosts(&text(&links("eth0", 1500))), 1);
    assert_eq!(hosts(&text(&links("eth1", 9000))), 1);
    let named = "Linux two 6.1.0-28-amd64 #1 SMP x86_64 GNU/Linux\n";
    assert_eq!(hosts(&text(named)), 2);
    let named = named.replace("two", "gw");
    assert_eq!(hosts(&text(&named)), 1);
}

/// What was changed in between shows in the later one.
#[test]
fn of_a_command_that_was_run_again_the_last_output_is_used() {
    let text = |last: &str| {
        format!(
            "root@a:~# x eth0\nstub\nmtu 1500\nroot@a:~# x eth1\nstub\nmtu 1500\n\
            root@b:~# x eth0\nstub\nmtu 1400\nroot@a:~# x  eth0\n{last}\n"
        )
    };
    let hosts = of_bytes(text("stub\nmtu 9000").as_bytes()).unwrap();
    let a = &hosts[0].snapshot;
    assert_eq!((mtu(a, "eth0"), mtu(a, "eth1")), (Some(9000), Some(1500)));
    let said = unread(a);
    assert!(
        said[0].contains("line 2") && said[0].contains("at line 11 is used"),
        "{said:?}"
    );
    assert_eq!(said.len(), 1);
    assert_eq!(mtu(&hosts[1].snapshot, "eth0"), Some(1400));
    // An output that is not understood changes nothing.
    let hosts = of_bytes(text("No such device").as_bytes()).unwrap();
    assert_eq!(mtu(&hosts[0].snapshot, "eth0"), Some(1500));
}

fn of_hosts(text: &str) -> Vec<Snapshot> {
    let hosts = read_bytes("given", text.as_bytes(), &Limits::default()).unwrap();
    hosts.into_iter().map(|host| host.snapshot).collect()
}

/// A router with LRO, and a server: mixed they would be one host that neither is.
fn router() -> String {
    whole(&["eth0", "eth1"], 1)
}

fn server() -> String {
    whole(&["ens1"], 0)
}

/// All interfaces of a host and whether it forwards, without its name.
fn whole(names: &[&str], forwards: u8) -> String {
    let loopback = "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\n";
    let links = names.iter().zip(2..);
    let links = links.map(|(name, index)| {
        format!("{index}: {name}: <UP,LOWER_UP> mtu 1500 qdisc mq\n    link/ether 02:00:00:00:0{forwards}:0{index}\n")
    });
    let links: String = links.collect();
    format!("{loopback}{links}net.ipv4.ip_forward = {forwards}\n")
}

#[test]
fn whatever_names_hosts_above_outputs_they_are_told_apart() {
    let uname = |host: &str| format!("Linux {host} 6.1.0-28-amd64 #1 SMP x86_64 GNU/Linux\n");
    let forms: [&dyn Fn(&str) -> String; 16] = [
        &|host| format!("=== {host} ===\n"),
        &|host| format!("=== {host} Fri Nov 27 10:00:00 UTC 2026 ===\n"),
        &|host| format!("{host} ======\n"),
        &|host| format!("# {host}\n"),
        &|host| format!("Host: {host}\n"),
        &|host| format!("Hostname: {host}\n"),
        &|host| format!("Server {host}:\n"),
        &|host| format!("Node: {host} (192.0.2.1)\n"),
        &|host| format!("==> {host}.txt <==\n"),
        &|host| format!("==> out/{host} <==\n"),
        &|host| format!("{host}: "),
        &|host| format!("=== {host} ===\n{}", uname(host)),
        &uname,
        &|host| format!("{host} | CHANGED | rc=0 >>\n"),
        &|host| format!("[1] 10:00:00 [SUCCESS] {host}\n"),
        &|host| format!("root@{host}:~# (ip link; sysctl net.ipv4.ip_forward)\n"),
    ];
    for form in forms {
        let text = format!("{}{}\n{}{}", form("gw"), router(), form("web"), server());
        let hosts = of_hosts(&text);
        let each: Vec<_> = hosts
            .iter()
            .map(|host| {
                let forwards = host.stack.sysctls.get("net.ipv4.ip_forward");
                (
                    host.name.as_deref(),
                    host.interfaces.len(),
                    forwards.map(String::as_str),
                )
            })
            .collect();
        let expected = [(Some("gw"), 3, Some("1")), (Some("web"), 2, Some("0"))];
        assert_eq!(each, expected, "{text}");
    }
}

/// Nothing tells whose output is whose: then none of it is judged.
#[test]
fn two_hosts_that_nobody_names_are_refused() {
    for between in [
        "",
        "\n",
        "Output of the second one, which is a web server:\n\n",
    ] {
        let text = format!("{}{between}{}", router(), server());
        let read = read_bytes("given", text.as_bytes(), &Limits::default());
        let error = read
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            error.contains("two hosts or two times in one text"),
            "{between}: {error}"
        );
    }
    // One host whose outputs agree, in whatever order.
    assert_eq!(of_hosts(&format!("{0}{0}", router())).len(), 1);
}

/// All of what a command prints elsewhere is of there, not the first part only.
#[test]
fn what_ran_elsewhere_is_left_out_whole() {
    for (sign, command) in [
        ("root@a:~# ", "gcloud compute ssh gw --command 'ip link'"),
        ("root@a:~# ", "vagrant ssh gw -c 'ip link'"),
        ("root@a:~# ", "multipass exec gw -- ip link"),
        ("$ ", "kubectl exec -n kube-system cilium-a -- ip link"),
        ("# ", "docker exec web sysctl -a"),
    ] {
        let text = format!(
            "{sign}{command}\n{}{sign}ip link\n{}",
            router(),
            "1: lo: <UP> mtu 65536 qdisc x\n"
        );
        let hosts = of_hosts(&text);
        assert_eq!(hosts.len(), 1, "{text}");
        let known: Vec<&String> = hosts[0].interfaces.keys().collect();
        assert_eq!(known, ["lo"], "{text}");
        assert!(hosts[0].stack.sysctls.is_empty(), "{text}");
    }
    // A comment is no command.
    let text = format!("# ssh access for all\n{}", router());
    assert_eq!(of_hosts(&text)[0].interfaces.len(), 3);
}

#[test]
fn what_ssh_printed_is_of_the_host_that_it_went_to() {
    let outputs = "ip link; sysctl net.ipv4.ip_forward";
    let text = format!(
        "me@jump:~$ ssh root@gw '{outputs}'\n{}me@jump:~$ ssh -p 2222 web '{outputs}'\n{}me@jump:~$ ssh db\n\
         Last login: Mon Nov 23 09:12:44 2026\n",
        router(),
        server()
    );
    let hosts = of_hosts(&text);
    let each: Vec<_> = hosts
        .iter()
        .map(|host| (host.name.as_deref(), host.interfaces.len()))
        .collect();
    assert_eq!(each[..2], [(Some("gw"), 3), (Some("web"), 2)]);
}

/// At prompts without a name, or as the shell traces it; pods are hosts of their own. Beside outputs of the host at which that was
/// typed, and which nothing names, it is left out.
#[test]
fn what_was_sent_elsewhere_from_a_prompt_without_a_name_is_of_there() {
    const OUTPUTS: &str = "ip link; sysctl net.ipv4.ip_forward";
    type Typed = dyn Fn(&str) -> String;
    let forms: [&Typed; 4] = [
        &|host| format!("$ ssh {host} '{OUTPUTS}'\n"),
        &|host| format!("+ for h in gw web\n+ ssh {host} '{OUTPUTS}'\n"),
        &|host| format!("$ kubectl exec -n kube-system {host} -- {OUTPUTS}\n"),
        &|host| format!("# kubectl -n kube-system exec -it pod/{host} -c agent -- {OUTPUTS}\n"),
    ];
    for form in forms {
        let text = format!("{}{}{}{}", form("gw"), router(), form("web"), server());
        let hosts = of_hosts(&text);
        let each: Vec<_> = hosts
            .iter()
            .map(|host| (host.name.as_deref(), host.interfaces.len()))
            .collect();
        assert_eq!(each, [(Some("gw"), 3), (Some("web"), 2)], "{text}");
        let own = "$ ip link\n1: lo: <UP> mtu 65536 qdisc x\n";
        for text in [
            format!("{}{}{own}", form("gw"), router()),
            format!("{own}{}{}", form("gw"), router()),
        ] {
            let hosts = of_hosts(&text);
            let known: Vec<&String> = hosts[0].interfaces.keys().collect();
            assert_eq!((hosts.len(), known), (1, vec![&"lo".to_owned()]), "{text}");
        }
    }
}

/// However the commands are spelled: in one log the later output says what is.
#[test]
fn in_a_log_the_later_output_wins() {
    let of = |on: &str| format!("Features for eth0:\nlarge-receive-offload: {on}\n");
    let json = |on: bool| {
        format!(
            "[ {{\n \"ifname\": \"eth0\",\n \"large-receive-offload\": {{ \"active\": {on}, \"fixed\": false, \"requested\": {on} }}\n }} ]\n"
        )
    };
    let later = [
        ("sudo ethtool --show-features eth0", of("off")),
        (
            "ethtool -k eth0 | grep large",
            "large-receive-offload: off\n".to_owned(),
        ),
        ("ethtool --json -k eth0", json(false)),
    ];
    for (command, output) in later {
        let text = format!(
            "root@a:~# ethtool -k eth0\n{}root@a:~# {command}\n{output}",
            of("on")
        );
        let hosts = of_hosts(&text);
        assert!(
            !hosts[0].interfaces["eth0"].features["large-receive-offload"].active,
            "{text}"
        );
    }
    for later in ["sysctl -w net.ipv4.ip_forward=1", "sysctl -p", "sysctl -a"] {
        let line = |value| format!("net.ipv4.ip_forward = {value}\n");
        let text = format!(
            "root@a:~# sysctl net.ipv4.ip_forward\n{}root@a:~# {later}\n{}",
            line(0),
            line(1)
        );
        assert_eq!(
            of_hosts(&text)[0].stack.sysctls["net.ipv4.ip_forward"],
            "1",
            "{text}"
        );
    }
}

/// A host that did not answer is one that was not read, and not one that is fine.
#[test]
fn a_host_that_did_not_answer_is_named() {
    let lines = |text: &str, mark: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    let server = server();
    let forms = [
        format!(
            "web | CHANGED | rc=0 >>\n{server}gw | UNREACHABLE! => {{\n    \"msg\": \"timed out\"\n}}\n"
        ),
        format!(
            "[1] 10:00:00 [SUCCESS] web\n{server}[2] 10:00:01 [FAILURE] gw Exited with error code 255\n"
        ),
        format!(
            "{}pdsh@admin: gw: ssh exited with exit code 255\n",
            lines(&server, "web: ")
        ),
        format!(
            "{}clush: gw: exited with exit code 255\n",
            lines(&server, "web: ")
        ),
        format!(
            "web:\n{}gw:\n    Minion did not return. [No response]\n",
            lines(&server, "    ")
        ),
        format!(
            "web:\n{}gw:\nERROR: Minions returned with non-zero exit code\n",
            lines(&server, "    ")
        ),
    ];
    for text in forms {
        let hosts = of_hosts(&text);
        let named = |name: &str| hosts.iter().find(|host| host.name.as_deref() == Some(name));
        assert_eq!(named("web").unwrap().interfaces.len(), 2, "{text}");
        let silent = named("gw").unwrap_or_else(|| panic!("{text}"));
        assert!(
            silent.interfaces.is_empty() && !silent.unread.is_empty(),
            "{text}"
        );
    }
}

/// What a connection says below an output is none of it.
#[test]
fn the_end_of_a_connection_spoils_nothing() {
    for end in [
        "Shared connection to gw closed.",
        "Connection to gw closed.",
        "non-zero return code",
    ] {
        let text = format!("gw | FAILED | rc=1 >>\n{}{end}\n", router());
        let hosts = of_hosts(&text);
        assert_eq!(hosts[0].stack.sysctls["net.ipv4.ip_forward"], "1", "{text}");
    }
}

/// A browser goes through a folder that is dropped on it by itself, in any order: what comes of it is what comes of the path.
#[test]
fn files_of_a_folder_are_read_as_the_folder_is() {
    let files = [
        ("gw2/ethtool_-k_b", "stub\nname two\nmtu eth0 1500\n"),
        ("gw1/sub/x", "stub\nmtu eth1 9000\n"),
        ("gw1/a", "stub\nname one\nmtu eth0 1500\n"),
        ("gw1/notes", "nothing of use\n"),
        ("gw1/empty", ""),
    ];
    let made = folder(&files);
    let listed = files.map(|(name, text)| {
        let reader: Box<dyn std::io::Read> = Box::new(text.as_bytes());
        (name.to_owned(), reader)
    });
    let path = made.path().to_string_lossy().into_owned();
    let given = Given::of_files(path, listed.into());
    let found = read_with(given, &Limits::default(), stub).unwrap();
    let shown = |hosts: Vec<Host>| hosts.into_iter().map(|host| (host.origin, host.snapshot));
    let (found, whole): (Vec<_>, Vec<_>) =
        (shown(found).collect(), shown(hosts(made.path())).collect());
    assert_eq!(found.len(), 2);
    assert_eq!(found, whole);
    let outside: Box<dyn std::io::Read> = Box::new("stub\nname three\n".as_bytes());
    let given = Given::of_files("given", vec![("../three".to_owned(), outside)]);
    assert!(read_with(given, &Limits::default(), stub).is_err());
}
