//! `ip -br link` and `ip -br addr`: a line for each link, its state, and addresses.

use super::beneath::{Beneath, is_index};
use super::details;
use super::facts::Facts;
use crate::model::{Interface, Snapshot};
use crate::text::linux::out::{Out, command_words, is_name};
use crate::text::notes::{first_lines, mac};
use crate::text::{Reader, Text};

/// `ip -br link` and `ip -br addr`.
pub(in crate::text::linux) const BRIEF: Reader = Reader {
    name: "ip -br",
    recognises: |text| {
        let mut lines = first_lines(text).map(|line| Line::of(line).is_some());
        lines.next() == Some(true) && (is_asked_for(text) || lines.all(|is_line| is_line))
    },
    read,
};

/// Whether the command says that such lines come first, whatever stands below.
fn is_asked_for(text: &Text<'_>) -> bool {
    let mut options = command_words(text).filter_map(|word| word.strip_prefix('-'));
    options.any(|option| {
        let option = option.trim_start_matches('-');
        option.len() > 1 && "brief".starts_with(option)
    })
}

/// States of links (`operstate` of RFC 2863), as iproute2 prints them (ip/ipaddress.c).
const STATES: [&str; 7] = [
    "UNKNOWN",
    "NOTPRESENT",
    "DOWN",
    "LOWERLAYERDOWN",
    "TESTING",
    "DORMANT",
    "UP",
];

/// `eth0.5@eth0     UP             192.0.2.1/24 fe80::1/64`
struct Line<'a> {
    name: &'a str,
    at: Option<&'a str>,
    block: Interface,
}

impl<'a> Line<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let names = words.next()?;
        let (name, at) = match names.split_once('@') {
            // Of others than veth, an index says nothing.
            Some((name, at)) if is_index(at) && !name.starts_with("veth") => (name, None),
            Some((name, at)) => (name, Some(at).filter(|at| *at != "NONE")),
            None => (names, None),
        };
        let state = words.next().filter(|state| STATES.contains(state))?;
        let mut block = Interface::default();
        match state {
            "UP" => (block.up, block.carrier) = (Some(true), Some(true)),
            "DOWN" | "LOWERLAYERDOWN" => block.carrier = Some(false),
            _ => {}
        }
        words.try_for_each(|word| put(&mut block, word))?;
        is_name(name).then_some(Self { name, at, block })
    }
}

/// An address of the link or of the network, or flags; `None` for anything else.
fn put(block: &mut Interface, word: &str) -> Option<()> {
    if let Some(flags) = word.strip_prefix('<') {
        details::flags(block, flags.strip_suffix('>')?.split(','));
    } else if let Some((address, length)) = word.split_once('/') {
        address.parse::<std::net::IpAddr>().ok()?;
        length.parse::<u8>().ok()?;
        block.addresses.push(word.to_owned());
    } else if mac(word).is_some() {
        block.mac = mac(word);
    } else if word.parse::<std::net::IpAddr>().is_err() && !is_of_address(word) {
        return None;
    }
    Some(())
}

/// Words beside addresses: of peers, and of the priority of their routes.
fn is_of_address(word: &str) -> bool {
    matches!(word, "peer" | "metric") || word.parse::<u32>().is_ok()
}

/// What is known by its index only is in another namespace, whose id is not told.
fn elsewhere(at: Option<&str>) -> Facts {
    let id = at
        .filter(|at| is_index(at))
        .map(|_| ("link_netnsid", "?".to_owned()));
    id.into_iter().collect()
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, BRIEF.name, snapshot);
    let mut beneath = Beneath::default();
    for line in out.lines().filter(|line| !line.is_empty()) {
        match Line::of(line) {
            Some(Line {
                name,
                at,
                mut block,
            }) => {
                beneath.add(name, at, &mut block, &elsewhere(at));
                out.interface(name, block);
            }
            None => out.unknown(line),
        }
    }
    beneath.resolve(&mut out);
    out.finish();
}
