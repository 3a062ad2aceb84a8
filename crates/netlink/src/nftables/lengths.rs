//! Rules of nftables that match on a packet's length.
//!
//! A rule is a list of expressions: one loads a value into a register, the next compares it, the
//! last is a verdict. Numbers: include/uapi/linux/netfilter/nf_tables.h.

use super::{GET_CHAIN, HEADER, HOOK, NAME, NF_TABLES, TABLE};
use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_NETFILTER;
use std::collections::BTreeMap;

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
/// `NFT_PAYLOAD_NETWORK_HEADER`.
const NETWORK_HEADER: u32 = 1;
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
    let read = rules.iter().filter_map(|message| rule(message, &hooks));
    Ok(read.collect())
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

fn rule(message: &Raw, hooks: &BTreeMap<Key, &'static str>) -> Option<LengthRule> {
    let number = *message.bytes.first()?;
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    let (table, chain) = (attributes.text(TABLE)?, attributes.text(CHAIN)?);
    let mut reading = Reading::default();
    for (_, expression) in attributes.inside(EXPRESSIONS).iter() {
        let expression = Attributes(expression);
        let name = expression.text(EXPRESSION_NAME)?;
        reading.expression(&name, expression.inside(EXPRESSION_DATA));
    }
    let known = FAMILIES.iter().find(|(known, _)| *known == number);
    reading.asks.then(|| LengthRule {
        family: known.map_or("", |(_, name)| name),
        hook: hooks.get(&(number, table.clone(), chain.clone())).copied(),
        table,
        chain,
        ..reading.rule
    })
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
    #[default]
    Other,
}

#[derive(Default)]
struct Reading {
    rule: LengthRule,
    /// Registers by number.
    registers: BTreeMap<u32, Register>,
    asks: bool,
}

impl Reading {
    fn expression(&mut self, name: &str, data: Attributes<'_>) -> Option<()> {
        match name {
            "meta" => self.meta(data)?,
            "payload" => self.payload(data)?,
            "byteorder" => {
                let held = self.register(number(data, 1)?).held;
                self.load(number(data, 2)?, held, true);
            }
            "cmp" => self.compare(data)?,
            "range" => self.range(data)?,
            "lookup" => self.asks |= self.register(number(data, 2)?).held == Loaded::Length,
            "immediate" => self.verdict(data.inside(2))?,
            "reject" => self.rule.verdict = Some("reject"),
            "match" => self.matches(data)?,
            "target" if data.text(1)? == "REJECT" => self.rule.verdict = Some("reject"),
            _ => {}
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
            _ => Loaded::Other,
        };
        self.load(number(data, 1)?, held, true);
        Some(())
    }

    fn compare(&mut self, data: Attributes<'_>) -> Option<()> {
        let Register { held, swapped } = self.register(number(data, 1)?);
        let value = data.inside(3).get(1)?;
        let operator = number(data, 2)?;
        match held {
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
        if data.text(1)? != "length" {
            return None;
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

/// The range, or its complement if that is one range as well.
fn within(from: u32, to: u32, inverted: bool) -> Option<(u32, u32)> {
    match (from, to, inverted) {
        (from, to, false) => Some((from, to)),
        (0, to, true) => Some((to.saturating_add(1), u32::MAX)),
        (from, to, true) if to >= u16::MAX.into() => Some((0, from.saturating_sub(1))),
        _ => None,
    }
}

/// A length of two or four bytes, in network or host byte order.
fn length(value: &[u8], swapped: bool) -> Option<u32> {
    match (value.len(), swapped) {
        (2, _) => Some(u16::from_be_bytes(*value.first_chunk()?).into()),
        (_, true) => big(value),
        (_, false) => Some(u32::from_ne_bytes(*value.first_chunk()?)),
    }
}

/// A number in an attribute of nftables: network byte order.
fn number(attributes: Attributes<'_>, kind: u16) -> Option<u32> {
    big(attributes.get(kind)?)
}

fn big(value: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*value.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_is_inverted_is_what_lies_beyond() {
        assert_eq!(within(0, 1500, true), Some((1501, u32::MAX)));
        assert_eq!(within(1501, u32::MAX, true), Some((0, 1500)));
        assert_eq!(within(100, 1500, true), None);
        assert_eq!(within(100, 1500, false), Some((100, 1500)));
    }

    #[test]
    fn comparisons_narrow_each_other() {
        let mut reading = Reading::default();
        reading.narrow(4, 1500);
        reading.narrow(3, 9000);
        assert_eq!(reading.rule.lengths, Some((1501, 9000)));
    }
}
