//! Which rules never see a merged frame: those that ask for the first packet of a flow or for none of any, and those behind one
//! that accepts whatever belongs to a flow. GRO merges no SYN (`tcp_gro_receive`, TCP_FLAG_SYN flushes), so that what is
//! merged belongs to a connection that conntrack has seen both ends of.

/// What conntrack calls the packets of a flow.
const OF_FLOWS: [&str; 2] = ["established", "untracked"];

/// Whether a set of states, `related,established` or `{ established, related }`, has that of flows.
fn has_flows(states: &str) -> bool {
    let mut states = states.split([',', ' ', '{', '}']);
    states.any(|state| OF_FLOWS.contains(&state.to_ascii_lowercase().as_str()))
}

/// The states that a rule of nft asks for, and whether it asks for others than these.
fn nft_states(words: &[&str]) -> Option<(String, bool)> {
    let at = words.windows(2).position(|pair| pair == ["ct", "state"])?;
    let rest = words.get(at + 2..)?;
    let (inverted, rest) = match rest.split_first()? {
        (&"!=", rest) => (true, rest),
        _ => (false, rest),
    };
    let end = match rest.first()? {
        &"{" => rest.iter().position(|word| *word == "}")? + 1,
        _ => 1,
    };
    Some((rest.get(..end)?.join(" "), inverted))
}

/// Whether a rule of nft asks for no packet of a flow.
pub(super) fn are_spared_by_nft(words: &[&str]) -> bool {
    let of_state =
        nft_states(words).is_some_and(|(states, inverted)| has_flows(&states) == inverted);
    of_state || is_for_syn(words)
}

/// `tcp flags syn`, `tcp flags & (fin | syn | rst | ack) == syn`.
fn is_for_syn(words: &[&str]) -> bool {
    let Some(at) = words.windows(2).position(|pair| pair == ["tcp", "flags"]) else {
        return false;
    };
    let rest = &words[at + 2..];
    let masked = rest.iter().position(|word| *word == "==");
    let value = masked.map_or(rest.first(), |at| rest.get(at + 1));
    value == Some(&"syn") || masked.is_none() && rest.first() == Some(&"syn")
}

/// Whether a rule of nft asks for all that belongs to flows, and for nothing else.
pub(super) fn are_asked_by_nft(words: &[&str]) -> bool {
    if verdict_of_established(words).is_some() {
        return true;
    }
    let Some((states, inverted)) = nft_states(words) else {
        return false;
    };
    let others = words.join(" ").replace(&states, "");
    let harmless = [
        "ct", "state", "counter", "packets", "bytes", "accept", "comment", "return",
    ];
    let to_chain = ["jump", "goto"].iter().find_map(|verdict| {
        let at = words.iter().position(|word| word == verdict)?;
        Some([*verdict, words.get(at + 1)?])
    });
    let is_harmless = |word: &str| {
        harmless.contains(&word)
            || word.parse::<u64>().is_ok()
            || to_chain.is_some_and(|chain| chain.contains(&word))
    };
    !inverted && has_flows(&states) && others.split_whitespace().all(is_harmless)
}

/// The words of what a map of states does with an established flow: `ct state vmap { established : accept, ... }`.
pub(super) fn verdict_of_established<'w, 's>(words: &'w [&'s str]) -> Option<&'w [&'s str]> {
    let ["ct", "state", "vmap", "{", map @ ..] = words else {
        return None;
    };
    let at = map
        .windows(2)
        .position(|pair| pair == ["established", ":"])?;
    let rest = &map[at + 2..];
    let end = rest
        .iter()
        .position(|word| word.ends_with(',') || *word == "}");
    rest.get(..end.map_or(rest.len(), |end| end + 1))
}

/// The states of `-m conntrack --ctstate NEW`, `-m state --state NEW`, and whether it asks for others.
fn iptables_states<'a>(words: &[&'a str]) -> Option<(&'a str, bool)> {
    let at = words
        .iter()
        .position(|word| matches!(*word, "--ctstate" | "--state"))?;
    let inverted = at > 0 && words[at - 1] == "!";
    Some((words.get(at + 1)?, inverted))
}

/// Whether a rule of iptables-save asks for no packet of a flow.
pub(super) fn are_spared_by_iptables(words: &[&str]) -> bool {
    let of_state =
        iptables_states(words).is_some_and(|(states, inverted)| has_flows(states) == inverted);
    let is_plain = |at: usize| at == 0 || words[at - 1] != "!";
    let syn = words.iter().position(|word| *word == "--syn");
    let flags = words.iter().position(|word| *word == "--tcp-flags");
    let for_syn = flags.is_some_and(|at| is_plain(at) && words.get(at + 2) == Some(&"SYN"));
    of_state || for_syn || syn.is_some_and(is_plain)
}

/// Whether a rule of iptables-save asks for all that belongs to flows, and for nothing else.
pub(super) fn are_asked_by_iptables(words: &[&str]) -> bool {
    let Some((states, inverted)) = iptables_states(words) else {
        return false;
    };
    let narrows = [
        "-i", "-o", "-s", "-d", "-p", "!", "--dport", "--sport", "--mark",
    ];
    let is_all = !words.iter().any(|word| narrows.contains(word));
    is_all && !inverted && has_flows(states)
}

/// The states in a line of `iptables -L`.
fn list_states<'a>(words: &[&'a str]) -> Option<&'a str> {
    let at = words
        .iter()
        .position(|word| matches!(*word, "ctstate" | "state"))?;
    words.get(at + 1).copied()
}

