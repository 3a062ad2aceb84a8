//! RHEL's ifcfg files: `ETHTOOL_OPTS`, read by network scripts and by NetworkManager.
//!
//! Sources: the RHEL networking guides (ETHTOOL_OPTS: options of ethtool, several commands between
//! semicolons), initscripts' sysconfig.txt. The interface is written out, not as `${DEVICE}`:
//! NetworkManager reads these files without a shell.

use crate::device::Device;
use crate::error::Error;
use crate::ini::line_end;
use crate::model::{Configured, Found, Manager, Owner};
use crate::tree::{Tree, Written};
use crate::{ifupdown, names, shell};
use std::ops::Range;
use std::path::{Path, PathBuf};

const FOLDER: &str = "/etc/sysconfig/network-scripts";
const KEY: &str = "ETHTOOL_OPTS";
/// Endings of copies that are not read: network-functions of initscripts (`__sed_discard_ignored_files`), and
/// utils_should_ignore_file() of NetworkManager.
const COPIES: [&str; 7] = [
    "~", ".bak", ".old", ".orig", ".rpmnew", ".rpmorig", ".rpmsave",
];
const COPIES_FOR_NM: [&str; 7] = [
    "~", ".bak", ".orig", ".rej", ".rpmnew", ".augnew", ".augtmp",
];
/// Variables by which scripts name the interface.
const VARIABLES: [&str; 4] = ["$DEVICE", "${DEVICE}", "$REALDEVICE", "${REALDEVICE}"];

/// An assignment: its line, and its value without quotes.
#[derive(Debug)]
struct Assignment {
    line: Range<usize>,
    value: Range<usize>,
    quote: Option<char>,
    /// It is the whole of its line, but for white space.
    is_whole: bool,
}

/// The ifcfg file of the interface, if there is one.
pub(crate) fn owns(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let named = find(tree, "DEVICE", &device.name, &COPIES)?;
    let found = match named {
        Some(path) => Some(path),
        // A profile without DEVICE is of the interface that its name says.
        None => unnamed(tree, &device.name)?,
    };
    Ok(found.map(|path| Found {
        reason: format!(
            "{} is about it, and NetworkManager has it not",
            path.display()
        ),
        owner: Owner::Ifcfg {
            path: path.clone(),
            by: Manager::RhelIfcfg,
        },
        file: path,
    }))
}

fn unnamed(tree: &Tree, interface: &str) -> Result<Option<PathBuf>, Error> {
    let path = Path::new(FOLDER).join(format!("ifcfg-{interface}"));
    let text = tree.text(&path)?;
    Ok(text
        .filter(|text| value(text, "DEVICE").is_none())
        .map(|_| path))
}

/// The file with a profile of NetworkManager.
pub(crate) fn with_uuid(tree: &Tree, uuid: &str) -> Result<Option<PathBuf>, Error> {
    find(tree, "UUID", uuid, &COPIES_FOR_NM)
}

/// The file in which a key has a value. Of two that are both read, nobody knows which one is meant.
fn find(tree: &Tree, key: &str, wanted: &str, copies: &[&str]) -> Result<Option<PathBuf>, Error> {
    let mut found: Option<PathBuf> = None;
    for name in tree.names(Path::new(FOLDER)) {
        let is_copy = copies.iter().any(|ending| name.ends_with(ending));
        if !name.starts_with("ifcfg-") || is_copy {
            continue;
        }
        let path = Path::new(FOLDER).join(name);
        let text = tree.text(&path)?.unwrap_or_default();
        if value(&text, key) != Some(wanted) {
            continue;
        }
        if let Some(first) = found {
            return Err(twice(&first, &path, key, wanted));
        }
        found = Some(path);
    }
    Ok(found)
}

fn twice(one: &Path, other: &Path, key: &str, value: &str) -> Error {
    Error::unsuitable(
        format!(
            "{} and {} both have {key}={value}, and both are read",
            one.display(),
            other.display()
        ),
        "move the copy to another folder, then run it again",
    )
}

fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let assignment = last(text, key)?;
    Some(&text[assignment.value])
}

pub(crate) fn configured(
    tree: &Tree,
    device: &Device,
    path: &Path,
    feature: &str,
) -> Result<Configured, Error> {
    let text = tree.text(path)?.unwrap_or_default();
    let options = value(&text, KEY).unwrap_or_default();
    let switches = shell::switches(options, &device.name, &VARIABLES, feature);
    Ok(Configured {
        on: switches.last().map(|switch| switch.on),
        at: Some(path.to_owned()),
    })
}

pub(crate) fn set(
    tree: &mut Tree,
    device: &Device,
    path: &Path,
    by: Manager,
    feature: &str,
    on: bool,
) -> Result<(), Error> {
    if by == Manager::RhelIfcfg {
        ifupdown::need_ethtool(tree)?;
    }
    let text = tree.text(path)?.unwrap_or_default();
    let written = Written {
        text: changed(&text, path, &device.name, feature, on)?,
        mode_if_new: 0o644,
        manager: by,
        why: format!("the file with which {} is set up", device.name),
    };
    tree.write(path.to_owned(), written);
    Ok(())
}

fn changed(
    text: &str,
    path: &Path,
    interface: &str,
    feature: &str,
    on: bool,
) -> Result<String, Error> {
    let Some(assignment) = last(text, KEY) else {
        let options = command(interface, feature, on);
        return Ok(append(text, &format!("{KEY}=\"{options}\"")));
    };
    let options = &text[assignment.value.clone()];
    if is_computed(options) || !assignment.is_whole {
        return Err(Error::Damaged {
            path: path.to_owned(),
            problem: format!("its {KEY} is more than one quoted text"),
        });
    }
    let options = with(options, interface, feature, on);
    let quote = assignment.quote.unwrap_or('"');
    let line = format!("{KEY}={quote}{options}{quote}");
    let mut changed = text.to_owned();
    changed.replace_range(assignment.line, &line);
    Ok(changed)
}

