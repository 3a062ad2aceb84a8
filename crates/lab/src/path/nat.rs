//! Masquerading, through nf_tables' own netlink messages: neither `nft` nor `iptables` is needed.
//!
//! Numbers: include/uapi/linux/netfilter/nf_tables.h and nfnetlink.h.

use super::rtnetlink::answer;
use crate::Error;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_NETFILTER;

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const CREATE: u16 = 0x400;
/// `NFNL_MSG_BATCH_BEGIN` and `_END`: all of it happens, or nothing.
const BEGIN: u16 = 0x10;
const END: u16 = 0x11;
/// `NFNL_SUBSYS_NFTABLES`.
const NF_TABLES: u16 = 10;
const NEW_TABLE: u16 = 0;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
/// `NF_INET_POST_ROUTING`, and `NF_IP_PRI_NAT_SRC`.
const POST_ROUTING: u32 = 4;
const SOURCE_NAT: u32 = 100;
/// `NFT_META_OIFNAME`, `NFT_REG_1`, `NFT_CMP_EQ`.
const OUTPUT_NAME: u32 = 7;
const REGISTER: u32 = 1;
const EQUAL: u32 = 0;
/// `IFNAMSIZ`.
const NAME_LENGTH: usize = 16;
const NESTED: u16 = 0x8000;
const TABLE: &str = "coalescope";
const CHAIN: &str = "postrouting";

/// What leaves the calling thread's namespace by this interface gets the interface's address as its
/// source.
pub(super) fn masquerade(interface: &str) -> Result<(), Error> {
    let action = format!("masquerade what leaves by {interface}");
    let batch = [
        message(BEGIN, REQUEST, &[]),
        message(ours(NEW_TABLE), REQUEST | ACK | CREATE, &table()),
        message(ours(NEW_CHAIN), REQUEST | ACK | CREATE, &chain()),
        message(ours(NEW_RULE), REQUEST | ACK | CREATE, &rule(interface)),
        message(END, REQUEST, &[]),
    ];
    let socket = Socket::new(NETLINK_NETFILTER).map_err(Error::io(action.clone()))?;
    let sent = socket.send(&batch.concat(), 0);
    sent.map_err(Error::io(action.clone()))?;
    (0..3).try_for_each(|_| answer(&socket, &action))
}

fn ours(number: u16) -> u16 {
    (NF_TABLES << 8) | number
}

/// `struct nlmsghdr` and `struct nfgenmsg` in front of the attributes.
fn message(kind: u16, flags: u16, attributes: &[u8]) -> Vec<u8> {
    /// `NFPROTO_IPV4`, except of the batch's ends.
    const IPV4: u8 = 2;
    let (family, resource) = match kind {
        BEGIN | END => (0, NF_TABLES.to_be_bytes()),
        _ => (IPV4, [0, 0]),
    };
    let mut bytes = ((20 + attributes.len()) as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([family, 0, resource[0], resource[1]]);
    bytes.extend(attributes);
    bytes
}

fn table() -> Vec<u8> {
    text(1, TABLE)
}

/// `NFTA_CHAIN_TABLE`, `_NAME`, `_HOOK` (number and priority), `_TYPE`.
fn chain() -> Vec<u8> {
    let hook = [number(1, POST_ROUTING), number(2, SOURCE_NAT)].concat();
    [
        text(1, TABLE),
        text(3, CHAIN),
        nest(4, &hook),
        text(7, "nat"),
    ]
    .concat()
}

/// `NFTA_RULE_TABLE`, `_CHAIN`, `_EXPRESSIONS`: load the output's name, compare, masquerade.
fn rule(interface: &str) -> Vec<u8> {
    let mut name = interface.as_bytes().to_vec();
    name.resize(NAME_LENGTH, 0);
    let load = [number(1, REGISTER), number(2, OUTPUT_NAME)].concat();
    let value = nest(3, &attribute(1, &name));
    let compare = [number(1, REGISTER), number(2, EQUAL), value].concat();
    let expressions = [
        expression("meta", &load),
        expression("cmp", &compare),
        expression("masq", &[]),
    ];
    let expressions = nest(4, &expressions.concat());
    [text(1, TABLE), text(2, CHAIN), expressions].concat()
}

/// `NFTA_LIST_ELEM` with `NFTA_EXPR_NAME` and `_DATA`.
fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    nest(1, &[text(1, name), nest(2, data)].concat())
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), &[0]].concat())
}

fn nest(kind: u16, inside: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, inside)
}

/// `struct nlattr`, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
