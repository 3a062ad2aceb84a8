//! Debian's /etc/network/interfaces, for ifupdown and ifupdown2 (Proxmox VE, Cumulus).
//!
//! Sources: interfaces(5); ethtool's /etc/network/if-up.d/ethtool (options `offload-NAME`), ifupdown2's
//! addon ethtool (`NAME-offload`). Which of these and of `post-up` comes last differs between the two, and commands
//! of another interface's stanza may come later, so all that speak of a feature are made to say the same; where the words of
//! one are a shell's to compute, nothing is written. Without any of its own, `post-up` is added to the interface: the hook
//! would turn `_` in a name into `-`, and ifupdown2 knows only some of them. `|| true`, since
//! otherwise an interface whose driver refuses would not come up at all.

mod files;
mod lines;

use crate::device::Device;
use crate::error::Error;
use crate::ini::line_end;
use crate::model::{Configured, Found, Manager, Owner};
use crate::names;
use crate::shell::{self, Switch};
use crate::tree::{Tree, Written};
use coalescope_host::glob;
use files::files;
use lines::{Line, Names, Stanza, lines};
use std::path::{Path, PathBuf};

/// Variables by which hooks and commands name the interface of their stanza.
const VARIABLES: [&str; 4] = ["$IFACE", "${IFACE}", "$LOGICAL", "${LOGICAL}"];
/// Options that run a command when an interface is brought up.
const COMMANDS: [&str; 3] = ["pre-up", "up", "post-up"];
/// Why a file gets a command.
const STANZA: &str = "the stanza with which it is set up";
const ETHTOOL: [&str; 3] = ["/usr/sbin/ethtool", "/sbin/ethtool", "/usr/bin/ethtool"];

/// All files, and the interface that is looked for in them.
struct Interfaces<'a> {
    files: Vec<(PathBuf, String)>,
    names: Names<'a>,
}

impl<'a> Interfaces<'a> {
    fn read(tree: &Tree, interface: &'a str) -> Result<Self, Error> {
        let files = files(tree)?;
        let texts: Vec<_> = files.iter().map(|(_, text)| text.as_str()).collect();
        let names = Names::of(interface, &texts);
        Ok(Self { files, names })
    }

    fn lines(&self) -> impl Iterator<Item = (&Path, Line<'_>)> {
        let files = self.files.iter();
        files.flat_map(|file| of_file(file, &self.names))
    }

    /// The file with the first stanza of the interface.
    fn own(&self) -> Option<&(PathBuf, String)> {
        let mut files = self.files.iter();
        files.find(|(_, text)| lines(text, &self.names).any(|line| line.is_own()))
    }

    /// Whether a file is the one that gets a command, for want of any word in the interface's own stanzas.
    fn adds_to(&self, path: &Path, feature: &str) -> bool {
        let mut own = self.lines().filter(|(_, line)| line.is_own());
        let is_said =
            own.any(|(_, line)| !of_line(&line, self.names.interface, feature).is_empty());
        !is_said && self.own().is_some_and(|(own, _)| own == path)
    }

    /// Refuses if a line may switch the feature the other way, and what the line does cannot be told.
    fn need_clear(&self, feature: &str, on: bool) -> Result<(), Error> {
        let interface = self.names.interface;
        let mut doubtful = self
            .lines()
            .filter(|(_, line)| is_doubtful(line, interface, feature, on));
        let Some((path, line)) = doubtful.next() else {
            return Ok(());
        };
        Err(unclear(
            path,
            &line,
            interface,
            &command(interface, feature, on),
        ))
    }
}

fn command(interface: &str, feature: &str, on: bool) -> String {
    let (name, value) = (names::ethtool(feature), shell::word(on));
    format!("ethtool -K {interface} {name} {value}")
}

fn unclear(path: &Path, line: &Line<'_>, interface: &str, command: &str) -> Error {
    let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = path.display();
    if line.stanza == Stanza::None {
        return Error::unsuitable(
            format!("{path} has `{text}`, by which {interface} may have a stanza of another name"),
            format!(
                "add `post-up {command}` by hand to the stanza that {interface} is set up with"
            ),
        );
    }
    Error::unsuitable(
        format!(
            "{path} has `{text}`, and what that sets of {interface} at each start cannot be told"
        ),
        format!("change that line by hand, so that it runs `{command}`"),
    )
}

