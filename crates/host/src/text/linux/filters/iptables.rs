//! The chains of `iptables-save` and `iptables -S`, for their rules about lengths.

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
    let names: Vec<&str> = names.map(|(name, _)| name).collect();
    let mut chains: Vec<Chain> = Vec::new();
    // Of a saved table that is cut off it is not known what its policy drops: the rules that accept may be missing.
    let is_cut = lines.iter().filter(|line| line.starts_with('*')).count()
        > lines.iter().filter(|line| **line == "COMMIT").count();
    let mut table = table.to_owned();
    for line in lines {
        if let Some(name) = line.strip_prefix('*') {
            name.clone_into(&mut table);
        } else if let Some((name, policy)) = new_chain(line) {
            chain(&mut chains, &table, name).drops = policy == "DROP" && !is_cut;
        } else if let Some((name, rule)) = of_iptables(line, &names) {
            chain(&mut chains, &table, name).rules.push(rule);
        }
    }
    chains
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

fn chain<'c>(chains: &'c mut Vec<Chain>, table: &str, name: &str) -> &'c mut Chain {
    let known = |chain: &Chain| chain.table == table && chain.name == name;
    let at = chains.iter().position(known).unwrap_or_else(|| {
        chains.push(Chain {
            table: table.to_owned(),
            name: name.to_owned(),
            hook: hook_of(name),
            ..Chain::default()
        });
        chains.len() - 1
    });
    &mut chains[at]
}

/// A rule of `iptables-save`, with its chain; `chains` are those that it may jump to.
pub(super) fn of_iptables<'a>(line: &'a str, chains: &[&str]) -> Option<(&'a str, Rule)> {
    let (chain, asked) = narrow::of_iptables(line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let target = after(&words, &["-j", "-g"]).unwrap_or_default();
    let verdict = match (chains.contains(&target), words.contains(&"-g")) {
        (true, true) => Verdict::Goto(target.to_owned()),
        (true, false) => Verdict::Jump(target.to_owned()),
        _ => Verdict::named(target, ""),
    };
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
        accepts_flows: flows::are_accepted_in(line).is_some(),
        spares_flows: flows::are_spared_by_iptables(&words),
        cases: vec![Case { lengths, verdict }],
    };
    Some((chain, rule))
}
