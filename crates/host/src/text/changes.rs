//! Commands that change a setting, and print nothing where all went as asked: in the record of a terminal, what was printed
//! before such a command is over.

mod words;

use crate::model::{Feature, Interface, Platform, Setting, Snapshot};
use crate::names::OFFLOADS;
use crate::text::{Reader, Text};
pub(crate) use words::loop_of;
use words::{commands, words};

/// What one command changes.
#[derive(Debug, PartialEq)]
pub(crate) enum Change {
    /// Of an interface, what the block says.
    Interface(String, Box<Interface>),
    /// An interface is no port any more.
    Leaves(String),
    /// A setting of the stack, by its name in sysctl(8).
    Sysctl(String, String),
    /// Receive coalescing of a switch of Hyper-V.
    SoftwareRsc(String, bool),
    /// An advanced setting of ESXi.
    Advanced(String, i64),
}

/// The kind of what was understood so.
pub(crate) const NAME: &str = "a change";

/// What the record of a terminal says by a command alone.
pub(super) const READER: Reader = Reader {
    name: NAME,
    recognises: |text| !silent(text).is_empty(),
    read,
};

fn silent(text: &Text<'_>) -> Vec<Change> {
    let line = text
        .command
        .filter(|line| prints_no_more(line, text.body.trim()));
    line.map(of).unwrap_or_default()
}

/// Whether a change was made that printed this: tee(1) prints what it writes, others nothing.
pub(crate) fn prints_no_more(line: &str, body: &str) -> bool {
    body.is_empty() || line.contains("tee ") && matches!(body, "0" | "1")
}

/// All that a command line changes.
pub(crate) fn of(line: &str) -> Vec<Change> {
    commands(line)
        .iter()
        .flat_map(|line| changes(line))
        .collect()
}

fn changes(line: &str) -> Vec<Change> {
    let all = words(line);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let Some((name, rest)) = bare(&all).split_first() else {
        return Vec::new();
    };
    let change = match (base(name).to_ascii_lowercase().as_str(), rest) {
        ("ethtool", ["-K" | "--features" | "--offload", name, rest @ ..]) => features(name, rest),
        ("ip", ["link" | "l" | "li", "set" | "s", rest @ ..]) => return link(rest),
        ("ifconfig", [name, rest @ ..]) => ifconfig(name, rest),
        ("brctl", ["addif", bridge, name]) => interface(
            name,
            Interface {
                master: Some((*bridge).to_owned()),
                ..Interface::default()
            },
        ),
        ("brctl", ["delif", _, name]) => Some(Change::Leaves((*name).to_owned())),
        ("sysctl", rest) => return sysctls(rest),
        ("echo" | "printf", rest) => written(rest),
        ("set-vmswitch", rest) => switch(rest),
        ("enable-netadapterrsc", rest) => receive_coalescing(rest, true),
        ("disable-netadapterrsc", rest) => receive_coalescing(rest, false),
        ("esxcli", ["system", "settings", "advanced", "set", rest @ ..]) => advanced(rest),
        _ => None,
    };
    change.into_iter().collect()
}

/// Without sudo(8), and settings of the environment.
fn bare<'a, 'b>(words: &'b [&'a str]) -> &'b [&'a str] {
    let is_front = |word: &&&str| matches!(**word, "sudo" | "doas" | "-n" | "-E");
    let front = words.iter().take_while(|word| is_front(word)).count();
    &words[front..]
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn interface(name: &str, block: Interface) -> Option<Change> {
    let is_name = !name.starts_with(['-', '$']) && !name.contains(['*', '`', '(']);
    is_name.then(|| Change::Interface(name.to_owned(), Box::new(block)))
}

/// `ethtool -K eth0 lro off gro on`.
fn features(name: &str, pairs: &[&str]) -> Option<Change> {
    let mut block = Interface::default();
    for pair in pairs.chunks_exact(2) {
        let known = OFFLOADS.iter().find(|(_, short)| *short == pair[0]);
        let feature = known.map_or(pair[0], |(name, _)| name);
        block
            .features
            .insert(feature.to_owned(), switched(pair[1] == "on"));
        matches!(pair[1], "on" | "off").then_some(())?;
    }
    (!block.features.is_empty()).then_some(())?;
    interface(name, block)
}

fn switched(active: bool) -> Feature {
    Feature {
        active,
        ..Feature::default()
    }
}

/// `ip link set dev eth0 mtu 1500 nomaster up`.
fn link(words: &[&str]) -> Vec<Change> {
    let words = words.strip_prefix(&["dev"]).unwrap_or(words);
    let Some((name, mut rest)) = words.split_first() else {
        return Vec::new();
    };
    let mut block = Interface::default();
    let mut leaves = false;
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        match (*word, behind.first()) {
            ("up", _) => block.up = Some(true),
            ("down", _) => block.up = Some(false),
            ("nomaster", _) => leaves = true,
            ("master", Some(master)) => block.master = Some((*master).to_owned()),
            ("mtu", Some(mtu)) => block.mtu_bytes = mtu.parse().ok(),
            _ => {}
        }
    }
    let left = leaves.then(|| Change::Leaves((*name).to_owned()));
    let changed = block != Interface::default();
    let changed = changed.then(|| interface(name, block)).flatten();
    changed.into_iter().chain(left).collect()
}

/// `ifconfig eth0 down`, of FreeBSD `ifconfig ix0 -lro`.
fn ifconfig(name: &str, words: &[&str]) -> Option<Change> {
    let mut block = Interface::default();
    for word in words {
        match *word {
            "up" => block.up = Some(true),
            "down" => block.up = Some(false),
            "lro" | "-lro" => {
                let on = switched(*word == "lro");
                block.features.insert("LRO".to_owned(), on);
            }
            _ => {}
        }
    }
    (block != Interface::default()).then_some(())?;
    interface(name, block)
}

