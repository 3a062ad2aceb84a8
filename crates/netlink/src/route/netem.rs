//! The kernel's network emulator as an interface's qdisc.
//!
//! Numbers: include/uapi/linux/pkt_sched.h and rtnetlink.h.

use super::Route;
use crate::attributes::{bytes, emit};
use crate::error::Error;
use netlink_packet_core::{DefaultNla, NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};

/// `TCA_OPTIONS`.
const OPTIONS: u16 = 2;
/// `TCA_NETEM_RATE`, `_RATE64`, `_LATENCY64`, `_JITTER64`, `_SLOT`.
const RATE: u16 = 6;
const RATE_64: u16 = 8;
const LATENCY_64: u16 = 10;
const JITTER_64: u16 = 11;
const SLOT: u16 = 12;

/// Arguments of netem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Netem {
    /// Delay of each frame, in nanoseconds.
    pub delay_ns: u64,
    /// Random change of the delay in both directions, at most, in nanoseconds. Without a rate it reorders frames.
    pub jitter_ns: u64,
    /// Probability of loss, 0 to 1.
    pub loss: f64,
    /// Bytes per second; `None` for no limit.
    pub rate_bytes_per_s: Option<u64>,
    /// Bytes that are added to each frame's length for the rate.
    pub overhead_bytes: i32,
    /// Limit of the queue in frames; delayed frames count.
    pub frames: u32,
    /// Slots: frames leave together, with a gap between this minimum and this maximum, in nanoseconds.
    pub slot_ns: Option<[u64; 2]>,
}

impl Route {
    /// Puts netem on an interface. This takes a kernel with `sch_netem`, whose module the kernel loads.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the kernel has no netem.
    pub fn add_netem(&self, name: &str, index: u32, netem: &Netem) -> Result<(), Error> {
        let mut message = TcMessage::default();
        message.header.index = i32::try_from(index).unwrap_or(i32::MAX);
        message.header.parent = TcHandle::ROOT;
        message.attributes = vec![
            TcAttribute::Kind("netem".to_owned()),
            TcAttribute::Other(DefaultNla::new(OPTIONS, options(netem))),
        ];
        let message = RouteNetlinkMessage::NewQueueDiscipline(message);
        let action = format!("make {name} a line with netem");
        let asked = self.ask(message, NLM_F_CREATE | NLM_F_EXCL, &action);
        asked.map(drop)
    }
}

/// `struct tc_netem_qopt`; its times are replaced by attributes after it.
fn options(netem: &Netem) -> Vec<u8> {
    let loss = (netem.loss.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32;
    let fixed = [0, netem.frames.max(1), loss, 0, 0, 0];
    let mut options = fixed.map(u32::to_ne_bytes).concat();
    let mut behind = vec![
        number(LATENCY_64, netem.delay_ns),
        number(JITTER_64, netem.jitter_ns),
    ];
    if let Some(rate) = netem.rate_bytes_per_s {
        behind.extend(of_rate(rate, netem.overhead_bytes));
    }
    if let Some([least, most]) = netem.slot_ns {
        // `struct tc_netem_slot`: both gaps, then packets and bytes per slot and a distribution,
        // which are not set.
        let fields = [least, most, 0, 0, 0];
        behind.push(bytes(SLOT, &fields.map(u64::to_ne_bytes).concat()));
    }
    options.extend(emit(&behind));
    options
}

/// `struct tc_netem_rate`: bytes per second, and the overhead of each frame.
fn of_rate(bytes_per_s: u64, overhead: i32) -> [DefaultNla; 2] {
    let small = u32::try_from(bytes_per_s).unwrap_or(u32::MAX).to_ne_bytes();
    let fields = [small, overhead.to_ne_bytes(), [0; 4], [0; 4]];
    [number(RATE_64, bytes_per_s), bytes(RATE, &fields.concat())]
}

fn number(kind: u16, value: u64) -> DefaultNla {
    bytes(kind, &value.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_said_in_the_kernels_units() {
        let said = options(&Netem {
            delay_ns: 100_000,
            jitter_ns: 0,
            loss: 1.0,
            rate_bytes_per_s: Some(12_500_000),
            overhead_bytes: 24,
            frames: 10,
            slot_ns: Some([200_000, 500_000]),
        });
        assert_eq!(said[4..8], 10u32.to_ne_bytes());
        assert_eq!(said[8..12], [0xff; 4]);
        // The first attribute behind the 24 bytes: 12 bytes, latency.
        assert_eq!(
            said[24..28],
            [12u16, LATENCY_64].map(u16::to_ne_bytes).concat()
        );
        assert_eq!(said[28..36], 100_000u64.to_ne_bytes());
        // Then the jitter's, and those of the rate.
        assert_eq!(
            said[48..52],
            [12u16, RATE_64].map(u16::to_ne_bytes).concat()
        );
        assert_eq!(said[52..60], 12_500_000u64.to_ne_bytes());
        assert_eq!(said[60..64], [20u16, RATE].map(u16::to_ne_bytes).concat());
        assert_eq!(said[68..72], 24i32.to_ne_bytes());
        // Then those of the slot, of 40 bytes.
        assert_eq!(said[80..84], [44u16, SLOT].map(u16::to_ne_bytes).concat());
        assert_eq!(
            said[84..100],
            [200_000u64, 500_000].map(u64::to_ne_bytes).concat()
        );
        assert_eq!(said.len(), 124);
    }
}
