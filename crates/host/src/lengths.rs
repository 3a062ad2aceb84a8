//! What a packet filter does with long packets: its chains are followed from their hooks, as a packet of a TCP flow goes.
//!
//! A rule that asks for more than is understood (addresses, ports, marks, a rate) may meet such a packet or not: what it says of lengths
//! is noted as being about some packets, and as the end of a chain it counts for nothing.

use std::collections::{BTreeMap, HashSet};

use crate::model::LengthRule;

/// Rules that are followed of one base chain at most.
const FOLLOWED: usize = 20_000;
/// How deep chains may jump: the kernel's own limit (`NFT_JUMP_STACK_SIZE`).
const DEPTH: usize = 16;
/// A packet of IP is no longer than this, but with BIG TCP: what includes it has no upper end.
pub(crate) const LONGEST: u64 = 65_535;

/// Lengths from and to.
pub(crate) type Range = (u64, u64);

/// A chain of rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// `ip`, `ip6`, `inet`, `bridge` or `netdev`; none of iptables.
    pub(crate) family: Option<String>,
    pub(crate) table: String,
    pub(crate) name: String,
    /// The hook of a base chain.
    pub(crate) hook: Option<String>,
    /// The devices that a base chain of the family netdev is at.
    pub(crate) devices: Vec<String>,
    /// What no rule decides is dropped.
    pub(crate) drops: bool,
    pub(crate) rules: Vec<Rule>,
}

/// A rule of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    /// By whom, which interfaces and protocol the rule asks for, and whether for more.
    pub(crate) asks: LengthRule,
    /// It asks for nothing but TCP, lengths aside.
    pub(crate) is_for_all: bool,
    /// It asks for whatever belongs to a flow, and for nothing else.
    pub(crate) is_of_flows: bool,
    /// It asks for no packet of a flow.
    pub(crate) spares_flows: bool,
    /// It hands flows to a flowtable: their further packets pass no hook of the filter.
    pub(crate) offloads: bool,
    /// What becomes of packets, by their length.
    pub(crate) cases: Vec<Case>,
}

/// What becomes of packets of some length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) lengths: Lengths,
    pub(crate) verdict: Verdict,
}

/// The lengths that a rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// It does not ask.
    Any,
    Within(Range),
    /// They are in a set that is not shown.
    Unknown,
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accept,
    /// `drop` or `reject`.
    Drop(&'static str),
    Return,
    /// To another chain, and back.
    Jump(String),
    /// To another chain for good.
    Goto(String),
    /// It counts, logs or marks; a name of its own, if any.
    Other(Option<String>),
}

impl Verdict {
    /// By the word that nft and iptables have for one; `target` is the chain of a jump.
    pub(crate) fn named(word: &str, target: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "accept" => Self::Accept,
            "drop" => Self::Drop("drop"),
            "reject" => Self::Drop("reject"),
            "return" => Self::Return,
            "jump" => Self::Jump(target.to_owned()),
            "goto" => Self::Goto(target.to_owned()),
            "" => Self::Other(None),
            other => Self::Other(Some(other.to_owned())),
        }
    }

    fn word(&self) -> Option<&str> {
        match self {
            Self::Accept => Some("accept"),
            Self::Drop(word) => Some(word),
            Self::Return => Some("return"),
            Self::Jump(_) => Some("jump"),
            Self::Goto(_) => Some("goto"),
            Self::Other(name) => name.as_deref(),
        }
    }
}

/// Cases of a set of lengths, of which neighbours are one range.
pub(crate) fn joined(mut parts: Vec<Range>, verdict: &Verdict) -> Vec<Case> {
    parts.sort_unstable();
    let mut ranges: Vec<Range> = Vec::new();
    for (from, to) in parts {
        match ranges.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => ranges.push((from, to)),
        }
    }
    let case = |range: Range| Case {
        lengths: Lengths::Within(range),
        verdict: verdict.clone(),
    };
    ranges.into_iter().map(case).collect()
}

/// The lengths that a rule applies to, as what they exceed and what they do not.
pub(crate) fn bounds((from, to): Range) -> (Option<u64>, Option<u64>) {
    let longer_than = from.checked_sub(1).filter(|longer| *longer > 0);
    (longer_than, Some(to).filter(|to| *to < LONGEST))
}

