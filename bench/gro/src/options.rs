//! What the environment asks for; `run` says what there is.

use std::env;

use crate::frames::Load;

const FLOWS: [usize; 6] = [1, 8, 64, 512, 4096, 65_536];
/// A pass in the caches, and how many of them are one measurement.
const WARM: (usize, u32) = (512, 200);

/// What the environment asks for.
pub(crate) struct Options {
    /// Whether it is only to be seen that everything works.
    pub(crate) small: bool,
    pub(crate) rounds: usize,
    pub(crate) flows: Vec<usize>,
    /// Programs of peers; none if they could not be built.
    pub(crate) dpdk: Option<String>,
    pub(crate) go: Option<String>,
}

impl Options {
    pub(crate) fn new() -> Self {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let small = set("SMALL").is_some_and(|value| value != "0");
        let flows = set("FLOWS").map(|flows| {
            let flows = flows.split_whitespace();
            flows.filter_map(|flows| flows.parse().ok()).collect()
        });
        let rounds = set("REPS").and_then(|value| value.parse().ok());
        Self {
            small,
            rounds: rounds.unwrap_or(if small { 1 } else { 25 }),
            flows: flows.unwrap_or_else(|| FLOWS.to_vec()),
            dpdk: set("DPDK_PEER"),
            go: set("GO_PEER"),
        }
    }

    /// Packets of a cold pass.
    pub(crate) fn cold(&self, packets: usize) -> usize {
        if self.small { packets / 16 } else { packets }
    }

    /// All workloads on warm or cold memory.
    pub(crate) fn loads(&self, cache: &str, cold: usize) -> Vec<Load> {
        let (packets, loops) = match cache {
            "warm" => (WARM.0, if self.small { 2 } else { WARM.1 }),
            _ => (cold, 1),
        };
        // More flows than packets are as many as packets, which is another row on cold memory only.
        let flows = self.flows.iter();
        flows
            .filter(|&&flows| cache == "cold" || flows <= packets)
            .flat_map(|&flows| [1, 8].map(|run| (flows, run)))
            .map(|(flows, run)| Load {
                flows,
                run,
                packets,
                loops,
            })
            .collect()
    }
}
