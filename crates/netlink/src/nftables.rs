//! NAT with nftables: chains listed, and masquerading set up without `nft`.
//!
//! Numbers: include/uapi/linux/netfilter/nf_tables.h and nfnetlink.h. Both take `CAP_NET_ADMIN`.
//! Opening the socket may load a module: list only where `nf_tables` is in the kernel already.

mod lengths;
mod masquerade;

pub use lengths::{Chain, Lengths, Rule, Verdict, filter_chains};
pub use masquerade::masquerade;

use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_NETFILTER;

/// `NFNL_SUBSYS_NFTABLES`.
const NF_TABLES: u16 = 10;
/// `NFT_MSG_GETCHAIN`.
const GET_CHAIN: u16 = (NF_TABLES << 8) | 4;
/// `struct nfgenmsg`: family (any), version, number.
const HEADER: [u8; 4] = [0; 4];
const TABLE: u16 = 1;
const NAME: u16 = 3;
const HOOK: u16 = 4;
const USE: u16 = 6;
const TYPE: u16 = 7;

/// A base chain of type `nat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatChain {
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// Rules in it.
    pub rules: u32,
}

/// The chains of type `nat` that are hooked into the calling thread's namespace and have rules,
/// those of iptables-nft among them.
pub fn nat_chains() -> Result<Vec<NatChain>, Error> {
    let socket = Socket::open(NETLINK_NETFILTER)?;
    let request = Raw {
        kind: GET_CHAIN,
        bytes: HEADER.to_vec(),
    };
    let answers = socket.dump(&request, "list the chains of nftables")?;
    let chains = answers.iter().filter_map(chain);
    Ok(chains.filter(|chain| chain.rules > 0).collect())
}

fn chain(message: &Raw) -> Option<NatChain> {
    let attributes = Attributes(message.bytes.get(HEADER.len()..)?);
    attributes.get(HOOK)?;
    let nat = attributes.text(TYPE)? == "nat";
    // No rule can jump to a base chain, so that its use count is the number of its rules.
    let rules = u32::from_be_bytes(*attributes.get(USE)?.first_chunk()?);
    nat.then(|| NatChain {
        table: attributes.text(TABLE).unwrap_or_default(),
        name: attributes.text(NAME).unwrap_or_default(),
        rules,
    })
}
