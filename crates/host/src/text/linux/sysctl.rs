//! `sysctl -a`, sysctl.conf and single files of /proc/sys.

use super::files;
use super::out::{Out, only_line};
use crate::model::Snapshot;
use crate::sysctls::{self, LONGEST};
use crate::text::notes::first_lines;
use crate::text::{Reader, Text};

/// `sysctl -a`.
pub(super) const ALL: Reader = Reader {
    name: "sysctl -a",
    recognises: |text| !is_conf(text) && is_sysctl(text),
    read: |text, snapshot| read(Out::linux(text, ALL.name, snapshot), Applies::First),
};

/// `/etc/sysctl.conf` and its like.
pub(super) const CONF: Reader = Reader {
    name: "sysctl.conf",
    recognises: |text| is_conf(text) && is_sysctl(text),
    read: |text, snapshot| {
        let mut out = Out::linux(text, CONF.name, snapshot);
        let why = "says what is set at boot, which need not be what is in force";
        out.not_read("a file of settings", why);
        read(out, Applies::Last);
    },
};

/// Files of /proc/sys, one or several: only their paths tell what they are. Where a number is asked for, the first lines are numbers,
/// whatever stands below.
pub(super) const FILE: Reader = Reader {
    name: "/proc/sys",
    recognises: |text| {
        let keys = keys(text);
        let mut lines = first_lines(text);
        let mut is_answer = |key: &String| {
            let line = lines.next();
            line.is_some_and(|line| is_number(line.trim())) && sysctls::is_number(key)
        };
        let is_alone = keys.len() == 1 && only_line(text).is_some();
        !keys.is_empty() && (keys.iter().all(&mut is_answer) || is_alone)
    },
    read: read_file,
};

/// `grep -r . /proc/sys/net/ipv4/conf`: each line has the file in front.
pub(super) const GREPPED: Reader = Reader {
    name: "grep . /proc/sys",
    recognises: |text| {
        let mut lines = first_lines(text).peekable();
        lines.peek().is_some() && lines.all(|line| grepped(line).is_some())
    },
    read: |text, snapshot| {
        let mut out = Out::linux(text, GREPPED.name, snapshot);
        for line in out.lines().filter(|line| !line.is_empty()) {
            match grepped(line) {
                Some((key, value)) => put(&mut out, key, value, Applies::First),
                None => out.unknown(line),
            }
        }
        out.finish();
    },
};

/// `/proc/sys/net/ipv4/ip_forward:1`
fn grepped(line: &str) -> Option<(String, &str)> {
    let (path, value) = line.strip_prefix("/proc/sys/")?.split_once(':')?;
    let key = dotted(path);
    is_of_stack_or_kernel(&key).then(|| (key, value.trim()))
}

/// Which of several values of a key is taken.
#[derive(Clone, Copy)]
enum Applies {
    /// What is in force has one value: another is of another host or time.
    First,
    /// A file of settings is carried out line by line, as sysctl(8) does with `-p`.
    Last,
}

/// sysctls that are kept of one text: a host has about 150 and two more for each interface.
const KEPT: usize = 200_000;

/// Beginnings that no other system's sysctls have.
const LINUX: [&str; 9] = [
    "kernel.",
    "net.ipv4.",
    "net.ipv6.",
    "net.core.",
    "net.bridge.",
    "net.netfilter.",
    "net.nf_conntrack",
    "net.unix.",
    "fs.file-max",
];

/// Whether most lines are `key = value`, one of them Linux's own; or the command says what they are, and the first one is that. What
/// stands below may be a prompt without a command, or what somebody wrote.
fn is_sysctl(text: &Text<'_>) -> bool {
    let mut lines = first_lines(text).filter(|line| !is_comment(line) && !is_complaint(line));
    let is_own = |line: &str| pair(line).is_some_and(|(key, _)| is_of_linux(&key));
    if text.command.is_some_and(is_sysctl_itself) && lines.next().is_some_and(is_own) {
        return true;
    }
    let (mut known, mut others, mut linux) = (0, 0, false);
    for line in first_lines(text).filter(|line| !is_comment(line) && !is_complaint(line)) {
        match pair(line) {
            Some((key, _)) => {
                known += 1;
                linux = linux || is_of_linux(&key);
            }
            None => others += 1,
        }
    }
    linux && known > others * 4
}

fn is_of_linux(key: &str) -> bool {
    LINUX.iter().any(|start| key.starts_with(start))
}

/// A file of settings says so by its path, by comments, or by how its lines are written.
fn is_conf(text: &Text<'_>) -> bool {
    if text.command.is_some_and(is_sysctl_itself) {
        return false;
    }
    let pairs = first_lines(text).filter(|line| pair(line).is_some());
    let (printed, written): (Vec<_>, Vec<_>) = pairs.partition(|line| is_printed(line));
    let commented = || first_lines(text).any(is_comment);
    text.command.is_some_and(is_conf_path)
        || is_conf_path(text.origin)
        || commented()
        || written.len() > printed.len()
}

/// What sysctl(8) prints is in force: with `-p FILE` it has just set what it prints.
fn is_sysctl_itself(command: &str) -> bool {
    let mut words = command.split_whitespace().take(2);
    words.any(|word| word == "sysctl" || word.ends_with("/sysctl"))
}

/// `/etc/sysctl.d/99-router.conf`, also where a bundle has made one name of the path, or has put `.txt` behind it.
fn is_conf_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = name.strip_suffix(".txt").unwrap_or(name);
    path.contains("sysctl.d/") || name.ends_with(".conf")
}

