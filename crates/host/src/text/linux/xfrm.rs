//! `ip xfrm policy`: what IPsec passes on.

use super::out::Out;
use crate::model::{Passage, Passages, Snapshot};
use crate::network::{bits, network};
use crate::text::notes::first_lines;
use crate::text::{Reader, Text};

/// `ip xfrm policy`.
pub(super) const POLICY: Reader = Reader {
    name: "ip xfrm policy",
    recognises: |text| {
        let mut lines = first_lines(text);
        let first = lines.next().and_then(selector);
        let second = lines.next().map(str::trim_start);
        let behind = ["dir ", "socket ", "action "];
        first.is_some()
            && second.is_some_and(|line| behind.iter().any(|begin| line.starts_with(begin)))
    },
    read,
};

/// Where the networks are kept that what comes in by a tunnel is passed on to.
const CHAIN: &str = "inet xfrm fwd";

/// A policy while its lines are read.
#[derive(Default)]
struct Policy<'a> {
    from: &'a str,
    to: &'a str,
    /// Of packets that come in and are not for this host: `dir fwd`.
    is_forward: bool,
    is_tunnel: bool,
}

impl Policy<'_> {
    /// A policy of a host for itself has its own address alone; a network behind it is of others (RFC 4301 section 4.1).
    fn passage(&self) -> Option<Passage> {
        let to = network(self.to)?;
        let address: std::net::IpAddr = self.to.split('/').next()?.parse().ok()?;
        let from = network(self.from)?;
        // A tunnel of routes has a policy for all packets, at both of its ends (`vti`).
        let is_of_all = to.1 == 0 && from.1 == 0;
        let is_gateway = self.is_forward && self.is_tunnel && to.1 < bits(address) && !is_of_all;
        is_gateway.then(|| Passage {
            source: Some(self.from.to_owned()),
            destination: Some(self.to.to_owned()),
            ..Passage::default()
        })
    }
}

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, POLICY.name, snapshot);
    let mut rules = Vec::new();
    let mut policy = Policy::default();
    for line in out.lines().filter(|line| !line.is_empty()) {
        if let Some((from, to)) = selector(line) {
            rules.extend(policy.passage());
            policy = Policy {
                from,
                to,
                ..Policy::default()
            };
        }
        let words = || line.split_whitespace();
        let has = |name: &str, value: &str| {
            words()
                .zip(words().skip(1))
                .any(|pair| pair == (name, value))
        };
        policy.is_forward |= has("dir", "fwd");
        policy.is_tunnel |= has("mode", "tunnel");
    }
    rules.extend(policy.passage());
    if !rules.is_empty() {
        let chain = Passages {
            hook: "xfrm".to_owned(),
            rules,
            ..Passages::default()
        };
        out.snapshot.stack.passages.insert(CHAIN.to_owned(), chain);
    }
    out.finish();
}

/// `src 10.2.0.0/24 dst 10.1.0.0/24 proto tcp`, at the left.
fn selector(line: &str) -> Option<(&str, &str)> {
    let mut words = line.strip_prefix("src ")?.split_whitespace();
    let from = words.next()?;
    let to = words.nth(1).filter(|_| line.contains(" dst "))?;
    Some((from, to))
}
