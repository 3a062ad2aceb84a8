//! Rules of `iptables -L`, in columns; without `-v` no interfaces are among them.

use super::iptables::{hook, is_icmp, states, verdict};
use super::{Chains, Place, Rule, Verdict};

/// `Chain FORWARD (policy DROP 0 packets, 0 bytes)`, titles, rules.
pub(in crate::text::linux) fn chains<'a>(
    lines: impl Iterator<Item = &'a str>,
    family: &str,
    table: &str,
) -> Chains {
    let mut chains = Chains::default();
    let mut place = Place::in_table(family, table);
    let mut titles: Vec<&str> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["Chain", name, ..] => {
                (*name).clone_into(&mut place.chain);
                let chain = chains.chain(place.clone());
                chain.hook = hook(name);
                chain.drops = line.contains("(policy DROP");
            }
            _ if words.contains(&"prot") => titles = words,
            _ => chains
                .chain(place.clone())
                .rules
                .push(rule(&words, &titles)),
        }
    }
    chains
}

fn rule(words: &[&str], titles: &[&str]) -> Rule {
    let at = |title: &str| titles.iter().position(|one| *one == title);
    let target = at("target").unwrap_or(0);
    // A rule without a target leaves its column empty.
    let is_empty = words.get(target + 1).is_some_and(|word| *word == "--");
    let column = |title: &str| {
        let place = at(title)? - usize::from(is_empty && at(title)? > target);
        words.get(place).copied()
    };
    let interface = |title: &str| column(title).filter(|name| !matches!(*name, "*" | "any"));
    let named = |title: &str| vec![interface(title).map(|name| name.replace('+', "*"))];
    let end = at("destination").map_or(words.len(), |at| at + 1 - usize::from(is_empty));
    let mut rule = Rule {
        from: named("in"),
        to: named("out"),
        source: column("source")
            .filter(|net| !is_any(net))
            .map(str::to_owned),
        icmp: column("prot").is_some_and(is_icmp),
        narrow: at("in").is_none() || column("destination").is_none_or(|net| !is_any(net)),
        ..Rule::default()
    };
    if !is_empty {
        rule.verdict = column("target").map_or(Verdict::Other, verdict);
    }
    more(&mut rule, words.get(end..).unwrap_or_default());
    rule
}

fn is_any(network: &str) -> bool {
    matches!(network, "0.0.0.0/0" | "anywhere" | "::/0")
}

/// What stands behind the columns: `ctstate RELATED,ESTABLISHED`, `tcp dpt:443 to:10.0.0.21:443`.
fn more(rule: &mut Rule, words: &[&str]) {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "ctstate" | "state" => states(rule, words.next().copied().unwrap_or_default(), false),
            "tcp" | "udp" | "/*" | "*/" => {}
            word if word.starts_with("dpt") || word == "reject-with" => {}
            word => match word.strip_prefix("to:") {
                Some(to) if matches!(rule.verdict, Verdict::Destination(_)) => {
                    rule.verdict = Verdict::Destination(Some(to.to_owned()));
                }
                Some(_) => {}
                None => rule.narrow |= !word.starts_with("icmp-"),
            },
        }
    }
}
