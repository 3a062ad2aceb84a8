//! The kernel's network emulator as an interface's queue: rate, delay, jitter, loss.
//!
//! Numbers: include/uapi/linux/pkt_sched.h and rtnetlink.h.

use super::rtnetlink::ask;
use super::{Lane, Queue, nanos};
use crate::{Error, Link};
use netlink_packet_core::{DefaultNla, Emitable, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};

/// `TCA_OPTIONS`.
const OPTIONS: u16 = 2;
/// `TCA_NETEM_RATE`, `_RATE64`, `_LATENCY64`, `_JITTER64`.
const RATE: u16 = 6;
const RATE_64: u16 = 8;
const LATENCY_64: u16 = 10;
const JITTER_64: u16 = 11;
/// Preamble, check sequence and gap of Ethernet, as of the path's own links.
const OVERHEAD: i32 = 24;

/// Lets an interface of the calling thread's namespace send as a line does.
pub(super) fn set(name: &str, lane: &Lane, mtu: u32) -> Result<(), Error> {
    let mut message = TcMessage::default();
    message.header.index = i32::try_from(Link::named(name)?.index()).unwrap_or(i32::MAX);
    message.header.parent = TcHandle::ROOT;
    message.attributes = vec![
        TcAttribute::Kind("netem".to_owned()),
        TcAttribute::Other(DefaultNla::new(OPTIONS, options(lane, mtu))),
    ];
    let message = RouteNetlinkMessage::NewQueueDiscipline(message);
    let action = format!("make {name} a line with netem");
    ask(message, NLM_F_CREATE | NLM_F_EXCL, &action)
}

/// `struct tc_netem_qopt`, whose times the attributes behind it replace.
fn options(lane: &Lane, mtu: u32) -> Vec<u8> {
    let loss = (lane.loss.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32;
    let fixed = [0, frames(lane.queue, mtu), loss, 0, 0, 0];
    let mut bytes = fixed.map(u32::to_ne_bytes).concat();
    let mut attributes = vec![
        number(LATENCY_64, nanos(lane.delay)),
        number(JITTER_64, nanos(lane.jitter)),
    ];
    if let Some(rate) = lane.rate_bps {
        attributes.extend(of_rate(rate / 8));
    }
    let mut behind = vec![0; attributes.as_slice().buffer_len()];
    attributes.as_slice().emit(&mut behind);
    bytes.extend(behind);
    bytes
}

/// `struct tc_netem_rate`: bytes a second, and what each frame has besides.
fn of_rate(bytes_per_s: u64) -> [DefaultNla; 2] {
    let small = u32::try_from(bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes();
    let fields = [small, OVERHEAD.to_ne_bytes(), [0; 4], [0; 4]];
    [
        number(RATE_64, bytes_per_s),
        DefaultNla::new(RATE, fields.concat()),
    ]
}

fn number(kind: u16, value: u64) -> DefaultNla {
    DefaultNla::new(kind, value.to_ne_bytes().to_vec())
}

/// netem counts frames where the path's own links count bytes.
fn frames(queue: Queue, mtu: u32) -> u32 {
    let frames = match queue {
        Queue::Frames(frames) => frames,
        Queue::Bytes(bytes) => bytes / mtu.max(1) as usize,
    };
    u32::try_from(frames).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_line_is_said_in_the_kernels_units() {
        let mut lane = Lane::new(100_000_000, Duration::from_micros(100));
        lane.queue = Queue::Bytes(15_000);
        lane.loss = 1.0;
        let said = options(&lane, 1500);
        assert_eq!(said[4..8], 10u32.to_ne_bytes());
        assert_eq!(said[8..12], [0xff; 4]);
        // The first attribute behind the 24 bytes: 12 bytes, latency in ns.
        assert_eq!(said[24..28], [12, 0, 10, 0]);
        assert_eq!(said[28..36], 100_000u64.to_ne_bytes());
        // Then the jitter's, and that of the rate: bytes a second.
        assert_eq!(said[48..52], [12, 0, 8, 0]);
        assert_eq!(said[52..60], 12_500_000u64.to_ne_bytes());
    }
}
