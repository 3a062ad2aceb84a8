//! From one point to the next: what became of UDP datagrams.

use schemars::JsonSchema;
use serde::Serialize;

use super::connection::Endpoint;
use super::hop::Outcomes;
use crate::lengths::{Fate, Lengths};
use crate::passes::Amid;

/// One hop, in one direction of datagrams.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct DatagramHop {
    /// The point that they left.
    pub from: String,
    /// The point that they went to.
    pub to: String,
    /// Datagrams of which the captures show that they were merged: longer ones that are several at a point beside this one, that
    /// hold several DNS messages, or that are multiples of others of their flow and too long for a frame.
    pub merged: Outcomes,
    /// All others.
    pub single: Outcomes,
    /// Odds ratio of loss, in whole or in part, merged against single; null where it cannot be computed.
    pub odds_ratio: Option<f64>,
    /// Fisher's exact test of lost x merged, two-sided.
    pub p_value: Option<f64>,
    /// The server, as `from` saw it, with which most merged datagrams were lost.
    pub server: Option<Endpoint>,
    /// Frame numbers at `from` of merged datagrams that were lost, in whole or in part; a few.
    pub merged_lost_frames: Vec<u64>,
    /// Frame numbers at `from` of merged datagrams that arrived; a few.
    pub merged_arrived_frames: Vec<u64>,
    /// Frame numbers at `from` of single datagrams that were lost; a few.
    pub single_lost_frames: Vec<u64>,
    /// What became of merged datagrams by their length; those that lost a part are among the lost ones. For the judgment alone.
    #[serde(skip)]
    pub by_length: Lengths,
    /// Datagrams that left within 0.3 ms and arrived, by their bytes in all.
    #[serde(skip)]
    pub together: Lengths,
    /// Of the others, those at least half as long as the parts of merged ones.
    #[serde(skip)]
    pub full: Fate,
    /// Where such datagrams arrived while merged ones were being lost.
    #[serde(skip)]
    pub amid: Amid,
}