/// The rules about lengths that a packet of a TCP flow can meet, in their order. Chains that none jumps to are left out, unless
/// no base chain is known at all.
pub(crate) fn rules(chains: &[Chain]) -> Vec<LengthRule> {
    let is_base = |chain: &&Chain| chain.hook.is_some();
    let any_base = chains.iter().any(|chain| is_base(&chain));
    let mut walk = Walk {
        chains: chains.iter().map(|chain| (key(chain), chain)).collect(),
        left: FOLLOWED,
        found: Vec::new(),
        known: HashSet::new(),
    };
    for chain in chains.iter().filter(|chain| is_base(chain) || !any_base) {
        let devices = chain.devices.iter().map(Some);
        let any = chain.devices.is_empty().then_some(None);
        for device in devices.chain(any) {
            walk.left = FOLLOWED;
            walk.chain(chain, &Way::at(chain, device), DEPTH);
        }
    }
    walk.found
}

type Key<'a> = (Option<&'a str>, &'a str, &'a str);

fn key(chain: &Chain) -> Key<'_> {
    (chain.family.as_deref(), &chain.table, &chain.name)
}

/// What comes to a chain.
#[derive(Debug)]
struct Way {
    /// The hook, and what was asked for on the way.
    asks: LengthRule,
    lengths: Option<Range>,
}

impl Way {
    fn at(base: &Chain, device: Option<&String>) -> Self {
        let device = device.cloned();
        let is_out = base.hook.as_deref() == Some("egress");
        let (interface, to) = if is_out {
            (None, device)
        } else {
            (device, None)
        };
        Self {
            asks: LengthRule {
                hook: base.hook.clone(),
                interface,
                to,
                ..LengthRule::default()
            },
            lengths: None,
        }
    }

    /// What of this meets a rule.
    fn with(&self, rule: &Rule) -> LengthRule {
        let (own, way) = (&rule.asks, &self.asks);
        LengthRule {
            interface: own.interface.clone().or_else(|| way.interface.clone()),
            to: own.to.clone().or_else(|| way.to.clone()),
            protocol: own.protocol.clone().or_else(|| way.protocol.clone()),
            narrow: own.narrow || way.narrow,
            hook: way.hook.clone(),
            ..own.clone()
        }
    }
}

/// What has become of the packets of flows when a chain ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// All are left.
    Open,
    /// Some may have been accepted.
    Some,
    /// None is left: the packets were accepted or dropped.
    Decided,
}

/// What a case does to the packets behind it in its chain.
enum Step {
    On,
    /// Some of them may be gone.
    Some,
    /// None is left in the chain.
    Last(End),
}

struct Walk<'a> {
    chains: BTreeMap<Key<'a>, &'a Chain>,
    left: usize,
    found: Vec<LengthRule>,
    known: HashSet<LengthRule>,
}

impl<'a> Walk<'a> {
    fn chain(&mut self, chain: &'a Chain, way: &Way, depth: usize) -> End {
        // The longest packet that rules so far accept, whoever sends it.
        let mut short: Option<(u64, LengthRule)> = None;
        // Some packets may not come any more: nobody knows which.
        let mut is_open = false;
        for rule in chain.rules.iter().filter(|rule| !rule.spares_flows) {
            is_open |= rule.offloads;
            for case in &rule.cases {
                let Some(left) = self.left.checked_sub(1) else {
                    return End::Some;
                };
                self.left = left;
                let mut asks = way.with(rule);
                asks.narrow |= is_open;
                match self.case((chain, rule, case), (way, asks), &mut short, depth) {
                    Step::On => {}
                    Step::Some => is_open = true,
                    Step::Last(end) => {
                        let drops = match case.verdict {
                            Verdict::Drop(_) => true,
                            _ => end != End::Decided && chain.drops,
                        };
                        let is_some = is_open || end == End::Some;
                        self.drop_longer(short.filter(|_| drops), is_some, chain);
                        return if is_open && end == End::Open {
                            End::Some
                        } else {
                            end
                        };
                    }
                }
            }
        }
        self.drop_longer(short.filter(|_| chain.drops), is_open, chain);
        if is_open { End::Some } else { End::Open }
    }

