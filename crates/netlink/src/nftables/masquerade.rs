//! Masquerading: a table, a chain of source NAT and a rule, in one batch.

use super::{HOOK, NAME, NF_TABLES, TABLE, TYPE};
use crate::attributes::{bytes, emit, nest, string};
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_packet_core::{DefaultNla, NLM_F_CREATE};
use netlink_sys::protocols::NETLINK_NETFILTER;

/// `NFNL_MSG_BATCH_BEGIN` and `_END`.
const BEGIN: u16 = 0x10;
const END: u16 = 0x11;
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
/// `NFPROTO_IPV4`.
const IPV4: u8 = 2;
const OWN_TABLE: &str = "coalescope";
const OWN_CHAIN: &str = "postrouting";

/// Gives packets that leave the calling thread's namespace by this interface the interface's
/// address as their source. The rules are added in one transaction. The kernel may load its modules
/// of NAT for this.
pub fn masquerade(interface: &str) -> Result<(), Error> {
    let messages = [
        (NEW_TABLE, vec![string(TABLE, OWN_TABLE)]),
        (NEW_CHAIN, chain()),
        (NEW_RULE, rule(interface)),
    ];
    let message = |(number, attributes): (u16, Vec<DefaultNla>)| Raw {
        kind: (NF_TABLES << 8) | number,
        bytes: [&[IPV4, 0, 0, 0][..], &emit(&attributes)].concat(),
    };
    let action = format!("masquerade what leaves by {interface}");
    Socket::open(NETLINK_NETFILTER)?.batch(
        [end_of_batch(BEGIN), end_of_batch(END)],
        messages.map(message).into(),
        NLM_F_CREATE,
        &action,
    )
}

/// The `struct nfgenmsg` that begins or ends a batch for the subsystem.
fn end_of_batch(kind: u16) -> Raw {
    let [high, low] = NF_TABLES.to_be_bytes();
    Raw {
        kind,
        bytes: vec![0, 0, high, low],
    }
}

/// `NFTA_CHAIN_TABLE`, `_NAME`, `_HOOK` (number and priority), `_TYPE`.
fn chain() -> Vec<DefaultNla> {
    let hook = [number(1, POST_ROUTING), number(2, SOURCE_NAT)];
    vec![
        string(TABLE, OWN_TABLE),
        string(NAME, OWN_CHAIN),
        nest(HOOK, &hook),
        string(TYPE, "nat"),
    ]
}

/// `NFTA_RULE_TABLE`, `_CHAIN`, `_EXPRESSIONS`: load the output interface's name, compare, masquerade.
fn rule(interface: &str) -> Vec<DefaultNla> {
    let mut name = interface.as_bytes().to_vec();
    name.resize(NAME_LENGTH, 0);
    let load = [number(1, REGISTER), number(2, OUTPUT_NAME)];
    let value = nest(3, &[bytes(1, &name)]);
    let compare = [number(1, REGISTER), number(2, EQUAL), value];
    let expressions = [
        expression("meta", &load),
        expression("cmp", &compare),
        expression("masq", &[]),
    ];
    vec![
        string(1, OWN_TABLE),
        string(2, OWN_CHAIN),
        nest(4, &expressions),
    ]
}

/// `NFTA_LIST_ELEM` with `NFTA_EXPR_NAME` and `_DATA`.
fn expression(name: &str, data: &[DefaultNla]) -> DefaultNla {
    nest(1, &[string(1, name), nest(2, data)])
}

/// nftables' numbers are big-endian.
fn number(kind: u16, value: u32) -> DefaultNla {
    bytes(kind, &value.to_be_bytes())
}
