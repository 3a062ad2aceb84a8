//! Names that strangers chose: of files, of archives' entries, of hosts and interfaces, of points.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::{Command, Output};

use coalescope_host::safe::is_unseen;
use coalescope_lab::Veth;
use coalescope_needs::shell;
use serde_json::Value;
use tempfile::TempDir;

use crate::ab::Place;
use crate::undo::set_timer;

/// What a terminal obeys, what nobody sees, and what looks like a message of its own.
const NAMES: [&[u8]; 9] = [
    b"\x1b[2J\x1b[35mred",
    b"\x1b]0;title\x07",
    b"\xc2\x9b31m",
    b"a\rb\x08\x7f",
    b"a\nerror: all is lost",
    "\u{202e}0hte\u{2066}".as_bytes(),
    "e\u{200b}th\u{feff}0\u{e0041}".as_bytes(),
    b"\xff\xfe\x9b\xc3(",
    b"=1+1'\"`$(>PWN)",
];

fn name(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

fn run(folder: &Path, arguments: &[OsString]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("coalescope"));
    command.env("COLUMNS", "100").env_remove("NO_COLOR");
    command
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

/// Nothing that is said is obeyed, or could pass for said by the program itself.
fn is_shown(output: &Output, about: &[OsString]) {
    for bytes in [&output.stdout, &output.stderr] {
        // A row of CSV ends so.
        let text = str::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        let text = without_colours(&text);
        let unseen = text.chars().find(|&c| c != '\n' && is_unseen(c));
        assert_eq!(unseen, None, "{about:?}: {text}");
        let is_faked = |line: &str| line.trim_start().starts_with("error: all is lost");
        assert!(!text.lines().any(is_faked), "{about:?}: {text}");
    }
    assert!(
        output.status.code().is_some_and(|code| code <= 4),
        "{about:?}: {output:?}"
    );
}

/// Without the colours of usage errors, which are ours.
fn without_colours(text: &str) -> String {
    let ours = ["0", "1", "4", "31", "32", "33"].map(|code| format!("\x1b[{code}m"));
    ours.iter()
        .fold(text.to_owned(), |text, code| text.replace(code, ""))
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[test]
fn arguments_that_are_wrong_are_shown() {
    let folder = TempDir::new().unwrap();
    let before: [&[&str]; 19] = [
        &[],
        &["--color=always"],
        &["--color", "always", "trace", "--no-such"],
        &["trace"],
        &["trace", "--threads"],
        &["replay", "--profile", "linux-gro"],
        &["replay", "--profile"],
        &["check", "--from"],
        &["check", "--netns"],
        &["check", "--format"],
        &["diagnose", "--from"],
        &["check", "--rules"],
        &["rules", "list", "--rules"],
        &["rules", "show"],
        &["demo"],
        &["lab", "show"],
        &["lab", "run"],
        &["schema"],
        &["check", "--report"],
    ];
    for hostile in NAMES {
        for words_before in before {
            let mut arguments = words(words_before);
            arguments.push(name(hostile));
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
    }
}

fn header(name: &[u8], size: usize, kind: u8) -> [u8; 512] {
    let mut header = [0; 512];
    header[..name.len()].copy_from_slice(name);
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[148..156].fill(b' ');
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

/// An archive whose entries are called so: files, a link, a folder.
fn archive(names: &[&[u8]]) -> Vec<u8> {
    let text = b"Features for eth0:\ngeneric-receive-offload: on\nrx-gro-hw: maybe\n";
    let mut tar = Vec::new();
    for name in names {
        for (kind, prefix) in [(b'0', "host/"), (b'2', "link/"), (b'5', "folder/")] {
            let size = if kind == b'0' { text.len() } else { 0 };
            let name = [prefix.as_bytes(), name].concat();
            tar.extend(header(&name, size, kind));
            if kind == b'0' {
                tar.extend(text);
                tar.resize(tar.len().next_multiple_of(512), 0);
            }
        }
    }
    tar.extend([0; 1024]);
    tar
}

#[test]
fn entries_of_archives_are_shown() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("all.tar"), archive(&NAMES)).unwrap();
    let mut cut = archive(&NAMES);
    cut.truncate(700);
    fs::write(folder.path().join("cut.tar"), cut).unwrap();
    for file in ["all.tar", "cut.tar"] {
        for format in ["text", "json", "csv"] {
            let arguments = words(&["-v", "check", "--from", file, "--format", format]);
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
    }
}

#[test]
fn files_and_folders_are_shown() {
    for hostile in NAMES {
        let folder = TempDir::new().unwrap();
        let inside = folder.path().join(name(hostile));
        fs::create_dir(&inside).unwrap();
        fs::write(
            inside.join(name(hostile)),
            b"neither text nor capture\n\0\0",
        )
        .unwrap();
        fs::write(inside.join("rule.yaml"), b"- id: [\n").unwrap();
        let file = inside.join(name(hostile));
        let path = file
            .strip_prefix(folder.path())
            .unwrap()
            .as_os_str()
            .to_owned();
        let mut point = OsString::from("\u{9b}POINT=");
        point.push(&path);
        for (before, last) in [
            (&["-v", "trace"][..], &path),
            (&["-v", "trace"], &point),
            (&["-v", "trace"], &name(hostile)),
            (&["-v", "replay", "--profile", "linux-gro"], &path),
            (&["-v", "check", "--from"], &path),
            (&["-v", "check", "--from"], &name(hostile)),
            (&["-v", "diagnose", "--from"], &name(hostile)),
            (&["check", "--from", "/dev/null", "--rules"], &name(hostile)),
            (&["rules", "test", "--rules"], &name(hostile)),
        ] {
            let mut arguments = words(before);
            arguments.push(last.clone());
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
    }
}

/// Saved output of each platform, with a name in it.
fn saved(name: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let text = String::from_utf8_lossy(name);
    let json = serde_json::to_string(&text).unwrap();
    let around = |before: &str, after: &str| [before.as_bytes(), name, after.as_bytes()].concat();
    vec![
        (
            "ethtool",
            around("Features for ", ":\nlarge-receive-offload: on\n"),
        ),
        (
            "ip-link",
            around(
                "2: ",
                ": <UP> mtu 1500 master br0 state UP\n    link/ether 02:00:00:00:00:01\n",
            ),
        ),
        (
            "ip-json",
            format!(
                r#"[{{"ifindex":2,"ifname":{json},"flags":["UP"],"mtu":1500,"master":{json},
                    "link_type":"ether","address":{json},"linkinfo":{{"info_kind":{json}}}}}]"#
            )
            .into_bytes(),
        ),
        (
            "snapshot",
            format!(
                r#"{{"schema":"coalescope/host/1","name":{json},"platform":"linux","kernel":{json},
                    "interfaces":{{{json}:{{"name":{json},"kind":"physical","namespace":{json},
                    "features":{{"large-receive-offload":{{"active":true}}}}}}}},"log":[{json}]}}"#
            )
            .into_bytes(),
        ),
        (
            "ifconfig",
            around(
                "",
                ": flags=8863<UP,BROADCAST,RUNNING> metric 0 mtu 1500\n\toptions=4<LRO>\n",
            ),
        ),
        (
            "rsc",
            around(
                "Name                 : ",
                "\nIPv4Enabled          : True\nIPv6Enabled  : True\n",
            ),
        ),
        (
            "sysctl",
            around("net.ipv4.ip_forward = ", "\nnet.core.x = 1\n"),
        ),
        (
            "hostname",
            around("Linux ", " 6.1.0 #1 SMP x86_64 GNU/Linux\n"),
        ),
    ]
}

