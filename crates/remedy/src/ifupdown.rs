//! Debian's /etc/network/interfaces, for ifupdown and ifupdown2 (Proxmox VE, Cumulus).
//!
//! Sources: interfaces(5); ethtool's /etc/network/if-up.d/ethtool (options `offload-NAME`), ifupdown2's
//! addon ethtool (`NAME-offload`). Which of these and of `post-up` comes last differs between the two,
//! so all that speak of a feature are made to say the same. Without any, `post-up` is added: the hook
//! would turn `_` in a name into `-`, and ifupdown2 knows only some of them. `|| true`, since
//! otherwise an interface whose driver refuses would not come up at all.

use coalescope_host::glob;

use crate::device::Device;
use crate::error::Error;
use crate::ini::line_end;
use crate::model::{Configured, Found, Manager, Owner};
use crate::names;
use crate::shell::{self, Switch};
use crate::tree::{Tree, Written};
use std::ops::Range;
use std::path::{Path, PathBuf};

const MAIN: &str = "/etc/network/interfaces";
/// How deep files may include others.
const DEPTH: usize = 8;
/// Variables by which hooks and commands name the interface.
const VARIABLES: [&str; 2] = ["$IFACE", "${IFACE}"];
/// Words that begin something other than an option of a stanza.
const BEGIN: [&str; 11] = [
    "iface",
    "mapping",
    "auto",
    "rename",
    "source",
    "source-directory",
    "no-auto-down",
    "no-scripts",
    "template",
    "vlan",
    "interface",
];
/// Options that run a command once the interface is up.
const AFTER: [&str; 2] = ["up", "post-up"];
const ETHTOOL: [&str; 3] = ["/usr/sbin/ethtool", "/sbin/ethtool", "/usr/bin/ethtool"];

/// A line with those that continue it.
#[derive(Debug)]
struct Line<'a> {
    at: Range<usize>,
    text: &'a str,
    /// It belongs to a stanza of the interface.
    is_ours: bool,
}

/// The stanza of the interface, if there is one.
pub(crate) fn owns(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let stanza = with_stanza(tree, &device.name)?;
    Ok(stanza.map(|(path, _)| Found {
        owner: Owner::Ifupdown,
        reason: format!("{} has `iface {}`", path.display(), device.name),
        file: path,
    }))
}

fn with_stanza(tree: &Tree, interface: &str) -> Result<Option<(PathBuf, String)>, Error> {
    let files = files(tree)?.into_iter();
    let mut ours = files.filter(|(_, text)| lines(text, interface).any(|line| line.is_ours));
    Ok(ours.next())
}

pub(crate) fn configured(tree: &Tree, device: &Device, feature: &str) -> Result<Configured, Error> {
    let mut all = Vec::new();
    let mut at = None;
    for (path, text) in files(tree)? {
        let switches = switches(&text, &device.name, feature);
        if !switches.is_empty() {
            at.get_or_insert(path);
        }
        all.extend(switches.iter().map(|switch| switch.on));
    }
    let first = all.first().copied();
    Ok(Configured {
        on: first.filter(|first| all.iter().all(|on| on == first)),
        at: match at {
            None => with_stanza(tree, &device.name)?.map(|(path, _)| path),
            at => at,
        },
    })
}

pub(crate) fn set(tree: &mut Tree, device: &Device, feature: &str, on: bool) -> Result<(), Error> {
    need_ethtool(tree)?;
    let mut is_said = false;
    for (path, text) in files(tree)? {
        let switches = switches(&text, &device.name, feature);
        is_said |= !switches.is_empty();
        let turned = shell::turn(&text, &switches, on);
        if turned != text {
            write(tree, path, turned, "it says the opposite");
        }
    }
    let stanza = with_stanza(tree, &device.name)?;
    if let Some((path, text)) = stanza.filter(|_| !is_said) {
        let added = add(&text, &device.name, feature, on);
        write(tree, path, added, "the stanza with which it is set up");
    }
    Ok(())
}

fn write(tree: &mut Tree, path: PathBuf, text: String, why: &str) {
    let written = Written {
        text,
        mode_if_new: 0o644,
        manager: Manager::Ifupdown,
        why: why.to_owned(),
    };
    tree.write(path, written);
}

/// Refuses a machine without ethtool: the command would fail at each start, unnoticed.
pub(crate) fn need_ethtool(tree: &Tree) -> Result<(), Error> {
    let mut places = ETHTOOL.iter();
    if places.any(|place| tree.exists(Path::new(place))) {
        return Ok(());
    }
    Err(Error::unsuitable(
        "the command ethtool, which sets it at each start, is not installed",
        "install the package ethtool, then run it again",
    ))
}

/// All switches of the feature for the interface, in any form.
fn switches(text: &str, interface: &str, feature: &str) -> Vec<Switch> {
    let ours = lines(text, interface).filter(|line| line.is_ours);
    let found = ours.flat_map(|line| {
        let start = line.at.start;
        let found = of_line(line.text, interface, feature).into_iter();
        found.map(move |switch| Switch {
            at: start + switch.at.start..start + switch.at.end,
            on: switch.on,
        })
    });
    found.collect()
}

fn of_line(line: &str, interface: &str, feature: &str) -> Vec<Switch> {
    let words = shell::words(line);
    let word = |at: usize| words.get(at).map_or("", |range| &line[range.clone()]);
    let option = word(0);
    if AFTER.contains(&option) {
        return shell::switches(line, interface, &VARIABLES, feature);
    }
    let name = option
        .strip_prefix("offload-")
        .or_else(|| option.strip_suffix("-offload"));
    let is_ours = name.is_some_and(|name| names::is_ethtool(name, feature));
    match shell::switch(word(1)).filter(|_| is_ours) {
        None => Vec::new(),
        Some(on) => vec![Switch {
            at: words[1].clone(),
            on,
        }],
    }
}

