//! Output of several hosts in one text, as tools print it that run a command on many hosts: Ansible, pssh,
//! ClusterShell and dshbak, pdsh and `clush`, Salt, Fabric, or a loop of the shell.

mod folded;
mod heading;
mod labels;
mod tools;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::split::begins_output;
use heading::Heading;

/// What one host printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Share<'a> {
    /// `None` for what stands before the first host.
    pub(super) host: Option<Cow<'a, str>>,
    /// The file that it stood in, named after a command.
    pub(super) file: Option<&'a str>,
    /// How many lines of the text stand before it.
    pub(super) before: usize,
    pub(super) text: Cow<'a, str>,
}

impl<'a> Share<'a> {
    /// A text of one host, which it does not name.
    pub(super) fn whole(text: &'a str) -> Share<'a> {
        Share {
            host: None,
            file: None,
            before: 0,
            text: Cow::Borrowed(text),
        }
    }
}

/// The shares of a text in a form that no single command prints.
pub(super) fn certain(text: &str) -> Option<Vec<Share<'_>>> {
    if let Some(shares) = tools::wrapped(text) {
        return Some(shares);
    }
    let headings = heading::certain(text);
    if !headings.is_empty() {
        return Some(cut(text, &headings));
    }
    let in_front = gathered(text, |line, _| tools::fabric(line));
    in_front
        .or_else(|| prefixed(text))
        .or_else(|| labels::labelled(text))
        .or_else(|| indented(text))
}

/// The shares of a text in which words stand above outputs, several different ones: names of hosts, or titles of sections.
pub(super) fn likely(text: &str) -> Option<Vec<Share<'_>>> {
    let headings = heading::likely(text);
    let names: BTreeSet<&str> = headings.iter().map(|heading| heading.host).collect();
    (names.len() > 1).then(|| cut(text, &headings))
}

/// Bytes that are read anew for hosts that printed the same, at most: of more a set is read as one host.
const UNFOLDED: usize = 16 << 20;

/// What a host costs beside its text.
const OF_HOST: usize = 4 << 10;

fn cut<'a>(text: &'a str, headings: &[Heading<'a>]) -> Vec<Share<'a>> {
    let first = headings.first().map_or(text.len(), |heading| heading.start);
    let ends = headings.iter().skip(1).map(|heading| heading.start);
    let ends = ends.chain([text.len()]);
    let mut left = UNFOLDED;
    let behind: Vec<Share<'a>> = headings
        .iter()
        .zip(ends)
        .flat_map(|(heading, end)| {
            let hosts = folded::hosts(heading.host);
            let cost = hosts.len().saturating_mul(end - heading.end + OF_HOST);
            let hosts = match left.checked_sub(cost) {
                Some(rest) => {
                    left = rest;
                    hosts
                }
                None => vec![Cow::Borrowed(heading.host)],
            };
            hosts.into_iter().map(move |host| Share {
                host: Some(host),
                file: None,
                before: heading.lines,
                text: Cow::Borrowed(&text[heading.end..end]),
            })
        })
        .collect();
    let front = Some(Share::whole(&text[..first]));
    let front = front.filter(|share| !share.text.trim().is_empty());
    front.into_iter().chain(behind).collect()
}

/// `host: line` for each line, those of several hosts mixed (pdsh, `clush` without `-b`).
fn prefixed(text: &str) -> Option<Vec<Share<'_>>> {
    gathered(text, |line, _| {
        let (host, rest) = line.split_once(':')?;
        // What pdsh and clush say themselves of a host.
        if host.starts_with("pdsh@") || host == "clush" {
            let (host, _) = rest.trim_start().split_once(": ")?;
            return heading::is_host(host).then_some((host, None));
        }
        let rest = rest.strip_prefix(' ').or(rest.is_empty().then_some(rest))?;
        heading::is_host(host).then_some((host, Some(rest)))
    })
}

/// `host:` on a line of its own and four blanks before each line that it printed (Salt).
fn indented(text: &str) -> Option<Vec<Share<'_>>> {
    gathered(text, |line, current| {
        if let Some(rest) = line.strip_prefix("    ") {
            return Some((current?, Some(rest)));
        }
        let host = line.strip_suffix(':')?;
        heading::is_host(host).then_some((host, None))
    })
}

/// Of a line and the host of the one before: its host, and what that printed.
type ReadLine = for<'a> fn(&'a str, Option<&'a str>) -> Option<(&'a str, Option<&'a str>)>;

/// Gathers what each host printed where nearly all lines have a form, and most hosts begin like the output of a command.
fn gathered(text: &str, read: ReadLine) -> Option<Vec<Share<'_>>> {
    let mut gathering = Gathering::default();
    let mut current = None;
    let lines = text.lines().enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let Some((host, printed)) = read(line, current) else {
            gathering.stray(line, number)?;
            continue;
        };
        current = Some(host);
        gathering.lines += 1;
        gathering.add(Some(host), printed, number);
    }
    let named = gathering.shares.iter().filter(|share| share.host.is_some());
    let known = named
        .clone()
        .filter(|share| begins_output(&share.text))
        .count();
    let is_fleet = known > 0 && known * 2 >= named.count();
    is_fleet.then_some(gathering.shares)
}

/// Words of the tool itself, or what a connection said: so many lines are none of a host's for one that is.
const STRAY: usize = 10;

#[derive(Default)]
struct Gathering<'a> {
    shares: Vec<Share<'a>>,
    places: BTreeMap<Option<&'a str>, usize>,
    lines: usize,
    stray: usize,
}

impl<'a> Gathering<'a> {
    fn add(&mut self, host: Option<&'a str>, printed: Option<&str>, number: usize) {
        let at = *self.places.entry(host).or_insert(self.shares.len());
        if at == self.shares.len() {
            self.shares.push(Share {
                host: host.map(Cow::Borrowed),
                file: None,
                before: number,
                text: Cow::Owned(String::new()),
            });
        }
        if let Some(printed) = printed {
            self.shares[at].text.to_mut().extend([printed, "\n"]);
        }
    }

    /// Takes a line that has not the form; `None` if there are too many of them.
    fn stray(&mut self, line: &str, number: usize) -> Option<()> {
        self.stray += 1;
        self.add(None, Some(line), number);
        (self.stray <= 1 + self.lines / STRAY).then_some(())
    }
}

#[cfg(test)]
mod tests;
