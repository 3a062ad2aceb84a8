//! Policers at the ingress and egress of an interface, and the longest packet that conforms.
//!
//! Numbers: include/uapi/linux/pkt_sched.h, pkt_cls.h and rtnetlink.h.

use super::Route;
use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::Raw;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcHandle, TcMessage};

/// `struct tcmsg`.
const HEADER: usize = 20;
/// `TCA_KIND`, `TCA_OPTIONS`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
/// The actions attribute of each kind of filter, and the attribute of its own policer in older kinds.
const ACTIONS: [(&str, u16, Option<u16>); 6] = [
    ("matchall", 2, None),
    ("flower", 3, None),
    ("u32", 7, Some(6)),
    ("basic", 3, Some(4)),
    ("fw", 4, Some(2)),
    ("bpf", 1, Some(2)),
];
/// `TCA_POLICE_TBF`: `struct tc_police`.
const POLICE: u16 = 1;
/// `TC_ACT_SHOT`.
const DROP: u32 = 2;

/// A policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// The ifindex of its interface.
    pub interface: u32,
    /// Whether it is at the ingress, otherwise at the egress.
    pub ingress: bool,
    /// Longest packet that conforms, bytes.
    pub mtu: u32,
    /// Whether packets that do not conform are dropped.
    pub drops: bool,
}

impl Route {
    /// All policers of interfaces with an `ingress` or `clsact` qdisc.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn policers(&self) -> Result<Vec<Policer>, Error> {
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let queues = self.dump(&request, "list the queues")?;
        let mut all = Vec::new();
        for (interface, clsact) in queues.iter().filter_map(queue) {
            // Minor numbers TC_H_MIN_INGRESS and TC_H_MIN_EGRESS of the handle TC_H_CLSACT.
            all.extend(self.policers_at(interface, 0xfff2, true)?);
            if clsact {
                all.extend(self.policers_at(interface, 0xfff3, false)?);
            }
        }
        Ok(all)
    }

    fn policers_at(
        &self,
        interface: u32,
        minor: u16,
        ingress: bool,
    ) -> Result<Vec<Policer>, Error> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(interface).unwrap_or(i32::MAX);
        message.header.parent = TcHandle {
            major: 0xffff,
            minor,
        };
        let request = RouteNetlinkMessage::GetTrafficFilter(message);
        let filters = self.dump(&request, "list the filters of an interface")?;
        let found = filters.iter().flat_map(policers);
        let found = found.map(|(mtu, drops)| Policer {
            interface,
            ingress,
            mtu,
            drops,
        });
        Ok(found.collect())
    }
}

/// The ifindex of an `ingress` or `clsact` qdisc, and whether it is `clsact`.
fn queue(message: &Raw) -> Option<(u32, bool)> {
    let attributes = Attributes(message.bytes.get(HEADER..)?);
    let index = u32::from_ne_bytes(*message.bytes.get(4..)?.first_chunk()?);
    match attributes.text(KIND)?.as_str() {
        "ingress" => Some((index, false)),
        "clsact" => Some((index, true)),
        _ => None,
    }
}

/// The policers of a filter: the longest packet, and whether other packets are dropped.
fn policers(message: &Raw) -> Vec<(u32, bool)> {
    let Some(bytes) = message.bytes.get(HEADER..) else {
        return Vec::new();
    };
    let attributes = Attributes(bytes);
    let kind = attributes.text(KIND).unwrap_or_default();
    let Some((_, actions, own)) = ACTIONS.iter().find(|(known, ..)| *known == kind) else {
        return Vec::new();
    };
    let options = attributes.inside(OPTIONS);
    let mut found: Vec<(u32, bool)> = Vec::new();
    for (_, action) in options.inside(*actions).iter() {
        let action = Attributes(action);
        if action.text(1).as_deref() == Some("police") {
            found.extend(policer(action.inside(2)));
        }
    }
    found.extend(own.and_then(|own| policer(options.inside(own))));
    found
}

/// `struct tc_police`: index, action, limit, burst and MTU, four bytes each.
fn policer(options: Attributes<'_>) -> Option<(u32, bool)> {
    let police = options.get(POLICE)?;
    let field = |at: usize| Some(u32::from_ne_bytes(*police.get(at..)?.first_chunk()?));
    Some((field(16)?, field(4)? == DROP))
}
