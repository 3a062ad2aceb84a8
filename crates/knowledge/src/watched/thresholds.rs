//! The thresholds of what is counted on a running host, each with its reason. Those that a trace has too are its own.

use crate::thresholds::BYSTANDER;

/// Between two merged frames of one flow that die there must be this long, so that the flow has gone on meanwhile: the
/// shortest timeout (RFC 6298, 2.4), after which a flow of which nothing passes repeats single segments.
pub(super) const LASTS_S: f64 = 1.0;

/// Merged frames that the processor cuts each second, from which that is work: at 64 KB each, half a gigabit.
pub(super) const CUT_EACH_SECOND: f64 = 1000.0;
/// And the share of an interface's merged frames that are cut there.
pub(super) const MOSTLY: f64 = 0.5;

/// Merged frames of which none died say that merging does no harm there: of fewer than 300, one in a hundred might still
/// die (the rule of three, at 95%).
pub(super) const LOOKS_WELL: u64 = 300;

/// Links that are as fast as this are hardly filled without merging.
pub(super) const FAST_BPS: u64 = 10_000_000_000;
/// Load as a share of the link's speed, below which nobody misses merging: the same as of a bystander.
pub(super) const LOADED: f64 = BYSTANDER;
/// Frames with TCP data, at least, that were looked into: their mean is then right to a tenth.
pub(super) const LOOKED: u64 = 100;
