//! Random batches of frames to compare an engine with [`KernelGro`](crate::KernelGro).
//!
//! Most of the traffic merges: a few flows, each in order, in runs. At a rate that differs from
//! batch to batch, one frame is changed, or its flow from that frame on. A seed gives the same
//! batch on every machine.

mod chance;
mod disturb;
mod flow;
mod headers;
mod rare;

use crate::kernel_gro::MAX_BATCH;
use chance::Chance;
use flow::Flow;

/// Longest frame that is made: a jumbo frame with its Ethernet header.
pub(crate) const MAX_FRAME: usize = 9014;

/// What may be in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// UDP flows beside TCP.
    pub udp: bool,
    /// IPv6 flows beside IPv4.
    pub v6: bool,
    /// VLAN tags, two of them, and PPPoE.
    pub links: bool,
    /// IP in IP, GRE, VXLAN and Geneve.
    pub tunnels: bool,
    /// Headers that are rare in real traffic: chains of extension headers, rare TCP options and
    /// flags, more flows, frames of other protocols in between. Off by default, so that batches of
    /// earlier seeds stay the same.
    pub rare: bool,
    /// Changes to headers, sizes, order and bytes; without them only well-formed flows.
    pub disturbances: bool,
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            udp: true,
            v6: true,
            links: true,
            tunnels: true,
            rare: false,
            disturbances: true,
        }
    }
}

/// A batch of 1 to 64 frames of the default mix.
pub fn random_batch(seed: u64) -> Vec<Vec<u8>> {
    random_batch_of(seed, Mix::default())
}

/// A batch of 1 to 64 frames with what `mix` allows.
pub fn random_batch_of(seed: u64, mix: Mix) -> Vec<Vec<u8>> {
    let mut chance = Chance::new(seed);
    let plan = Plan::new(&mut chance, mix);
    let mut flows = Flow::several(&mut chance, mix, plan.flows);
    let mut frames = emit(&mut chance, &plan, &mut flows);
    if mix.disturbances {
        disturb::batch(&mut chance, &mut frames, plan.rate);
    }
    frames.truncate(MAX_BATCH);
    frames
}

/// Rates of a batch.
struct Plan {
    frames: usize,
    flows: usize,
    /// Changed frames, of 1,000.
    rate: usize,
    /// Frames of another flow than the frame before, of 1,000.
    turn: usize,
    /// Frames of no flow, in 1,000 frames.
    bystanders: usize,
}

impl Plan {
    fn new(chance: &mut Chance, mix: Mix) -> Self {
        let frames = if chance.once_in(3) {
            MAX_BATCH
        } else {
            chance.between(1, MAX_BATCH)
        };
        let flows = if chance.once_in(2) {
            chance.between(1, 2)
        } else {
            chance.between(1, if mix.rare { 24 } else { 12 })
        };
        let rate = if mix.disturbances {
            chance.pick([0, 10, 20, 40, 100, 300])
        } else {
            0
        };
        Self {
            frames,
            flows,
            rate,
            turn: chance.pick([10, 50, 200, 500, 1000]),
            bystanders: if mix.rare {
                chance.pick([0, 20, 100])
            } else {
                0
            },
        }
    }
}

fn emit(chance: &mut Chance, plan: &Plan, flows: &mut [Flow]) -> Vec<Vec<u8>> {
    let mut current = 0;
    let mut frames = Vec::with_capacity(plan.frames);
    while frames.len() < plan.frames {
        if chance.permille(plan.turn) {
            current = chance.below(flows.len());
        }
        if plan.bystanders > 0 && chance.permille(plan.bystanders) {
            frames.push(rare::bystander(chance));
        }
        frames.push(flows[current].next(chance, plan.rate));
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_batch_and_another_another() {
        assert_eq!(random_batch(7), random_batch(7));
        assert_ne!(random_batch(7), random_batch(8));
    }

    #[test]
    fn batches_keep_their_limits() {
        for seed in 0..3000 {
            let batch = random_batch(seed);
            assert!(
                (1..=MAX_BATCH).contains(&batch.len()),
                "seed {seed}: {}",
                batch.len()
            );
            for frame in batch {
                assert!(
                    (20..=MAX_FRAME).contains(&frame.len()),
                    "seed {seed}: {}",
                    frame.len()
                );
            }
        }
    }
}
