//! Whether a rule asks for more than a packet's length, the interface that it comes in by and whether it is TCP: then it meets some merged
//! frames and not others. And which rules leave nothing to those behind them in their chain.

/// What a rule asks for, besides lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::text::linux) struct Asked {
    /// More than an interface, TCP and the state of a flow.
    pub(in crate::text::linux) narrow: bool,
    /// For anything but TCP and lengths.
    some: bool,
    /// For lengths.
    lengths: bool,
    /// The packet goes no further in the chain.
    ends: bool,
}

impl Asked {
    /// Whether it meets every packet of TCP, lengths aside.
    pub(in crate::text::linux) fn is_for_all(self) -> bool {
        !self.some && !self.narrow
    }

    /// Whether no packet of TCP meets the rules behind.
    pub(in crate::text::linux) fn leaves_none(self) -> bool {
        self.ends && !self.lengths && self.is_for_all()
    }

    fn target(&mut self, verdict: &str) {
        let verdict = verdict.to_ascii_lowercase();
        self.ends = ["accept", "drop", "reject", "return"].contains(&verdict.as_str());
    }
}

/// The words of a line, without what stands between quotation marks.
pub(super) fn words(line: &str) -> Vec<&str> {
    let unquoted = line.split('"').step_by(2);
    unquoted.flat_map(str::split_whitespace).collect()
}

/// Of a rule of `nft list ruleset`.
pub(in crate::text::linux) fn of_nft(line: &str) -> Asked {
    let is_quoted = line.contains('"');
    let words = words(line);
    let mut asked = Asked::default();
    let mut rest = words.as_slice();
    while let Some((word, after)) = rest.split_first() {
        rest = match (*word, after) {
            (
                "meta" | "ip" | "ip6",
                ["l4proto" | "protocol" | "nexthdr", "tcp" | "6", after @ ..],
            )
            | ("counter", ["packets", _, "bytes", _, after @ ..])
            | ("counter" | "comment", after) => after,
            ("meta" | "ip" | "ip6", ["length", "vmap", value @ ..] | ["length", value @ ..]) => {
                asked.lengths = true;
                behind_value(value)
            }
            ("meta", ["l4proto" | "nfproto" | "protocol", value @ ..])
            | ("ip", ["protocol", value @ ..])
            | ("ip6", ["nexthdr", value @ ..])
            | ("ct", ["state", value @ ..]) => {
                asked.some = true;
                behind_value(value)
            }
            ("iifname" | "iif" | "oifname" | "oif", value) => {
                asked.some = true;
                asked.narrow |= value
                    .first()
                    .is_some_and(|word| word.starts_with(['!', '{']));
                // A name between quotation marks was left out.
                if is_quoted {
                    value
                } else {
                    behind_value(value)
                }
            }
            ("log", after) => behind_log(after),
            ("accept" | "drop" | "return" | "continue", after) => {
                asked.target(word);
                after
            }
            ("reject" | "jump" | "goto", _) => {
                asked.target(word);
                &[]
            }
            (_, after) => {
                asked.narrow = true;
                after
            }
        };
    }
    asked
}

/// What follows the options of a log: its verdict.
fn behind_log<'w, 's>(words: &'w [&'s str]) -> &'w [&'s str] {
    const VERDICTS: [&str; 7] = [
        "accept", "drop", "reject", "return", "continue", "jump", "goto",
    ];
    let options = words.iter().take_while(|word| !VERDICTS.contains(word));
    &words[options.count()..]
}

/// What follows a value: a word, a set, with an operator in front or not.
fn behind_value<'w, 's>(words: &'w [&'s str]) -> &'w [&'s str] {
    let operators = [">", ">=", "<", "<=", "!=", "=="];
    let words = match words {
        [operator, value @ ..] if operators.contains(operator) => value,
        words => words,
    };
    let taken = match words.first() {
        Some(&"{") => words
            .iter()
            .position(|word| *word == "}")
            .map_or(words.len(), |at| at + 1),
        _ => 1,
    };
    words.get(taken..).unwrap_or_default()
}

