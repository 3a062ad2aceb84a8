//! What runs: `uname`, versions, pf's translation rules, jails; and `rc.conf`, which is not used.

use super::super::Text;
use super::product::{distribution, freebsd};
use crate::model::{Distribution, Nat, Platform, Setting, Snapshot};
use crate::text::notes::{Notes, first_line, first_lines, quoted, whole_lines};

/// `uname -a`: system, host and release.
pub(super) fn recognises_uname(text: &Text<'_>) -> bool {
    first_lines(text).take(2).count() == 1 && uname(first_line(text)).is_some()
}

fn uname(line: &str) -> Option<(Platform, &str, &str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (platform, again) = match *words.first()? {
        "FreeBSD" => (Platform::Freebsd, true),
        "OpenBSD" => (Platform::Openbsd, false),
        "Darwin" => (Platform::Macos, true),
        _ => return None,
    };
    let [system, host, release, rest @ ..] = words.as_slice() else {
        return None;
    };
    let number = release.starts_with(|c: char| c.is_ascii_digit());
    let repeated = !again || rest.first() == Some(system);
    (number && repeated).then_some((platform, *host, *release))
}

pub(super) fn read_uname(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let line = body.trim();
    if let Some((platform, host, release)) = uname(line) {
        snapshot.platform = Some(platform);
        snapshot.name = Some(host.to_owned());
        snapshot.kernel = Some(release.to_owned());
        if platform == Platform::Freebsd {
            snapshot.distribution = product(line).or_else(|| freebsd(release));
        }
    }
    notes.finish(snapshot);
}

/// The kernels of pfSense and TrueNAS are named after them; OPNsense's is built from a branch that has
/// its release in its name (`stable/24.7-n267939`), where FreeBSD's has a number without a dot. The
/// version of the product is not in it.
fn product(line: &str) -> Option<Distribution> {
    let mut words = line.split_whitespace();
    let (id, name) = words.find_map(|word| match word {
        // With the path where it was built, or without.
        word if word.rsplit('/').next() == Some("pfSense") => Some(("pfsense", "pfSense")),
        word if word.ends_with("/sys/FreeNAS.amd64") => Some(("truenas", "FreeNAS")),
        "TRUENAS" => Some(("truenas", "TrueNAS CORE")),
        word if is_opnsense(word) => Some(("opnsense", "OPNsense")),
        _ => None,
    })?;
    Some(Distribution {
        id: id.to_owned(),
        version: None,
        name: Some(name.to_owned()),
    })
}

fn is_opnsense(word: &str) -> bool {
    let branch = word
        .strip_prefix("stable/")
        .and_then(|rest| rest.split('-').next());
    branch.is_some_and(|branch| branch.contains('.'))
}

/// `/etc/version` of TrueNAS CORE and of FreeNAS before it.
pub(super) fn recognises_truenas(text: &Text<'_>) -> bool {
    let line = first_line(text);
    let core = line.starts_with("TrueNAS-") && !line.starts_with("TrueNAS-SCALE");
    first_lines(text).take(2).count() == 1 && (core || line.starts_with("FreeNAS-"))
}

/// `TrueNAS-13.0-U6.1 (3bf1baefd2)`
pub(super) fn read_truenas(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let line = whole_lines(text, &mut notes).trim();
    let version = line.split('-').nth(1);
    if let Some(version) = version {
        snapshot.platform = Some(Platform::Freebsd);
        snapshot.distribution = distribution("truenas", version, line);
    }
    notes.finish(snapshot);
}

/// `14.1-RELEASE-p5`.
fn is_release(line: &str) -> bool {
    let Some((version, branch)) = line.trim().split_once('-') else {
        return false;
    };
    let mut parts = version.split('.');
    let number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u32>().is_ok());
    let two = number(parts.next()) && number(parts.next()) && parts.next().is_none();
    let names = [
        "RELEASE",
        "STABLE",
        "CURRENT",
        "PRERELEASE",
        "BETA",
        "RC",
        "ALPHA",
    ];
    let branch_name = branch.split('-').next().unwrap_or_default();
    let branch_name = branch_name.trim_end_matches(|c: char| c.is_ascii_digit());
    two && names.contains(&branch_name)
}

pub(super) fn recognises_version(text: &Text<'_>) -> bool {
    let mut lines = first_lines(text).take(4).peekable();
    lines.peek().is_some() && lines.all(is_release)
}

