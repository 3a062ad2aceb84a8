//! Rules that ask how long a packet is, as `nft`, `iptables-save` and `tc` print them, and redirects of tc.

pub(super) mod flows;
pub(super) mod iptables;
pub(super) mod narrow;
pub(super) mod nft;

use super::out::{Out, is_name};
use crate::lengths::{LONGEST, bounds};
use crate::model::{LengthRule, Redirect, Snapshot};
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `tc filter show dev eth0 ingress`.
pub(super) const TC: Reader = Reader {
    name: "tc filter show",
    recognises: |text| {
        let mut words = first_line(text).split_whitespace();
        words.next() == Some("filter") && words.any(|word| word == "protocol" || word == "parent")
    },
    read: tc,
};

/// `tc qdisc show`: no rule asks for a queue, and a list of them is no reason for a warning.
pub(super) const QUEUES: Reader = Reader {
    name: "tc qdisc show",
    recognises: |text| {
        let line = first_line(text);
        line.starts_with("qdisc ") && line.contains(": ") && line.contains(" dev ")
    },
    read: |text, snapshot| Out::linux(text, QUEUES.name, snapshot).finish(),
};

/// `> 1500`, `1501-65535`, `!= 0-1500`, `1500`; `None` of a set.
fn of_words(words: &[&str]) -> Option<(u64, u64)> {
    let number = |word: &str| word.parse::<u64>().ok();
    match words {
        [">", value, ..] => Some((number(value)?.saturating_add(1), u64::MAX)),
        [">=", value, ..] => Some((number(value)?, u64::MAX)),
        ["<", value, ..] => Some((0, number(value)?.checked_sub(1)?)),
        ["<=", value, ..] => Some((0, number(value)?)),
        ["!=", range, ..] => {
            let (from, to) = range.split_once('-')?;
            within(number(from)?, number(to)?, true)
        }
        [range, ..] => match range.split_once('-') {
            Some((from, to)) => within(number(from)?, number(to)?, false),
            None => Some((number(range)?, number(range)?)),
        },
        [] => None,
    }
}

/// What is in a range, or what is not, if that is one range as well.
fn within(from: u64, to: u64, inverted: bool) -> Option<(u64, u64)> {
    let open = if to >= LONGEST { u64::MAX } else { to };
    match (from, inverted) {
        (from, false) => Some((from, open)),
        (0, true) => Some((to.saturating_add(1), u64::MAX)),
        (from, true) if to >= LONGEST => Some((0, from.saturating_sub(1))),
        _ => None,
    }
}

fn after<'a>(words: &[&'a str], keys: &[&str]) -> Option<&'a str> {
    let at = words.iter().position(|word| keys.contains(word))?;
    words
        .get(at + 1)
        .copied()
        .filter(|word| !word.starts_with(['!', '{']))
}

/// The value of an option without `!` in front.
fn plain(words: &[&str], option: &str) -> Option<String> {
    let at = words.iter().position(|word| *word == option)?;
    let is_inverted = at > 0 && words[at - 1] == "!";
    let value = words.get(at + 1).filter(|_| !is_inverted)?;
    Some((*value).to_owned())
}

/// A rule of `iptables -L`, whose columns have these titles; `None` if it asks for no length.
pub(super) fn of_list(line: &str, chain: &str, titles: &[&str]) -> Option<LengthRule> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if flows::are_spared_by_list(&words) {
        return None;
    }
    let at = words.iter().position(|word| *word == "length")?;
    let (bare, inverted) = match words.get(at + 1)?.strip_prefix('!') {
        Some(bare) => (bare, true),
        None => (*words.get(at + 1)?, false),
    };
    let lengths = range(bare, inverted);
    let (longer_than_bytes, up_to_bytes) = lengths.map_or((None, None), bounds);
    let column = |title: &str| {
        let place = titles.iter().position(|one| *one == title)?;
        words.get(place).map(|word| (*word).to_owned())
    };
    Some(LengthRule {
        by: "iptables".to_owned(),
        chain: chain.to_owned(),
        hook: hook_of(chain),
        interface: column("in").filter(|name| name != "*" && name != "any"),
        longer_than_bytes,
        up_to_bytes,
        verdict: column("target").map(|target| target.to_ascii_lowercase()),
        protocol: column("prot").filter(|name| name != "all" && name != "0"),
        narrow: narrow::of_list(line, titles).narrow,
        ..LengthRule::default()
    })
}

/// The chains that iptables hooks in itself.
pub(super) fn hook_of(chain: &str) -> Option<String> {
    let all = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];
    all.contains(&chain).then(|| chain.to_ascii_lowercase())
}

