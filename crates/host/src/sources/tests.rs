use std::fs;
use std::io::Write;
use std::path::Path;

use super::*;
use crate::model::Platform;
use crate::text::{Reading, Text};

mod cuts;
mod several;

/// Stands in for the readers: `stub`, then lines of a word and its values.
pub(super) fn stub(text: &Text<'_>) -> Option<Reading> {
    let lines = text.body.trim_start().strip_prefix("stub\n")?;
    let mut snapshot = Snapshot::default();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["name", name] => snapshot.name = Some(name.to_owned()),
            ["linux"] => snapshot.platform = Some(Platform::Linux),
            ["freebsd"] => snapshot.platform = Some(Platform::Freebsd),
            ["mtu", mtu] => {
                let interface = text
                    .command
                    .and_then(|command| command.split(' ').next_back());
                set_mtu(&mut snapshot, interface.unwrap_or("unknown"), mtu);
            }
            ["mtu", interface, mtu] => set_mtu(&mut snapshot, interface, mtu),
            ["sysctl", key, value] => {
                let sysctls = &mut snapshot.stack.sysctls;
                sysctls.insert(key.to_owned(), value.to_owned());
            }
            _ => snapshot.not_read(line, "unknown word"),
        }
    }
    Some(Reading {
        kind: "stub",
        snapshot,
    })
}

fn set_mtu(snapshot: &mut Snapshot, interface: &str, mtu: &str) {
    snapshot.interface_mut(interface).mtu_bytes = mtu.parse().ok();
}

fn hosts(path: &Path) -> Vec<Host> {
    read_with(Given::open(path).unwrap(), &Limits::default(), stub).unwrap()
}

fn of_bytes(bytes: &[u8]) -> Result<Vec<Host>, Error> {
    hosts::of(
        "given",
        bytes_with("given", bytes, &Limits::default(), stub),
    )
}

fn one(bytes: &[u8]) -> Snapshot {
    let mut hosts = of_bytes(bytes).unwrap();
    assert_eq!(hosts.len(), 1);
    hosts.remove(0).snapshot
}

fn mtu(snapshot: &Snapshot, key: &str) -> Option<u64> {
    snapshot.interfaces.get(key)?.mtu_bytes
}

fn unread(snapshot: &Snapshot) -> Vec<String> {
    let lines = snapshot.unread.iter();
    lines
        .map(|line| format!("{}: {}", line.what, line.why))
        .collect()
}

/// Makes files below a new folder.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

pub(super) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, name, text.as_bytes())
            .unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress_to_vec(bytes, level)
}

const SOSREPORT: &[(&str, &str)] = &[
    (
        "sosreport-hv1-00123456-2024-03-01-abc/version.txt",
        "sosreport: 4.6\n",
    ),
    (
        "sosreport-hv1-00123456-2024-03-01-abc/sos_commands/networking/ethtool_-S_br_ex",
        "stub\nmtu 1500\n",
    ),
    (
        "sosreport-hv1-00123456-2024-03-01-abc/sos_commands/networking/ethtool_-g_eth0",
        "netlink error: x\n",
    ),
    (
        "sosreport-hv1-00123456-2024-03-01-abc/sos_commands/networking/namespaces/blue/ip_netns_exec_blue_ethtool_-S_v0",
        "stub\nmtu 1400\nsysctl net.ipv4.ip_forward 1\n",
    ),
    (
        "sosreport-hv1-00123456-2024-03-01-abc/var/log/messages",
        "root@hv9:~# ethtool -k eth0\nstub\nmtu wrong 1\n",
    ),
];

fn check_sosreport(hosts: &[Host]) {
    assert_eq!(hosts.len(), 1);
    let snapshot = &hosts[0].snapshot;
    assert_eq!(snapshot.name.as_deref(), Some("hv1"));
    assert_eq!(mtu(snapshot, "br_ex"), Some(1500));
    assert_eq!(mtu(snapshot, "ns/blue/v0"), Some(1400));
    assert_eq!(snapshot.interfaces["ns/blue/v0"].name, "v0");
    assert_eq!(
        snapshot.namespaces["blue"].sysctls["net.ipv4.ip_forward"],
        "1"
    );
    assert!(snapshot.stack.is_empty());
    let unread = unread(snapshot);
    assert!(
        unread.iter().any(|line| line.contains("ethtool_-g_eth0")),
        "{unread:?}"
    );
    assert!(
        unread
            .iter()
            .any(|line| line.starts_with("2 files: not output")),
        "{unread:?}"
    );
}

