//! What filters at the ingress and egress of an interface do that matters here: policers, with the longest packet that
//! conforms, and redirects to another interface.
//!
//! Numbers: include/uapi/linux/pkt_sched.h, pkt_cls.h, rtnetlink.h and tc_act/tc_mirred.h.

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
/// `TCA_MIRRED_PARMS`: `struct tc_mirred`.
const MIRRED: u16 = 2;
/// `TCA_EGRESS_REDIR`. A mirror sends a copy, and a redirect to an ingress comes back to this stack.
const REDIRECT: u32 = 1;

/// What a filter does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The ifindex of its interface.
    pub interface: u32,
    /// Whether it is at the ingress, otherwise at the egress.
    pub ingress: bool,
    /// What it does.
    pub kind: ActionKind,
}

/// What a filter does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// Lets a rate pass.
    Police {
        /// Longest packet that conforms, bytes.
        mtu: u32,
        /// Whether packets that do not conform are dropped.
        drops: bool,
    },
    /// Sends the packet out of another interface.
    Redirect {
        /// The ifindex of that interface.
        to: u32,
    },
}

impl Route {
    /// What the filters of interfaces with an `ingress` or `clsact` qdisc do: policers and redirects.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn filter_actions(&self) -> Result<Vec<Action>, Error> {
        let request = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default());
        let queues = self.dump(&request, "list the queues")?;
        let mut all = Vec::new();
        for (interface, clsact) in queues.iter().filter_map(queue) {
            // Minor numbers TC_H_MIN_INGRESS and TC_H_MIN_EGRESS of the handle TC_H_CLSACT.
            all.extend(self.actions_at(interface, 0xfff2, true)?);
            if clsact {
                all.extend(self.actions_at(interface, 0xfff3, false)?);
            }
        }
        Ok(all)
    }

    fn actions_at(&self, interface: u32, minor: u16, ingress: bool) -> Result<Vec<Action>, Error> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(interface).unwrap_or(i32::MAX);
        message.header.parent = TcHandle {
            major: 0xffff,
            minor,
        };
        let request = RouteNetlinkMessage::GetTrafficFilter(message);
        let filters = self.dump(&request, "list the filters of an interface")?;
        let found = filters.iter().flat_map(actions);
        let found = found.map(|kind| Action {
            interface,
            ingress,
            kind,
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

/// What a filter does.
fn actions(message: &Raw) -> Vec<ActionKind> {
    let Some(bytes) = message.bytes.get(HEADER..) else {
        return Vec::new();
    };
    let attributes = Attributes(bytes);
    let kind = attributes.text(KIND).unwrap_or_default();
    let Some((_, actions, own)) = ACTIONS.iter().find(|(known, ..)| *known == kind) else {
        return Vec::new();
    };
    let options = attributes.inside(OPTIONS);
    let listed = options.inside(*actions);
    let mut found: Vec<ActionKind> = listed
        .iter()
        .filter_map(|(_, action)| action_kind(Attributes(action)))
        .collect();
    found.extend(own.and_then(|own| policer(options.inside(own))));
    found
}

fn action_kind(action: Attributes<'_>) -> Option<ActionKind> {
    match action.text(KIND)?.as_str() {
        "police" => policer(action.inside(OPTIONS)),
        "mirred" => redirect(action.inside(OPTIONS)),
        _ => None,
    }
}

/// `struct tc_police`: index, action, limit, burst and MTU, four bytes each.
fn policer(options: Attributes<'_>) -> Option<ActionKind> {
    let police = options.get(POLICE)?;
    Some(ActionKind::Police {
        mtu: field(police, 16)?,
        drops: field(police, 4)? == DROP,
    })
}

/// `struct tc_mirred`: five fields that all actions have, what is done, and the ifindex, four bytes each.
fn redirect(options: Attributes<'_>) -> Option<ActionKind> {
    let mirred = options.get(MIRRED)?;
    let to = field(mirred, 24)?;
    (field(mirred, 20)? == REDIRECT).then_some(ActionKind::Redirect { to })
}

fn field(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
