//! Whether addresses are translated, and which rules ask for a packet's length: `nft list ruleset`,
//! `iptables-save`, `iptables -L`.

use super::filters::{self, flows, narrow, of_list};
use super::out::{Out, command_words};
use super::passages;
use crate::lengths;
use crate::model::{Nat, Snapshot};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `nft list ruleset`.
pub(super) const NFT: Reader = Reader {
    name: "nft list ruleset",
    recognises: |text| {
        let line = first_lines(text)
            .find(|line| !line.starts_with('#'))
            .unwrap_or_default();
        let words: Vec<&str> = line.split(' ').collect();
        let families = ["ip", "ip6", "inet", "arp", "bridge", "netdev"];
        matches!(words.as_slice(), ["table", family, _, "{"] if families.contains(family))
    },
    read: nft,
};

/// `iptables-save`.
pub(super) const SAVE: Reader = Reader {
    name: "iptables-save",
    recognises: |text| {
        let mut lines = first_lines(text).filter(|line| !line.starts_with('#'));
        lines.next().is_some_and(|line| table(line).is_some())
            && lines
                .next()
                .is_none_or(|line| line.starts_with([':', '-', '[', 'C']))
    },
    read: save,
};

/// `iptables -S`, which is of one table.
pub(super) const RULES: Reader = Reader {
    name: "iptables -S",
    recognises: |text| {
        let words: Vec<&str> = first_line(text).split(' ').collect();
        matches!(
            words.as_slice(),
            ["-P", _, "ACCEPT" | "DROP"]
                | ["-N", _]
                | ["-A", _, "-m" | "-j" | "-p" | "-i" | "-o" | "-s" | "-d", ..]
        )
    },
    read: rules,
};

/// `iptables -t nat -L`.
pub(super) const LIST: Reader = Reader {
    name: "iptables -L",
    recognises: |text| {
        let mut lines = first_lines(text);
        lines.next().is_some_and(|line| chain(line).is_some()) && lines.next().is_some_and(is_title)
    },
    read: list,
};

fn put(out: &mut Out<'_>, nat: Nat) {
    if nat != Nat::default() {
        out.snapshot.stack.nat = Some(nat);
    }
}

/// Where in a ruleset a line is.
#[derive(Default)]
struct Ruleset {
    depth: usize,
    nat_chain: bool,
    /// Some chain of type nat has a rule.
    found: bool,
}

impl Ruleset {
    fn line(&mut self, line: &str) {
        let opens = line.ends_with('{');
        let closes = line.starts_with('}');
        if self.depth == 2 && line.starts_with("type nat ") {
            self.nat_chain = true;
        } else if self.nat_chain && !opens && !closes && is_rule(line) {
            self.found = true;
        }
        self.depth = self.depth.saturating_sub(usize::from(closes)) + usize::from(opens);
        self.nat_chain &= self.depth >= 2;
    }
}

fn is_rule(line: &str) -> bool {
    let others = ["type ", "policy ", "comment ", "#", "flags "];
    !line.is_empty() && !others.iter().any(|start| line.starts_with(start))
}

fn nft(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, NFT.name, snapshot);
    let mut rules = Ruleset::default();
    for line in out.lines() {
        rules.line(line.trim());
    }
    let whole = rules.depth == 0 && text.body.ends_with('\n');
    if whole && is_all(text) {
        passages::nft::chains(out.lines()).put(out.snapshot);
    }
    if !whole && text.body.ends_with('\n') {
        out.cut();
    }
    let lengths = lengths::rules(&filters::nft::chains(out.lines()));
    if whole || !lengths.is_empty() {
        out.snapshot.stack.length_rules = Some(lengths);
    }
    let nftables = (rules.found || whole).then_some(rules.found);
    put(
        &mut out,
        Nat {
            nftables,
            ..Nat::default()
        },
    );
    out.finish();
}

/// `*nat`
fn table(line: &str) -> Option<&str> {
    let name = line.strip_prefix('*')?;
    ["nat", "filter", "mangle", "raw", "security"]
        .contains(&name)
        .then_some(name)
}

/// Which of the two implementations wrote the text.
#[derive(Clone, Copy, PartialEq)]
enum Writer {
    Nft,
    Old,
    /// From 1.8 on some builds do not tell.
    Either,
}

fn writer(line: &str) -> Writer {
    let version = line.split(" v1.").nth(1).unwrap_or_default();
    let minor = version
        .split('.')
        .next()
        .and_then(|minor| minor.parse::<u32>().ok());
    if line.contains("(nf_tables)") || line.contains("xtables-save") {
        Writer::Nft
    } else if line.contains("(legacy)") || minor.is_some_and(|minor| minor < 8) {
        Writer::Old
    } else {
        Writer::Either
    }
}