    fn case(
        &mut self,
        (chain, rule, case): (&'a Chain, &'a Rule, &'a Case),
        (way, asks): (&Way, LengthRule),
        short: &mut Option<(u64, LengthRule)>,
        depth: usize,
    ) -> Step {
        let lengths = match case.lengths {
            Lengths::Any => way.lengths,
            Lengths::Within(range) => match both(way.lengths, range) {
                Some(range) => Some(range),
                None => return Step::On,
            },
            Lengths::Unknown => None,
        };
        let is_any = case.lengths == Lengths::Any;
        let is_for_all = (rule.is_for_all || rule.is_of_flows) && is_any;
        if let Verdict::Jump(name) | Verdict::Goto(name) = &case.verdict {
            let goes = matches!(case.verdict, Verdict::Goto(_));
            let way = Way { asks, lengths };
            let end = match self.target(chain, name).filter(|_| depth > 0) {
                Some(next) => self.chain(next, &way, depth - 1),
                // What is not shown may accept anything.
                None => End::Some,
            };
            return match (is_for_all, goes, end) {
                (true, true, end) | (true, false, end @ End::Decided) => Step::Last(end),
                (_, false, End::Open) => Step::On,
                _ if is_of_others(rule) || !is_any && rule.is_for_all => Step::On,
                _ => Step::Some,
            };
        }
        if !is_any || lengths.is_some() && matches!(case.verdict, Verdict::Drop(_)) {
            self.find(chain, lengths, case.verdict.word(), &asks);
        }
        match (&case.verdict, case.lengths) {
            (Verdict::Drop(_) | Verdict::Accept, _) if is_for_all => Step::Last(End::Decided),
            (Verdict::Return, _) if is_for_all => Step::Last(End::Open),
            (Verdict::Accept | Verdict::Return, _) if is_of_others(rule) => Step::On,
            (Verdict::Accept, Lengths::Within((0 | 1, to))) => {
                if [&rule.asks, &way.asks].into_iter().all(is_plain) {
                    let longest = short.as_ref().map_or(0, |(longest, _)| *longest);
                    *short = Some((to.max(longest), asks));
                }
                Step::On
            }
            (Verdict::Accept | Verdict::Return, _) => Step::Some,
            _ => Step::On,
        }
    }

    fn target(&self, from: &Chain, name: &str) -> Option<&'a Chain> {
        let (family, table, _) = key(from);
        self.chains.get(&(family, table, name)).copied()
    }

    /// Whatever is longer than what was accepted is dropped, or some of that, if others may have been accepted as well.
    fn drop_longer(&mut self, short: Option<(u64, LengthRule)>, is_some: bool, chain: &Chain) {
        if let Some((longest, mut asks)) = short {
            asks.narrow |= is_some;
            let longer = (longest.saturating_add(1), u64::MAX);
            self.find(chain, Some(longer), Some("drop"), &asks);
        }
    }

    fn find(
        &mut self,
        chain: &Chain,
        lengths: Option<Range>,
        verdict: Option<&str>,
        asks: &LengthRule,
    ) {
        let (longer_than_bytes, up_to_bytes) = lengths.map_or((None, None), bounds);
        let rule = LengthRule {
            family: chain.family.clone(),
            chain: format!("{} {}", chain.table, chain.name),
            longer_than_bytes,
            up_to_bytes,
            verdict: verdict.map(str::to_owned),
            ..asks.clone()
        };
        if self.known.insert(rule.clone()) {
            self.found.push(rule);
        }
    }
}

/// Whether what is asked for meets all packets of TCP flows, by whatever interface they come.
fn is_plain(asks: &LengthRule) -> bool {
    !asks.narrow && !is_other_protocol(asks) && asks.interface.is_none() && asks.to.is_none()
}

/// Whether a rule is about no packet that merging makes longer: of another protocol, or of this host for itself.
fn is_of_others(rule: &Rule) -> bool {
    is_other_protocol(&rule.asks) || rule.asks.interface.as_deref() == Some("lo")
}

fn is_other_protocol(asks: &LengthRule) -> bool {
    let protocol = asks.protocol.as_deref();
    protocol.is_some_and(|name| name != "tcp" && name != "6")
}

/// What both ranges have; `None` if nothing.
fn both(one: Option<Range>, (from, to): Range) -> Option<Range> {
    let (low, high) = one.unwrap_or((0, u64::MAX));
    let both = (low.max(from), high.min(to));
    (both.0 <= both.1).then_some(both)
}

#[cfg(test)]
mod tests;