/// Whether the options contain other variables than those for the interface.
fn is_computed(options: &str) -> bool {
    let mut plain = options.to_owned();
    for variable in VARIABLES {
        plain = plain.replace(variable, "");
    }
    plain.contains(['$', '`', '\\', '"'])
}

/// The options with a switch: turned where it is, else added to the last `-K`, else as a command more.
fn with(options: &str, interface: &str, feature: &str, on: bool) -> String {
    let switches = shell::switches(options, interface, &VARIABLES, feature);
    if !switches.is_empty() {
        return shell::turn(options, &switches, on);
    }
    let pair = format!("{} {}", names::ethtool(feature), shell::word(on));
    match shell::end_of_last(options, interface, &VARIABLES) {
        Some(end) => format!("{} {pair}{}", &options[..end], &options[end..]),
        None if options.trim().is_empty() => command(interface, feature, on),
        None => {
            let options = options.trim_end().trim_end_matches(';').trim_end();
            format!("{options}; {}", command(interface, feature, on))
        }
    }
}

fn command(interface: &str, feature: &str, on: bool) -> String {
    let (name, value) = (names::ethtool(feature), shell::word(on));
    format!("-K {interface} {name} {value}")
}

fn append(text: &str, line: &str) -> String {
    let end = line_end(text);
    let closed = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        end
    };
    // For a shell a backslash at the end would make the line one with what is added; an empty line ends that.
    let gap = if text.trim_end_matches(['\n', '\r']).ends_with('\\') {
        end
    } else {
        ""
    };
    format!("{text}{closed}{gap}{line}{end}")
}

/// The last assignment of a key, which a shell would use.
fn last(text: &str, key: &str) -> Option<Assignment> {
    let mut start = 0;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        found = assignment(line, start, key).or(found);
        start += line.len();
    }
    found
}

fn assignment(line: &str, start: usize, key: &str) -> Option<Assignment> {
    let indent = line.len() - line.trim_start().len();
    let rest = line[indent..].strip_prefix(key)?.strip_prefix('=')?;
    let from = start + line.len() - rest.len();
    let quote = rest.chars().next().filter(|first| "\"'".contains(*first));
    let (value, length) = match quote {
        None => {
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (from..from + length, Some(length))
        }
        Some(quote) => {
            let closing = rest[1..].find(quote);
            let inside = closing.unwrap_or(rest[1..].trim_end().len());
            (from + 1..from + 1 + inside, closing.map(|at| at + 2))
        }
    };
    Some(Assignment {
        line: start + indent..from + length.unwrap_or(rest.trim_end().len()),
        value,
        quote,
        is_whole: length.is_some_and(|length| rest[length..].trim().is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn off(text: &str, feature: &str) -> String {
        changed(text, Path::new("/ifcfg-a"), "a", feature, false).unwrap()
    }

    const GRO: &str = "generic-receive-offload";

    #[test]
    fn options_are_extended_in_place() {
        for (before, after) in [
            ("", "ETHTOOL_OPTS=\"-K a gro off\"\n"),
            ("A=b", "A=b\nETHTOOL_OPTS=\"-K a gro off\"\n"),
            ("A=b\r\n", "A=b\r\nETHTOOL_OPTS=\"-K a gro off\"\r\n"),
            ("A=b \\\n", "A=b \\\n\nETHTOOL_OPTS=\"-K a gro off\"\n"),
            ("A=b \\", "A=b \\\n\nETHTOOL_OPTS=\"-K a gro off\"\n"),
            ("ETHTOOL_OPTS=\n", "ETHTOOL_OPTS=\"-K a gro off\"\n"),
            (
                "ETHTOOL_OPTS='-K a tso off gro on'\nB=c\n",
                "ETHTOOL_OPTS='-K a tso off gro off'\nB=c\n",
            ),
            (
                "ETHTOOL_OPTS=\"-K ${DEVICE} tso off; -G ${DEVICE} rx 4096\"\n",
                "ETHTOOL_OPTS=\"-K ${DEVICE} tso off gro off; -G ${DEVICE} rx 4096\"\n",
            ),
            (
                "ETHTOOL_OPTS=\"speed 1000 ;\"",
                "ETHTOOL_OPTS=\"speed 1000; -K a gro off\"",
            ),
            (
                "ETHTOOL_OPTS=\"-K a gro on\"\nETHTOOL_OPTS=\"-G a rx 1\"\n",
                "ETHTOOL_OPTS=\"-K a gro on\"\nETHTOOL_OPTS=\"-G a rx 1; -K a gro off\"\n",
            ),
        ] {
            assert_eq!(off(before, GRO), after);
            assert_eq!(off(after, GRO), after);
        }
        assert_eq!(
            off("", "rx-gro-hw"),
            "ETHTOOL_OPTS=\"-K a rx-gro-hw off\"\n"
        );
    }

    #[test]
    fn what_a_shell_would_compute_is_not_touched() {
        for text in [
            "ETHTOOL_OPTS=\"-K a $(cat x)\"\n",
            "ETHTOOL_OPTS=\"-K a \"'gro on'\n",
            "ETHTOOL_OPTS=\"-K a gro on\" # why\n",
            "ETHTOOL_OPTS=\"-K $OTHER gro on\"\n",
            "ETHTOOL_OPTS=\"-K a gro on\n  tso off\"\n",
            "ETHTOOL_OPTS=-K a gro on\n",
            "ETHTOOL_OPTS='\n",
        ] {
            let error = changed(text, Path::new("/ifcfg-a"), "a", GRO, false).unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{text}");
        }
    }
}
