//! Rules of `nft list ruleset`.

use super::iptables::{is_icmp, states};
use super::{Chains, Place, Rule, Verdict};

/// All tables of a ruleset.
pub(in crate::text::linux) fn chains<'a>(lines: impl Iterator<Item = &'a str>) -> Chains {
    let mut chains = Chains::default();
    let mut place = Place::default();
    for line in joined(lines) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["table", family, name, "{"] => {
                (*family).clone_into(&mut place.family);
                (*name).clone_into(&mut place.table);
            }
            ["chain", name, "{"] => {
                (*name).clone_into(&mut place.chain);
                chains.chain(place.clone());
            }
            // A set or map of its own.
            [_, _, "{"] | ["}"] => place.chain.clear(),
            _ if place.chain.is_empty() => {}
            ["type", _, "hook", hook, ..] => {
                let chain = chains.chain(place.clone());
                chain.hook = Some((*hook).to_owned());
                chain.drops = line.contains("policy drop");
            }
            ["comment" | "policy" | "devices" | "#", ..] | [] => {}
            _ => chains.chain(place.clone()).rules.push(rule(&words)),
        }
    }
    chains
}

/// Each rule on one line: sets of many elements take several.
pub(in crate::text::linux) fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let line = line.trim();
        match all.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(line);
                open = !line.contains('}');
            }
            None => {
                let braces = line.matches('{').count() > line.matches('}').count();
                open = braces && !line.ends_with('{');
                all.push(line.to_owned());
            }
        }
    }
    all
}

fn rule(words: &[&str]) -> Rule {
    let mut rule = Rule::default();
    let mut rest = words;
    while !rest.is_empty() {
        let taken = part(&mut rule, rest).max(1);
        rest = rest.get(taken..).unwrap_or_default();
    }
    rule
}

/// Takes the first match or statement in; how many words it has.
fn part(rule: &mut Rule, words: &[&str]) -> usize {
    let (values, inverted, end) = operand(words.get(1..).unwrap_or_default());
    let (of_two, not_two, end_of_two) = operand(words.get(2..).unwrap_or_default());
    match words {
        ["ct", "state", "vmap", ..] => {
            map(rule, words, true);
            words.len()
        }
        [_, _, "vmap", ..] | [_, "vmap", ..] => {
            map(rule, words, false);
            words.len()
        }
        ["iifname" | "iif", ..] => {
            rule.from = interfaces(&values, inverted, &mut rule.narrow);
            1 + end
        }
        ["oifname" | "oif", ..] => {
            rule.to = interfaces(&values, inverted, &mut rule.narrow);
            1 + end
        }
        ["ct", "state", ..] => {
            states(rule, &of_two.join(","), not_two);
            2 + end_of_two
        }
        ["ct", "status", "dnat", ..] => {
            rule.translated = true;
            3
        }
        ["ip" | "ip6", "saddr", ..] => {
            rule.narrow |= not_two || of_two.len() != 1;
            rule.source = of_two.first().map(|net| (*net).to_owned());
            2 + end_of_two
        }
        ["ip" | "ip6", "daddr", ..] => {
            rule.narrow |= !not_two;
            2 + end_of_two
        }
        ["meta", "l4proto", ..] => {
            rule.icmp |= !not_two && of_two.iter().all(|name| is_icmp(name));
            2 + end_of_two
        }
        ["icmp" | "icmpv6", ..] => {
            rule.icmp = true;
            2 + end_of_two
        }
        ["tcp" | "udp" | "th", "dport", ..] | ["meta", "nfproto", ..] => 2 + end_of_two,
        ["fib", "daddr", "type", "local", ..] => 4,
        ["ct" | "meta" | "tcp" | "udp", _, ..] => {
            rule.narrow = true;
            2 + end_of_two
        }
        _ => statement(rule, words),
    }
}

fn statement(rule: &mut Rule, words: &[&str]) -> usize {
    let is_done = !matches!(rule.verdict, Verdict::Other);
    match words {
        ["counter", "packets", _, "bytes", ..] => return 5,
        [
            "counter" | "log" | "random" | "fully-random" | "persistent",
            ..,
        ] => {}
        ["comment", ..] => return words.len(),
        ["accept" | "queue", ..] => rule.verdict = Verdict::Accept,
        ["drop" | "reject", ..] => {
            rule.verdict = Verdict::Drop;
            return words.len();
        }
        ["jump" | "goto", name, ..] => {
            rule.verdict = Verdict::Jump((*name).to_owned());
            return 2;
        }
        ["return", ..] => rule.verdict = Verdict::Return,
        ["masquerade" | "snat", ..] => {
            rule.verdict = Verdict::Source;
            return words.len();
        }
        ["dnat", rest @ ..] => {
            let to = rest
                .iter()
                .find(|word| !matches!(**word, "ip" | "ip6" | "to"));
            rule.verdict = Verdict::Destination(to.map(|to| (*to).to_owned()));
            return words.len();
        }
        // Options of a log.
        _ if is_done => {}
        _ => rule.narrow = true,
    }
    1
}

/// A map to verdicts: what of it is accepted is not told apart.
fn map(rule: &mut Rule, words: &[&str], of_states: bool) {
    let named = |verdict: &str| words.iter().any(|word| word.trim_matches(',') == verdict);
    rule.narrow = true;
    if ["jump", "goto"].iter().any(|verdict| named(verdict))
        || words.iter().any(|w| w.starts_with('@'))
    {
        rule.verdict = Verdict::Accept;
    } else if named("accept") {
        rule.verdict = Verdict::Accept;
        rule.replies = of_states && !named("new") && !named("untracked");
    }
}

/// The value that a match asks for: one, or those of a set; whether others are asked for; how many words it has.
fn operand<'a>(words: &[&'a str]) -> (Vec<&'a str>, bool, usize) {
    let (inverted, rest) = match words {
        ["!=", rest @ ..] => (true, rest),
        ["==", rest @ ..] | rest => (false, rest),
    };
    let before = words.len() - rest.len();
    let clean = |word: &'a str| word.trim_matches([',', '"']);
    match rest {
        ["{", inside @ ..] => {
            let end = inside.iter().position(|word| *word == "}");
            let end = end.unwrap_or(inside.len());
            let values = inside[..end].iter().map(|word| clean(word));
            (values.collect(), inverted, before + end + 2)
        }
        [value, ..] => {
            // `established,related` is a set as well.
            let values = value.split(',').map(clean);
            (values.collect(), inverted, before + 1)
        }
        [] => (Vec::new(), inverted, before),
    }
}

/// Names of interfaces; those of a set that is not shown, or what is joined with another field, may be any.
fn interfaces(names: &[&str], inverted: bool, narrow: &mut bool) -> Vec<Option<String>> {
    let is_plain = |name: &&str| !name.is_empty() && !name.starts_with(['@', '.', '$']);
    let many = inverted && names.len() > 1;
    if names.is_empty() || many || !names.iter().all(is_plain) {
        *narrow = true;
        return vec![None];
    }
    let named = names.iter().map(|name| {
        let not = if inverted { "!" } else { "" };
        Some(format!("{not}{name}"))
    });
    named.collect()
}
