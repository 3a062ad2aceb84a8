//! The chains of `nft list ruleset`, for their rules about lengths.

use super::{after, flows, narrow, of_words};
use crate::lengths::{Case, Chain, Lengths, Range, Rule, Verdict, joined as cases_of};
use crate::model::LengthRule;
use crate::text::linux::passages::nft::joined;

/// All chains of a ruleset.
pub(in crate::text::linux) fn chains<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut table = (String::new(), String::new());
    let mut is_in_chain = false;
    let mut drops = false;
    for line in joined(lines) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["table", family, name, "{"] => table = ((*family).to_owned(), (*name).to_owned()),
            ["chain", name, "{"] => {
                (is_in_chain, drops) = (true, false);
                chains.push(Chain {
                    family: Some(table.0.clone()),
                    table: table.1.clone(),
                    name: (*name).to_owned(),
                    ..Chain::default()
                });
            }
            // A set or map of its own, or an end. What a policy drops is known once all rules are.
            [_, _, "{"] | ["}"] => {
                if let Some(chain) = chains.last_mut().filter(|_| is_in_chain) {
                    chain.drops = drops;
                }
                is_in_chain = false;
            }
            _ if !is_in_chain => {}
            _ => {
                drops |= words.first() == Some(&"type") && line.contains("policy drop");
                if let Some(chain) = chains.last_mut() {
                    take(chain, &line, &words);
                }
            }
        }
    }
    chains
}

/// Takes a line of a chain in: `type filter hook ingress device "eth0" priority filter; policy drop;`, or a rule.
fn take(chain: &mut Chain, line: &str, words: &[&str]) {
    match words {
        ["type", _, "hook", hook, rest @ ..] => {
            chain.hook = Some((*hook).to_owned());
            let names: Vec<&str> = match rest {
                ["device", name, ..] => vec![name],
                ["devices", "=", "{", names @ ..] => names
                    .iter()
                    .copied()
                    .take_while(|name| *name != "}")
                    .collect(),
                _ => Vec::new(),
            };
            let plain = |name: &str| name.trim_matches(['"', ',']).to_owned();
            chain.devices = names.into_iter().map(plain).collect();
        }
        ["comment" | "policy" | "devices" | "flags", ..] | [] => {}
        [word, ..] if word.starts_with('#') => {}
        _ => chain.rules.push(of_nft(line)),
    }
}

/// A rule of `nft list ruleset`.
pub(super) fn of_nft(line: &str) -> Rule {
    let words: Vec<&str> = line.split_whitespace().collect();
    let unquoted = narrow::words(line);
    let asked = narrow::of_nft(line);
    let name = |keys: &[&str]| after(&words, keys).map(|name| name.trim_matches('"').to_owned());
    Rule {
        asks: LengthRule {
            by: "nftables".to_owned(),
            interface: name(&["iifname", "iif"]),
            to: name(&["oifname", "oif"]),
            protocol: nft_protocol(&unquoted),
            narrow: asked.narrow,
            ..LengthRule::default()
        },
        is_for_all: asked.is_for_all(),
        is_of_flows: flows::are_asked_by_nft(&unquoted),
        offloads: words.windows(2).any(|pair| pair == ["flow", "add"]),
        spares_flows: flows::are_spared_by_nft(&words),
        cases: nft_cases(&unquoted),
    }
}

/// What becomes of packets, by their length.
fn nft_cases(words: &[&str]) -> Vec<Case> {
    let verdict = nft_verdict(words);
    let at = words.windows(2).position(|pair| {
        matches!(pair, ["meta" | "ip", "length"]) || matches!(pair, ["ip6", "length"])
    });
    let Some(rest) = at.and_then(|at| words.get(at + 2..)) else {
        let verdict = flows::verdict_of_established(words).map_or(verdict, nft_verdict);
        let lengths = Lengths::Any;
        return vec![Case { lengths, verdict }];
    };
    let unknown = || {
        let lengths = Lengths::Unknown;
        let verdict = verdict.clone();
        vec![Case { lengths, verdict }]
    };
    match rest {
        ["vmap", "{", map @ ..] => nft_map(map).unwrap_or_else(unknown),
        ["{", set @ ..] => {
            let ranges = elements(set).map(|element| of_words(&element));
            let ranges: Option<Vec<Range>> = ranges.collect();
            ranges.map_or_else(unknown, |ranges| cases_of(ranges, &verdict))
        }
        _ => of_words(rest).map_or_else(unknown, |range| cases_of(vec![range], &verdict)),
    }
}

/// `1501-65535 : drop, 0-1500 : goto short }`
fn nft_map(map: &[&str]) -> Option<Vec<Case>> {
    let case = |element: Vec<&str>| {
        let at = element.iter().position(|word| *word == ":")?;
        let range = of_words(element.get(..at)?)?;
        let verdict = nft_verdict(element.get(at + 1..)?);
        let lengths = Lengths::Within(range);
        Some(Case { lengths, verdict })
    };
    elements(map).map(case).collect()
}

/// The words of each element of a set, up to its end.
fn elements<'w, 's>(words: &'w [&'s str]) -> impl Iterator<Item = Vec<&'s str>> + use<'w, 's> {
    let end = words.iter().position(|word| *word == "}");
    let inside = &words[..end.unwrap_or(words.len())];
    let parts = inside.split_inclusive(|word| word.ends_with(','));
    parts.map(|part| part.iter().map(|word| word.trim_end_matches(',')).collect())
}

/// The last verdict among words, and its chain.
fn nft_verdict(words: &[&str]) -> Verdict {
    const VERDICTS: [&str; 6] = ["drop", "reject", "accept", "jump", "goto", "return"];
    let at = words.iter().rposition(|word| VERDICTS.contains(word));
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    at.map_or(Verdict::Other(None), |at| {
        Verdict::named(word(at), word(at + 1))
    })
}

fn nft_protocol(words: &[&str]) -> Option<String> {
    // What follows a verdict is about the answer: `reject with icmp host-unreachable`.
    let end = words.iter().position(|word| *word == "reject");
    let words = words.get(..end.unwrap_or(words.len()))?;
    let named = after(words, &["l4proto", "protocol", "nexthdr"]);
    let port = words.windows(2).find_map(|pair| match pair {
        [protocol @ ("tcp" | "udp"), field] if *field != "}" => Some(*protocol),
        _ => None,
    });
    let icmp = words.iter().find(|word| word.starts_with("icmp")).copied();
    let name = named.or(port).or(icmp)?;
    Some(
        if name.starts_with("icmp") {
            "icmp"
        } else {
            name
        }
        .to_owned(),
    )
}
