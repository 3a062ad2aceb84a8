//! `teamdctl team0 state` and `teamnl team0 ports`: who is a port of a team.

use super::out::{Out, command_words, is_name};
use crate::model::{Bond, Interface, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `teamdctl team0 state`.
pub(super) const STATE: Reader = Reader {
    name: "teamdctl state",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines.next() == Some("setup:")
            && lines
                .next()
                .is_some_and(|line| line.starts_with("  runner: "))
    },
    read: state,
};

/// `teamnl team0 ports`.
pub(super) const PORTS: Reader = Reader {
    name: "teamnl ports",
    recognises: |text| {
        let named = command_words(text).any(|word| word == "teamnl");
        named && port(first_line(text)).is_some()
    },
    read: ports,
};

/// The name behind the command.
fn team<'a>(text: &Text<'a>) -> Option<&'a str> {
    let mut words = command_words(text);
    words.find(|word| word.ends_with("teamdctl") || word.ends_with("teamnl"))?;
    words.find(|word| !word.starts_with('-') && is_name(word))
}

fn state(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, STATE.name, snapshot);
    let mut section = "";
    let mut mode = None;
    for line in out.lines() {
        let name = line
            .strip_prefix("  ")
            .filter(|name| !name.starts_with(' '));
        match name {
            None if !line.starts_with(' ') => section = line,
            Some(name) if section == "ports:" && is_name(name) => put(&mut out, text, name),
            Some(name) if section == "setup:" => mode = mode.or(name.strip_prefix("runner: ")),
            _ => {}
        }
    }
    if let Some(team) = team(text) {
        let bond = Bond {
            mode: mode.map(str::to_owned),
            ..Bond::default()
        };
        let block = Interface {
            kind: Some("team".to_owned()),
            bond: Some(bond),
            ..Interface::default()
        };
        out.interface(team, block);
    }
    out.finish();
}

/// ` 3: eno1: up 10000Mbit FD`
fn port(line: &str) -> Option<&str> {
    let (index, rest) = line.trim_start().split_once(": ")?;
    let (name, _) = rest.split_once(':')?;
    (index.parse::<u32>().is_ok() && is_name(name)).then_some(name)
}

fn ports(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, PORTS.name, snapshot);
    for line in out.lines().filter(|line| !line.is_empty()) {
        match port(line) {
            Some(name) => put(&mut out, text, name),
            None => out.unknown(line),
        }
    }
    out.finish();
}

fn put(out: &mut Out<'_>, text: &Text<'_>, port: &str) {
    let block = Interface {
        master: team(text).map(str::to_owned),
        master_kind: Some("team".to_owned()),
        ..Interface::default()
    };
    out.interface(port, block);
}
