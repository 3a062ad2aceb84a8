//! `options=8507bb<RXCSUM,LRO>` and `capabilities=`: what is on, and what could be.

use super::block::Block;
use crate::model::{Feature, Interface, Platform, Setting};
use crate::text::notes::{Notes, quoted};

/// Bits of FreeBSD's `IFCAP_` whose names must agree with the number: what is concluded from them
/// is worth a check for lists that were wrapped or edited.
const CHECKED: &[(&str, u64)] = &[
    ("TSO4", 0x100),
    ("TSO6", 0x200),
    ("LRO", 0x400),
    ("VLAN_HWTSO", 0x4_0000),
];

/// Sets the features of an interface.
pub(super) fn read(
    block: &Block<'_>,
    platform: Option<Platform>,
    to: &mut Interface,
    notes: &mut Notes<'_>,
) {
    // Of OpenBSD's flags; no other system has one of that name.
    if block.head.flag(LRO) == Some(true) {
        to.features.insert(LRO.to_owned(), switch(true));
    }
    let options = find(block, "options=").or_else(|| find(block, "options "));
    let capabilities = find(block, "capabilities=");
    let on = options.map(|line| list(line, platform, notes));
    // Without options= ifconfig -m means that all are off; with one that is damaged, nothing.
    if on != Some(None) {
        let able = capabilities.and_then(|line| list(line, platform, notes));
        for name in able.unwrap_or_default() {
            to.features.insert(name.to_owned(), switch(false));
        }
    }
    let on = on.flatten();
    let has_number = options.is_some_and(|line| line.starts_with(|c: char| c.is_ascii_hexdigit()));
    if on.is_some() && has_number && platform == Some(Platform::Freebsd) {
        let features = &mut to.features;
        features.entry(LRO.to_owned()).or_insert(switch(false));
    }
    for name in on.unwrap_or_default() {
        to.features.insert(name.to_owned(), switch(true));
    }
}

/// FreeBSD prints all that is enabled, as a number as well: what is not in either is off (`if_capenable`, ifconfig(8)).
const LRO: &str = "LRO";

fn switch(active: bool) -> Feature {
    Feature {
        active,
        ..Feature::default()
    }
}

fn find<'b>(block: &'b Block<'_>, begins: &str) -> Option<&'b str> {
    let mut rests = block.lines.iter().map(|line| line.strip_prefix(begins));
    rests.find(Option::is_some).flatten()
}

/// The names in a list; `None` if it is damaged.
fn list<'b>(
    line: &'b str,
    platform: Option<Platform>,
    notes: &mut Notes<'_>,
) -> Option<Vec<&'b str>> {
    let names = names(line);
    let agree = |names: &Vec<&str>| platform != Some(Platform::Freebsd) || agree(line, names);
    let good = names.filter(|names| agree(names));
    if good.is_none() {
        let why = "a list of options that is cut, without names, or differs from its number";
        notes.add("options", &quoted(line), why);
    }
    good
}

fn names(line: &str) -> Option<Vec<&str>> {
    if line == "0" {
        return Some(Vec::new());
    }
    let Some((number, list)) = line.split_once('<') else {
        return bare(line);
    };
    // Somebody may have left the number out; what is there must be one.
    let hex = number.bytes().all(|b| b.is_ascii_hexdigit());
    let (list, rest) = list.split_once('>')?;
    let names: Vec<&str> = list.split(',').filter(|name| !name.is_empty()).collect();
    (hex && rest.trim().is_empty()).then_some(names)
}

/// `RXCSUM,TXCSUM,LRO`: somebody left number and brackets out. No number is written so: names have
/// letters that are no digits of sixteen.
fn bare(line: &str) -> Option<Vec<&str>> {
    let is_name = |name: &&str| {
        let letters = name
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        letters && name.bytes().any(|b| b > b'F')
    };
    let names: Vec<&str> = line.trim().split(',').collect();
    names.iter().all(is_name).then_some(names)
}

fn agree(line: &str, names: &[&str]) -> bool {
    let number = line.split('<').next().unwrap_or_default();
    if number.is_empty() || !line.contains('<') && line != "0" {
        return true;
    }
    let Ok(bits) = u64::from_str_radix(number, 16) else {
        return false;
    };
    let same = |(name, bit): &(&str, u64)| (bits & bit != 0) == names.contains(name);
    // Every name has a bit; a bit may have no name.
    CHECKED.iter().all(same) && names.len() <= bits.count_ones() as usize
}

/// OpenBSD: `hwfeatures` says what the device can do; of these only LRO shows whether it is on,
/// among the flags.
pub(super) fn hardware(block: &Block<'_>, line: &str, to: &mut Interface, notes: &mut Notes<'_>) {
    // Behind the list follows the largest MTU.
    let end = line.find('>').map_or(line.len(), |at| at + 1);
    let Some(names) = names(line.get(..end).unwrap_or(line)) else {
        notes.line(line);
        return;
    };
    if let (true, Some(on)) = (names.contains(&"LRO"), block.head.flag("LRO")) {
        to.features.insert("LRO".to_owned(), switch(on));
    }
    let all = Setting::Text(names.join(","));
    to.properties.insert("hwfeatures".to_owned(), all);
}
