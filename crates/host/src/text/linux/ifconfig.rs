//! `ifconfig` of net-tools 1.60 and 2, and busybox's.

use super::ip::bonding;
use super::net_files::{CARRIER, FRAME};
use super::out::{Out, is_name};
use crate::model::{Interface, Setting, Snapshot};
use crate::text::notes::{first_line, first_lines, mac};
use crate::text::{Reader, Text};

/// `ifconfig`.
pub(super) const IFCONFIG: Reader = Reader {
    name: "ifconfig",
    recognises: |text| {
        let line = first_line(text);
        old_header(line).is_some() || new_header(line).is_some() && is_linux(text)
    },
    read,
};

/// Words in each table of counters, and their counters.
const COUNTERS: [(&str, &str, &str); 14] = [
    ("RX", "packets", "rx_packets"),
    ("RX", "bytes", "rx_bytes"),
    ("RX", "errors", "rx_errors"),
    ("RX", "dropped", "rx_dropped+rx_missed_errors"),
    ("RX", "overruns", "rx_fifo_errors"),
    ("RX", "frame", FRAME),
    ("TX", "packets", "tx_packets"),
    ("TX", "bytes", "tx_bytes"),
    ("TX", "errors", "tx_errors"),
    ("TX", "dropped", "tx_dropped"),
    ("TX", "overruns", "tx_fifo_errors"),
    ("TX", "carrier", CARRIER),
    ("TX", "collisions", "collisions"),
    ("", "collisions", "collisions"),
];

/// Name and rest of `eth0      Link encap:Ethernet  HWaddr ...`.
fn old_header(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    // The first word is in the language of whoever ran it.
    let is_head = rest
        .split_once(" encap:")
        .is_some_and(|(word, _)| !word.contains(' '));
    (!name.is_empty() && is_head).then_some((name, rest))
}

/// Name and rest of `eth0: flags=4163<UP,...>  mtu 1500`. BSD has a metric before the MTU or a
/// single space, and its flags are hexadecimal.
fn new_header(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(": flags=")?;
    let (number, flags) = rest.split_once('<')?;
    let (_, after) = flags.split_once('>')?;
    let linux = number.parse::<u32>().is_ok() && after.starts_with("  mtu ");
    (linux && !name.contains(char::is_whitespace)).then_some((name, flags))
}

fn is_linux(text: &Text<'_>) -> bool {
    first_lines(text).any(|line| line.contains("txqueuelen ") || line.contains("RX packets "))
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, IFCONFIG.name, snapshot);
    let mut current: Option<(&str, Interface)> = None;
    for line in out.lines().filter(|line| !line.is_empty()) {
        let below = line.starts_with([' ', '\t']);
        let header = old_header(line)
            .or_else(|| new_header(line))
            .filter(|_| !below);
        if let Some((name, rest)) = header {
            let block = block_of(line, rest);
            finish(&mut out, current.replace((name, block)));
        } else if !below
            || current
                .as_mut()
                .and_then(|(_, block)| add(block, line))
                .is_none()
        {
            out.unknown(line);
        }
    }
    finish(&mut out, current);
    out.finish();
}

fn block_of(line: &str, rest: &str) -> Interface {
    let mut block = Interface::default();
    if new_header(line).is_some() {
        if let Some((names, after)) = rest.split_once('>') {
            flags(&mut block, names.split(','));
            block.mtu_bytes = after_word(after, "mtu").and_then(|mtu| mtu.parse().ok());
        }
    } else {
        block.mac = rest.split_whitespace().last().and_then(mac);
        loopback(&mut block, rest.starts_with("Link encap:Local Loopback"));
    }
    block
}

fn loopback(block: &mut Interface, is_loopback: bool) {
    if is_loopback {
        block.kind = Some("loopback".to_owned());
    }
}

/// `eth0:1` is another address of eth0.
fn finish(out: &mut Out<'_>, block: Option<(&str, Interface)>) {
    let Some((name, block)) = block else {
        return;
    };
    match name.split_once(':') {
        None => out.interface(name, block),
        Some((base, _)) if is_name(base) => {
            let known = out.snapshot.interface_mut(base);
            known.addresses.extend(block.addresses);
        }
        Some(_) => out.unknown(name),
    }
}