/// `1501:65535`, `1501:`, `:128`, `1500`
fn range(word: &str, inverted: bool) -> Option<(u64, u64)> {
    let (from, to) = word.split_once(':').unwrap_or((word, word));
    let end = |text: &str, open: u64| match text {
        "" => Some(open),
        text => text.parse().ok(),
    };
    within(end(from, 0)?, end(to, LONGEST)?, inverted)
}

/// The interface is named by the command alone.
fn tc(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TC.name, snapshot);
    let place = place(text.command.unwrap_or_default());
    let mut rules = Vec::new();
    for line in out.lines().filter(|line| line.contains("police ")) {
        match policer(line) {
            Some(rule) => rules.push(rule),
            None => out.unknown(line),
        }
    }
    let targets: Vec<&str> = out.lines().filter_map(target).collect();
    match place {
        Some((name, hook)) => {
            for rule in &mut rules {
                rule.interface = Some(name.clone());
                rule.hook = Some(hook.to_owned());
            }
            out.snapshot.stack.length_rules = Some(rules);
            if hook == INGRESS {
                out.snapshot.stack.redirects = redirects(&name, &targets);
            }
        }
        None if rules.is_empty() && targets.is_empty() => {}
        None => {
            let why = "does not say which interface it is about, nor does what names it";
            out.not_read(TC.name, why);
        }
    }
    out.finish();
}

/// `action order 1: mirred (Egress Redirect to device eno2) stolen`. A mirror sends a copy, and what goes to an ingress comes
/// back to this stack.
fn target(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("mirred (Egress Redirect to device ")?;
    rest.split_once(')')
        .map(|(name, _)| name)
        .filter(|name| is_name(name))
}

fn redirects(from: &str, targets: &[&str]) -> Vec<Redirect> {
    let targets = targets.iter().map(|to| Redirect {
        from: from.to_owned(),
        to: (*to).to_owned(),
    });
    targets.collect()
}

/// The hook of what an interface receives.
const INGRESS: &str = "ingress";

/// `tc filter show dev eth0 ingress`, of older kernels `parent ffff:`.
fn place(command: &str) -> Option<(String, &'static str)> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let name = after(&words, &["dev"]).filter(|name| is_name(name))?;
    let ingress = words.contains(&INGRESS) || after(&words, &["parent"]) == Some("ffff:");
    Some((name.to_owned(), if ingress { INGRESS } else { "egress" }))
}

/// `police 0x1 rate 1Gbit burst 100Kb mtu 2Kb action drop overhead 0b`
fn policer(line: &str) -> Option<LengthRule> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let action = after(&words, &["action"]).filter(|action| *action != "order");
    // Newer ones have "action order 1:  police ... action drop".
    let last = words.iter().rposition(|word| *word == "action")?;
    let action = action.or_else(|| words.get(last + 1).copied())?;
    Some(LengthRule {
        by: "tc".to_owned(),
        chain: "police".to_owned(),
        longer_than_bytes: after(&words, &["mtu"]).and_then(size),
        verdict: Some(action.split('/').next()?.to_owned()),
        ..LengthRule::default()
    })
}

