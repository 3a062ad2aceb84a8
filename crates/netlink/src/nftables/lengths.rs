//! Rules of nftables that match on a packet's length, and that a merged frame can meet: not behind one that accepts whatever
//! belongs to a flow or ends the chain for all, nor of packets that belong to none.
//!
//! A rule is a list of expressions: one loads a value into a register, the next compares it, the
//! last is a verdict. Numbers: include/uapi/linux/netfilter/nf_tables.h.

mod values;

use super::{GET_CHAIN, HEADER, HOOK, NAME, NF_TABLES, TABLE};
use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_NETFILTER;
use std::collections::{BTreeMap, BTreeSet};
use values::{big, length, number, within};

/// `NFT_MSG_GETRULE`.
const GET_RULE: u16 = (NF_TABLES << 8) | 7;
/// Attributes of a rule: its chain, its expressions, and of one of these its name and data.
const CHAIN: u16 = 2;
const EXPRESSIONS: u16 = 4;
const EXPRESSION_NAME: u16 = 1;
const EXPRESSION_DATA: u16 = 2;
/// `NFT_META_LEN`, `_IIFNAME`, `_L4PROTO`.
const LENGTH: u32 = 0;
const IN_NAME: u32 = 6;
const PROTOCOL: u32 = 16;
/// `NFT_CT_STATE`.
const STATE: u32 = 0;
/// `NF_CT_STATE_BIT(IP_CT_ESTABLISHED)` and `NF_CT_STATE_UNTRACKED_BIT`: the packets of a flow.
const OF_FLOWS: u32 = 2 | 64;
/// `NFT_PAYLOAD_NETWORK_HEADER`, `_TRANSPORT_HEADER`.
const NETWORK_HEADER: u32 = 1;
const TRANSPORT_HEADER: u32 = 2;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// SYN in the flags of TCP (RFC 9293, 3.1).
const SYN: u8 = 2;
/// `NFPROTO_INET`, `_IPV4`, `_NETDEV`, `_BRIDGE`, `_IPV6`.
const FAMILIES: [(u8, &str); 5] = [
    (1, "inet"),
    (2, "ip"),
    (5, "netdev"),
    (7, "bridge"),
    (10, "ip6"),
];
const HOOKS: [&str; 6] = [
    "prerouting",
    "input",
    "forward",
    "output",
    "postrouting",
    "ingress",
];

/// A rule that matches on a packet's length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LengthRule {
    /// `ip`, `ip6`, `inet`, `bridge` or `netdev`.
    pub family: &'static str,
    /// Its table.
    pub table: String,
    /// Its chain.
    pub chain: String,
    /// The hook of the chain; `None` if other chains jump to it.
    pub hook: Option<&'static str>,
    /// The input interface that the rule matches, if any.
    pub interface: Option<String>,
    /// Lengths that the rule matches, from and to; `None` if they are in a set.
    pub lengths: Option<(u32, u32)>,
    /// `drop`, `reject`, `accept`, `jump`, `goto`, `return`; `None` without a verdict.
    pub verdict: Option<&'static str>,
    /// Protocol number that the rule matches, if any.
    pub protocol: Option<u8>,
    /// Whether it matches on more than this: addresses, ports, marks, a rate.
    pub narrow: bool,
}

/// All rules of the calling thread's namespace that match on a packet's length.
///
/// # Errors
///
/// If the kernel refuses.
pub fn length_rules() -> Result<Vec<LengthRule>, Error> {
    let socket = Socket::open(NETLINK_NETFILTER)?;
    let dump = |kind, action| {
        let bytes = HEADER.to_vec();
        socket.dump(&Raw { kind, bytes }, action)
    };
    let chains = dump(GET_CHAIN, "list the chains of nftables")?;
    let hooks: BTreeMap<_, _> = chains.iter().filter_map(hook).collect();
    let rules = dump(GET_RULE, "list the rules of nftables")?;
    // Chains that have accepted what belongs to flows, or ended: the kernel lists rules in their order.
    let mut through = BTreeSet::new();
    let mut read = Vec::new();
    for message in &rules {
        let Some((key, reading)) = reading(message) else {
            continue;
        };
        if reading.accepts_flows() || reading.ends_for_all() {
            through.insert(key);
        } else if reading.asks && !reading.spares_flows && !through.contains(&key) {
            read.push(rule(key, reading.rule, &hooks));
        }
    }
    Ok(read)
}

