//! Sums of events.

use std::collections::{BTreeMap, HashMap};

use super::error::PerfError;
use super::event::{Description, Field};

/// Interfaces, and places of drops, at most: names come from whoever makes interfaces.
const MOST: usize = 8192;
/// Headers of the Ethernet link and two tags, which no MTU counts.
const LINK_ROOM: u64 = 22;
/// The MTU of an interface that has come since names were read.
const USUAL_MTU: u64 = 1500;
/// `SKB_GSO_TCPV4` and `SKB_GSO_TCPV6` (include/linux/skbuff.h).
const GSO_TCP: u64 = 0x11;
const IPV4: u64 = 0x0800;
const IPV6: u64 = 0x86dd;
/// What stands before the data of a frame: IP without options; TCP with timestamps, as most is sent; UDP.
const IPV4_HEADER: u64 = 20;
const IPV6_HEADER: u64 = 40;
const TCP_HEADER: u64 = 32;
const UDP_HEADER: u64 = 8;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A frame goes up to the protocols, after merging.
    Received,
    /// A driver hands a frame over, before the kernel merges it.
    Entered,
    /// A frame is to be sent, before it is cut.
    Queued,
    /// A driver gets a frame.
    Sent,
    /// A frame is dropped.
    Dropped,
}

/// Events by name. A driver has several ways to hand a frame over; which of them there are depends on the kernel.
pub(super) const EVENTS: [(&str, Kind); 10] = [
    ("net/napi_gro_receive_entry", Kind::Entered),
    ("net/napi_gro_frags_entry", Kind::Entered),
    ("net/netif_receive_skb_entry", Kind::Entered),
    ("net/netif_receive_skb_list_entry", Kind::Entered),
    ("net/netif_rx_entry", Kind::Entered),
    ("net/netif_rx_ni_entry", Kind::Entered),
    ("net/netif_receive_skb", Kind::Received),
    ("net/net_dev_queue", Kind::Queued),
    ("net/net_dev_start_xmit", Kind::Sent),
    ("skb/kfree_skb", Kind::Dropped),
];

/// Frames of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    /// Longer than the MTU, so merged.
    pub(crate) received_long: u64,
    /// Segments that drivers handed over.
    pub(crate) entered_segments: u64,
    pub(crate) queued: u64,
    pub(crate) queued_long: u64,
    pub(crate) sent: u64,
    pub(crate) sent_segments: u64,
    pub(crate) sent_merged: u64,
    pub(crate) sent_long: u64,
}

/// Where a frame was dropped: an address in the kernel, and the reason's number if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) location: u64,
    pub(crate) reason: Option<u64>,
}

/// Where the fields of an event stand.
#[derive(Debug)]
pub(super) enum Layout {
    /// Of an interface.
    Frame(Kind, Frame),
    /// Of a drop.
    Drop(Drop),
}

#[derive(Debug)]
pub(super) struct Frame {
    name: Field,
    bytes: Field,
    cut: Option<Cut>,
}

/// How a frame is to be cut.
#[derive(Debug)]
struct Cut {
    segment_bytes: Field,
    kind: Option<Field>,
    protocol: Option<Field>,
    /// The number of segments, if the event has it.
    segments: Option<Field>,
    /// Bytes before the network header.
    before: Option<Field>,
}

#[derive(Debug)]
pub(super) struct Drop {
    location: Field,
    protocol: Field,
    reason: Option<Field>,
}

impl Layout {
    pub(super) fn of(
        event: &'static str,
        kind: Kind,
        said: &Description,
    ) -> Result<Self, PerfError> {
        let field = |field| said.field(field).ok_or(PerfError::NoField { event, field });
        if kind == Kind::Dropped {
            return Ok(Self::Drop(Drop {
                location: field("location")?,
                protocol: field("protocol")?,
                reason: said.field("reason"),
            }));
        }
        let frame = Frame {
            name: field("name")?,
            bytes: field("len")?,
            cut: Cut::of(said),
        };
        if frame.cut.is_none() && matches!(kind, Kind::Entered | Kind::Sent) {
            field("gso_size")?;
        }
        Ok(Self::Frame(kind, frame))
    }
}

impl Cut {
    fn of(said: &Description) -> Option<Self> {
        Some(Self {
            segment_bytes: said.field("gso_size")?,
            kind: said.field("gso_type"),
            protocol: said.field("protocol"),
            segments: said.field("gso_segs"),
            before: said.field("network_offset"),
        })
    }