/// The text with a command at the end of the interface's first stanza.
fn add(text: &str, interface: &str, feature: &str, on: bool) -> String {
    let mut stanza = lines(text, interface)
        .skip_while(|line| !line.is_ours)
        .enumerate()
        .take_while(|(at, line)| line.is_ours && (*at == 0 || !is_begin(line.text)))
        .map(|(_, line)| line);
    let Some(head) = stanza.next() else {
        return text.to_owned();
    };
    let last = stanza.last();
    let indent = last.as_ref().map_or("    ", |line| indent(line.text));
    let place = last.as_ref().unwrap_or(&head).at.end;
    let (name, value) = (names::ethtool(feature), shell::word(on));
    let end = line_end(text);
    let line = format!("{indent}post-up ethtool -K {interface} {name} {value} || true{end}");
    let (before, after) = text.split_at(place);
    let closed = if before.ends_with('\n') { "" } else { end };
    format!("{before}{closed}{line}{after}")
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn is_begin(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    BEGIN.contains(&first) || first.starts_with("allow-")
}

/// The lines that are neither comments nor empty.
fn lines<'a>(text: &'a str, interface: &str) -> impl Iterator<Item = Line<'a>> {
    let mut is_ours = false;
    joined(text).filter_map(move |at| {
        let line = &text[at.clone()];
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            return None;
        }
        if is_begin(line) {
            let mut words = line.split_whitespace();
            is_ours = words.next() == Some("iface") && words.next() == Some(interface);
        }
        Some(Line {
            at,
            text: line,
            is_ours,
        })
    })
}

/// Lines, joined with those that continue them after a backslash.
fn joined(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let mut length = 0;
        for line in rest.split_inclusive('\n') {
            length += line.len();
            let is_comment = rest.trim_start().starts_with('#');
            if is_comment || !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
                break;
            }
        }
        let range = start..start + length;
        start = range.end;
        Some(range)
    })
}

/// The files, in the order in which they are read.
fn files(tree: &Tree) -> Result<Vec<(PathBuf, String)>, Error> {
    let mut files = Vec::new();
    read(tree, Path::new(MAIN), &mut files, DEPTH)?;
    Ok(files)
}

fn read(
    tree: &Tree,
    path: &Path,
    files: &mut Vec<(PathBuf, String)>,
    depth: usize,
) -> Result<(), Error> {
    let is_known = files.iter().any(|(known, _)| known == path);
    let Some(text) = tree.text(path)?.filter(|_| !is_known && depth > 0) else {
        return Ok(());
    };
    files.push((path.to_owned(), text.clone()));
    for at in joined(&text) {
        let mut words = text[at].split_whitespace();
        let keyword = words.next().unwrap_or_default();
        for pattern in words {
            for path in included(tree, path, keyword, pattern) {
                read(tree, &path, files, depth - 1)?;
            }
        }
    }
    Ok(())
}

fn included(tree: &Tree, from: &Path, keyword: &str, pattern: &str) -> Vec<PathBuf> {
    let folder = from.parent().unwrap_or(Path::new("/"));
    let pattern = folder.join(pattern);
    let plain = |name: &str| {
        let letter = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        name.chars().all(letter)
    };
    let in_folder = |folder: &Path, fits: &dyn Fn(&str) -> bool| {
        let names = tree.names(folder).into_iter();
        let fitting = names.filter(|name| fits(name));
        fitting.map(|name| folder.join(name)).collect()
    };
    match (keyword, pattern.file_name().and_then(|name| name.to_str())) {
        ("source-directory", _) => in_folder(&pattern, &plain),
        ("source", Some(last)) => {
            let folder = pattern.parent().unwrap_or(Path::new("/"));
            // A shell's `*` does not find hidden files.
            let fits = |name: &str| glob::fits(last, name) && !name.starts_with('.');
            in_folder(folder, &fits)
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRO: &str = "generic-receive-offload";

    #[test]
    fn the_command_goes_to_the_end_of_the_first_stanza() {
        let text = "auto a\niface a inet static\n\taddress 1.2.3.4/24\n\t# note\n\n\
                    iface a inet6 auto\n\niface b inet dhcp\n";
        let with = add(text, "a", GRO, false);
        let line = "\tpost-up ethtool -K a gro off || true\n";
        assert_eq!(with, text.replace("/24\n", &format!("/24\n{line}")));
        let bare = "iface a inet dhcp";
        let line = "    post-up ethtool -K a gro off || true\n";
        assert_eq!(add(bare, "a", GRO, false), format!("{bare}\n{line}"));
        assert_eq!(add(text, "c", GRO, false), text);
    }

    #[test]
    fn every_form_is_found_and_turned() {
        let text = "iface a inet manual\n  offload-gro on\n  gro-offload on\n  # up ethtool -K a gro on\n  \
                    up ethtool -K $IFACE tso off \\\n     gro on\niface b inet manual\n  offload-gro on\n";
        let found = switches(text, "a", GRO);
        assert_eq!(found.len(), 3, "{found:?}");
        let turned = shell::turn(text, &found, false);
        assert_eq!(
            turned.matches("off").count(),
            text.matches("off").count() + 3
        );
        assert!(turned.ends_with("iface b inet manual\n  offload-gro on\n"));
        assert!(turned.contains("# up ethtool -K a gro on"));
        assert!(switches(text, "a", "large-receive-offload").is_empty());
    }

    #[test]
    fn the_hooks_dashes_are_known() {
        let text = "iface a inet manual\n  offload-tx-udp-tnl-segmentation on\n";
        assert_eq!(switches(text, "a", "tx-udp_tnl-segmentation").len(), 1);
    }
}