#[test]
fn a_sosreport_in_every_packing() {
    let tar = tar(SOSREPORT);
    for packed in [tar.clone(), gzip(&tar), bzip2(&tar), xz(&tar), zstd(&tar)] {
        let hosts = of_bytes(&packed).unwrap();
        assert_eq!(hosts[0].snapshot.interfaces.len(), 2);
    }
    let folder = folder(SOSREPORT);
    check_sosreport(&hosts(folder.path()));
    check_sosreport(&of_bytes(&xz(&tar)).unwrap());
}

#[test]
fn a_collection_of_sosreports_gives_each() {
    let text = |name: &str| format!("stub\nname {name}\nlinux\nmtu eth0 1500\n");
    let sosreport = |name: &str| {
        let path = format!("sosreport-{name}/sos_commands/kernel/uname_-a");
        xz(&tar(&[(&path, &text(name))]))
    };
    let mut builder = tar::Builder::new(Vec::new());
    for name in ["hv1", "hv2"] {
        let bytes = sosreport(name);
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        let path = format!("collector/sosreport-{name}.tar.xz");
        builder.append_data(&mut header, path, &bytes[..]).unwrap();
    }
    let hosts = of_bytes(&gzip(&builder.into_inner().unwrap())).unwrap();
    let names: Vec<_> = hosts
        .iter()
        .filter_map(|host| host.snapshot.name.as_deref())
        .collect();
    assert_eq!(names, ["hv1", "hv2"]);
}

#[test]
fn folders_are_hosts_unless_the_folder_itself_has_texts() {
    let several = folder(&[
        ("readme.md", "what this is\n"),
        ("hv1/mtu.txt", "stub\nmtu eth0 1500\n"),
        ("hv1/more/sysctl.txt", "stub\nsysctl a 1\n"),
        ("hv2/mtu.txt", "stub\nmtu eth0 9000\n"),
    ]);
    let found = hosts(several.path());
    let names: Vec<_> = found
        .iter()
        .map(|host| host.snapshot.name.as_deref())
        .collect();
    assert_eq!(names, [Some("hv1"), Some("hv2")]);
    assert_eq!(found[0].snapshot.stack.sysctls["a"], "1");
    assert!(unread(&found[0].snapshot)[0].contains("readme.md"));

    let single = folder(&[
        ("a.txt", "stub\nmtu eth0 1500\n"),
        ("b/c.txt", "stub\nmtu eth1 1\n"),
    ]);
    let found = hosts(single.path());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].snapshot.name, None);
    assert_eq!(found[0].snapshot.interfaces.len(), 2);
}

#[test]
fn prompts_name_the_interface_and_the_host() {
    let snapshot = one(
        b"\xef\xbb\xbfLast login\r\nroot@hv1:~# ethtool -S eth0\r\nstub\r\nmtu 1500\r\n\
        root@hv1:~# date\r\nSun\r\nroot@hv1:~# docker exec web ethtool -S eth1\r\nstub\r\nmtu 1\r\n",
    );
    assert_eq!(snapshot.name.as_deref(), Some("hv1"));
    assert_eq!(mtu(&snapshot, "eth0"), Some(1500));
    assert_eq!(snapshot.interfaces.len(), 1);
    let unread = unread(&snapshot);
    assert!(
        unread[0].starts_with("given line 1: not recognised"),
        "{unread:?}"
    );
    assert!(
        unread[1].starts_with("given line 6 (date): not"),
        "{unread:?}"
    );
    assert!(unread[2].contains("another machine"), "{unread:?}");
}

#[test]
fn what_stands_in_front_of_each_line_changes_nothing() {
    let text = "root@hv1:~# ethtool -S eth0\nstub\nmtu 1500\n\nroot@hv1:~# ethtool -S eth1\nstub\nmtu 9000\n";
    let bare = one(text.as_bytes());
    assert_eq!(mtu(&bare, "eth1"), Some(9000));
    for front in [
        "    ",
        "\t",
        "[2026-11-27 10:00:00] ",
        "2026-11-27T10:00:00.5Z ",
        "Nov  7 10:00:00 ",
        "> 10:00:00 ",
        "  10:00:00 ",
    ] {
        let lines = text
            .lines()
            .map(|line| format!("{front}{line}").trim_end().to_owned() + "\n");
        assert_eq!(one(lines.collect::<String>().as_bytes()), bare, "{front:?}");
    }
}

#[test]
fn utf16_is_read() {
    let text = "stub\r\nname hv1\r\nmtu eth0 1500\r\n";
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(units).collect();
    assert_eq!(mtu(&one(&bytes), "eth0"), Some(1500));
}

