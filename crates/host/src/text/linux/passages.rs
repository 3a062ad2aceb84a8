//! What a packet filter lets through the host, and what of it is translated: the chains at the hooks `forward`, `prerouting`
//! and `postrouting`, by the interfaces and networks that their rules name.
//!
//! Whether a packet passes is not computed. A rule that asks for more than this module understands may let a packet through:
//! for a filter that is as good as if it did, as evidence that packets are passed on it counts for nothing.

pub(super) mod iptables;
pub(super) mod list;
pub(super) mod nft;

use std::collections::{BTreeMap, HashSet};

use crate::model::{Passage, Passages, Snapshot};

/// Rules, and ways of them between two interfaces, that are followed of one chain at most. Behind that, anything may pass.
const FOLLOWED: usize = 20_000;

/// How deep chains may jump: the kernel's own limit (`NFT_JUMP_STACK_SIZE`).
const DEPTH: usize = 16;

/// Where a chain is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) family: String,
    pub(super) table: String,
    pub(super) chain: String,
}

impl Place {
    /// A table whose chains come.
    fn in_table(family: &str, table: &str) -> Self {
        Self {
            family: family.to_owned(),
            table: table.to_owned(),
            chain: String::new(),
        }
    }
}

/// What a rule does with what it matches.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    Accept,
    Drop,
    /// To a chain, and back or not: what comes after is asked as well, in doubt.
    Jump(String),
    Return,
    /// The source becomes another one: `masquerade`, `snat`.
    Source,
    /// The destination becomes another one.
    Destination(Option<String>),
    /// It counts, logs, marks, or what it does is not understood.
    Other,
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) verdict: Verdict,
    /// Of several interfaces each one is a passage.
    pub(super) from: Vec<Option<String>>,
    pub(super) to: Vec<Option<String>>,
    pub(super) source: Option<String>,
    /// Only packets of flows that are known: `ct state established`.
    pub(super) replies: bool,
    /// Only of ICMP, which nothing merges.
    pub(super) icmp: bool,
    /// Only packets whose destination was changed: `ct status dnat`.
    pub(super) translated: bool,
    /// It asks for more.
    pub(super) narrow: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            verdict: Verdict::Other,
            from: vec![None],
            to: vec![None],
            source: None,
            replies: false,
            icmp: false,
            translated: false,
            narrow: false,
        }
    }
}

impl Rule {
    /// Ways between two interfaces that the rule is about.
    fn cost(&self) -> usize {
        self.from.len().saturating_mul(self.to.len()).max(1)
    }

    /// Whether it is about each packet.
    fn is_of_all(&self) -> bool {
        let any = |names: &[Option<String>]| names.iter().all(Option::is_none);
        let asks = self.narrow || self.replies || self.icmp || self.translated;
        let asks = asks || self.source.is_some();
        !asks && any(&self.from) && any(&self.to)
    }
}

/// A chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// The hook of a base chain.
    pub(super) hook: Option<String>,
    /// What no rule decides is dropped.
    pub(super) drops: bool,
    pub(super) rules: Vec<Rule>,
}

/// All chains of one text.
#[derive(Default)]
pub(super) struct Chains {
    all: BTreeMap<Place, Chain>,
}

impl Chains {
    pub(super) fn chain(&mut self, place: Place) -> &mut Chain {
        self.all.entry(place).or_default()
    }

    /// Whether any rule changes the destination of packets.
    fn translate(&self) -> bool {
        let mut rules = self.all.values().flat_map(|chain| &chain.rules);
        rules.any(|rule| matches!(rule.verdict, Verdict::Destination(_)))
    }

    /// Notes what its base chains let through.
    pub(super) fn put(&self, snapshot: &mut Snapshot) {
        for (place, chain) in &self.all {
            let hook = chain.hook.as_deref().unwrap_or_default();
            if !matches!(hook, "forward" | "prerouting" | "postrouting") {
                continue;
            }
            let passages = self.follow(place, chain, hook);
            if passages.drops_others || !passages.rules.is_empty() {
                let name = format!("{} {} {}", place.family, place.table, place.chain);
                snapshot.stack.passages.insert(name, passages);
            }
        }
    }