/// Whether a line of `iptables -L` asks for no packet of a flow: SYN is bit 2 of the flags.
pub(super) fn are_spared_by_list(words: &[&str]) -> bool {
    let of_state =
        list_states(words).is_some_and(|states| !has_flows(states) && !states.starts_with('!'));
    of_state
        || words
            .iter()
            .any(|word| word.starts_with("flags:") && word.ends_with("/0x02"))
}

/// Whether a line of `iptables -L` accepts all that belongs to flows.
pub(in crate::text::linux) fn are_accepted_by_list(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_any = |word: &&&str| matches!(**word, "0.0.0.0/0" | "anywhere" | "::/0");
    let at = words.iter().position(|word| matches!(*word, "ACCEPT"));
    // With -v the interfaces stand between protocol and addresses.
    let named = words
        .iter()
        .position(|word| matches!(*word, "--" | "opt"))
        .map(|at| at + 1);
    let through = named
        .and_then(|at| words.get(at..at + 2))
        .unwrap_or_default();
    let is_narrow = through
        .iter()
        .any(|word| !matches!(*word, "*" | "any" | "0.0.0.0/0" | "anywhere" | "::/0"));
    at.is_some_and(|at| at <= 2)
        && words.iter().filter(is_any).count() >= 2
        && !is_narrow
        && list_states(&words).is_some_and(has_flows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_no_packet_of_a_flow_spares_them() {
        let words =
            |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        let asked = |line: &str, of: fn(&[&str]) -> bool| {
            let words = words(line);
            of(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        for (line, spares) in [
            ("ct state new meta length > 1500 drop", true),
            ("ct state { invalid, new } meta length > 1500 drop", true),
            ("ct state != established meta length > 1500 drop", true),
            ("ct state != new meta length > 1500 drop", false),
            (
                "ct state established,related meta length > 1500 drop",
                false,
            ),
            (
                "tcp flags & (fin | syn | rst | ack) == syn meta length > 1500 drop",
                true,
            ),
            ("tcp flags syn meta length > 1500 drop", true),
            (
                "tcp flags & (syn | ack) == ack meta length > 1500 drop",
                false,
            ),
            ("meta length > 1500 drop", false),
        ] {
            assert_eq!(asked(line, are_spared_by_nft), spares, "{line}");
        }
        for (rule, spares) in [
            ("-p tcp --tcp-flags FIN,SYN,RST,ACK SYN", true),
            ("-p tcp ! --tcp-flags FIN,SYN,RST,ACK SYN", false),
            ("-p tcp --syn", true),
            ("-m conntrack --ctstate NEW", true),
            ("-m conntrack ! --ctstate ESTABLISHED", true),
            ("-m state --state RELATED,ESTABLISHED", false),
            ("", false),
        ] {
            let line = format!("-A FORWARD {rule} -m length --length 1501:65535 -j DROP");
            assert_eq!(asked(&line, are_spared_by_iptables), spares, "{line}");
        }
    }

    #[test]
    fn what_accepts_all_flows_leaves_none_for_the_rules_behind() {
        for (line, accepts) in [
            ("ct state established,related accept", true),
            (
                "ct state { established, related } counter packets 12 bytes 900 accept",
                true,
            ),
            (
                "ct state established accept comment \"what we asked for\"",
                true,
            ),
            (
                "ct state vmap { established : accept, related : accept, invalid : drop }",
                true,
            ),
            ("ct state vmap { invalid : drop }", false),
            ("iifname \"wan\" ct state established,related accept", false),
            ("ct state related accept", false),
            (
                "ct state established,related counter packets 1 bytes 2",
                true,
            ),
            ("ct state established,related return", true),
            ("ct state established,related jump others", true),
            ("ct state established tcp dport 22 accept", false),
            (
                "ct state vmap { established : jump others, new : drop }",
                true,
            ),
            ("ct state != established accept", false),
        ] {
            let words = crate::text::linux::filters::narrow::words(line);
            assert_eq!(are_asked_by_nft(&words), accepts, "{line}");
        }
        for (rule, accepts) in [
            ("-m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", true),
            (
                "-m state --state ESTABLISHED -m comment --comment x -j ACCEPT",
                true,
            ),
            (
                "-i wan -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
                false,
            ),
            ("-m conntrack --ctstate RELATED -j ACCEPT", false),
            ("-m conntrack --ctstate ESTABLISHED -j other", true),
        ] {
            let line = format!("-A FORWARD {rule}");
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(are_asked_by_iptables(&words), accepts, "{line}");
        }
        for (line, accepts) in [
            (
                "ACCEPT     all  --  0.0.0.0/0            0.0.0.0/0            ctstate RELATED,ESTABLISHED",
                true,
            ),
            (
                "ACCEPT     all  --  anywhere             anywhere             state RELATED,ESTABLISHED",
                true,
            ),
            (
                "  10  900 ACCEPT  all  --  *      *       0.0.0.0/0   0.0.0.0/0   ctstate ESTABLISHED",
                true,
            ),
            (
                "  10  900 ACCEPT  all  --  wan    *       0.0.0.0/0   0.0.0.0/0   ctstate ESTABLISHED",
                false,
            ),
            (
                "ACCEPT     all  --  192.0.2.0/24         0.0.0.0/0            ctstate RELATED,ESTABLISHED",
                false,
            ),
            (
                "DROP       all  --  0.0.0.0/0            0.0.0.0/0            ctstate INVALID",
                false,
            ),
        ] {
            assert_eq!(are_accepted_by_list(line), accepts, "{line}");
        }
    }
}