/// Family, table and name of a chain.
type Key = (u8, String, String);

fn hook(message: &Raw) -> Option<(Key, &'static str)> {
    let family = *message.bytes.first()?;
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    let number = big(attributes.inside(HOOK).get(1)?)?;
    // The family netdev has only the hooks of its device.
    let hook = match (family, number) {
        (5, 0) => "ingress",
        (5, _) => "egress",
        (_, number) => HOOKS.get(usize::try_from(number).ok()?)?,
    };
    let key = (family, attributes.text(TABLE)?, attributes.text(NAME)?);
    Some((key, hook))
}

/// The chain of a rule, and what the rule says.
fn reading(message: &Raw) -> Option<(Key, Reading)> {
    let number = *message.bytes.first()?;
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    let (table, chain) = (attributes.text(TABLE)?, attributes.text(CHAIN)?);
    let mut reading = Reading::default();
    for (_, expression) in attributes.inside(EXPRESSIONS).iter() {
        let expression = Attributes(expression);
        let name = expression.text(EXPRESSION_NAME)?;
        reading.expression(&name, expression.inside(EXPRESSION_DATA));
    }
    Some(((number, table, chain), reading))
}

fn rule(key: Key, rule: LengthRule, hooks: &BTreeMap<Key, &'static str>) -> LengthRule {
    let known = FAMILIES.iter().find(|(known, _)| *known == key.0);
    let hook = hooks.get(&key).copied();
    LengthRule {
        family: known.map_or("", |(_, name)| name),
        hook,
        table: key.1,
        chain: key.2,
        ..rule
    }
}

/// The value in a register.
#[derive(Clone, Copy, Default)]
struct Register {
    held: Loaded,
    /// Whether the value was converted to network byte order, so that it can be compared.
    swapped: bool,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Loaded {
    Length,
    InName,
    Protocol,
    State,
    Flags,
    #[default]
    Other,
}

#[derive(Default)]
struct Reading {
    rule: LengthRule,
    /// Registers by number.
    registers: BTreeMap<u32, Register>,
    asks: bool,
    /// The mask that was laid over a state or over flags.
    mask: u32,
    /// It asks for no packet that belongs to a flow.
    spares_flows: bool,
    /// It asks for packets of flows, among others, and for nothing else of them.
    is_of_flows: bool,
    /// It asks for anything else.
    narrows: bool,
}

impl Reading {
    /// Whether all packets of flows are accepted.
    fn accepts_flows(&self) -> bool {
        self.is_of_flows && !self.narrows && !self.asks && self.rule.verdict == Some("accept")
    }

    /// Whether no packet of TCP goes on in the chain.
    fn ends_for_all(&self) -> bool {
        let ends = ["accept", "drop", "reject", "return"];
        let asks = self.narrows || self.asks || self.is_of_flows || self.spares_flows;
        !asks
            && self
                .rule
                .verdict
                .is_some_and(|verdict| ends.contains(&verdict))
    }

    /// Notes that it asks for something that no rule of lengths is read for.
    fn asks_more(&mut self) {
        (self.narrows, self.rule.narrow) = (true, true);
    }

    fn expression(&mut self, name: &str, data: Attributes<'_>) -> Option<()> {
        match name {
            "meta" => self.meta(data)?,
            "payload" => self.payload(data)?,
            "ct" => {
                let is_state = number(data, 2)? == STATE;
                let held = if is_state {
                    Loaded::State
                } else {
                    Loaded::Other
                };
                self.load(number(data, 1)?, held, false);
            }
            "bitwise" => self.masked(data)?,
            "byteorder" => {
                let held = self.register(number(data, 1)?).held;
                self.load(number(data, 2)?, held, true);
            }
            "cmp" => self.compare(data)?,
            "range" => self.range(data)?,
            "lookup" => self.looks_up(data)?,
            "immediate" => self.verdict(data.inside(2))?,
            "reject" => self.rule.verdict = Some("reject"),
            "match" => self.matches(data)?,
            "target" if data.text(1)? == "REJECT" => self.rule.verdict = Some("reject"),
            "counter" | "log" | "notrack" | "last" | "objref" | "target" => {}
            _ => self.asks_more(),
        }
        Some(())
    }