    fn follow(&self, place: &Place, chain: &Chain, hook: &str) -> Passages {
        let mut walk = Walk {
            chains: self,
            hook,
            found: Vec::new(),
            known: HashSet::new(),
            left: FOLLOWED,
        };
        let ends = walk.chain(place, chain, &Passage::default(), DEPTH);
        Passages {
            hook: hook.to_owned(),
            drops_others: hook == "forward" && (chain.drops || ends),
            rules: walk.found,
        }
    }
}

/// A walk through the chains that a base chain jumps to.
struct Walk<'a> {
    chains: &'a Chains,
    hook: &'a str,
    found: Vec<Passage>,
    known: HashSet<Passage>,
    /// Of [`FOLLOWED`].
    left: usize,
}

impl Walk<'_> {
    /// Rules of one chain, to which only what `way` names comes. True if nothing gets past its end.
    fn chain(&mut self, place: &Place, chain: &Chain, way: &Passage, depth: usize) -> bool {
        let mut way = way.clone();
        for rule in &chain.rules {
            let Some(left) = self.left.checked_sub(rule.cost()) else {
                self.left = 0;
                self.find(Passage::default());
                return false;
            };
            self.left = left;
            if self.rule(place, rule, &way, depth) {
                return true;
            }
            // What is left of the packets is not known any more.
            way.narrow |= rule.verdict == Verdict::Return;
        }
        false
    }

    /// True if no packet gets past the rule.
    fn rule(&mut self, place: &Place, rule: &Rule, way: &Passage, depth: usize) -> bool {
        if rule.icmp || rule.translated && !self.chains.translate() {
            return false;
        }
        let mut ended = false;
        for passage in ways(rule, way) {
            ended |= self.verdict(place, rule, passage, depth);
        }
        ended && rule.is_of_all()
    }

    fn verdict(&mut self, place: &Place, rule: &Rule, passage: Passage, depth: usize) -> bool {
        match (&rule.verdict, self.hook) {
            (Verdict::Accept, "forward") | (Verdict::Source, "postrouting") => self.find(passage),
            (Verdict::Drop | Verdict::Accept, _) => return true,
            (Verdict::Destination(to), "prerouting") => self.find(Passage {
                destination: to.clone(),
                ..passage
            }),
            (Verdict::Jump(name), _) => return self.jump(place, name, &passage, depth),
            _ => {}
        }
        false
    }

    fn jump(&mut self, place: &Place, name: &str, way: &Passage, depth: usize) -> bool {
        let to = Place {
            chain: name.to_owned(),
            ..place.clone()
        };
        match (self.chains.all.get(&to), depth.checked_sub(1)) {
            (Some(chain), Some(depth)) => self.chain(&to, chain, way, depth),
            // What is not shown may let anything through.
            _ => {
                self.find(Passage {
                    narrow: true,
                    ..way.clone()
                });
                false
            }
        }
    }

    fn find(&mut self, passage: Passage) {
        if self.known.insert(passage.clone()) {
            self.found.push(passage);
        }
    }
}

/// What of `way` a rule is about: nothing where both name other interfaces.
fn ways(rule: &Rule, way: &Passage) -> Vec<Passage> {
    let mut found = Vec::new();
    for from in &rule.from {
        for to in &rule.to {
            if let (Some(from), Some(to)) = (both(&way.from, from), both(&way.to, to)) {
                found.push(Passage {
                    from,
                    to,
                    source: rule.source.clone().or_else(|| way.source.clone()),
                    destination: None,
                    replies: way.replies || rule.replies,
                    narrow: way.narrow || rule.narrow,
                });
            }
        }
    }
    found
}

/// What two matches of an interface have in common; `None` if nothing has both.
fn both(one: &Option<String>, other: &Option<String>) -> Option<Option<String>> {
    let is_plain = |name: &String| !name.starts_with('!') && !name.ends_with('*');
    match (one, other) {
        (Some(one), Some(other)) if is_plain(one) && is_plain(other) && one != other => None,
        (Some(one), Some(other)) if is_plain(one) || !is_plain(other) => Some(Some(one.clone())),
        (one, None) => Some(one.clone()),
        (_, other) => Some(other.clone()),
    }
}