/// RUNNING is what iproute2 shows the lack of as NO-CARRIER.
fn flags<'a>(block: &mut Interface, names: impl Iterator<Item = &'a str>) {
    let (mut up, mut running) = (false, false);
    for name in names {
        up |= name == "UP";
        running |= name == "RUNNING";
        bonding(block, name);
    }
    block.up = Some(up);
    block.carrier = up.then_some(running);
}

fn after_word<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|word| *word == key)?;
    words.next()
}

fn add(block: &mut Interface, line: &str) -> Option<()> {
    let line = line.trim();
    match line.split([' ', ':']).next()? {
        "inet" => block.addresses.push(ipv4(line)?),
        "inet6" => block.addresses.push(ipv6(line)?),
        "ether" => {
            block.mac = line.split(' ').nth(1).and_then(mac);
            queue(block, line);
        }
        "loop" => {
            loopback(block, true);
            queue(block, line);
        }
        "unspec" | "tunnel" | "infiniband" | "sit" | "ppp" | "slip" => queue(block, line),
        "RX" | "TX" | "collisions" => counters(block, line)?,
        "device" | "Interrupt" | "Memory" | "Base" | "Media" | "DMA" => {}
        _ if is_counts(line) => {}
        _ => return old_flags(block, line),
    }
    Some(())
}

/// Counters in another language: `Kollisionen:0 Sendewarteschlangenlänge:1000`.
fn is_counts(line: &str) -> bool {
    let is_count = |word: &str| {
        let number = word
            .split_once(':')
            .map(|(_, number)| number.parse::<u64>());
        number.is_some_and(|number| number.is_ok())
    };
    line.split_whitespace().all(is_count)
}

/// `UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1`
fn old_flags(block: &mut Interface, line: &str) -> Option<()> {
    let (names, rest) = line.split_once("MTU:")?;
    flags(block, names.split_whitespace());
    block.mtu_bytes = Some(rest.split_whitespace().next()?.parse().ok()?);
    Some(())
}

fn queue(block: &mut Interface, line: &str) {
    let length = after_word(line, "txqueuelen").and_then(|length| length.parse().ok());
    if let Some(length) = length {
        let length = Setting::Number(length);
        block.properties.insert("qlen".to_owned(), length);
    }
}

/// `inet 192.0.2.1  netmask 255.255.255.0`, `inet addr:192.0.2.1  Bcast:...  Mask:255.255.255.0`
fn ipv4(line: &str) -> Option<String> {
    // The words before the colons are in the language of whoever ran it.
    let mut words = line.split_whitespace().skip(1);
    let behind = |word: &str| word.rsplit(':').next()?.parse::<std::net::Ipv4Addr>().ok();
    let address = behind(words.next()?)?;
    let (newer, older) = (after_word(line, "netmask"), words.last());
    let mask: std::net::Ipv4Addr = newer.or(older).and_then(behind)?;
    let bits = u32::from(mask);
    let length = bits.leading_ones();
    (bits.count_ones() == length).then(|| format!("{address}/{length}"))
}

/// `inet6 fe80::1  prefixlen 64`, `inet6 addr: fe80::1/64 Scope:Link`
fn ipv6(line: &str) -> Option<String> {
    let words = line.replacen("addr:", " ", 1);
    let word = after_word(&words, "inet6")?;
    let (address, length) = match word.split_once('/') {
        Some(parts) => parts,
        None => (word, after_word(&words, "prefixlen")?),
    };
    let address: std::net::Ipv6Addr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    Some(format!("{address}/{length}"))
}

/// Counters with a space or a colon before their value. The old `RX bytes:1 (1.0 B)  TX bytes:2`
/// has both ways in one line.
fn counters(block: &mut Interface, line: &str) -> Option<()> {
    let words = line.replace(':', " ");
    let mut words = words.split_whitespace();
    let mut way = "";
    while let Some(word) = words.next() {
        match word {
            "RX" => way = "RX",
            "TX" => way = "TX",
            "txqueuelen" => {
                let length = Setting::Number(words.next()?.parse().ok()?);
                block.properties.insert("qlen".to_owned(), length);
            }
            _ if word.starts_with('(') || word.ends_with(')') => {}
            _ => {
                let name = counter(way, word)?;
                block.counters.insert(name, words.next()?.parse().ok()?);
            }
        }
    }
    Some(())
}

fn counter(way: &str, word: &str) -> Option<String> {
    let known = |(of, name, _): &&(&str, &str, &str)| *of == way && *name == word;
    let found = COUNTERS.iter().find(known)?;
    Some(found.2.to_owned())
}
