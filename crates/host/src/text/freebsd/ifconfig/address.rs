//! `inet` and `inet6` lines.

use std::net::{Ipv4Addr, Ipv6Addr};

/// `192.0.2.1/24` from `inet 192.0.2.1 netmask 0xffffff00` and its like; `None` if it is not whole.
pub(super) fn address(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let family = words.next()?;
    let first = words.next()?;
    let rest: Vec<&str> = words.collect();
    match family {
        "inet" => four(first, &rest),
        "inet6" => six(first, &rest),
        _ => None,
    }
}

fn four(first: &str, rest: &[&str]) -> Option<String> {
    if let Some((address, length)) = first.split_once('/') {
        return joined::<Ipv4Addr>(address, length.parse().ok().filter(|n| *n <= 32)?);
    }
    let mask = after(rest, "netmask")?;
    joined::<Ipv4Addr>(first, prefix(mask)?)
}

fn prefix(mask: &str) -> Option<u32> {
    let bits = match mask.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => u32::from(mask.parse::<Ipv4Addr>().ok()?),
    };
    let length = bits.leading_ones();
    (bits.count_ones() == length).then_some(length)
}

fn six(first: &str, rest: &[&str]) -> Option<String> {
    let address = first.split('%').next().unwrap_or(first);
    if let Some((address, length)) = first.split_once('/') {
        return joined::<Ipv6Addr>(address, length.parse().ok().filter(|n| *n <= 128)?);
    }
    let length = after(rest, "prefixlen")?.parse().ok()?;
    joined::<Ipv6Addr>(address, length)
}

fn joined<A: std::str::FromStr + std::fmt::Display>(address: &str, length: u32) -> Option<String> {
    let address: A = address.parse().ok()?;
    Some(format!("{address}/{length}"))
}

/// The word behind another.
pub(super) fn after<'a>(words: &[&'a str], word: &str) -> Option<&'a str> {
    let at = words.iter().position(|other| *other == word)?;
    words.get(at + 1).copied()
}