    /// Segments in a frame of so many bytes: 1 if it is not merged.
    fn segments(&self, raw: &[u8], bytes: u64) -> u64 {
        let of = |field: Option<Field>| field.and_then(|field| field.number(raw));
        let each = self.segment_bytes.number(raw).unwrap_or(0);
        if each == 0 {
            return 1;
        }
        if let Some(known) = of(self.segments).filter(|known| *known > 0) {
            return known;
        }
        let network = match of(self.protocol) {
            Some(IPV6) => IPV6_HEADER,
            _ => IPV4_HEADER,
        };
        let is_tcp = of(self.kind).is_some_and(|kind| kind & GSO_TCP != 0);
        let transport = if is_tcp { TCP_HEADER } else { UDP_HEADER };
        let before = of(self.before).unwrap_or(0);
        let data = bytes.saturating_sub(before.saturating_add(network + transport));
        data.div_ceil(each).max(1)
    }
}

/// An interface, by its name alone: events have neither its number nor its namespace.
#[derive(Debug, Default)]
struct Interface {
    mtu: Option<u64>,
    counted: Counted,
}

/// Sums of all events that were read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    interfaces: HashMap<Box<[u8]>, Interface>,
    pub(super) drops: BTreeMap<Place, u64>,
    pub(super) lost_frames: u64,
    pub(super) lost_drops: u64,
}

impl Tally {
    /// Sets how long the frames of an interface may be.
    pub(super) fn set_mtu(&mut self, name: &str, mtu: Option<u64>) {
        if let Some(interface) = self.interface(name.as_bytes()) {
            interface.mtu = mtu;
        }
    }

    /// Frames of interfaces that had any, by name.
    pub(super) fn counted(&self) -> BTreeMap<String, Counted> {
        let all = self.interfaces.iter();
        let moved = all.filter(|(_, one)| one.counted != Counted::default());
        let named = moved.map(|(name, one)| {
            let name = String::from_utf8_lossy(name).into_owned();
            (name, one.counted)
        });
        named.collect()
    }

    /// Adds an event. One that is cut off is none.
    pub(super) fn add(&mut self, layout: &Layout, raw: &[u8]) {
        match layout {
            Layout::Frame(kind, frame) => self.add_frame(*kind, frame, raw),
            Layout::Drop(drop) => self.add_drop(drop, raw),
        };
    }

    fn add_frame(&mut self, kind: Kind, frame: &Frame, raw: &[u8]) -> Option<()> {
        let bytes = frame.bytes.number(raw)?;
        let cut = frame.cut.as_ref();
        let segments = cut.map_or(1, |cut| cut.segments(raw, bytes));
        let Some(interface) = self.interface(frame.name.text(raw)?) else {
            self.lost_frames += 1;
            return None;
        };
        interface.add(kind, bytes, segments);
        Some(())
    }

    fn add_drop(&mut self, drop: &Drop, raw: &[u8]) -> Option<()> {
        // Messages between sockets of this host, and netlink's, are dropped by the same event.
        let protocol = drop.protocol.number(raw)?;
        if protocol != IPV4 && protocol != IPV6 {
            return None;
        }
        let place = Place {
            location: drop.location.number(raw)?,
            reason: drop.reason.and_then(|reason| reason.number(raw)),
        };
        if self.drops.len() >= MOST && !self.drops.contains_key(&place) {
            self.lost_drops += 1;
            return None;
        }
        *self.drops.entry(place).or_default() += 1;
        Some(())
    }

    /// None if there is no room for one more.
    fn interface(&mut self, name: &[u8]) -> Option<&mut Interface> {
        if !self.interfaces.contains_key(name) {
            if self.interfaces.len() >= MOST * 4 {
                return None;
            }
            self.interfaces.insert(name.into(), Interface::default());
        }
        self.interfaces.get_mut(name)
    }
}

impl Interface {
    fn add(&mut self, kind: Kind, bytes: u64, segments: u64) {
        let is_long = u64::from(bytes > self.mtu.unwrap_or(USUAL_MTU) + LINK_ROOM);
        let is_merged = u64::from(segments > 1);
        let counted = &mut self.counted;
        match kind {
            Kind::Entered => counted.entered_segments += segments,
            Kind::Received => {
                counted.received += 1;
                counted.received_bytes += bytes;
                counted.received_long += is_long;
            }
            Kind::Queued => {
                counted.queued += 1;
                counted.queued_long += is_long;
            }
            Kind::Sent => {
                counted.sent += 1;
                counted.sent_segments += segments;
                counted.sent_merged += is_merged;
                counted.sent_long += is_long;
            }
            Kind::Dropped => {}
        }
    }
}

#[cfg(test)]
mod tests;