/// `sysctl -qw net.ipv4.ip_forward=0`; without `-q` the new value is printed.
fn sysctls(words: &[&str]) -> Vec<Change> {
    let pairs = words.iter().filter_map(|word| word.split_once('='));
    let pairs = pairs.filter(|(name, value)| name.contains('.') && !value.contains('$'));
    pairs
        .map(|(name, value)| Change::Sysctl(name.to_owned(), value.to_owned()))
        .collect()
}

/// `echo 0 > /proc/sys/net/ipv4/ip_forward`, `echo 0 | sudo tee /proc/sys/...`.
fn written(words: &[&str]) -> Option<Change> {
    let (value, rest) = words.split_first()?;
    let path = rest.iter().find_map(|word| {
        let word = word.trim_start_matches('>');
        word.strip_prefix("/proc/sys/")
    })?;
    let is_written = rest
        .iter()
        .any(|word| word.starts_with('>') || *word == "tee");
    let is_number = value.parse::<i64>().is_ok();
    let name = path.replace('.', "\0").replace('/', ".");
    (is_written && is_number).then(|| Change::Sysctl(name.replace('\0', "/"), (*value).to_owned()))
}

/// `Set-VMSwitch -Name vSwitch1 -EnableSoftwareRsc $false`.
fn switch(words: &[&str]) -> Option<Change> {
    let name = of_option(words, "-Name").or_else(|| words.first().copied())?;
    let on = flag(of_option(words, "-EnableSoftwareRsc")?)?;
    (!name.starts_with(['-', '$'])).then(|| Change::SoftwareRsc(name.to_owned(), on))
}

/// `Disable-NetAdapterRsc -Name "Ethernet 2" -IPv4`: of both protocols where none is named.
fn receive_coalescing(words: &[&str], on: bool) -> Option<Change> {
    let name = of_option(words, "-Name").or_else(|| words.first().copied())?;
    let named = |option: &str| words.iter().any(|word| word.eq_ignore_ascii_case(option));
    let all = !named("-IPv4") && !named("-IPv6");
    let mut block = Interface::default();
    for (option, feature) in [("-IPv4", "rsc-ipv4"), ("-IPv6", "rsc-ipv6")] {
        if all || named(option) {
            block.features.insert(feature.to_owned(), switched(on));
        }
    }
    interface(name, block)
}

/// `esxcli system settings advanced set -o /Net/Vmxnet3HwLRO -i 0`.
fn advanced(words: &[&str]) -> Option<Change> {
    let option = |short, long| of_option(words, short).or_else(|| of_option(words, long));
    let path = option("-o", "--option")?;
    let value = option("-i", "--int-value")?.parse().ok()?;
    path.starts_with('/')
        .then(|| Change::Advanced(path.to_owned(), value))
}

fn of_option<'a>(words: &[&'a str], option: &str) -> Option<&'a str> {
    let at = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case(option))?;
    words.get(at + 1).copied()
}

fn flag(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "$true" | "1" => Some(true),
        "$false" | "0" => Some(false),
        _ => None,
    }
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    for change in silent(text) {
        apply(change, snapshot);
    }
}

/// The last change of a line stays.
fn apply(change: Change, snapshot: &mut Snapshot) {
    match change {
        Change::Interface(name, block) => {
            let known = snapshot.interface_mut(&name);
            known.features.extend(block.features);
            known.up = block.up.or(known.up);
            known.mtu_bytes = block.mtu_bytes.or(known.mtu_bytes);
            known.master = block.master.or(known.master.take());
        }
        Change::Leaves(name) => snapshot.interface_mut(&name).master = None,
        Change::Sysctl(name, value) => {
            snapshot.stack.sysctls.insert(name, value);
        }
        Change::SoftwareRsc(name, on) => {
            snapshot.platform = Some(Platform::Windows);
            snapshot.switches.entry(name).or_default().software_rsc = Some(on);
        }
        Change::Advanced(path, value) => {
            snapshot.platform = Some(Platform::Esxi);
            snapshot.settings.insert(path, Setting::Number(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_change_nothing_here() {
        for line in [
            "ethtool -k eth0",
            "ethtool -K eth0",
            "ethtool -K $i lro off",
            "ethtool -K eth0 lro maybe",
            "ip link show eth0",
            "ip link set dev",
            "ifconfig eth0",
            "sysctl net.ipv4.ip_forward",
            "echo 0",
            "echo /proc/sys/net/ipv4/ip_forward",
            "cat /proc/sys/net/ipv4/ip_forward",
            "Get-VMSwitch -Name vSwitch1",
            "Set-VMSwitch -Name vSwitch1 -Notes x",
            "",
        ] {
            assert_eq!(of(line), [], "{line}");
        }
    }

    #[test]
    fn settings_of_the_stack() {
        for line in [
            "sysctl -qw net.ipv4.ip_forward=0",
            "echo 0 > /proc/sys/net/ipv4/ip_forward",
            "echo 0 >/proc/sys/net/ipv4/ip_forward",
            "echo 0 | sudo tee /proc/sys/net/ipv4/ip_forward >/dev/null",
        ] {
            let expected = Change::Sysctl("net.ipv4.ip_forward".to_owned(), "0".to_owned());
            assert_eq!(of(line), [expected], "{line}");
        }
        // A dot in a name is a slash there, as sysctl(8) has it.
        let expected = Change::Sysctl("net.ipv4.conf.eth0/5.forwarding".to_owned(), "1".to_owned());
        let line = "echo 1 > /proc/sys/net/ipv4/conf/eth0.5/forwarding";
        assert_eq!(of(line), [expected]);
    }
}