/// `freebsd-version` tells the userland's version, with `-k` the installed kernel's and with `-r` or
/// `uname -r` the running one's; with several they come in the order k, r, u.
pub(super) fn read_version(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let lines: Vec<&str> = body.split_whitespace().collect();
    snapshot.platform = Some(Platform::Freebsd);
    let command = text.command.unwrap_or_default();
    let running = lines.len() == 1 && (command == "uname -r" || command == "freebsd-version -r");
    if let (true, Some(release)) = (running, lines.first()) {
        snapshot.kernel = Some((*release).to_owned());
    }
    match lines.split_last() {
        Some((last, rest)) if rest.iter().all(|line| line == last) => {
            snapshot.distribution = freebsd(last);
        }
        Some(_) => {
            let why = "several versions: which is the running kernel's cannot be told";
            notes.add("several", &quoted(&lines.join(" ")), why);
        }
        None => {}
    }
    notes.finish(snapshot);
}

pub(super) fn recognises_opnsense(text: &Text<'_>) -> bool {
    let line = first_line(text);
    let version = line.strip_prefix("OPNsense ").unwrap_or_default();
    first_lines(text).take(2).count() == 1 && version.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn read_opnsense(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let line = whole_lines(text, &mut notes).trim();
    let version = line.split_whitespace().nth(1);
    if let Some(version) = version.and_then(|version| version.split('-').next()) {
        snapshot.platform = Some(Platform::Freebsd);
        snapshot.distribution = distribution("opnsense", version, line);
    }
    notes.finish(snapshot);
}

/// Translation rules, and other lines of `pfctl -sn`.
const TRANSLATES: &[&str] = &[
    "nat on ",
    "nat pass ",
    "rdr on ",
    "rdr pass ",
    "binat on ",
    "nat log ",
    "rdr log ",
];
const OTHER: &[&str] = &[
    "nat-anchor ",
    "rdr-anchor ",
    "binat-anchor ",
    "no nat ",
    "no rdr ",
    "no binat ",
    "No ALTQ support",
    "ALTQ related functions",
];

fn begins(line: &str, with: &[&str]) -> bool {
    with.iter().any(|begin| line.starts_with(begin))
}

pub(super) fn recognises_pfctl(text: &Text<'_>) -> bool {
    let rule = |line: &str| begins(line, TRANSLATES) || begins(line, OTHER);
    let mut lines = first_lines(text).take(4).peekable();
    lines.peek().is_some() && lines.all(rule)
}

pub(super) fn read_pfctl(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    if body.lines().any(|line| begins(line, TRANSLATES)) {
        let pf = Some(true);
        snapshot.stack.nat = Some(Nat {
            pf,
            ..Nat::default()
        });
    } else {
        let why = "no rule that translates, but rules within anchors are not listed";
        notes.add("anchors", "pf's translation", why);
    }
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        if !begins(line, TRANSLATES) && !begins(line, OTHER) {
            notes.line(line);
        }
    }
    notes.finish(snapshot);
}

pub(super) fn recognises_jls(text: &Text<'_>) -> bool {
    let words: Vec<&str> = first_line(text).split_whitespace().collect();
    words == ["JID", "IP", "Address", "Hostname", "Path"]
}

pub(super) fn read_jls(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    snapshot.platform = Some(Platform::Freebsd);
    let number = |line: &&str| {
        line.split_whitespace()
            .next()
            .is_some_and(|id| id.parse::<u32>().is_ok())
    };
    let (jails, others): (Vec<&str>, Vec<&str>) = body.lines().skip(1).partition(number);
    for line in others.iter().filter(|line| !line.trim().is_empty()) {
        notes.line(line);
    }
    // Not how many: a text that was cut would tell a wrong number.
    if !jails.is_empty() {
        let running = Setting::Flag(true);
        snapshot.settings.insert("jails".to_owned(), running);
    }
    notes.finish(snapshot);
}

/// All lines assign, and one does what only rc.conf does.
pub(super) fn recognises_rc_conf(text: &Text<'_>) -> bool {
    let lines = || first_lines(text).filter(|line| !line.trim_start().starts_with('#'));
    let only = [
        "cloned_interfaces",
        "defaultrouter",
        "gateway_enable",
        "pf_enable",
        "sshd_enable",
        "zfs_enable",
    ];
    // `*_enable` alone would take vsftpd.conf.
    let switch = |line: &str| {
        let key = line.split('=').next().unwrap_or_default();
        key.starts_with("ifconfig_") || only.contains(&key)
    };
    let assigns = |line: &str| {
        let key = line.split_once('=').map(|(key, _)| key).unwrap_or_default();
        let char = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        !key.is_empty() && key.bytes().all(char)
    };
    lines().any(switch) && lines().all(assigns)
}

pub(super) fn read_rc_conf(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let why =
        "says what is set at boot, not what is active: not used; give `ifconfig` and `sysctl -a`";
    notes.add("rc.conf", "rc.conf", why);
    notes.finish(snapshot);
}
