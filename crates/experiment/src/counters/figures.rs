//! Figures: the counters that are worth comparing.

use super::moved::{InterfaceMoved, Moved};
use crate::effects::Sense;
use crate::figures::Figure;

/// Bytes in the KB of netperf's service demand (its `calc_service_demand` divides by 1024).
const KB: f64 = 1024.0;
/// The largest ACK: headers of IPv6 and TCP with all the options that fit (RFC 8200, RFC 9293).
const LARGEST_ACK_BYTES: u64 = 40 + 60;
const LOOPBACK: &str = "lo";
/// A figure's name, its unit (`""`: none) and its value, if that is known.
type Named = (&'static str, &'static str, Option<f64>);
/// The counters of IP that count the segments of a merged frame, by what they say of congestion.
const SEGMENTS: [&str; 8] = [
    "IpExtInNoECTPkts",
    "IpExtInECT1Pkts",
    "IpExtInECT0Pkts",
    "IpExtInCEPkts",
    "Ip6InNoECTPkts",
    "Ip6InECT1Pkts",
    "Ip6InECT0Pkts",
    "Ip6InCEPkts",
];

impl Moved {
    /// Figures of a run. One that is not known, or whose denominator is 0, is left out.
    ///
    /// - `cpu_user_s`, `cpu_system_s`, `cpu_softirq_s`: seconds, of the whole host.
    /// - `service_demand_us_per_kb`: user, system, irq and softirq time, in microseconds, for each
    ///   1024 bytes that the interface carried, both ways together. netperf divides by what the
    ///   program transferred: headers, and whatever else ran, make this one larger. Of `lo` the
    ///   received bytes count, since they are the sent ones too.
    /// - `retransmitted_segments`: `TcpRetransSegs`.
    /// - `merge_factor`: segments per frame that arrived at IP, both versions, from 1: merged by
    ///   hardware, GRO, or never cut, as between virtual machines.
    /// - `receive_queue_coalesced`: `TcpExtTCPRcvCoalesce`, frames whose payload TCP could append to
    ///   that of the frame before in a socket's queue. It is not merging before TCP, and grows as
    ///   that is switched off: more frames are left to be joined.
    /// - `acks_per_data_segment`: see [`Moved::acks_per_data_segment`].
    /// - `softnet_dropped`: frames dropped by full backlogs, whole host.
    /// - `interface_drops`: frames that the interface dropped, both ways.
    ///
    /// The interface is the one given; else the one that carried most bytes, `lo` only if there is
    /// no other.
    #[must_use]
    pub fn figures(&self, interface: Option<&str>) -> Vec<Figure> {
        let carrier = self.carrier(interface);
        let known = self.costs(carrier).into_iter().chain(self.counts(carrier));
        let figures = known.filter_map(|(name, unit, value)| {
            let value = value.filter(|value| value.is_finite())?;
            Some(Figure::new(name, unit, Sense::Plain, value))
        });
        figures.collect()
    }

    /// Name, unit and value of CPU time figures.
    fn costs(&self, carrier: Option<(&str, &InterfaceMoved)>) -> [Named; 4] {
        let demand = self.service_demand(carrier);
        [
            ("cpu_user_s", "s", self.cpu.user_s),
            ("cpu_system_s", "s", self.cpu.system_s),
            ("cpu_softirq_s", "s", self.cpu.softirq_s),
            ("service_demand_us_per_kb", "us/KB", demand),
        ]
    }

    /// Name, unit and value of counters.
    fn counts(&self, carrier: Option<(&str, &InterfaceMoved)>) -> [Named; 6] {
        let count = |value: Option<u64>| value.map(|value| value as f64);
        let counter = |name: &str| count(self.counter(name));
        let drops = carrier.map(|(_, moved)| moved.rx_dropped.saturating_add(moved.tx_dropped));
        let joined = counter("TcpExtTCPRcvCoalesce");
        [
            ("retransmitted_segments", "", counter("TcpRetransSegs")),
            ("merge_factor", "", self.merge_factor()),
            ("receive_queue_coalesced", "", joined),
            ("acks_per_data_segment", "", self.acks_per_data_segment()),
            ("softnet_dropped", "", count(self.softnet.dropped)),
            ("interface_drops", "", count(drops)),
        ]
    }

