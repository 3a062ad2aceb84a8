//! Differences of counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What moved at a place between two times. A counter that went backwards (one of 32 bits that
/// overflowed, an interface made anew) is left out: it is not known how far it moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// CPU time of the whole host, all processors together.
    pub cpu: CpuMoved,
    /// Counters of the namespace's protocols that moved, by their names in nstat(8):
    /// `TcpRetransSegs`, `TcpExtTCPRcvCoalesce`. One that is not here, nor in `left_out`, did not
    /// move, or this kernel does not have it.
    pub protocols: BTreeMap<String, u64>,
    /// The host's work on frames that arrived, all processors together.
    pub softnet: SoftnetMoved,
    /// Interfaces of the namespace that moved.
    pub interfaces: BTreeMap<String, InterfaceMoved>,
    /// Protocol counters that went backwards, and interfaces that came, went or were made anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// CPU time in seconds, as /proc/stat has it. Most kernels look which kind it is at each tick (1 to
/// 10 ms), so small values are coarse. In a virtual machine it is that of its own processors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuMoved {
    /// In user space, with that of low priority (nice) and of guests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// In the kernel, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// In interrupts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irq_s: Option<f64>,
    /// In soft interrupts: receiving is done there, merging too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub softirq_s: Option<f64>,
    /// Wanted, but given to another virtual machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_s: Option<f64>,
    /// Idle, with that spent waiting for disks. It may go backwards on some kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_s: Option<f64>,
}

/// Sums over all processors of /proc/net/softnet_stat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftnetMoved {
    /// Frames that went up the stack; merged ones count once, and those that go through a backlog
    /// on the way, as veth's do without XDP, count each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processed: Option<u64>,
    /// Frames thrown away because a processor's backlog was full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// How often a poll ended with frames left, for time or budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_squeeze: Option<u64>,
}

/// What an interface carried, as /proc/net/dev has it. Whether merged frames count once is up to the
/// driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterfaceMoved {
    /// Bytes received.
    pub rx_bytes: u64,
    /// Frames received.
    pub rx_packets: u64,
    /// Damaged ones.
    pub rx_errors: u64,
    /// Thrown away on arrival, `rx_missed_errors` among them.
    pub rx_dropped: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// That could not be sent.
    pub tx_errors: u64,
    /// Thrown away before they were sent.
    pub tx_dropped: u64,
}
