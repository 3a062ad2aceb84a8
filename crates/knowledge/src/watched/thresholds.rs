//! Thresholds for counts of a running host, each with its reason. Those that a trace needs too are in its own list.

use crate::thresholds::BYSTANDER;

/// Two merged frames of one flow that are dropped must be this far apart, so that the flow has continued in between:
/// the shortest timeout (RFC 6298, 2.4), after which a flow of which nothing passes repeats single segments.
pub(super) const LASTS_S: f64 = 1.0;

/// The share of merged frames that must die: what cannot be carried is never carried, and estimates in a time of sampling are right
/// to about a seventh. A policer drops what comes while its bucket is empty, and passes the rest.
pub(super) const NEARLY_ALL_DIE: f64 = 0.8;
/// Or the least number of dropped ones that were looked into, all of them this much longer than those that pass: what is
/// dropped for its length. A policer has dropped a shorter one by then.
pub(super) const LOOKED_LONG: usize = 8;
pub(super) const LONGER: f64 = 1.5;

/// Merged frames that the processor segments each second from which on that costs: at 64 KB each, half a gigabit.
pub(super) const CUT_EACH_SECOND: f64 = 1000.0;
/// And the share of an interface's merged frames that must be segmented there.
pub(super) const MOSTLY: f64 = 0.5;

/// Number of merged frames without a drop that show that merging does no harm there: with fewer than 300, one in a
/// hundred might still be dropped (the rule of three, at 95%).
pub(super) const LOOKS_WELL: u64 = 300;

/// Links that are as fast as this are hardly filled without merging.
pub(super) const FAST_BPS: u64 = 10_000_000_000;
/// Load as a share of the link's speed, below which merging is not missed: the same as a bystander's.
pub(super) const LOADED: f64 = BYSTANDER;
/// The least number of frames with TCP data that were looked into: their mean is then right to a tenth.
pub(super) const LOOKED: u64 = 100;
