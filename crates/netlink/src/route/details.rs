//! Properties of single kinds of links.

use super::tunnel::{self, Tunnel};
use netlink_packet_core::Nla;
use netlink_packet_route::link::{
    BridgePortState, BridgeStpState, InfoBond, InfoBridge, InfoBridgePort, InfoData, InfoIpVlan,
    InfoMacVlan, InfoMacVtap, InfoPortData, InfoTun, InfoVlan, IpVlanMode, MacVlanMode,
    MacVtapMode, VlanProtocol as Library,
};

/// `IFLA_TUN_TYPE` and `IFLA_TUN_VNET_HDR`, which the library does not name.
const TUN_TYPE: u16 = 3;
const TUN_VNET_HEADER: u16 = 5;
/// `IFF_TAP`.
const TAP: u8 = 2;

/// Properties that only one kind of link has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Details {
    /// None that is read.
    #[default]
    None,
    /// A bridge.
    Bridge {
        /// VLAN filtering.
        vlan_filtering: Option<bool>,
        /// Spanning tree, the kernel's or another's.
        stp: Option<bool>,
    },
    /// A bond.
    Bond {
        /// `balance-rr`, `802.3ad` and so on.
        mode: Option<String>,
    },
    /// A VLAN.
    Vlan {
        /// VLAN id.
        id: Option<u16>,
        /// Kind of tag.
        protocol: Option<VlanProtocol>,
    },
    /// A TUN or TAP.
    Tun {
        /// Whether it carries Ethernet frames (TAP) rather than packets (TUN).
        tap: Option<bool>,
        /// Whether packets carry a virtio-net header.
        vnet_header: Option<bool>,
    },
    /// The mode of a macvlan, macvtap or ipvlan: `bridge`, `passthru`, `l3`.
    Mode(&'static str),
    /// A tunnel.
    Tunnel(Tunnel),
}

/// Kind of a VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VlanProtocol {
    /// 802.1Q.
    Customer,
    /// 802.1ad.
    Service,
}

/// Properties of a link as a port of its master.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// Of a bridge.
    Bridge {
        /// `disabled`, `listening`, `learning`, `forwarding` or `blocking`.
        state: Option<&'static str>,
        /// Whether frames may leave through the port that they came in by.
        hairpin: Option<bool>,
    },
    /// Of a bond, a VRF or another.
    Other,
}

pub(super) fn read(data: InfoData) -> Details {
    match &data {
        InfoData::Bridge(bridge) => read_bridge(bridge),
        InfoData::Bond(bond) => read_bond(bond),
        InfoData::Vlan(vlan) => read_vlan(vlan),
        InfoData::Tun(tun) => read_tun(tun),
        InfoData::MacVlan(_) | InfoData::MacVtap(_) | InfoData::IpVlan(_) => read_mode(&data),
        _ => tunnel::read(data).map_or(Details::None, Details::Tunnel),
    }
}

pub(super) fn read_port(data: InfoPortData) -> Option<Port> {
    let InfoPortData::BridgePort(port) = data else {
        return Some(Port::Other);
    };
    Some(Port::Bridge {
        state: port.iter().find_map(|attribute| match attribute {
            InfoBridgePort::State(state) => port_state(*state),
            _ => None,
        }),
        hairpin: port.iter().find_map(|attribute| match attribute {
            InfoBridgePort::HairpinMode(on) => Some(*on),
            _ => None,
        }),
    })
}

fn port_state(state: BridgePortState) -> Option<&'static str> {
    match state {
        BridgePortState::Disabled => Some("disabled"),
        BridgePortState::Listening => Some("listening"),
        BridgePortState::Learning => Some("learning"),
        BridgePortState::Forwarding => Some("forwarding"),
        BridgePortState::Blocking => Some("blocking"),
        _ => None,
    }
}

fn read_bridge(attributes: &[InfoBridge]) -> Details {
    Details::Bridge {
        vlan_filtering: attributes.iter().find_map(|attribute| match attribute {
            InfoBridge::VlanFiltering(on) => Some(*on),
            _ => None,
        }),
        stp: attributes.iter().find_map(|attribute| match attribute {
            InfoBridge::StpState(state) => Some(*state != BridgeStpState::Disabled),
            _ => None,
        }),
    }
}

fn read_bond(attributes: &[InfoBond]) -> Details {
    let mode = attributes.iter().find_map(|attribute| match attribute {
        InfoBond::Mode(mode) => Some(mode.to_string()),
        _ => None,
    });
    Details::Bond { mode }
}

fn read_vlan(attributes: &[InfoVlan]) -> Details {
    Details::Vlan {
        id: attributes.iter().find_map(|attribute| match attribute {
            InfoVlan::Id(id) => Some(*id),
            _ => None,
        }),
        protocol: attributes.iter().find_map(|attribute| match attribute {
            InfoVlan::Protocol(Library::Ieee8021Q) => Some(VlanProtocol::Customer),
            InfoVlan::Protocol(Library::Ieee8021Ad) => Some(VlanProtocol::Service),
            _ => None,
        }),
    }
}

fn read_tun(attributes: &[InfoTun]) -> Details {
    let byte = |kind| {
        attributes.iter().find_map(|attribute| match attribute {
            InfoTun::Other(other) if other.kind() == kind && other.value_len() == 1 => {
                let mut value = [0];
                other.emit_value(&mut value);
                Some(value[0])
            }
            _ => None,
        })
    };
    Details::Tun {
        tap: byte(TUN_TYPE).map(|kind| kind == TAP),
        vnet_header: byte(TUN_VNET_HEADER).map(|on| on != 0),
    }
}

fn read_mode(data: &InfoData) -> Details {
    let mode = match data {
        InfoData::MacVlan(all) => all.iter().find_map(|attribute| match attribute {
            InfoMacVlan::Mode(mode) => macvlan_mode(*mode),
            _ => None,
        }),
        InfoData::MacVtap(all) => all.iter().find_map(|attribute| match attribute {
            InfoMacVtap::Mode(mode) => macvtap_mode(*mode),
            _ => None,
        }),
        InfoData::IpVlan(all) => all.iter().find_map(|attribute| match attribute {
            InfoIpVlan::Mode(mode) => ipvlan_mode(*mode),
            _ => None,
        }),
        _ => None,
    };
    mode.map_or(Details::None, Details::Mode)
}

fn macvlan_mode(mode: MacVlanMode) -> Option<&'static str> {
    match mode {
        MacVlanMode::Private => Some("private"),
        MacVlanMode::Vepa => Some("vepa"),
        MacVlanMode::Bridge => Some("bridge"),
        MacVlanMode::Passthrough => Some("passthru"),
        MacVlanMode::Source => Some("source"),
        _ => None,
    }
}

fn macvtap_mode(mode: MacVtapMode) -> Option<&'static str> {
    match mode {
        MacVtapMode::Private => Some("private"),
        MacVtapMode::Vepa => Some("vepa"),
        MacVtapMode::Bridge => Some("bridge"),
        MacVtapMode::Passthrough => Some("passthru"),
        MacVtapMode::Source => Some("source"),
        _ => None,
    }
}

fn ipvlan_mode(mode: IpVlanMode) -> Option<&'static str> {
    match mode {
        IpVlanMode::L2 => Some("l2"),
        IpVlanMode::L3 => Some("l3"),
        IpVlanMode::L3S => Some("l3s"),
        _ => None,
    }
}
