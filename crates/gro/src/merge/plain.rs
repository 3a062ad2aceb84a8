//! The short path for most frames: an IP header directly behind the link's, TCP directly behind the IP header, payload,
//! and no flag but ACK, PSH and ECE.
//!
//! The short path takes a frame that joins a held one, or that is the first of its flow, under a profile whose rules
//! are all comparisons; any other frame is left to the general path, which would decide the same
//! (`tests/all/paths.rs`).
//!
//! A frame is not parsed to decide whether it joins. Where its headers agree with held ones in every bit that must be
//! equal, the frame has the same shape and the same flow; only length, sequence number, identification and flags are
//! left to check.

mod alike;
mod finish;
mod head;
mod rules;
mod templates;

use crate::frame::template::PLAIN_HEADER;

pub(crate) use alike::{alike, expect, grow};
pub(crate) use finish::finish;
pub(crate) use head::{
    be16, hash, header_is_sound, is_fragment, is_whole, place, pseudo_sum, segment_is_sound,
    version,
};
pub(crate) use rules::{ALL, IPV4_HEADERS, NOTHING, PlainRules};
pub(crate) use templates::{PlainTemplates, number};

/// The first bytes of a frame, as many as plain headers can be long.
pub(crate) type Head = [u8; PLAIN_HEADER];

/// Whether the checksum of the IP header is right, if it must be verified and there is one.
#[inline(always)]
pub(crate) fn is_ip_sound<const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    head: &Head,
) -> bool {
    IP == 40 || !rules.check_ipv4 || header_is_sound::<LINK>(head)
}
