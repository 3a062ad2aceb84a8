//! The chains of `iptables-save` and `iptables -S`, for their rules about lengths.

use std::collections::{BTreeMap, BTreeSet};

use super::{after, flows, hook_of, narrow, plain, range};
use crate::lengths::{Case, Chain, Lengths, Rule, Verdict};
use crate::model::LengthRule;

/// All chains; lines in front of the first table are of the one with this name.
pub(in crate::text::linux) fn chains<'a>(
    lines: impl Iterator<Item = &'a str>,
    table: &str,
) -> Vec<Chain> {
    let lines: Vec<&str> = lines.collect();
    let names = lines.iter().copied().filter_map(new_chain);
    let names: BTreeSet<&str> = names.map(|(name, _)| name).collect();
    let mut chains = Chains::default();
    // Of a saved table that is cut off it is not known what its policy drops: the rules that accept may be missing.
    let is_cut = lines.iter().filter(|line| line.starts_with('*')).count()
        > lines.iter().filter(|line| **line == "COMMIT").count();
    let mut table = table.to_owned();
    for line in lines {
        if let Some(name) = line.strip_prefix('*') {
            name.clone_into(&mut table);
        } else if let Some((name, policy)) = new_chain(line) {
            chains.of(&table, name).drops = policy == "DROP" && !is_cut;
        } else if let Some((name, rule)) = of_iptables(line, &names) {
            chains.of(&table, name).rules.push(rule);
        }
    }
    chains.all
}

/// `:FORWARD DROP [0:0]`, `:DOCKER - [0:0]`, `-P FORWARD DROP`, `-N DOCKER`: its name and policy.
fn new_chain(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    match words.next()? {
        "-P" => Some((words.next()?, words.next()?)),
        "-N" => Some((words.next()?, "")),
        first => Some((first.strip_prefix(':')?, words.next()?)),
    }
}

/// Chains in the order in which they come.
#[derive(Default)]
struct Chains {
    all: Vec<Chain>,
    places: BTreeMap<(String, String), usize>,
}

impl Chains {
    fn of(&mut self, table: &str, name: &str) -> &mut Chain {
        let next = self.all.len();
        let key = (table.to_owned(), name.to_owned());
        let at = *self.places.entry(key).or_insert(next);
        if at == next {
            self.all.push(Chain {
                table: table.to_owned(),
                name: name.to_owned(),
                hook: hook_of(name),
                ..Chain::default()
            });
        }
        &mut self.all[at]
    }
}

/// Targets that are no chain (iptables-extensions(8)); any other name is one, whether the text shows it or not.
const TARGETS: [&str; 40] = [
    "ACCEPT",
    "AUDIT",
    "CHECKSUM",
    "CLASSIFY",
    "CONNMARK",
    "CONNSECMARK",
    "CT",
    "DNAT",
    "DNPT",
    "DROP",
    "DSCP",
    "ECN",
    "FLOWOFFLOAD",
    "HL",
    "HMARK",
    "IDLETIMER",
    "LED",
    "LOG",
    "MARK",
    "MASQUERADE",
    "NETMAP",
    "NFLOG",
    "NFQUEUE",
    "NOTRACK",
    "QUEUE",
    "RATEEST",
    "REDIRECT",
    "REJECT",
    "RETURN",
    "SECMARK",
    "SET",
    "SNAT",
    "SNPT",
    "SYNPROXY",
    "TCPMSS",
    "TCPOPTSTRIP",
    "TEE",
    "TOS",
    "TRACE",
    "TTL",
];

fn verdict(target: &str, is_chain: bool, goes: bool) -> Verdict {
    let is_own = is_chain || !target.is_empty() && !TARGETS.contains(&target);
    match (is_own, goes) {
        (true, true) => Verdict::Goto(target.to_owned()),
        (true, false) => Verdict::Jump(target.to_owned()),
        // A program decides about it.
        _ if target.ends_with("QUEUE") => Verdict::Accept,
        _ => Verdict::named(target, ""),
    }
}

/// A rule of `iptables-save`, with its chain; `chains` are those that it may jump to.
pub(super) fn of_iptables<'a>(line: &'a str, chains: &BTreeSet<&str>) -> Option<(&'a str, Rule)> {
    let (chain, asked) = narrow::of_iptables(line)?;
    let words = narrow::words(line);
    let target = after(&words, &["-j", "-g"]).unwrap_or_default();
    let verdict = verdict(target, chains.contains(target), words.contains(&"-g"));
    let lengths = words.iter().position(|word| *word == "--length");
    let lengths = lengths.map_or(Lengths::Any, |at| {
        let inverted = at > 0 && words[at - 1] == "!";
        let bare = words.get(at + 1).and_then(|word| range(word, inverted));
        bare.map_or(Lengths::Unknown, Lengths::Within)
    });
    let rule = Rule {
        asks: LengthRule {
            by: "iptables".to_owned(),
            interface: plain(&words, "-i"),
            to: plain(&words, "-o"),
            protocol: after(&words, &["-p"]).map(str::to_owned),
            narrow: asked.narrow,
            ..LengthRule::default()
        },
        is_for_all: asked.is_for_all(),
        is_of_flows: !asked.narrow && flows::are_asked_by_iptables(&words),
        offloads: target == "FLOWOFFLOAD",
        spares_flows: flows::are_spared_by_iptables(&words),
        cases: vec![Case { lengths, verdict }],
    };
    Some((chain, rule))
}
