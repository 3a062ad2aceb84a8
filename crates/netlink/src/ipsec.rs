//! ESP tunnels with publicly known keys: for namespaces of the lab.
//!
//! Messages are of `netlink-packet-xfrm`; numbers: include/uapi/linux/xfrm.h.

use crate::error::Error;
use crate::socket::Socket;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_xfrm::{
    Address, AlgAead, Id, Selector, UserPolicyInfo, UserSaInfo, UserTemplate, XFRM_MODE_TUNNEL,
    XFRM_POLICY_FWD, XFRM_POLICY_IN, XFRM_POLICY_OUT, XfrmAttrs, XfrmMessage, policy, state,
};
use netlink_sys::protocols::NETLINK_XFRM;
use nix::libc;
use std::net::{IpAddr, Ipv4Addr};

/// `IPPROTO_ESP`.
const ESP: u8 = 50;
/// `AF_INET`.
const IPV4: u16 = libc::AF_INET as u16;
/// AES in Galois/counter mode (RFC 4106): 16 bytes of a key and 4 of salt, 16 of a check value.
const CIPHER: &str = "rfc4106(gcm(aes))";
const KEY: [u8; 20] = *b"known to everybody..";
const CHECK_VALUE_BITS: u32 = 128;
/// The replay window: how far behind the newest packet one may be. `struct xfrm_usersa_info` has no larger one.
const REPLAY_WINDOW: u8 = 32;
/// The request id that links policies to states.
const REQUEST: u32 = 1;

/// One end of a tunnel between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// This host's address outside of the tunnel.
    pub here: Ipv4Addr,
    /// The other host's address outside of the tunnel.
    pub there: Ipv4Addr,
    /// Networks, with their prefixes, that are reached through the tunnel.
    pub beyond: Vec<(Ipv4Addr, u8)>,
}

impl Tunnel {
    /// Makes the tunnel in the calling thread's namespace: from then on packets to the networks
    /// beyond are encrypted. Received packets may come in the tunnel or outside of it. The other
    /// host needs its own end.
    ///
    /// # Errors
    ///
    /// [`Error::is_unsupported`] if the kernel has no IPsec, ESP or AES-GCM.
    pub fn add(&self) -> Result<(), Error> {
        let action = format!("make an ESP tunnel from {} to {}", self.here, self.there);
        let socket = Socket::open(NETLINK_XFRM)?;
        self.messages().into_iter().try_for_each(|message| {
            let asked = socket.ask(message, NLM_F_CREATE | NLM_F_EXCL, &action);
            asked.map(drop)
        })
    }

    fn messages(&self) -> Vec<XfrmMessage> {
        let (out, back) = ([self.here, self.there], [self.there, self.here]);
        let any = (Ipv4Addr::UNSPECIFIED, 0);
        let beyond = self.beyond.iter();
        let mut all = vec![
            association(out),
            association(back),
            policy(XFRM_POLICY_IN, back, any),
            policy(XFRM_POLICY_FWD, back, any),
        ];
        all.extend(beyond.map(|&network| policy(XFRM_POLICY_OUT, out, network)));
        all
    }
}

/// The state (security association) that encrypts packets from one end to the other.
fn association(ends: [Ipv4Addr; 2]) -> XfrmMessage {
    let mut info = UserSaInfo {
        id: id(ends),
        saddr: address(ends[0]),
        reqid: REQUEST,
        family: IPV4,
        mode: XFRM_MODE_TUNNEL,
        replay_window: REPLAY_WINDOW,
        ..UserSaInfo::default()
    };
    info.selector.family = IPV4;
    let mut cipher = AlgAead {
        alg_name: [0; 64],
        alg_key_len: 8 * KEY.len() as u32,
        alg_icv_len: CHECK_VALUE_BITS,
        alg_key: KEY.into(),
    };
    cipher.alg_name[..CIPHER.len()].copy_from_slice(CIPHER.as_bytes());
    XfrmMessage::AddSa(state::ModifyMessage {
        user_sa_info: info,
        nlas: vec![XfrmAttrs::EncryptionAlgAead(cipher)],
    })
}

/// A policy for packets to a network. Outbound packets have to be put into the tunnel; inbound and
/// forwarded ones may have come out of it.
fn policy(direction: u8, ends: [Ipv4Addr; 2], to: (Ipv4Addr, u8)) -> XfrmMessage {
    let selector = Selector {
        daddr: address(to.0),
        prefixlen_d: to.1,
        family: IPV4,
        ..Selector::default()
    };
    // The template has no SPI: the request id links it to the state.
    let template = UserTemplate {
        id: Id { spi: 0, ..id(ends) },
        family: IPV4,
        saddr: address(ends[0]),
        reqid: REQUEST,
        mode: XFRM_MODE_TUNNEL,
        optional: u8::from(direction != XFRM_POLICY_OUT),
        ..UserTemplate::default()
    };
    XfrmMessage::AddPolicy(policy::ModifyMessage {
        user_policy_info: UserPolicyInfo {
            selector,
            direction,
            ..UserPolicyInfo::default()
        },
        nlas: vec![XfrmAttrs::Template(vec![template])],
    })
}

/// The sender's address serves as the SPI, since there is one association for each direction. SPIs
/// up to 255 are reserved (RFC 4303 section 2.1).
fn id(ends: [Ipv4Addr; 2]) -> Id {
    Id {
        daddr: address(ends[1]),
        spi: u32::from(ends[0]),
        proto: ESP,
    }
}

fn address(address: Ipv4Addr) -> Address {
    Address::from_ip(&IpAddr::V4(address))
}