/// Of a rule of `iptables-save`, with its chain.
pub(in crate::text::linux) fn of_iptables(line: &str) -> Option<(&str, Asked)> {
    let words = words(line);
    let at = words.iter().position(|word| *word == "-A")?;
    let (chain, mut rest) = words.get(at + 1..)?.split_first()?;
    let mut asked = Asked::default();
    while let Some((word, after)) = rest.split_first() {
        let value = after.first().copied().unwrap_or_default();
        let taken = match *word {
            "-j" | "-g" => {
                asked.target(value);
                break;
            }
            "-p" if matches!(value, "tcp" | "6") => 1,
            "-m" if ["length", "tcp", "comment", "conntrack", "state"].contains(&value) => 1,
            "--length" => {
                asked.lengths = true;
                1
            }
            "-i" | "-o" | "-p" | "--ctstate" | "--state" => {
                asked.some = true;
                1
            }
            "-c" => 2,
            // Between quotation marks, or a word.
            "--comment" => usize::from(!line.contains('"')),
            "!" if ["--length", "--ctstate", "--state"].contains(&value) => 0,
            _ => {
                asked.narrow = true;
                0
            }
        };
        rest = after.get(taken..).unwrap_or_default();
    }
    Some((chain, asked))
}

/// Of a line of `iptables -L`, whose columns have these titles.
pub(in crate::text::linux) fn of_list(line: &str, titles: &[&str]) -> Asked {
    let words: Vec<&str> = line.split_whitespace().collect();
    let column = |title: &str| {
        let place = titles.iter().position(|one| *one == title)?;
        words.get(place).copied()
    };
    let is_any = |title: &str| {
        column(title)
            .is_none_or(|word| ["*", "any", "0.0.0.0/0", "anywhere", "::/0"].contains(&word))
    };
    let is_tcp = column("prot").is_some_and(|word| ["tcp", "6", "all", "0"].contains(&word));
    let mut asked = Asked {
        narrow: !is_any("source") || !is_any("destination"),
        some: !is_any("in") || !is_any("out") || !is_tcp,
        ..Asked::default()
    };
    asked.target(column("target").unwrap_or_default());
    let rest = line.split("/*").next().unwrap_or_default();
    let mut rest = rest.split_whitespace().skip(titles.len());
    while let Some(word) = rest.next() {
        match word {
            "length" | "ctstate" | "state" => {
                asked.some = true;
                rest.next();
            }
            "reject-with" => break,
            "tcp" => {}
            _ => asked.narrow = true,
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_ask_for_more_are_narrow() {
        for (line, narrow) in [
            ("meta length > 1500 drop", false),
            (
                "iifname \"eth0\" meta length >= 1501 counter packets 0 bytes 0 drop",
                false,
            ),
            (
                "meta l4proto tcp ip length 1501-65535 log prefix \"long one: \" level info drop",
                false,
            ),
            (
                "ct state { established, related } meta length { 1501-65535 } reject with icmp host-unreachable",
                false,
            ),
            (
                "meta length > 1500 drop comment \"no jumbo, mark this\"",
                false,
            ),
            (
                "iifname { \"eth0\", \"eth1\" } meta length > 1500 drop",
                true,
            ),
            ("iifname != \"lo\" meta length > 1500 drop", true),
            ("ip saddr 203.0.113.7 meta length > 1500 drop", true),
            ("ip saddr @bad meta length > 1500 drop", true),
            ("meta mark 0x5 meta length > 1500 drop", true),
            ("meta length > 1500 limit rate over 1000/second drop", true),
            ("tcp dport 25 meta length > 1500 drop", true),
            ("ip frag-off & 0x1fff != 0 meta length > 1500 drop", true),
        ] {
            assert_eq!(of_nft(line).narrow, narrow, "{line}");
        }
        for (rule, narrow) in [
            ("-m length --length 1501:65535", false),
            ("-i eth0 -p tcp -m tcp -m length ! --length 0:1500", false),
            (
                "-m comment --comment \"no jumbo -s\" -m length --length 1501:65535",
                false,
            ),
            (
                "-m comment --comment jumbo -m length --length 1501:65535",
                false,
            ),
            (
                "-m conntrack --ctstate ESTABLISHED -m length --length 1501:65535",
                false,
            ),
            ("-s 203.0.113.7/32 -m length --length 1501:65535", true),
            ("! -i lo -m length --length 1501:65535", true),
            (
                "-p tcp -m tcp --dport 25 -m length --length 1501:65535",
                true,
            ),
            ("-f -m length --length 1501:65535", true),
            ("-m length --length 1501:65535 -m limit --limit 1/sec", true),
            ("-m mark --mark 0x5 -m length --length 1501:65535", true),
            (
                "-m set --match-set bad src -m length --length 1501:65535",
                true,
            ),
        ] {
            let line = format!("-A FORWARD {rule} -j DROP");
            assert_eq!(
                of_iptables(&line).map(|(_, asked)| asked.narrow),
                Some(narrow),
                "{line}"
            );
        }
        let titles = ["target", "prot", "opt", "source", "destination"];
        for (line, narrow) in [
            ("DROP tcp -- anywhere anywhere length 1501:65535", false),
            (
                "REJECT all -- 0.0.0.0/0 0.0.0.0/0 length 1501:65535 reject-with icmp-port-unreachable",
                false,
            ),
            (
                "DROP all -- anywhere anywhere length 1501:65535 /* of the guests */",
                false,
            ),
            ("DROP all -- 203.0.113.7 anywhere length 1501:65535", true),
            (
                "DROP tcp -- anywhere anywhere tcp dpt:25 length 1501:65535",
                true,
            ),
            (
                "DROP all -- anywhere anywhere length 1501:65535 limit: avg 1/sec burst 5",
                true,
            ),
        ] {
            assert_eq!(of_list(line, &titles).narrow, narrow, "{line}");
        }
    }

    #[test]
    fn rules_that_end_a_chain_for_all_leave_nothing() {
        for (line, none) in [
            ("accept", true),
            ("counter packets 12 bytes 900 drop", true),
            ("meta l4proto tcp accept", true),
            (
                "ip protocol tcp counter accept comment \"all of them\"",
                true,
            ),
            ("return", true),
            ("jump others", false),
            ("iifname \"eth0\" accept", false),
            ("meta l4proto udp accept", false),
            ("tcp dport 22 accept", false),
            ("meta length > 1500 drop", false),
            ("counter", false),
        ] {
            assert_eq!(of_nft(line).leaves_none(), none, "{line}");
        }
        for (rule, none) in [
            ("-j ACCEPT", true),
            ("-p tcp -j ACCEPT", true),
            ("-p tcp -m comment --comment \"all of them\" -j DROP", true),
            ("-j LOG --log-prefix x", false),
            ("-j BAD", false),
            ("-i eth0 -j ACCEPT", false),
            ("-p tcp -m tcp --dport 22 -j ACCEPT", false),
            ("-m length --length 1501:65535 -j DROP", false),
        ] {
            let line = format!("-A FORWARD {rule}");
            let asked = of_iptables(&line).map(|(_, asked)| asked);
            assert_eq!(asked.map(Asked::leaves_none), Some(none), "{line}");
        }
        let titles = [
            "target",
            "prot",
            "opt",
            "in",
            "out",
            "source",
            "destination",
        ];
        for (line, none) in [
            ("ACCEPT all -- * * 0.0.0.0/0 0.0.0.0/0", true),
            ("ACCEPT tcp -- * * 0.0.0.0/0 0.0.0.0/0 /* all */", true),
            ("ACCEPT all -- eth0 * 0.0.0.0/0 0.0.0.0/0", false),
            ("ACCEPT all -- * * 192.0.2.0/24 0.0.0.0/0", false),
            ("ACCEPT udp -- * * 0.0.0.0/0 0.0.0.0/0", false),
            ("LOG all -- * * 0.0.0.0/0 0.0.0.0/0", false),
        ] {
            assert_eq!(of_list(line, &titles).leaves_none(), none, "{line}");
        }
    }
}
