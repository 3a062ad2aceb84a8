//! The short way for what most frames are: an IP header directly behind the link's, TCP directly
//! behind it, payload, and no flag but ACK, PSH and ECE.
//!
//! It takes a frame that joins what is held, or that is the first of its flow, under a profile of
//! which all rules are comparisons; everything else is left to the general path, which would
//! decide the same (`tests/all/paths.rs`).
//!
//! A frame is not taken apart to see whether it joins. Where its headers agree with held ones in
//! every bit that must be equal, it is of the same shape and the same flow; what is left to look
//! at is length, sequence number, identification and flags.

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

/// Whether the checksum of the IP header is right, if it must be and there is one.
#[inline(always)]
pub(crate) fn is_ip_sound<const LINK: usize, const IP: usize>(
    rules: &PlainRules,
    head: &Head,
) -> bool {
    IP == 40 || !rules.check_ipv4 || header_is_sound::<LINK>(head)
}
