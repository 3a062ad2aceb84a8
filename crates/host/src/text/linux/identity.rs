//! Which host this is: uname, /proc/version, os-release, hostnamectl, hostname, virtualisation.

use super::files::{self, assignment};
use super::out::{Out, command_words, only_line};
use crate::model::{Distribution, Platform, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// Linux's host name before one is set.
const NO_NAME: &str = "(none)";

/// `/proc/version`.
pub(super) const VERSION: Reader = Reader {
    name: "/proc/version",
    recognises: |text| {
        only_line(text)
            .is_some_and(|line| line.starts_with("Linux version ") && line.contains(" #"))
    },
    read: version,
};

/// `uname -a`.
pub(super) const UNAME: Reader = Reader {
    name: "uname -a",
    recognises: |text| only_line(text).and_then(uname_parts).is_some(),
    read: uname,
};

/// `uname -r`, if what names the text says so: a version alone could be of anything.
pub(super) const RELEASE: Reader = Reader {
    name: "uname -r",
    recognises: |text| names_command(text, "uname") && only_line(text).is_some_and(is_release),
    read: release,
};

/// `/etc/os-release`.
pub(super) const OS_RELEASE: Reader = Reader {
    name: "/etc/os-release",
    recognises: |text| {
        let lines = || first_lines(text).filter(|line| !line.starts_with('#'));
        let has = |key: &str| lines().any(|line| line.starts_with(key));
        has("ID=") && has("NAME=") && lines().all(|line| assignment(line).is_some())
    },
    read: os_release,
};

/// `/etc/redhat-release`, which is older than os-release.
pub(super) const REDHAT_RELEASE: Reader = Reader {
    name: "/etc/redhat-release",
    recognises: |text| only_line(text).and_then(redhat).is_some(),
    read: redhat_release,
};

/// `hostnamectl`.
pub(super) const HOSTNAMECTL: Reader = Reader {
    name: "hostnamectl",
    recognises: |text| {
        let has = |key: &str| first_lines(text).any(|line| line.trim_start().starts_with(key));
        first_line(text)
            .trim_start()
            .starts_with("Static hostname: ")
            && has("Kernel: ")
    },
    read: hostnamectl,
};

/// `hostname`, if what names the text says so.
pub(super) const HOSTNAME: Reader = Reader {
    name: "hostname",
    recognises: |text| names_command(text, "hostname") && only_line(text).is_some_and(is_host),
    read: hostname,
};

/// `systemd-detect-virt`, if what names the text says so.
pub(super) const VIRT: Reader = Reader {
    name: "systemd-detect-virt",
    recognises: |text| {
        let named = text
            .command
            .is_some_and(|command| command.contains("detect-virt"));
        named && only_line(text).is_some_and(is_virt)
    },
    read: virt,
};

/// Whether the command, or the file that was printed, is this one.
fn names_command(text: &Text<'_>, name: &str) -> bool {
    let mut words = command_words(text);
    let ends = [words.next(), words.next_back()];
    let mut names = ends.into_iter().flatten();
    names.any(|word| word.rsplit('/').next() == Some(name))
}

fn version(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, VERSION.name, snapshot);
    let line = out.lines().find(|line| !line.is_empty());
    let release = line.and_then(|line| line.split(' ').nth(2));
    out.snapshot.kernel = release.map(str::to_owned);
    out.finish();
}

/// Host and release of `Linux host 6.1.0 #1 SMP ... x86_64 GNU/Linux`.
fn uname_parts(line: &str) -> Option<(Option<&str>, &str)> {
    let mut words = line.split(' ');
    let linux = words.next() == Some("Linux");
    let (host, release, build) = (words.next()?, words.next()?, words.next()?);
    let name = Some(host).filter(|host| *host != NO_NAME);
    (linux && build.starts_with('#') && name.is_none_or(is_host)).then_some((name, release))
}

fn uname(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, UNAME.name, snapshot);
    let mut lines = out.lines().filter_map(uname_parts);
    if let Some((host, release)) = lines.next() {
        out.snapshot.name = host.map(str::to_owned);
        out.snapshot.kernel = Some(release.to_owned());
    }
    out.finish();
}

