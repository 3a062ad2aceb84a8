//! What the packet filter lets through, and what it shows of packets that go out by the interface that they came in by.

use std::net::IpAddr;

use super::around::Around;
use crate::model::{Interface, Passage, Passages, Snapshot};
use crate::names::of_key;
use crate::network::{Network, any, holds, networks};

/// A protocol of the network layer, as nft names its family.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Family {
    Ip,
    Ip6,
    /// A setting for both.
    Any,
}

impl Family {
    /// Whether a table of that family sees such packets.
    pub(super) fn is_seen_by(self, table: &str) -> bool {
        match self {
            Self::Ip => !table.starts_with("ip6 "),
            Self::Ip6 => !table.starts_with("ip "),
            Self::Any => table.starts_with("inet "),
        }
    }
}

/// Whether anything that comes in at an interface is let through to another one.
pub(super) fn is_let_through(
    snapshot: &Snapshot,
    around: &Around<'_>,
    key: &str,
    family: Family,
) -> bool {
    let filters = filters(snapshot, key, family);
    filters.is_empty()
        || around
            .each_beside(snapshot, key)
            .any(|other| are_open(&filters, key, other))
}

/// The chains that drop what none of their rules accepts.
fn filters<'a>(snapshot: &'a Snapshot, key: &str, family: Family) -> Vec<&'a Passages> {
    let at_forward = chains(snapshot, key, family, "forward");
    at_forward
        .filter(|(_, chain)| chain.drops_others)
        .map(|(_, chain)| chain)
        .collect()
}

fn chains<'a>(
    snapshot: &'a Snapshot,
    key: &str,
    family: Family,
    hook: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Passages)> {
    let interface = snapshot.interfaces.get(key);
    let stack = interface.map(|interface| snapshot.stack_of(interface));
    let all = stack.into_iter().flat_map(|stack| &stack.passages);
    let all = all.filter(move |(name, chain)| chain.hook == hook && family.is_seen_by(name));
    all.map(|(name, chain)| (name.as_str(), chain))
}

fn are_open(filters: &[&Passages], from: &str, to: &str) -> bool {
    let (from, to) = (of_key(from).1, of_key(to).1);
    filters.iter().all(|chain| is_open(&chain.rules, from, to))
}

/// A rule accepts packets on this way, or answers to packets on the way back.
fn is_open(rules: &[Passage], from: &str, to: &str) -> bool {
    let any = |replies: bool, from: &str, to: &str| {
        let mut rules = rules.iter().filter(|rule| rule.replies == replies);
        rules.any(|rule| is_about(&rule.from, from) && is_about(&rule.to, to))
    };
    any(false, from, to) || any(true, from, to) && any(false, to, from)
}

/// `eth0`, `veth*`, `!docker0`
fn is_about(pattern: &Option<String>, name: &str) -> bool {
    let Some(pattern) = pattern else {
        return true;
    };
    let (inverted, pattern) = match pattern.strip_prefix('!') {
        Some(rest) => (true, rest),
        None => (false, pattern.as_str()),
    };
    let is_it = match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == pattern,
    };
    is_it != inverted
}

/// Why packets go out by the interface that they came in by, in words: its filter translates or accepts such packets, and
/// those of no other interface.
pub(super) fn out_again(
    snapshot: &Snapshot,
    around: &Around<'_>,
    key: &str,
    family: Family,
) -> Option<String> {
    let is_able = around.is_routed_to(key);
    if !is_able || !are_open(&filters(snapshot, key, family), key, key) {
        return None;
    }
    let place = Arm::of(snapshot, key)?;
    let shown = |hook: &'static str, shows: &dyn Fn(&Passage) -> bool| {
        let mut chains = chains(snapshot, key, family, hook);
        let found = chains.find(|(_, chain)| chain.rules.iter().any(shows));
        found.map(|(name, _)| name)
    };
    let unwraps = || shown("xfrm", &|_| true);
    let masks = || shown("postrouting", &|rule| place.is_masked(rule));
    let sends = || shown("prerouting", &|rule| place.is_sent_on(rule));
    let accepts = || shown("forward", &|rule| place.is_accepted(rule));
    let why = |name: &str, words: &str| Some(format!("{name} {words}"));
    masks()
        .and_then(|name| why(name, "translates what leaves by it"))
        .or_else(|| why(sends()?, "sends what it receives on to other hosts"))
        .or_else(|| why(accepts()?, "accepts what leaves by it again"))
        .or_else(|| {
            why(
                unwraps()?,
                "has policies of IPsec for networks behind this host",
            )
        })
}