/// sysctl prints `net.ipv4.ip_forward = 1`, always with spaces, without a dash, with dots.
fn is_printed(line: &str) -> bool {
    let (key, value) = line.split_once('=').unwrap_or_default();
    let spaced = key.ends_with(' ') && (value.is_empty() || value.starts_with(' '));
    spaced && !key.starts_with('-') && !is_slashed(key)
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with(['#', ';'])
}

/// `sysctl: permission denied on key 'net.ipv4.tcp_fastopen_key'`
fn is_complaint(line: &str) -> bool {
    line.starts_with("sysctl: ") || line.starts_with("error: ")
}

/// Name and value; the name with dots between its parts.
fn pair(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split_once('=')?;
    let key = key.trim().trim_start_matches('-');
    let letter = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | '\'' | '$');
    let valid =
        key.contains(['.', '/']) && key.starts_with(|first: char| first.is_ascii_lowercase());
    (valid && key.chars().all(letter)).then(|| (dotted(key), value.trim()))
}

/// With slashes between the parts, dots are of an interface's name; sysctl prints them the other
/// way round.
fn dotted(key: &str) -> String {
    if is_slashed(key) {
        files::dotted(key)
    } else {
        key.to_owned()
    }
}

/// Whether the first separator is a slash.
fn is_slashed(key: &str) -> bool {
    let separator = key.find(['.', '/']).and_then(|at| key.get(at..));
    !separator.is_some_and(|rest| rest.starts_with('.'))
}

fn read(mut out: Out<'_>, applies: Applies) {
    for line in out
        .lines()
        .filter(|line| !line.is_empty() && !is_comment(line))
    {
        match pair(line) {
            _ if is_complaint(line) => complaint(&mut out, line),
            Some((key, value)) => put(&mut out, key, value, applies),
            None => out.unknown(line),
        }
    }
    out.finish();
}

/// Keys that could not be read: those of the network, without their names.
fn complaint(out: &mut Out<'_>, line: &str) {
    if line.contains("net.") {
        let words = line.split(' ').filter(|word| !word.contains("net."));
        let words: Vec<&str> = words.collect();
        out.not_read(
            "keys of net",
            words.join(" ").trim_start_matches("sysctl: "),
        );
    }
}

fn put(out: &mut Out<'_>, key: String, value: &str, applies: Applies) {
    if !key.starts_with("net.") {
        return of_host(out, &key, value, applies);
    }
    if !sysctls::is_kept(&key) || value.len() > LONGEST {
        return;
    }
    if sysctls::is_number(&key) && !is_number(value) {
        return out.not_read(&key, "its value is no number");
    }
    let known = &mut out.snapshot.stack.sysctls;
    let count = known.len();
    match known.get_mut(&key) {
        Some(known) if known == value => {}
        Some(known) => {
            if let Applies::Last = applies {
                value.clone_into(known);
            }
            again(out, &key, applies);
        }
        None if count >= KEPT => out.not_read("keys of net", "there are too many"),
        None => {
            known.insert(key, value.to_owned());
        }
    }
}

fn is_number(value: &str) -> bool {
    value.parse::<i64>().is_ok()
}

/// The kernel's own facts.
fn of_host(out: &mut Out<'_>, key: &str, value: &str, applies: Applies) {
    let value = Some(value.to_owned()).filter(|value| !value.is_empty());
    let field = match key {
        "kernel.osrelease" => &mut out.snapshot.kernel,
        "kernel.hostname" => &mut out.snapshot.name,
        "kernel.random.boot_id" => &mut out.snapshot.boot_id,
        _ => return,
    };
    let differs = field.is_some() && *field != value;
    if field.is_none() || matches!(applies, Applies::Last) {
        *field = value.filter(|value| value != "(none)");
    }
    if differs {
        again(out, key, applies);
    }
}

/// Notes that a key has two values.
fn again(out: &mut Out<'_>, key: &str, applies: Applies) {
    match applies {
        Applies::First => out.twice(key),
        Applies::Last => out.not_read(key, "set more than once: the last value is what applies"),
    }
}

/// The keys of values without names, from paths below `/proc/sys` or from `sysctl -n KEY...`.
fn keys(text: &Text<'_>) -> Vec<String> {
    let command = text.command.unwrap_or_default();
    let is_sysctl = command.starts_with("sysctl -n ");
    let words = command.split_whitespace();
    let keys = words.filter_map(|word| match word.split_once("/proc/sys/") {
        _ if is_sysctl => Some(word),
        Some((_, path)) => Some(path),
        None => word.strip_prefix("proc/sys/"),
    });
    let keys = keys.map(dotted).filter(|key| is_of_stack_or_kernel(key));
    keys.collect()
}

/// `net.inet` is FreeBSD's.
fn is_of_stack_or_kernel(key: &str) -> bool {
    let is_bsd = key.starts_with("net.inet.") || key.starts_with("net.inet6.");
    key.starts_with("net.") && !is_bsd || key.starts_with("kernel.")
}

fn read_file(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, FILE.name, snapshot);
    let mut lines = out.lines().filter(|line| !line.trim().is_empty());
    for (key, line) in keys(text).into_iter().zip(lines.by_ref()) {
        put(&mut out, key, line.trim(), Applies::First);
    }
    lines.for_each(|line| out.unknown(line));
    out.finish();
}
