//! `sysctl` of FreeBSD and macOS: `name: value`. Linux has `name = value`, OpenBSD `name=value`.

use super::super::Text;
use super::names::driver;
use super::product;
use crate::model::{Driver, Platform, Setting, Snapshot};
use crate::text::notes::{Notes, first_lines, whole_lines};

/// Sysctls kept of a text: more is no host's.
const MOST: usize = 20_000;

/// Names that only one platform has.
const FREEBSD: &[&str] = &[
    "kern.vm_guest",
    "kern.osreldate: 1",
    "net.inet.tcp.functions_",
    "net.inet.tcp.lro.",
    "net.link.epair.",
    "hw.vtnet.",
    "net.inet.ip.fw.tables_max",
    "security.jail.",
];
const MACOS: &[&str] = &[
    "kern.osproductversion",
    "net.inet.ip.use_route_genid",
    "net.local.stream.tracemdns",
    "net.inet.ip.subnets_are_local",
];

/// The name of `sysctl -n net.inet.ip.forwarding`, which prints the value alone.
fn named<'a>(text: &Text<'a>) -> Option<&'a str> {
    let name = text.command?.strip_prefix("sysctl -n ")?.trim();
    let own = [
        "net.inet.",
        "net.inet6.",
        "net.link.",
        "kern.",
        "hw.",
        "dev.",
    ];
    let is_own = own.iter().any(|begin| name.starts_with(begin));
    (is_own && setting(&format!("{name}: ")).is_some()).then_some(name)
}

/// The second and third line may belong to a value of several lines.
pub(super) fn recognises(text: &Text<'_>) -> bool {
    let is_answer = || {
        let mut lines = first_lines(text);
        let is_number = lines
            .next()
            .is_some_and(|line| line.trim().parse::<i64>().is_ok());
        is_number || lines.next().is_none()
    };
    if is_openbsd(text) || named(text).is_some() && is_answer() {
        return true;
    }
    let mut lines = first_lines(text).take(3);
    let first = lines.next().is_some_and(|line| setting(line).is_some());
    first && lines.all(|line| setting(line).is_some() || line.starts_with([' ', '\t']))
}

/// `sysctl` of OpenBSD: `name=value`, as files of settings are written elsewhere, so that the command has to say what it is.
fn is_openbsd(text: &Text<'_>) -> bool {
    let command = text.command.unwrap_or_default();
    let name = first_lines(text)
        .next()
        .and_then(|line| line.split_once('='));
    let is_setting = name.is_some_and(|(name, _)| setting(&format!("{name}: ")).is_some());
    is_setting && command.split_whitespace().next() == Some("sysctl")
}

/// First parts of names.
const TOPS: [&str; 15] = [
    "compat",
    "debug",
    "dev",
    "hw",
    "kern",
    "kstat",
    "machdep",
    "net",
    "p1003_1b",
    "regression",
    "security",
    "sysctl",
    "user",
    "vfs",
    "vm",
];

/// A dotted name and its value.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let mut parts = name.split('.');
    let top = TOPS.contains(&parts.next()?);
    let sound = |part: &str| {
        let char = |b: u8| b.is_ascii_alphanumeric() || b"_%-".contains(&b);
        !part.is_empty() && part.bytes().all(char)
    };
    let more = parts.clone().next().is_some();
    let spaced = value.is_empty() || value.starts_with([' ', '\t']);
    (top && more && spaced && parts.all(sound)).then_some((name, value.trim()))
}

pub(super) fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    let is_openbsd = is_openbsd(text);
    snapshot.platform = platform(body).or(is_openbsd.then_some(Platform::Openbsd));
    let named = named(text);
    if let (Some(name), Some(line)) = (named, first_lines(text).next()) {
        network(name, line.trim(), snapshot, &mut notes);
    }
    for line in body.lines().filter(|_| named.is_none()) {
        let spaced = is_openbsd.then(|| line.replacen('=', ": ", 1));
        // Others go on with a value of several lines, none of which is kept.
        if let Some((name, value)) = setting(spaced.as_deref().unwrap_or(line)) {
            host(name, value, snapshot, &mut notes);
            network(name, value, snapshot, &mut notes);
        }
    }
    notes.finish(snapshot);
}

fn platform(body: &str) -> Option<Platform> {
    let has = |names: &[&str]| {
        let mut lines = body.lines();
        lines.any(|line| names.iter().any(|name| line.starts_with(name)))
    };
    let driver = || {
        body.lines()
            .any(|line| line.starts_with("dev.") && line.contains(".%driver:"))
    };
    let freebsd = has(&["kern.ostype: FreeBSD"]) || has(FREEBSD) || driver();
    let macos = has(&["kern.ostype: Darwin"]) || has(MACOS);
    match (freebsd, macos) {
        (true, false) => Some(Platform::Freebsd),
        (false, true) => Some(Platform::Macos),
        _ => None,
    }
}