/// `2Kb` is 2 KiB or a little less, as tc rounds it.
fn size(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor = match &word[digits.len()..] {
        "" | "b" | "B" => 1,
        "Kb" | "KB" => 1 << 10,
        "Mb" | "MB" => 1 << 20,
        "Gb" | "GB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::iptables::of_iptables;
    use super::nft::of_nft;
    use super::*;
    use crate::lengths::{Chain, Rule, rules};

    fn nft(line: &str) -> Option<LengthRule> {
        first(of_nft(line))
    }

    fn iptables(line: &str) -> Option<LengthRule> {
        first(of_iptables(line, &Default::default())?.1)
    }

    /// What the first case of a rule says of lengths, if it asks for them.
    fn first(rule: Rule) -> Option<LengthRule> {
        let chain = Chain {
            rules: vec![rule],
            ..Chain::default()
        };
        rules(&[chain]).into_iter().next()
    }

    fn said(rule: Option<LengthRule>) -> (Option<u64>, Option<u64>, String, String) {
        let rule = rule.expect("a rule about lengths");
        let text = Option::unwrap_or_default;
        (
            rule.longer_than_bytes,
            rule.up_to_bytes,
            text(rule.verdict),
            text(rule.protocol),
        )
    }

    fn is(
        longer: Option<u64>,
        up_to: Option<u64>,
        verdict: &str,
        protocol: &str,
    ) -> (Option<u64>, Option<u64>, String, String) {
        (longer, up_to, verdict.to_owned(), protocol.to_owned())
    }

    #[test]
    fn rules_of_nft() {
        let over = is(Some(1500), None, "drop", "");
        assert_eq!(said(nft("meta length > 1500 drop")), over);
        let counted = "iifname \"eth0\" meta length >= 1501 counter packets 0 bytes 0 drop";
        assert_eq!(said(nft(counted)), over);
        assert_eq!(
            nft(counted).and_then(|rule| rule.interface).as_deref(),
            Some("eth0")
        );
        assert_eq!(said(nft("meta length != 0-1500 drop")), over);
        assert_eq!(said(nft("ip length 1501-65535 drop")), over);
        let accepted = is(None, Some(1500), "accept", "tcp");
        assert_eq!(
            said(nft("meta length <= 1500 tcp dport 80 accept")),
            accepted
        );
        let ping = is(Some(1000), None, "drop", "icmp");
        assert_eq!(said(nft("meta l4proto icmp meta length > 1000 drop")), ping);
        let set = is(Some(1500), Some(4000), "reject", "");
        assert_eq!(
            said(nft(
                "meta length { 1501-2000, 2001-4000, 9000 } reject with icmp host-unreachable"
            )),
            set
        );
        let named = is(None, None, "drop", "");
        assert_eq!(said(nft("meta length @long drop")), named);
        for map in [
            "meta length vmap { 1501-65535 : drop }",
            "ip length vmap { 1501-3000 : drop, 3001-65535 : drop }",
            "meta length vmap { 1501-65535 : drop, 0-1500 : accept }",
        ] {
            let rule = nft(map);
            assert_eq!(rule.as_ref().map(|rule| rule.narrow), Some(false), "{map}");
            assert_eq!(
                rule.and_then(|rule| rule.longer_than_bytes),
                Some(1500),
                "{map}"
            );
        }
        let out = nft("oifname \"eth1\" meta length > 1500 drop");
        assert_eq!(out.and_then(|rule| rule.to).as_deref(), Some("eth1"));
        assert_eq!(nft("tcp dport 80 accept"), None);
    }

    #[test]
    fn rules_of_iptables() {
        let over = "-A FORWARD -i eth0 -p tcp -m length --length 1501:65535 -j DROP";
        assert_eq!(said(iptables(over)), is(Some(1500), None, "drop", "tcp"));
        let rule = iptables(over).expect("a rule about lengths");
        assert_eq!(rule.interface.as_deref(), Some("eth0"));
        let not = "-A FORWARD -m length ! --length 0:1500 -j DROP";
        assert_eq!(said(iptables(not)), is(Some(1500), None, "drop", ""));
        let small = "-A OUT -p tcp -m length --length :128 -j MARK --set-xmark 0x1/0xffffffff";
        assert_eq!(said(iptables(small)), is(None, Some(128), "mark", "tcp"));
        assert_eq!(iptables("-A FORWARD -j ACCEPT"), None);
    }

    #[test]
    fn rules_of_iptables_in_columns() {
        let titles = [
            "pkts",
            "bytes",
            "target",
            "prot",
            "opt",
            "in",
            "out",
            "source",
            "destination",
        ];
        let line = " 1021 4012K DROP  tcp  --  eth0   *  0.0.0.0/0   0.0.0.0/0   length 1501:65535";
        let rule = of_list(line, "FORWARD", &titles).expect("a rule about lengths");
        assert_eq!(rule.interface.as_deref(), Some("eth0"));
        assert_eq!(rule.hook.as_deref(), Some("forward"));
        assert_eq!(said(Some(rule)), is(Some(1500), None, "drop", "tcp"));
        let titles = ["target", "prot", "opt", "source", "destination"];
        let line = "ACCEPT     all  --  anywhere  anywhere   length !1501:65535";
        let rule = of_list(line, "FORWARD", &titles);
        assert_eq!(said(rule), is(None, Some(1500), "accept", ""));
        assert_eq!(
            of_list("ACCEPT all -- anywhere anywhere", "FORWARD", &titles),
            None
        );
    }

    #[test]
    fn policers() {
        let old = " police 0x2 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b ";
        assert_eq!(said(policer(old)), is(Some(2048), None, "drop", ""));
        let new = "\taction order 1:  police 0x1 rate 1Gbit burst 100Kb mtu 64Kb action drop/pipe overhead 0b ";
        assert_eq!(said(policer(new)), is(Some(65_536), None, "drop", ""));
        assert_eq!(
            place("tc filter show dev eth0 ingress"),
            Some(("eth0".to_owned(), "ingress"))
        );
        assert_eq!(place("tc filter show"), None);
    }
}