    /// ACKs without data per data segment of a transfer that goes one way, at either end; `None`
    /// where this is not known.
    ///
    /// At the receiver: ACKs sent (`TcpOutSegs` less `TcpExtTCPOrigDataSent`; a SYN, FIN or RST here
    /// and there is among them) per data segment received (`TcpInSegs` less the ACKs that
    /// `TcpExtTCPPureAcks` and `TcpExtTCPHPAcks` count, and for each merged frame the segments that
    /// it has more than one).
    ///
    /// At the sender, the end that sends more data segments than it receives segments of any kind:
    /// frames received (`TcpInSegs`; GRO does not merge ACKs) per data segment sent
    /// (`TcpExtTCPOrigDataSent` and `TcpRetransSegs`). The kernel's counters of ACKs are not used
    /// there: since Linux 5.0 ACKs are coalesced in a busy socket's backlog before they are
    /// counted. `None` if the bytes of the received frames show that not all of them were ACKs.
    ///
    /// All connections of the namespace count, and merged frames that the namespace only forwards.
    /// With both ends in one namespace the ratio is too low, by the ACKs that count as data.
    /// Delayed ACKs give about 0.5; one ACK for each merged frame gives far less.
    #[must_use]
    pub fn acks_per_data_segment(&self) -> Option<f64> {
        let first = self.counter("TcpExtTCPOrigDataSent")?;
        let sent = self.sum(&["TcpExtTCPOrigDataSent", "TcpRetransSegs"])?;
        let frames = self.counter("TcpInSegs")?;
        let (segments, merged) = self.arrived()?;
        let arrived = frames.saturating_add(segments.saturating_sub(merged));
        if sent > arrived {
            return ratio(frames, sent).filter(|_| self.only_acks_arrived(frames));
        }
        let acks = self.sum(&["TcpExtTCPPureAcks", "TcpExtTCPHPAcks"])?;
        let acks_sent = self.counter("TcpOutSegs")?.saturating_sub(first);
        ratio(acks_sent, arrived.saturating_sub(acks))
    }

    fn only_acks_arrived(&self, frames: u64) -> bool {
        let bytes = self.sum(&["IpExtInOctets", "Ip6InOctets"]);
        bytes.is_some_and(|bytes| bytes <= frames.saturating_mul(LARGEST_ACK_BYTES))
    }

    fn merge_factor(&self) -> Option<f64> {
        let (segments, frames) = self.arrived()?;
        // Kernels before 3.10 do not count segments.
        ratio(segments, frames).filter(|factor| *factor >= 1.0)
    }

    /// Segments and frames that arrived at IP, of both versions.
    fn arrived(&self) -> Option<(u64, u64)> {
        let segments = self.sum(&SEGMENTS)?;
        Some((segments, self.sum(&["IpInReceives", "Ip6InReceives"])?))
    }

    /// The sum of several counters' differences; `None` if one is not known.
    fn sum(&self, names: &[&str]) -> Option<u64> {
        let mut counters = names.iter().map(|name| self.counter(name));
        counters.try_fold(0, |sum: u64, counter| Some(sum.saturating_add(counter?)))
    }

    /// The difference of a protocol counter, by its name in nstat(8); `None` if it is not known.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        if self.left_out.iter().any(|left_out| left_out == name) {
            return None;
        }
        Some(self.protocols.get(name).copied().unwrap_or(0))
    }

    fn carrier<'a>(&'a self, interface: Option<&'a str>) -> Option<(&'a str, &'a InterfaceMoved)> {
        if let Some(name) = interface {
            return Some((name, self.interfaces.get(name)?));
        }
        let all = self.interfaces.iter();
        let all = all.map(|(name, moved)| (name.as_str(), moved));
        all.max_by_key(|(name, moved)| (*name != LOOPBACK, moved.bytes()))
    }

    fn service_demand(&self, carrier: Option<(&str, &InterfaceMoved)>) -> Option<f64> {
        let (name, moved) = carrier?;
        let carried = match name {
            LOOPBACK => moved.rx_bytes,
            _ => moved.bytes(),
        };
        let carried = carried as f64 / KB;
        let cpu = &self.cpu;
        // Old kernels may have no irq column.
        let busy_s = cpu.user_s? + cpu.system_s? + cpu.irq_s.unwrap_or(0.0) + cpu.softirq_s?;
        (carried > 0.0).then(|| busy_s * 1e6 / carried)
    }
}

impl InterfaceMoved {
    fn bytes(&self) -> u64 {
        self.rx_bytes.saturating_add(self.tx_bytes)
    }
}

fn ratio(of: u64, to: u64) -> Option<f64> {
    (to > 0).then(|| of as f64 / to as f64)
}