fn host(name: &str, value: &str, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    let freebsd = snapshot.platform == Some(Platform::Freebsd);
    let text = (!value.is_empty()).then(|| value.to_owned());
    match name {
        "kern.hostname" => once(&mut snapshot.name, text, name, notes),
        "kern.osrelease" => once(&mut snapshot.kernel, text.clone(), name, notes),
        "hw.ncpu" => snapshot.cpus = value.parse().ok(),
        "kern.vm_guest" => snapshot.virtualisation = guest(value).map(str::to_owned),
        _ => {}
    }
    if freebsd && name == "kern.osrelease" {
        snapshot.distribution = product::freebsd(value);
    }
}

/// A value of the host: a second, other one is of another host.
fn once(to: &mut Option<String>, value: Option<String>, name: &str, notes: &mut Notes<'_>) {
    if to.is_some() && *to != value {
        let why = "twice with different values: perhaps of two hosts; the first is taken";
        notes.add(name, name, why);
    } else {
        *to = value;
    }
}

/// By the names of systemd-detect-virt.
fn guest(value: &str) -> Option<&'static str> {
    let name = match value {
        "none" => "none",
        "generic" => "vm-other",
        "hv" => "microsoft",
        "vmware" => "vmware",
        "kvm" => "kvm",
        "xen" => "xen",
        "bhyve" => "bhyve",
        "vbox" => "oracle",
        "parallels" => "parallels",
        _ => return None,
    };
    Some(name)
}

/// What is about the network: `net`, the switches of vtnet, and of devices what is about merging
/// and segmentation.
fn network(name: &str, value: &str, snapshot: &mut Snapshot, notes: &mut Notes<'_>) {
    let device = name.strip_prefix("dev.").and_then(|rest| device(rest));
    let keep = match device {
        Some((interface, leaf)) => of_device(&interface, leaf, value, snapshot),
        None => name.starts_with("net.") || name.starts_with("hw.vtnet."),
    };
    if !keep {
        return;
    }
    let sysctls = &mut snapshot.stack.sysctls;
    if sysctls.get(name).is_some_and(|old| old != value) {
        let why = "printed twice with different values: the first is taken";
        notes.add("twice", &format!("`{name}`"), why);
    } else if sysctls.len() >= MOST {
        notes.add("many", "more sysctls", "only the first 20000 are kept");
    } else {
        sysctls.insert(name.to_owned(), value.to_owned());
    }
}

/// `ix.0.queue0.lro_queued` is of ix0, if ix is a driver whose interfaces have its name.
fn device(rest: &str) -> Option<(String, &str)> {
    let (base, rest) = rest.split_once('.')?;
    let (unit, leaf) = rest.split_once('.')?;
    let unit: u32 = unit.parse().ok()?;
    let name = format!("{base}{unit}");
    driver(&name)?;
    Some((name, leaf))
}

/// Whether it is kept among the sysctls as well.
fn of_device(name: &str, leaf: &str, value: &str, snapshot: &mut Snapshot) -> bool {
    let last = leaf.rsplit('.').next().unwrap_or(leaf);
    let merging = ["lro", "tso", "rsc"].iter().any(|word| last.contains(word));
    let counted = ["queued", "flushed", "bad_csum", "packets", "bytes"];
    let number = value.parse::<u64>().ok();
    match (leaf, number) {
        ("%driver", _) => driver_mut(name, snapshot).name = value.to_owned(),
        ("iflib.driver_version", _) if !value.is_empty() => {
            let driver = driver_mut(name, snapshot);
            driver.version = Some(value.to_owned());
        }
        (_, Some(count)) if merging && counted.iter().any(|end| last.ends_with(end)) => {
            let statistics = &mut snapshot.interface_mut(name).statistics;
            statistics.insert(leaf.to_owned(), count);
            return false;
        }
        _ if merging => {
            let properties = &mut snapshot.interface_mut(name).properties;
            properties.insert(leaf.to_owned(), self::value(value));
            return true;
        }
        _ => {}
    }
    false
}

fn value(text: &str) -> Setting {
    text.parse()
        .map_or_else(|_| Setting::Text(text.to_owned()), Setting::Number)
}

fn driver_mut<'s>(name: &str, snapshot: &'s mut Snapshot) -> &'s mut Driver {
    let interface = snapshot.interface_mut(name);
    let base = driver(name).unwrap_or_default();
    interface.driver.get_or_insert_with(|| Driver {
        name: base.to_owned(),
        ..Driver::default()
    })
}