#[test]
fn what_saved_output_says_is_shown() {
    for hostile in NAMES {
        let folder = TempDir::new().unwrap();
        let mut hosts = words(&["-v", "check"]);
        for (kind, bytes) in saved(hostile) {
            fs::write(folder.path().join(kind), bytes).unwrap();
            hosts.extend(words(&["--from", kind]));
        }
        for format in ["text", "json", "csv"] {
            let arguments = [hosts.clone(), words(&["--format", format])].concat();
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
        for format in ["text", "json"] {
            let arguments = words(&["diagnose", "--from", ".", "--format", format]);
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
    }
}

/// What the kernel takes for names: all but slashes, colons, spaces and `%`, up to 15 bytes.
const INTERFACES: [&str; 8] = [
    "x$(>PWN)",
    "a;>PWN",
    "`>PWN`",
    "a'b\"c",
    "=1+1",
    "\u{1b}[2J\u{1b}[35m",
    "\u{202e}0hte\u{2066}",
    "<script>",
];

/// The words that a shell makes of a command, which starts no program; `None` where it cannot be held in its folder.
fn words_of(command: &str, folder: &Path) -> Option<Vec<String>> {
    let script = format!("set -- {command}\nprintf '%s\\n' \"$@\"");
    let run = || shell::run(&script, folder, Path::new("/nonexistent")).unwrap();
    let output = shell::confined(folder, run)?;
    assert!(output.status.success(), "{command}: {output:?}");
    let words = String::from_utf8(output.stdout).unwrap();
    Some(words.lines().map(str::to_owned).collect())
}

/// On interfaces of this host: what is said while they are changed and taken back, and what is to be run by hand.
#[test]
fn names_of_interfaces_here_are_shown_and_quoted() {
    Place::with("names of interfaces here", |place| {
        for (at, name) in INTERFACES.iter().enumerate() {
            let pair = Veth::new(name, &format!("peer{at}"), 1500).unwrap();
            let is_shown = |arguments: &[&str]| {
                let output = place.run(arguments);
                is_shown(&output, &words(arguments));
                output
            };
            let timer = format!("/sys/class/net/{name}/gro_flush_timeout");
            set_timer(name);
            let mtu = format!("{name}:mtu=1400");
            let ab = ["ab", "--settle", "0", "--max-runs", "4", "--set", &mtu];
            for last in [["--", "true"], ["--", "false"]] {
                is_shown(&[&ab[..], &last].concat());
            }
            is_shown(&["check"]);
            let planned = is_shown(&["fix"]);
            // No setting is written down for what could not be typed.
            if name.contains(char::is_control) {
                assert!(
                    crate::common::stderr(&planned).contains("that is no name of an interface")
                );
                continue;
            }
            let output = is_shown(&["fix", "--apply"]);
            // One that was made before is still there.
            let is_left_out = crate::common::stdout(&output).contains("left out: ");
            let code = if is_left_out { 2 } else { 0 };
            assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
            is_shown(&["fix", "--verify"]);
            is_shown(&["undo", "--list"]);
            fs::write(&timer, "3000000").unwrap();
            let output = is_shown(&["undo"]);
            assert_eq!(output.status.code(), Some(3), "{name}: {output:?}");
            let left = place.run(&["undo", "--format", "json"]);
            is_shown(&["undo", "--format", "json"]);
            let report: Value = serde_json::from_slice(&left.stdout).unwrap();
            let by_hand = &report["journals"][0]["fate"]["unrestored"][0]["by_hand"];
            let key = format!("{name}:gro_flush_timeout");
            match words_of(by_hand.as_str().unwrap(), &place.path("")) {
                Some(said) => assert_eq!(said, ["coalescope", "undo", "--force", &key]),
                None => coalescope_needs::skipped("words of a command", "a kernel with Landlock"),
            }
            assert!(is_shown(&["undo", "--force", &key]).status.success());
            assert_eq!(fs::read_to_string(&timer).unwrap().trim(), "2000000");
            assert!(!place.path("PWN").exists());
            drop(pair);
        }
    });
}

#[test]
fn what_an_incident_file_says_is_shown() {
    let folder = TempDir::new().unwrap();
    let file = include_str!("../../../incident/incidents/bond-rr-gro.yaml");
    for hostile in NAMES {
        let name = serde_json::to_string(&String::from_utf8_lossy(hostile)).unwrap();
        for (old, new) in [
            ("name: bond-rr-gro", format!("name: {name}")),
            ("points: [RECEIVER, WIRE]", format!("points: [{name}]")),
            ("remedy: receiver/bond0:gro=on", format!("remedy: {name}")),
            ("name: receiver,", format!("name: {name},")),
            ("profile: linux-gro", format!("profile: {name}")),
            ("seed: ", format!("{name}: ")),
            ("rtt_us: 400", format!("rtt_us: {name}")),
        ] {
            fs::write(folder.path().join("a.yaml"), file.replacen(old, &new, 1)).unwrap();
            for command in [&["lab", "run", "--simulated"][..], &["lab", "show"]] {
                let mut arguments = words(command);
                arguments.push("./a.yaml".into());
                if file.contains(old) {
                    is_shown(&run(folder.path(), &arguments), &arguments);
                }
            }
        }
    }
}

/// A pcapng file without frames: a section and an interface of a name.
fn pcapng(name: &[u8]) -> Vec<u8> {
    let mut file = b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0".to_vec();
    file.extend([0xff; 8]);
    file.extend(b"\x1c\0\0\0");
    let mut options = vec![2, 0];
    options.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    options.extend(name);
    options.resize(options.len().next_multiple_of(4), 0);
    options.extend([0; 4]);
    let length = u32::try_from(20 + options.len()).unwrap().to_le_bytes();
    file.extend(b"\x01\0\0\0");
    file.extend(length);
    file.extend(b"\x01\0\0\0\0\0\x04\0");
    file.extend(options);
    file.extend(length);
    file
}

#[test]
fn names_of_points_are_shown() {
    for hostile in NAMES {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("a.pcapng"), pcapng(hostile)).unwrap();
        for format in ["text", "json", "csv"] {
            for option in ["--points-by-interface", "--threads=1"] {
                let arguments = words(&["-v", "trace", "a.pcapng", option, "--format", format]);
                is_shown(&run(folder.path(), &arguments), &arguments);
            }
            let arguments = [
                "-v",
                "replay",
                "a.pcapng",
                "--profile",
                "linux-gro",
                "--format",
                format,
            ];
            let arguments = words(&arguments);
            is_shown(&run(folder.path(), &arguments), &arguments);
        }
    }
}
