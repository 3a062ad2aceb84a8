//! A rule of nftables: one expression loads a value into a register, the next one compares the value, the last is a verdict.

use super::values::{big, length, number, within};
use super::{Lengths, Rule, Verdict};
use crate::attributes::Attributes;
use std::collections::BTreeMap;

/// `NFT_META_LEN`, `_IIFNAME`, `_OIFNAME`, `_L4PROTO`.
const LENGTH: u32 = 0;
const IN_NAME: u32 = 6;
const OUT_NAME: u32 = 7;
/// `NFT_META_PROTOCOL`, `_NFPROTO`: nft asks for these before it looks into a header.
const NETWORK: [u32; 2] = [1, 15];
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
    OutName,
    Network,
    Protocol,
    State,
    Flags,
    #[default]
    Other,
}

/// A rule, expression by expression.
#[derive(Default)]
pub(super) struct Reading {
    rule: Rule,
    /// Registers by number.
    registers: BTreeMap<u32, Register>,
    pub(super) lengths: Lengths,
    /// The set or map that the length is looked up in.
    pub(super) set: Option<String>,
    /// The mask that was laid over a state or over flags.
    mask: u32,
    /// It asks for packets of flows, among others, and for nothing else of them.
    is_of_flows: bool,
    /// It asks for anything else.
    narrows: bool,
}

impl Reading {
    pub(super) fn done(self) -> Rule {
        Rule {
            asks: self.narrows || self.is_of_flows || self.rule.spares_flows,
            is_of_flows: self.is_of_flows && !self.narrows && self.lengths == Lengths::Any,
            lengths: self.lengths,
            ..self.rule
        }
    }

    /// Notes that it asks for something that no rule of lengths is read for.
    fn asks_more(&mut self) {
        (self.narrows, self.rule.narrow) = (true, true);
    }

    fn does(&mut self, name: &'static str) {
        self.rule.verdict = Some(Verdict {
            name,
            ..Verdict::default()
        });
    }

    pub(super) fn expression(&mut self, name: &str, data: Attributes<'_>) -> Option<()> {
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
            "reject" => self.does("reject"),
            "flow_offload" => self.rule.offloads = true,
            "match" => self.matches(data)?,
            "target" if data.text(1)? == "REJECT" => self.does("reject"),
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
            OUT_NAME => Loaded::OutName,
            kind if NETWORK.contains(&kind) => Loaded::Network,
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
        let is_name = matches!(held, Loaded::InName | Loaded::OutName);
        self.rule.narrow |= held == Loaded::Other || is_name && operator != 0;
        match held {
            Loaded::State => self.state(operator, u32::from_ne_bytes(*value.first_chunk()?)),
            Loaded::Flags => self.rule.spares_flows |= operator == 0 && value.first() == Some(&SYN),
            Loaded::InName if operator == 0 => {
                self.rule.interface = Some(crate::attributes::text(value));
            }
            Loaded::OutName if operator == 0 => {
                self.rule.to = Some(crate::attributes::text(value));
            }
            Loaded::Protocol if operator == 0 => self.rule.protocol = value.first().copied(),
            Loaded::Length => self.narrow(operator, length(value, swapped)?),
            _ => {}
        }
        Some(())
    }

    /// `NFTA_LOOKUP_SET`, `_SREG`, `_DREG` of a map, which may be the verdict, and `_FLAGS` (`NFT_LOOKUP_F_INV`). What is in a set of
    /// states is not listed: a rule that asks for one is taken to ask for flows, and a map to accept these, so that nobody is accused
    /// for what comes behind.
    fn looks_up(&mut self, data: Attributes<'_>) -> Option<()> {
        let inverted = number(data, 5).is_some_and(|flags| flags & 1 != 0);
        match (self.register(number(data, 2)?).held, inverted) {
            (Loaded::Length, false) => self.set = Some(data.text(1)?),
            (Loaded::Length, true) => self.lengths = Lengths::Unknown,
            (Loaded::State, true) => self.rule.spares_flows = true,
            (Loaded::State, false) => {
                self.is_of_flows = true;
                if number(data, 3) == Some(0) {
                    self.does("accept");
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
        self.rule.spares_flows |= !has_flows;
        self.is_of_flows |= has_flows;
    }

    /// `NFT_CMP_EQ`, `_NEQ`, `_LT`, `_LTE`, `_GT`, `_GTE`. Two comparisons make a range.
    fn narrow(&mut self, operator: u32, value: u32) {
        let (from, to) = match self.lengths {
            Lengths::Within(from, to) => (from, to),
            _ => (0, u32::MAX),
        };
        self.lengths = match operator {
            0 => Lengths::Within(value, value),
            2 => Lengths::Within(from, value.saturating_sub(1).min(to)),
            3 => Lengths::Within(from, value.min(to)),
            4 => Lengths::Within(value.saturating_add(1).max(from), to),
            5 => Lengths::Within(value.max(from), to),
            _ => Lengths::Unknown,
        };
    }

    /// A range, or what lies beyond.
    fn is_within(&mut self, from: u32, to: u32, inverted: bool) {
        self.lengths = within(from, to, inverted)
            .map_or(Lengths::Unknown, |(from, to)| Lengths::Within(from, to));
    }

    /// `NFT_RANGE_EQ`, `_NEQ`, with the first and the last value.
    fn range(&mut self, data: Attributes<'_>) -> Option<()> {
        let Register { held, swapped } = self.register(number(data, 1)?);
        if held != Loaded::Length {
            return None;
        }
        let end = |kind| length(data.inside(kind).get(1)?, swapped);
        self.is_within(end(3)?, end(4)?, number(data, 2)? == 1);
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
        self.lengths = Lengths::Unknown;
        let info = data.get(3)?;
        let half = |at: usize| Some(u16::from_ne_bytes(*info.get(at..)?.first_chunk()?));
        let most = half(2)?;
        let to = if most == u16::MAX {
            u32::MAX
        } else {
            most.into()
        };
        self.is_within(half(0)?.into(), to, *info.get(4)? != 0);
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
        self.rule.spares_flows |= !has_flows;
        self.is_of_flows |= has_flows;
        Some(())
    }

    /// `NFTA_DATA_VERDICT`.
    fn verdict(&mut self, data: Attributes<'_>) -> Option<()> {
        self.rule.verdict = Some(verdict(data.inside(2))?);
        Some(())
    }
}

/// `NFTA_VERDICT_CODE`, `_CHAIN`.
pub(super) fn verdict(data: Attributes<'_>) -> Option<Verdict> {
    let name = match big(data.get(1)?)?.cast_signed() {
        0 => "drop",
        1 => "accept",
        -3 => "jump",
        -4 => "goto",
        -5 => "return",
        _ => return None,
    };
    let chain = data.text(2).unwrap_or_default();
    Some(Verdict { name, chain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_narrow_each_other() {
        let mut reading = Reading::default();
        reading.narrow(4, 1500);
        reading.narrow(3, 9000);
        assert_eq!(reading.lengths, Lengths::Within(1501, 9000));
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
            (reading.is_of_flows, reading.rule.spares_flows)
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
    fn what_asks_for_a_part_of_the_flows_is_not_of_flows() {
        let is_of_flows = |narrows| {
            let reading = Reading {
                is_of_flows: true,
                narrows,
                ..Reading::default()
            };
            reading.done().is_of_flows
        };
        assert!(is_of_flows(false));
        assert!(!is_of_flows(true));
    }
}