/// `6.1.0-25-amd64`; macOS is beyond 9, FreeBSD has no third number.
fn is_release(line: &str) -> bool {
    let mut parts = line.splitn(3, '.');
    let major = parts.next().and_then(|part| part.parse::<u32>().ok());
    let minor = parts.next().and_then(|part| part.parse::<u32>().ok());
    let third = parts.next().unwrap_or_default();
    let digit = third.starts_with(|first: char| first.is_ascii_digit());
    let plain = !line.contains(char::is_whitespace);
    plain && digit && minor.is_some() && major.is_some_and(|major| (2..10).contains(&major))
}

fn release(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, RELEASE.name, snapshot);
    let line = out.lines().find(|line| !line.is_empty());
    out.snapshot.kernel = line.map(|line| line.trim().to_owned());
    out.finish();
}

fn os_release(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::any(text, OS_RELEASE.name, snapshot);
    let release = files::os_release(out.whole());
    // A text that was cut may lack the name.
    if let Some(release) = release.filter(|release| !release.id.is_empty()) {
        let freebsd = release.id == "freebsd";
        out.snapshot.platform = freebsd.then_some(Platform::Freebsd);
        out.snapshot.distribution = Some(release);
    }
    out.finish();
}

/// How the names of distributions begin that have such a file, and their ids in os-release.
const REDHATS: [(&str, &str); 9] = [
    ("Red Hat Enterprise Linux", "rhel"),
    ("CentOS", "centos"),
    ("Fedora", "fedora"),
    ("Rocky Linux", "rocky"),
    ("AlmaLinux", "almalinux"),
    ("Oracle Linux", "ol"),
    ("Scientific Linux", "scientific"),
    ("Amazon Linux", "amzn"),
    ("XenServer", "xenserver"),
];

/// `CentOS Linux release 7.9.2009 (Core)`
fn redhat(line: &str) -> Option<Distribution> {
    let (name, rest) = line.split_once(" release ")?;
    let version = rest.split(' ').next()?;
    let is_version = version.starts_with(|letter: char| letter.is_ascii_digit());
    let (_, id) = REDHATS.iter().find(|(begin, _)| name.starts_with(begin))?;
    is_version.then(|| Distribution {
        id: (*id).to_owned(),
        version: Some(version.to_owned()),
        name: Some(line.to_owned()),
    })
}

fn redhat_release(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, REDHAT_RELEASE.name, snapshot);
    out.snapshot.distribution = out.lines().find_map(redhat);
    out.finish();
}

fn hostnamectl(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, HOSTNAMECTL.name, snapshot);
    for line in out.lines().filter(|line| !line.is_empty()) {
        let Some((key, value)) = line.trim().split_once(": ") else {
            out.unknown(line);
            continue;
        };
        let value = Some(value.trim().to_owned()).filter(|value| value != "n/a");
        match key {
            "Static hostname" => out.snapshot.name = value.filter(|name| is_host(name)),
            "Kernel" => out.snapshot.kernel = value.as_deref().and_then(kernel),
            "Virtualization" => out.snapshot.virtualisation = value.filter(|virt| is_virt(virt)),
            "Boot ID" => out.snapshot.boot_id = value.as_deref().and_then(uuid),
            _ => {}
        }
    }
    out.finish();
}

fn kernel(value: &str) -> Option<String> {
    value.strip_prefix("Linux ").map(str::to_owned)
}

/// With dashes, as the kernel writes it.
fn uuid(plain: &str) -> Option<String> {
    let hex = plain.len() == 32 && plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !hex {
        return None;
    }
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts = parts.into_iter().map(|range| plain.get(range));
    Some(parts.collect::<Option<Vec<_>>>()?.join("-"))
}

fn is_host(name: &str) -> bool {
    let letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '.' | '_');
    (1..=255).contains(&name.len()) && name.chars().all(letter)
}

fn hostname(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::any(text, HOSTNAME.name, snapshot);
    let line = out.lines().find(|line| !line.is_empty());
    out.snapshot.name = line.map(|line| line.trim().to_owned());
    out.finish();
}

/// One lower-case word, such as `kvm`, `systemd-nspawn`, `none`.
fn is_virt(word: &str) -> bool {
    let letter =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    (2..30).contains(&word.len()) && word.chars().all(letter)
}

fn virt(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, VIRT.name, snapshot);
    let line = out.lines().find(|line| !line.is_empty());
    out.snapshot.virtualisation = line.map(|line| line.trim().to_owned());
    out.finish();
}