fn of_file<'t>(
    (path, text): &'t (PathBuf, String),
    names: &Names<'_>,
) -> impl Iterator<Item = (&'t Path, Line<'t>)> {
    lines(text, names).map(move |line| (path.as_path(), line))
}

/// The stanza of the interface, if there is one.
pub(crate) fn owns(tree: &Tree, device: &Device) -> Result<Option<Found>, Error> {
    let all = Interfaces::read(tree, &device.name)?;
    Ok(all.own().map(|(path, _)| Found {
        owner: Owner::Ifupdown,
        reason: format!("{} has `iface {}`", path.display(), device.name),
        file: path.clone(),
    }))
}

pub(crate) fn configured(tree: &Tree, device: &Device, feature: &str) -> Result<Configured, Error> {
    let all = Interfaces::read(tree, &device.name)?;
    let (mut on, mut own, mut at) = (Vec::new(), false, None);
    for (path, line) in all.lines() {
        let switches = of_line(&line, &device.name, feature);
        own |= line.is_own() && !switches.is_empty();
        at = at.or_else(|| switches.first().map(|_| path.to_owned()));
        on.extend(switches.iter().map(|switch| switch.on));
    }
    let first = on.first().copied().filter(|_| own);
    Ok(Configured {
        on: first.filter(|first| {
            on.iter().all(|on| on == first) && all.need_clear(feature, *first).is_ok()
        }),
        at: at.or_else(|| all.own().map(|(path, _)| path.clone())),
    })
}

pub(crate) fn set(tree: &mut Tree, device: &Device, feature: &str, on: bool) -> Result<(), Error> {
    need_ethtool(tree)?;
    let all = Interfaces::read(tree, &device.name)?;
    all.need_clear(feature, on)?;
    for (path, text) in &all.files {
        let turned = shell::turn(text, &switches(text, &all.names, feature), on);
        if all.adds_to(path, feature) {
            let added = add(&turned, &all.names, feature, on);
            let added = added.ok_or_else(|| goes_on(path, &device.name))?;
            write(tree, path.clone(), added, STANZA);
        } else if turned != *text {
            write(tree, path.clone(), turned, "it says the opposite");
        }
    }
    Ok(())
}

fn goes_on(path: &Path, interface: &str) -> Error {
    Error::unsuitable(
        format!(
            "`iface {interface}` in {} ends in a backslash: what is added would be more of that line",
            path.display()
        ),
        "take the backslash away, then run it again",
    )
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
fn switches(text: &str, names: &Names<'_>, feature: &str) -> Vec<Switch> {
    let found = lines(text, names).flat_map(|line| {
        let start = line.at.start;
        let found = of_line(&line, names.interface, feature).into_iter();
        found.map(move |switch| Switch {
            at: start + switch.at.start..start + switch.at.end,
            on: switch.on,
        })
    });
    found.collect()
}

/// The switches of a line that may be turned: what others inherit stays.
fn of_line(line: &Line<'_>, interface: &str, feature: &str) -> Vec<Switch> {
    match line.stanza {
        Stanza::Own => of_own(line.text, interface, feature),
        Stanza::Other if is_command(line.text) => {
            shell::switches(line.text, interface, &[], feature)
        }
        _ => Vec::new(),
    }
}

fn is_command(line: &str) -> bool {
    let first = line.split_whitespace().next();
    first.is_some_and(|first| COMMANDS.contains(&first))
}

fn of_own(line: &str, interface: &str, feature: &str) -> Vec<Switch> {
    if is_command(line) {
        return shell::switches(line, interface, &VARIABLES, feature);
    }
    let words = shell::words(line);
    let word = |at: usize| words.get(at).map_or("", |range| &line[range.clone()]);
    let option = word(0);
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

/// Whether a line may set the feature the other way, and cannot be turned.
fn is_doubtful(line: &Line<'_>, interface: &str, feature: &str, on: bool) -> bool {
    let may = |own: &[&str], others: &[&str]| {
        is_command(line.text) && shell::may_switch(line.text, interface, own, others, feature, on)
    };
    match line.stanza {
        Stanza::Own => may(&VARIABLES, &[]),
        Stanza::Inherited => {
            let switches = of_own(line.text, interface, feature);
            switches.iter().any(|switch| switch.on != on) || may(&VARIABLES, &[])
        }
        Stanza::Other => may(&[], &VARIABLES),
        Stanza::None => is_mapped(line.text, interface),
    }
}

/// Whether a line gives the interface a stanza of another name.
fn is_mapped(line: &str, interface: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        Some("mapping") => words.any(|pattern| glob::fits(pattern, interface)),
        Some("auto") => words.any(|word| is_renaming(word, interface)),
        Some(word) if word.starts_with("allow-") => words.any(|word| is_renaming(word, interface)),
        _ => false,
    }
}

fn is_renaming(word: &str, interface: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| name == interface)
}

