//! The thresholds of the rules, each with its reason.

/// Fewer lost merged frames than this accuse nobody: a handful of frames is chance.
pub(crate) const HANDFUL: u64 = 5;

/// Fisher's exact p must be below this, divided by the number of connections looked at.
pub(crate) const ALPHA: f64 = 0.01;

/// At least this share of the merged frames must be lost whole. In the incidents it is nearly all
/// (stories A, B, D, E); a full queue or a burst of losses, which also hit frames that travel close
/// together, let most through.
pub(crate) const MERGED_LOST: f64 = 0.5;

/// Of those that are longer than what is carried, this share must be lost: what cannot be carried never is,
/// and a policer lets some pass whose bucket holds them. The rest is for what captures get wrong.
pub(crate) const NEARLY_ALL: f64 = 0.9;

/// How much likelier, as a natural logarithm, a step has to be than loss for each byte.
pub(crate) const SURELY: f64 = 1.5;

/// Payload of a full frame on Ethernet, where connections of several sizes are looked at together.
pub(crate) const SEGMENT: u32 = 1448;

/// And they must be lost at least this many times as often as single frames.
pub(crate) const TIMES_SINGLE: f64 = 3.0;

/// Connections with fewer segments than this in a direction are over before anything limits them:
/// three initial windows (RFC 6928).
pub(crate) const ENOUGH_SEGMENTS: f64 = 30.0;

/// Repeated and late frames, as a share of all data frames, from which loss matters: 0.1% and 10 ms
/// hold TCP to 45 Mbit/s (Mathis et al. 1997, with 1448 bytes and a constant of 1.22).
pub(crate) const LOSS: f64 = 0.001;
/// And at least so many.
pub(crate) const LOSS_FRAMES: u64 = 3;

/// From this share of repeated bytes on, random loss is no longer a likely reason: the sender
/// would have slowed down until it lost less.
pub(crate) const HEAVY_LOSS: f64 = 0.1;

/// Segments in each round trip, at most, that the incidents leave (one to three, story A to E).
pub(crate) const FEW_SEGMENTS: f64 = 4.0;
/// On shorter paths a few segments in a round trip are fast all the same.
pub(crate) const LONG_RTT_S: f64 = 0.001;
/// The receiver must have had room for this many segments, or the window explains it.
pub(crate) const ROOM_SEGMENTS: f64 = 10.0;

/// Out-of-order frames, as a share of the data frames, that keep a receiver from merging.
pub(crate) const REORDERED: f64 = 0.02;
/// Of the out-of-order frames, the share that may be late: late ones were lost, not overtaken.
pub(crate) const REORDERED_LATE: f64 = 0.3;

/// Share of the transfer for which the sender must have been idle.
pub(crate) const IDLE: f64 = 0.5;
/// Share of the transfer for which the window must have been closed.
pub(crate) const CLOSED: f64 = 0.1;
/// Share of the advertised window that is on the way at any time, from which it is the limit: the
/// rest is the ACKs' own delay.
pub(crate) const WINDOW_USED: f64 = 0.7;

/// Median over smallest round trip, from which a queue stands on the path most of the time.
pub(crate) const QUEUE: f64 = 1.5;
/// And by at least this much, so that a LAN's jitter is no queue.
pub(crate) const QUEUE_S: f64 = 0.002;

/// Merge factor that counts as merging when two transfers are compared, and as none.
pub(crate) const MERGES: f64 = 2.0;
pub(crate) const DOES_NOT_MERGE: f64 = 1.1;
/// How much slower the second transfer must be for the difference to matter.
pub(crate) const SLOWER: f64 = 2.0;

/// Payload bytes of the largest packets on wires (an MTU of 9216 with some room for headers).
pub(crate) const LARGEST_PACKET: u64 = 9216;