#[test]
fn saved_snapshots_come_back() {
    let snapshot = one(b"stub\nname hv1\nmtu eth0 1500\n");
    let json = serde_json::to_string_pretty(&snapshot).unwrap();
    assert_eq!(one(json.as_bytes()), snapshot);
    let both = format!("[{json},{json}]");
    assert_eq!(of_bytes(both.as_bytes()).unwrap().len(), 2);
    for (change, why) in [
        (json.replace("host/1", "host/2"), "only coalescope/host/1"),
        (json[..json.len() - 5].to_owned(), "cut or damaged"),
        (json.replace("\"name\": \"hv1\"", "\"nam\": 1"), "not known"),
    ] {
        let error = of_bytes(change.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Both were found by fuzzing: DEL was taken away, and a word at the place of tar's magic was believed.
#[test]
fn what_was_saved_is_read_again_whatever_it_says() {
    let mut snapshot = one(b"stub\nname hv1\nmtu eth0 1500\n");
    snapshot.not_read("DEL is \u{7f}, ESC is \u{1b}", "unknown");
    for begin in 0..5 {
        snapshot.name = Some(format!("{}{}", "_".repeat(begin), "ustar".repeat(60)));
        let json = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(one(json.as_bytes()), snapshot);
    }
}

/// Found by fuzzing: a host of which nothing was read could be saved, and was then refused.
#[test]
fn each_host_of_several_can_be_saved_alone_whatever_was_read_of_it() {
    for printed in ["", "hello\n", "stub\n", "stub\nmtu eth0 1500\n"] {
        let heading = |host| format!("[1] 10:00:00 [SUCCESS] {host}\n");
        let known = "stub\nsysctl a.b 1\n";
        let text = format!("{}{known}{}{printed}", heading("gw"), heading("lb"));
        let hosts = of_bytes(text.as_bytes()).unwrap();
        assert_eq!(hosts.len(), 2, "{text}");
        for host in hosts {
            let json = serde_json::to_vec(&host.snapshot).unwrap();
            assert_eq!(one(&json), host.snapshot, "{text}");
        }
    }
}

#[test]
fn nothing_understood_is_an_error_that_says_what_was_there() {
    for (bytes, why) in [
        (&b"hello\n"[..], "not recognised"),
        (b"", "empty"),
        (b"PK\x03\x04....", "zip archive"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n",
            "pointer of Git LFS",
        ),
        (b"\x7fELF\0\0\0", "no text"),
        (&gzip(b"hello")[..12], "reading failed"),
    ] {
        let error = of_bytes(bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = read_hosts(&[PathBuf::from("/nowhere/at/all")]).unwrap_err();
    assert!(error.to_string().contains("cannot read /nowhere/at/all"));
}

#[test]
fn bombs_end_at_their_limits() {
    let big = "x".repeat(1 << 20);
    let known = ("a/known", "stub\nmtu eth0 1500\n");
    let limits = Limits {
        text_bytes: 1000,
        total_bytes: 1 << 19,
        ..Limits::default()
    };
    let read = |bytes: &[u8], limits: &Limits| {
        hosts::of("given", bytes_with("given", bytes, limits, stub))
            .unwrap()
            .remove(0)
            .snapshot
    };
    let snapshot = read(
        &xz(&tar(&[known, ("b/big", &big), ("c", "stub\nmtu eth1 1")])),
        &limits,
    );
    assert_eq!(snapshot.interfaces.len(), 1);
    let lines = unread(&snapshot);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("more than 1000 bytes")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("too much to read")),
        "{lines:?}"
    );

    let few = Limits {
        files: 1,
        ..Limits::default()
    };
    let lines = unread(&read(&tar(&[known, ("b", "stub\nmtu eth1 1")]), &few));
    assert!(lines[0].contains("more than 1 files"), "{lines:?}");

    let mut nested = b"stub\nmtu eth0 1\n".to_vec();
    for _ in 0..8 {
        nested = gzip(&nested);
    }
    let error = of_bytes(&nested).unwrap_err().to_string();
    assert!(error.contains("packed within packed"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let outside = folder(&[("secret.txt", "stub\nmtu eth9 1\n")]);
    let inside = folder(&[("a.txt", "stub\nmtu eth0 1\n")]);
    std::os::unix::fs::symlink(outside.path(), inside.path().join("out")).unwrap();
    let file = outside.path().join("secret.txt");
    std::os::unix::fs::symlink(file, inside.path().join("out.txt")).unwrap();
    std::os::unix::fs::symlink(inside.path(), inside.path().join("loop")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(inside.path().join("socket")).unwrap();
    let snapshot = hosts(inside.path()).remove(0).snapshot;
    drop(socket);
    assert_eq!(snapshot.interfaces.len(), 1);
    let lines = unread(&snapshot);
    assert!(lines[0].contains("socket, not opened"), "{lines:?}");
    assert!(lines[1].starts_with("3 files: symbolic"), "{lines:?}");
    let device = Given::open(Path::new("/dev/zero")).err().unwrap();
    assert!(device.to_string().contains("is a device"));
}