/// The text with a command at the end of the interface's first stanza, but before a line that would take the command
/// for more of itself; `None` if the stanza has no place for one.
fn add(text: &str, names: &Names<'_>, feature: &str, on: bool) -> Option<String> {
    let stanza: Vec<_> = lines(text, names)
        .skip_while(|line| !line.is_own())
        .enumerate()
        .take_while(|(at, line)| line.is_own() && (*at == 0 || !line.is_begin()))
        .map(|(_, line)| line)
        .collect();
    let last = stanza.iter().rev().find(|line| !line.goes_on())?;
    let indent = stanza
        .get(1)
        .map_or("    ", |_| stanza[stanza.len() - 1].indent());
    let place = last.at.end;
    let command = command(names.interface, feature, on);
    let end = line_end(text);
    let line = format!("{indent}post-up {command} || true{end}");
    let (before, after) = text.split_at(place);
    let closed = if before.ends_with('\n') { "" } else { end };
    Some(format!("{before}{closed}{line}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRO: &str = "generic-receive-offload";

    #[test]
    fn the_command_goes_to_the_end_of_the_first_stanza() {
        let text = "auto a\niface a inet static\n\taddress 1.2.3.4/24\n\t# note\n\n\
                    iface a inet6 auto\n\niface b inet dhcp\n";
        let add = |text: &str, interface| {
            let names = Names::of(interface, &[text]);
            super::add(text, &names, GRO, false)
        };
        let with = add(text, "a").unwrap();
        let line = "\tpost-up ethtool -K a gro off || true\n";
        assert_eq!(with, text.replace("/24\n", &format!("/24\n{line}")));
        let bare = "iface a inet dhcp";
        let line = "    post-up ethtool -K a gro off || true\n";
        assert_eq!(add(bare, "a").unwrap(), format!("{bare}\n{line}"));
        assert_eq!(add(text, "c"), None);
    }

    #[test]
    fn every_form_is_found_and_turned() {
        let text = "iface a inet manual\n  offload-gro on\n  gro-offload on\n  # up ethtool -K a gro on\n  \
                    up ethtool -K $IFACE tso off \\\n     gro on\niface b inet manual\n  offload-gro on\n";
        let names = Names::of("a", &[text]);
        let found = switches(text, &names, GRO);
        assert_eq!(found.len(), 3, "{found:?}");
        let turned = shell::turn(text, &found, false);
        assert_eq!(
            turned.matches("off").count(),
            text.matches("off").count() + 3
        );
        assert!(turned.ends_with("iface b inet manual\n  offload-gro on\n"));
        assert!(turned.contains("# up ethtool -K a gro on"));
        assert!(switches(text, &names, "large-receive-offload").is_empty());
    }

    #[test]
    fn the_hooks_dashes_are_known() {
        let text = "iface a inet manual\n  offload-tx-udp-tnl-segmentation on\n";
        let names = Names::of("a", &[text]);
        assert_eq!(switches(text, &names, "tx-udp_tnl-segmentation").len(), 1);
    }
}
