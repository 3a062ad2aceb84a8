//! Rules of `iptables-save` and `iptables -S`.

use super::{Chains, Place, Rule, Verdict};

/// Chains that iptables hooks in itself.
const HOOKED: [&str; 5] = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];

/// `iptables-save`, or `iptables -S` of one table.
pub(in crate::text::linux) fn chains<'a>(
    lines: impl Iterator<Item = &'a str>,
    family: &str,
    table: &str,
) -> Chains {
    let mut chains = Chains::default();
    let mut place = Place::in_table(family, table);
    for line in lines {
        if let Some(name) = line.strip_prefix('*') {
            name.clone_into(&mut place.table);
        }
        add(&mut chains, &place, line);
    }
    chains
}

fn add(chains: &mut Chains, place: &Place, line: &str) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let of = |name: &str| Place {
        chain: name.to_owned(),
        ..place.clone()
    };
    match words.as_slice() {
        [first, policy, ..] if first.starts_with(':') => {
            let name = &first[1..];
            open(chains, of(name), policy);
        }
        ["-P", name, policy, ..] => open(chains, of(name), policy),
        ["-N", name, ..] => open(chains, of(name), "-"),
        // With counters a rule begins with them: `[12:900] -A FORWARD`.
        ["-A", name, rest @ ..] | [_, "-A", name, rest @ ..] => {
            let chain = chains.chain(of(name));
            chain.hook = hook(name);
            chain.rules.push(rule(rest));
        }
        _ => {}
    }
}

fn open(chains: &mut Chains, place: Place, policy: &str) {
    let hook = hook(&place.chain);
    let chain = chains.chain(place);
    chain.hook = hook;
    chain.drops = policy == "DROP";
}

/// The hook of a chain by its name.
pub(super) fn hook(chain: &str) -> Option<String> {
    HOOKED.contains(&chain).then(|| chain.to_ascii_lowercase())
}

/// What follows the name of the chain.
fn rule(words: &[&str]) -> Rule {
    let mut rule = Rule::default();
    let mut rest = words;
    let mut inverted = false;
    while let Some((word, after)) = rest.split_first() {
        if *word == "!" {
            (inverted, rest) = (true, after);
            continue;
        }
        let value = after.first().copied().unwrap_or_default();
        let taken = option(&mut rule, word, value, inverted);
        (inverted, rest) = (false, after.get(taken..).unwrap_or_default());
    }
    rule
}

/// Takes one option in; how many words after it belong to it.
fn option(rule: &mut Rule, word: &str, value: &str, inverted: bool) -> usize {
    match word {
        "-i" => rule.from = vec![interface(value, inverted)],
        "-o" => rule.to = vec![interface(value, inverted)],
        "-s" if !inverted => rule.source = Some(value.to_owned()),
        "-d" if inverted => {}
        "-p" => rule.icmp = !inverted && is_icmp(value),
        "-j" | "-g" => rule.verdict = verdict(value),
        "--ctstate" | "--state" => states(rule, value, inverted),
        "--to-destination" => rule.verdict = Verdict::Destination(Some(value.to_owned())),
        "--random-fully" | "--random" | "--persistent" => return 0,
        "-m" if value != "comment" => {}
        "-m" | "--dport" | "--dports" | "--dst-type" | "--to-source" | "--reject-with"
        | "--comment" => {}
        _ if word.starts_with('-') => rule.narrow = true,
        // A further word of a comment, or a value.
        _ => return 0,
    }
    rule.narrow |= word == "-s" && inverted;
    rule.narrow |= word == "-d" && !inverted;
    1
}

/// `eth0`, `br-+`; with `!` before, all but that one.
fn interface(name: &str, inverted: bool) -> Option<String> {
    let name = match name.strip_suffix('+') {
        Some("") => return None,
        Some(begin) => format!("{begin}*"),
        None => name.to_owned(),
    };
    Some(if inverted { format!("!{name}") } else { name })
}

pub(super) fn is_icmp(protocol: &str) -> bool {
    matches!(protocol, "1" | "58") || protocol.contains("icmp")
}

/// What conntrack is asked for: flows that are known, or others as well.
pub(super) fn states(rule: &mut Rule, states: &str, inverted: bool) {
    let mut known = states.split(',').map(str::trim);
    let is_known = |state: &str| {
        matches!(
            state.to_ascii_lowercase().as_str(),
            "established" | "related" | "invalid"
        )
    };
    rule.replies = !inverted && known.all(is_known);
    let is_new = states.to_ascii_lowercase().contains("new");
    rule.narrow |= inverted || !rule.replies && !is_new;
}

pub(super) fn verdict(target: &str) -> Verdict {
    match target {
        "ACCEPT" | "NFQUEUE" => Verdict::Accept,
        "DROP" | "REJECT" => Verdict::Drop,
        "RETURN" => Verdict::Return,
        "MASQUERADE" | "SNAT" => Verdict::Source,
        "DNAT" => Verdict::Destination(None),
        "LOG" | "MARK" | "CONNMARK" | "TCPMSS" | "NFLOG" | "TRACE" | "CT" | "NOTRACK" | "DSCP"
        | "TOS" | "TTL" | "CLASSIFY" | "TEE" | "REDIRECT" | "NETMAP" | "CHECKSUM" | "SET" | "" => {
            Verdict::Other
        }
        chain => Verdict::Jump(chain.to_owned()),
    }
}