    fn load(&mut self, register: u32, held: Loaded, swapped: bool) {
        self.registers.insert(register, Register { held, swapped });
    }

    fn register(&self, number: u32) -> Register {
        self.registers.get(&number).copied().unwrap_or_default()
    }

    fn meta(&mut self, data: Attributes<'_>) -> Option<()> {
        let held = match number(data, 2)? {
            LENGTH => Loaded::Length,
            IN_NAME => Loaded::InName,
            PROTOCOL => Loaded::Protocol,
            _ => Loaded::Other,
        };
        self.load(number(data, 1)?, held, false);
        Some(())
    }

    /// `ip length` is bytes 2 and 3 of the IPv4 header, `ip protocol` is byte 9.
    fn payload(&mut self, data: Attributes<'_>) -> Option<()> {
        let held = match (number(data, 2)?, number(data, 3)?, number(data, 4)?) {
            (NETWORK_HEADER, 2, 2) => Loaded::Length,
            (NETWORK_HEADER, 9, 1) => Loaded::Protocol,
            (TRANSPORT_HEADER, 13, 1) => Loaded::Flags,
            _ => Loaded::Other,
        };
        self.load(number(data, 1)?, held, true);
        Some(())
    }

    fn compare(&mut self, data: Attributes<'_>) -> Option<()> {
        let Register { held, swapped } = self.register(number(data, 1)?);
        let value = data.inside(3).get(1)?;
        let operator = number(data, 2)?;
        let is_tcp = held == Loaded::Protocol && value.first() == Some(&TCP);
        self.narrows |= !matches!(held, Loaded::State | Loaded::Length) && !is_tcp;
        self.rule.narrow |= held == Loaded::Other || held == Loaded::InName && operator != 0;
        match held {
            Loaded::State => self.state(operator, u32::from_ne_bytes(*value.first_chunk()?)),
            Loaded::Flags => self.spares_flows |= operator == 0 && value.first() == Some(&SYN),
            Loaded::InName if operator == 0 => {
                self.rule.interface = Some(crate::attributes::text(value));
            }
            Loaded::Protocol if operator == 0 => self.rule.protocol = value.first().copied(),
            Loaded::Length => {
                self.asks = true;
                self.narrow(operator, length(value, swapped)?);
            }
            _ => {}
        }
        Some(())
    }

    /// `NFTA_LOOKUP_SREG`, and `_DREG` of a map, which may be the verdict. What is in a set is not listed: of states that are
    /// accepted together, or have verdicts of their own, flows are one that passes, as no firewall works otherwise.
    fn looks_up(&mut self, data: Attributes<'_>) -> Option<()> {
        match self.register(number(data, 2)?).held {
            Loaded::Length => self.asks = true,
            Loaded::State => {
                self.is_of_flows = true;
                if number(data, 3) == Some(0) {
                    self.rule.verdict = Some("accept");
                }
            }
            _ => self.asks_more(),
        }
        Some(())
    }

    /// `NFTA_BITWISE_SREG`, `_DREG`, `_LEN`, `_MASK`.
    fn masked(&mut self, data: Attributes<'_>) -> Option<()> {
        let held = self.register(number(data, 1)?).held;
        let mask = data.inside(4).get(1)?;
        if held == Loaded::State {
            self.mask = u32::from_ne_bytes(*mask.first_chunk()?);
        }
        self.load(number(data, 2)?, held, false);
        Some(())
    }

    /// States under a mask that are not none of it, or are; or a state by itself.
    fn state(&mut self, operator: u32, value: u32) {
        let (states, inverted) = match (self.mask, operator) {
            (0, operator) => (value, operator != 0),
            (mask, operator) => (mask, operator == 0),
        };
        let has_flows = (states & OF_FLOWS != 0) != inverted;
        self.spares_flows |= !has_flows;
        self.is_of_flows |= has_flows;
    }

    /// `NFT_CMP_EQ`, `_NEQ`, `_LT`, `_LTE`, `_GT`, `_GTE`. Two comparisons make a range.
    fn narrow(&mut self, operator: u32, value: u32) {
        let (from, to) = self.rule.lengths.unwrap_or((0, u32::MAX));
        self.rule.lengths = match operator {
            0 => Some((value, value)),
            2 => Some((from, value.saturating_sub(1).min(to))),
            3 => Some((from, value.min(to))),
            4 => Some((value.saturating_add(1).max(from), to)),
            5 => Some((value.max(from), to)),
            _ => self.rule.lengths,
        };
    }