/// An interface that packets may come in by and leave by, and what is beside it.
struct Arm<'a> {
    snapshot: &'a Snapshot,
    interface: &'a Interface,
    /// No other interface is in its namespace but the loopback.
    is_alone: bool,
}

impl<'a> Arm<'a> {
    fn of(snapshot: &'a Snapshot, key: &str) -> Option<Self> {
        let interface = snapshot.interfaces.get(key)?;
        let others = snapshot.interfaces.values().filter(|other| {
            other.namespace == interface.namespace
                && other.name != interface.name
                && other.kind.as_deref() != Some("loopback")
        });
        Some(Self {
            snapshot,
            interface: &**interface,
            is_alone: others.count() == 0,
        })
    }

    fn is_it(&self, name: &Option<String>) -> bool {
        name.as_deref() == Some(&self.interface.name)
    }

    /// Of what leaves by it, the source is changed: of all, or of packets from its own network. Whoever translates packets of
    /// containers names their network, or that it is not their bridge.
    fn is_masked(&self, rule: &Passage) -> bool {
        let leaves = rule.to.is_none() || rule.to.as_deref() == Some("!lo") || self.is_it(&rule.to);
        let comes = rule.from.is_none() || self.is_it(&rule.from);
        let is_near = |source: &String| self.is_near(source);
        leaves && comes && !rule.narrow && rule.source.as_ref().is_none_or(is_near)
    }

    /// Whether a network has that of the interface in it.
    fn is_near(&self, source: &str) -> bool {
        let Some(outer) = any(source) else {
            return false;
        };
        let addresses = self.interface.addresses.iter();
        let addresses = addresses.filter_map(|one| any(one.split('/').next()?));
        let routes = self.routes().filter(|(_, network)| network.1 > 0);
        let own = routes.filter(|(names, _)| names.contains(&self.interface.name));
        let mut all = addresses.chain(own.map(|(_, network)| network));
        all.any(|network| holds(outer, network))
    }

    fn routes(&self) -> impl Iterator<Item = (&'a Vec<String>, Network)> {
        let routes = self.snapshot.stack_of(self.interface).routes.iter();
        routes.flat_map(|route| {
            let networks = networks(&route.to).into_iter();
            networks.map(|network| (&route.interfaces, network))
        })
    }

    /// Packets that come in by it are sent to another host, by it as well.
    fn is_sent_on(&self, rule: &Passage) -> bool {
        let comes = rule.from.is_none() || self.is_it(&rule.from);
        let to = rule.destination.as_deref().and_then(address);
        comes && to.is_some_and(|to| self.is_way_to(to))
    }

    fn is_way_to(&self, to: IpAddr) -> bool {
        let Some(wanted) = any(&to.to_string()) else {
            return false;
        };
        let everywhere = self.snapshot.interfaces.values();
        let own = everywhere.flat_map(|one| &one.addresses);
        let mut own = own.filter_map(|one| any(one.split('/').next()?));
        if to.is_loopback() || to.is_unspecified() || own.any(|one| one == wanted) {
            return false;
        }
        let ways = self.routes().filter(|(_, network)| holds(*network, wanted));
        match ways.max_by_key(|(_, network)| network.1) {
            Some((names, _)) => names.contains(&self.interface.name),
            None => self.is_alone,
        }
    }

    /// A rule accepts what goes out by it again, or by nothing else that is there.
    fn is_accepted(&self, rule: &Passage) -> bool {
        let (comes, leaves) = (self.is_it(&rule.from), self.is_it(&rule.to));
        let one_is_open = comes && rule.to.is_none() || leaves && rule.from.is_none();
        let is_own = comes && leaves || one_is_open && self.is_alone && !rule.narrow;
        is_own && !rule.replies
    }
}

/// `10.0.0.21:443`, `10.0.0.21-10.0.0.29`, `[2001:db8::1]:80`
fn address(text: &str) -> Option<IpAddr> {
    let first = text.split('-').next().unwrap_or(text);
    let bare = first
        .strip_prefix('[')
        .and_then(|rest| rest.split(']').next());
    let bare = bare.unwrap_or(first);
    let is_port = bare.matches(':').count() == 1;
    let host = if is_port {
        bare.split(':').next()?
    } else {
        bare
    };
    host.parse().ok()
}
