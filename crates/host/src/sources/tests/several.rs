//! Several hosts in one file, and one command several times.

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
