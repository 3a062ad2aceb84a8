//! Where each header of a frame starts, for programs that change headers.

use crate::cursor::Layer;
use crate::framing::ether_types;
use crate::packet::Ip;
use crate::{transport, tunnel};

/// A header that the walk passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeaderKind {
    /// Ethernet, with its type field.
    Ethernet,
    /// One VLAN tag: TCI and the next EtherType.
    Vlan,
    /// PPPoE session header.
    Pppoe,
    /// PPP protocol field.
    Ppp,
    /// An MPLS label stack.
    Mpls,
    /// IPv4 with its options.
    Ipv4,
    /// IPv6 with its extension headers.
    Ipv6,
    /// GRE, and ERSPAN's header if there is one.
    Gre,
    /// TCP.
    Tcp,
    /// UDP, and the VXLAN or Geneve header behind it if a header follows this one.
    Udp,
}

impl HeaderKind {
    /// The header at which a layer starts; `None` where the layer only decides which header comes next.
    pub(crate) fn of_layer(layer: Layer) -> Option<Self> {
        match layer {
            Layer::Ethernet => Some(Self::Ethernet),
            Layer::EtherType(
                ether_types::VLAN | ether_types::SERVICE_VLAN | ether_types::OLD_SERVICE_VLAN,
            ) => Some(Self::Vlan),
            Layer::EtherType(ether_types::PPPOE_SESSION) => Some(Self::Pppoe),
            Layer::EtherType(_) | Layer::Ip => None,
            Layer::Ipv4 => Some(Self::Ipv4),
            Layer::Ipv6 => Some(Self::Ipv6),
            Layer::Ppp => Some(Self::Ppp),
            Layer::Mpls => Some(Self::Mpls),
        }
    }

    /// The header that starts an IP payload. IP in IP is noted as a layer of its own.
    pub(crate) fn in_ip(ip: &Ip) -> Option<Self> {
        if ip.is_later_fragment() {
            return None;
        }
        match ip.protocol {
            transport::TCP => Some(Self::Tcp),
            transport::UDP => Some(Self::Udp),
            tunnel::GRE => Some(Self::Gre),
            _ => None,
        }
    }
}

/// A header's kind and place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: HeaderKind,
    /// Where it starts in the frame, in bytes.
    pub offset: u16,
}

/// How many headers are kept: more than any stack of tunnels that a merge engine accepts.
const KEPT: usize = 16;

/// The headers of a frame, outermost first. More than sixteen are counted, not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    list: [Header; KEPT],
    count: u8,
}

impl Default for Headers {
    fn default() -> Self {
        let unused = Header {
            kind: HeaderKind::Ethernet,
            offset: 0,
        };
        Self {
            list: [unused; KEPT],
            count: 0,
        }
    }
}

impl Headers {
    pub(crate) fn push(&mut self, kind: HeaderKind, offset: usize) {
        // An offset beyond 65,535 is no place where a merge engine looks for headers.
        let offset = u16::try_from(offset).unwrap_or(u16::MAX);
        if let Some(slot) = self.list.get_mut(usize::from(self.count)) {
            *slot = Header { kind, offset };
        }
        self.count = self.count.saturating_add(1);
    }

    /// The headers kept, outermost first.
    #[must_use]
    pub fn as_slice(&self) -> &[Header] {
        self.list
            .get(..usize::from(self.count))
            .unwrap_or(&self.list)
    }

    /// Whether there were more than are kept.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        usize::from(self.count) > KEPT
    }
}