fn save(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, SAVE.name, snapshot);
    let (mut now, mut loaded, mut found, mut open) = ("", false, false, false);
    for line in out.lines() {
        if let Some(name) = table(line) {
            (now, open) = (name, true);
            loaded |= name == "nat";
        }
        open &= line != "COMMIT";
        found |= now == "nat" && line.starts_with(['-', '[']) && line.contains("-A ");
    }
    if open && text.body.ends_with('\n') {
        out.cut();
    }
    if !open && is_all(text) {
        let chains = passages::iptables::chains(out.lines(), family(text), "");
        chains.put(out.snapshot);
    }
    let lengths = lengths::rules(&filters::iptables::chains(out.lines(), ""));
    out.snapshot.stack.length_rules = Some(lengths);
    saved(&mut out, writer(first_line(text)), loaded, found);
    out.finish();
}

fn saved(out: &mut Out<'_>, writer: Writer, loaded: bool, found: bool) {
    let mut nat = Nat::default();
    match writer {
        Writer::Nft => nat.nftables = found.then_some(true),
        Writer::Old => nat.iptables = loaded.then_some(true),
        Writer::Either => either(out, &mut nat, found),
    }
    put(out, nat);
}

/// `iptables -t nat -S`
fn asked_table<'a>(text: &Text<'a>) -> Option<&'a str> {
    let mut asked = command_words(text);
    asked.find(|word| *word == "-t").and(asked.next())
}

/// Whether no other program took lines away, such as those that accept.
fn is_all(text: &Text<'_>) -> bool {
    !text.command.unwrap_or_default().contains('|')
}

/// What nft calls the family whose rules the command lists.
fn family(text: &Text<'_>) -> &'static str {
    let is_v6 = command_words(text).any(|word| word.contains("ip6tables"));
    if is_v6 { "ip6" } else { "ip" }
}

/// That addresses are translated is certain, by which of the two is not.
fn either(out: &mut Out<'_>, nat: &mut Nat, found: bool) {
    if found {
        let why = "the text does not tell; its rules are noted as of the old iptables";
        out.not_read("whether nf_tables or the old tables translate", why);
        nat.iptables = Some(true);
    }
}

/// Targets that only the nat table has.
const TRANSLATES: [&str; 5] = ["MASQUERADE", "SNAT", "DNAT", "REDIRECT", "NETMAP"];

fn rules(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, RULES.name, snapshot);
    let table = asked_table(text);
    let mut found = false;
    for line in out.lines().filter(|line| line.starts_with("-A ")) {
        let mut words = line.split_whitespace();
        found |= words.any(|word| TRANSLATES.contains(&word));
    }
    if is_all(text) {
        let table = table.unwrap_or("filter");
        passages::iptables::chains(out.lines(), family(text), table).put(out.snapshot);
    }
    let lengths = filters::iptables::chains(out.lines(), table.unwrap_or("filter"));
    out.snapshot.stack.length_rules = Some(lengths::rules(&lengths));
    saved(&mut out, Writer::Either, false, found);
    out.finish();
}

/// `Chain PREROUTING (policy ACCEPT)`, `Chain DOCKER (2 references)`
fn chain(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix("Chain ")?.split_once(" (")?;
    rest.ends_with(')').then_some(name)
}

fn is_title(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.contains(&"target") && words.contains(&"prot") && words.contains(&"destination")
}

fn list(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, LIST.name, snapshot);
    let (mut before, mut after, mut filter, mut rules) = (false, false, false, false);
    let (mut now, mut titles) = ("", Vec::new());
    let mut lengths = Vec::new();
    let mut is_through = false;
    for line in out.lines().filter(|line| !line.is_empty()) {
        if is_title(line) {
            titles = line.split_whitespace().collect();
        }
        is_through |=
            flows::are_accepted_by_list(line) || narrow::of_list(line, &titles).leaves_none();
        lengths.extend(of_list(line, now, &titles).filter(|_| !is_through));
        match chain(line) {
            Some(name) => {
                now = name;
                is_through = false;
                before |= name == "PREROUTING";
                after |= name == "POSTROUTING";
                filter |= name == "FORWARD";
            }
            None => rules |= !is_title(line),
        }
    }
    let table = asked_table(text).unwrap_or(if filter { "filter" } else { "nat" });
    if is_all(text) {
        passages::list::chains(out.lines(), family(text), table).put(out.snapshot);
    }
    out.snapshot.stack.length_rules = Some(lengths);
    // Only the nat table has both of these without FORWARD (mangle), one is missing in raw.
    let mut nat = Nat::default();
    either(&mut out, &mut nat, before && after && !filter && rules);
    put(&mut out, nat);
    out.finish();
}