    /// `NFT_RANGE_EQ`, `_NEQ`, with the first and the last value.
    fn range(&mut self, data: Attributes<'_>) -> Option<()> {
        let Register { held, swapped } = self.register(number(data, 1)?);
        if held != Loaded::Length {
            return None;
        }
        self.asks = true;
        let end = |kind| length(data.inside(kind).get(1)?, swapped);
        self.rule.lengths = within(end(3)?, end(4)?, number(data, 2)? == 1);
        Some(())
    }

    /// The length match of iptables: `struct xt_length_info`.
    fn matches(&mut self, data: Attributes<'_>) -> Option<()> {
        match data.text(1)?.as_str() {
            "length" => {}
            "conntrack" => return self.conntrack(data.get(3)?),
            "comment" => return None,
            _ => {
                self.asks_more();
                return None;
            }
        }
        self.asks = true;
        let info = data.get(3)?;
        let half = |at: usize| Some(u16::from_ne_bytes(*info.get(at..)?.first_chunk()?));
        let most = half(2)?;
        let to = if most == u16::MAX {
            u32::MAX
        } else {
            most.into()
        };
        self.rule.lengths = within(half(0)?.into(), to, *info.get(4)? != 0);
        Some(())
    }

    /// The match by state of iptables: `struct xt_conntrack_mtinfo3` has what is asked for, and of what others, behind
    /// addresses, times and ports; then the states, with the bits of `ct state`.
    fn conntrack(&mut self, info: &[u8]) -> Option<()> {
        let half = |at: usize| Some(u16::from_ne_bytes(*info.get(at..)?.first_chunk()?));
        let (asked, inverted, states) = (half(146)?, half(148)?, half(150)?);
        // `XT_CONNTRACK_STATE`.
        if asked != 1 {
            self.asks_more();
            return None;
        }
        self.mask = 0;
        let has_flows = (u32::from(states) & OF_FLOWS != 0) != (inverted & 1 != 0);
        self.spares_flows |= !has_flows;
        self.is_of_flows |= has_flows;
        Some(())
    }

    /// `NFTA_DATA_VERDICT` with its code.
    fn verdict(&mut self, data: Attributes<'_>) -> Option<()> {
        let code = big(data.inside(2).get(1)?)?;
        self.rule.verdict = match code.cast_signed() {
            0 => Some("drop"),
            1 => Some("accept"),
            -3 => Some("jump"),
            -4 => Some("goto"),
            -5 => Some("return"),
            _ => None,
        };
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_narrow_each_other() {
        let mut reading = Reading::default();
        reading.narrow(4, 1500);
        reading.narrow(3, 9000);
        assert_eq!(reading.rule.lengths, Some((1501, 9000)));
    }

    /// `ct state established,related` is a mask that must not leave nothing; of one state it is compared.
    #[test]
    fn states_are_of_flows_or_spare_them() {
        let of = |mask, operator, value| {
            let mut reading = Reading {
                mask,
                ..Reading::default()
            };
            reading.state(operator, value);
            (reading.is_of_flows, reading.spares_flows)
        };
        let (flows, none) = ((true, false), (false, true));
        assert_eq!(of(2 | 4, 1, 0), flows);
        assert_eq!(of(8, 1, 0), none);
        assert_eq!(of(1 | 8, 1, 0), none);
        // `ct state != established`, and as compared alone.
        assert_eq!(of(2, 0, 0), none);
        assert_eq!(of(0, 0, 2), flows);
        assert_eq!(of(0, 1, 2), none);
        assert_eq!(of(0, 0, 8), none);
    }

    #[test]
    fn what_accepts_a_part_of_the_flows_is_no_way_through() {
        let mut reading = Reading {
            is_of_flows: true,
            ..Reading::default()
        };
        assert!(!reading.accepts_flows());
        reading.rule.verdict = Some("accept");
        assert!(reading.accepts_flows());
        reading.narrows = true;
        assert!(!reading.accepts_flows());
    }
}
