//! The thresholds of the rules, each with its reason.

/// Fewer lost merged frames than this accuse nobody: a handful of frames is chance.
pub(crate) const HANDFUL: u64 = 5;

/// Fisher's exact p must be below this, divided by the number of connections looked at.
pub(crate) const ALPHA: f64 = 0.01;

/// Where merged frames are lost more often than single ones with a p below this, and nothing else explains it, merging is
/// not cleared. Losses come in bursts, which p knows nothing of, and several places are looked at: hence not [`ALPHA`].
pub(crate) const DOUBT: f64 = 0.001;

/// Share of frames that may be lost, or pass, against any law.
pub(crate) const STRAY: f64 = 1e-3;

/// Captures with a smaller share of the data that receivers acknowledged show nothing of that data: requests at most. One that leaves
/// out long frames has more.
pub(crate) const UNSEEN: f64 = 0.01;

/// Where single frames are lost a tenth as often as merged ones, something loses frames that are not merged.
pub(crate) const TENTH: f64 = 0.1;

/// At least this share of the merged frames must be lost whole. In the incidents it is nearly all
/// (stories A, B, D, E); a full queue or a burst of losses, which also hit frames that travel close
/// together, let most through.
pub(crate) const MERGED_LOST: f64 = 0.5;

/// Full single frames that must have passed: a single one might be chance.
pub(crate) const A_FEW: u64 = 2;

/// Of the frames longer than those that are carried, this share must be lost. A frame that cannot be carried is always
/// lost, and a policer lets some pass whose tokens suffice. The rest is for errors of captures.
pub(crate) const NEARLY_ALL: f64 = 0.9;

/// A box carries frames that are short enough: where it carries some merged frames, at most this share of the shorter
/// ones may be lost, for other reasons. A policer's bucket that is sometimes empty drops more of them.
pub(crate) const SPARED: f64 = 0.005;
/// Where a few merged frames pass that should not, as in a capture that begins early, at most this share.
pub(crate) const SPARED_BESIDE: f64 = 0.02;

/// How much likelier, as a natural logarithm, a step has to be than loss for each byte to accuse merging, and want of room
/// than one share of loss for all merged frames to clear it: where frames are of one length, either fits.
pub(crate) const SURELY: f64 = 1.5;

/// Where nothing shows the reason for want of room (no queue's delay, no policer's pause), so much likelier: of boxes that
/// lose a share of all merged frames, whatever their length, one in eight passed [`SURELY`] by chance, and one in fifty this.
pub(crate) const CLEARLY: f64 = 3.0;

/// How much likelier, as a natural logarithm, another explanation may be without loss by the byte being rejected: a
/// step has two parameters more, and is the best of many (Akaike: one for each).
pub(crate) const MUCH_BETTER: f64 = 3.5;

/// Of the deviance that other explanations of losses leave, want of room must explain so much to clear merging, and so much
/// to be as likely as a box.
pub(crate) const MOSTLY: f64 = 0.5;
pub(crate) const PARTLY: f64 = 0.25;
/// A queue that loses frames delays those that it carries for a twentieth of its depth at least, in the middle: of simulated
/// queues, hardly one in thirty did so for less.
pub(crate) const TWENTIETH: f64 = 0.05;
/// A bucket or a queue is full again, or empty, after this time at most: no sane path holds a frame for longer.
pub(crate) const DEEP_S: f64 = 3.0;

/// Payload of a full frame on Ethernet, where connections of several sizes are looked at together.
pub(crate) const SEGMENT: u32 = 1448;

/// And merged frames must be lost at least this many times as often as single frames.
pub(crate) const TIMES_SINGLE: f64 = 3.0;

/// Connections with fewer segments than this in a direction are over before anything limits them:
/// three initial windows (RFC 6928).
pub(crate) const ENOUGH_SEGMENTS: f64 = 30.0;

/// The number of repeated and late frames from which on loss matters.
pub(crate) const LOSS_FRAMES: u64 = 3;
/// As a share of all segments losses matter everywhere: no sound network loses one in a hundred.
pub(crate) const LOSS: f64 = 0.01;
/// Below that share they matter where they limit the sender: to MSS x 1.22 / (RTT x square root of the share), by the
/// model of Mathis, Semke, Mahdavi and Ott (1997), section 3, for a Reno sender.
pub(crate) const MATHIS: f64 = 1.22;
/// And to within this factor of its rate: CUBIC and BBR exceed the model, and few losses are no measure.
pub(crate) const ABOUT: f64 = 3.0;

/// The least timeouts in a row on the same bytes: the second one waits twice as long (RFC 6298, 5.5) and finds the
/// retransmission lost as well.
pub(crate) const STUCK: u64 = 2;
/// And the share of the transfer's time spent waiting for timeouts from which on this matters.
pub(crate) const STUCK_TIME: f64 = 0.1;
/// When a SYN is sent again (RFC 6298, 2.1): few paths take as long for a handshake.
pub(crate) const SYN_AGAIN_S: f64 = 1.0;
/// A handshake takes one round trip (RFC 9293, 3.5). One of a path that takes a second waits for no SYN, though the client may
/// send it again meanwhile.
pub(crate) const ROUND_TRIPS_TO_CONNECT: f64 = 2.0;
/// Payload that every path carries: IPv6's smallest MTU, 1,280 (RFC 8200, 5), less headers.
pub(crate) const SMALL_MTU: u32 = 1208;

/// So many times more frames late than sent again: the loss is in front of the point, and other retransmissions are
/// needless, as from a sender without SACK that goes back.
pub(crate) const BEHIND: u64 = 4;

/// From this share of repeated bytes on, random loss is no longer a likely reason: the sender would have slowed down
/// until it lost less.
pub(crate) const HEAVY_LOSS: f64 = 0.1;

/// From this share on no sender can have caused the loss itself: slow start doubles its window until half of the last
/// one is lost, which is a quarter of all data sent until then (RFC 5681, 3.1); and senders that do not slow down for
/// losses (BBR) lose less through any queue.
pub(crate) const MOST_LOST: f64 = 1.0 / 3.0;

/// The most segments in each round trip that the incidents leave (one to three, story A to E).
pub(crate) const FEW_SEGMENTS: f64 = 4.0;
/// A sender that waits for the acknowledgment of each segment has one in flight: so many times one, in round trips that
/// differ by less than that, since a queue makes them longer. Hardly a segment is not full.
pub(crate) const CRAWL: f64 = 1.5;
pub(crate) const CRAWL_FULL: f64 = 0.95;
/// Over shorter ways a slow link or a slow disk has a segment in flight as well: at this round trip and 1.5 segments a link
/// would have to be slower than 2 Mbit/s.
pub(crate) const CRAWL_S: f64 = 0.01;
/// The receiver must have had room for this many segments, or the window explains it.
pub(crate) const ROOM_SEGMENTS: f64 = 10.0;

/// How often frames overtake others, as a share of the data frames, where that keeps a receiver from merging.
pub(crate) const REORDERED: f64 = 0.02;
/// And where few can be merged at all: each time ends merging up to three times (in front of the frame that is early, behind that,
/// and behind those that it overtook), so that four segments at most follow each other.
pub(crate) const OFTEN_REORDERED: f64 = 1.0 / 12.0;
/// Of the out-of-order frames, the share that may be late: late ones were lost, not overtaken.
pub(crate) const REORDERED_LATE: f64 = 0.3;

/// Share of the transfer for which the sender must have been idle.
pub(crate) const IDLE: f64 = 0.5;
/// Share of the transfer for which the window must have been closed.
pub(crate) const CLOSED: f64 = 0.1;
/// Share of the time, without the sender's pauses, in which the sender must have been within a segment of the window's
/// right edge.
pub(crate) const WINDOW_TIME: f64 = 0.5;

/// Median over smallest round trip, from which a queue stands on the path most of the time.
pub(crate) const QUEUE: f64 = 1.5;
/// And the difference must be at least this long, so that a LAN's jitter is no queue.
pub(crate) const QUEUE_S: f64 = 0.002;
/// On a hop, whose ways are compared frame by frame, this is enough: more than the clocks of captures and the batches
/// of their cards cause (10 to 100 us). A rate limit that only drops does not delay other frames.
pub(crate) const HOP_QUEUE_S: f64 = 0.0002;

/// The least number of frames that stand alone: where room is short, hardly any of these is lost. Of 20 none is lost by
/// chance in one of 300 cases, if a quarter of all others are.
pub(crate) const LONE: u64 = 20;

/// A pause is long enough for this number of segments, at the rate at which a hop forwards them.
pub(crate) const PAUSE: f64 = 4.0;

/// And the transfer must have filled the queue: with as many segments as a sender sends at once, twice two (RFC 5681:
/// every second segment is acknowledged, and each such ACK may release three).
pub(crate) const QUEUED: f64 = 4.0;

/// Ticks of the timestamp clocks (RFC 7323, 5.4: a millisecond at least, as in Linux, Windows and FreeBSD), and how
/// much two clocks drift apart (crystals are specified for 100 ppm each).
pub(crate) const TICK_S: f64 = 0.001;
pub(crate) const DRIFT: f64 = 200e-6;
/// Share of the extra round-trip time that the way of acknowledgments must explain.
pub(crate) const ACKS_PART: f64 = 1.0 / 3.0;

/// Share of the time, without the sender's pauses, in which no data comes for longer than a queue holds it: a link with
/// a standing queue never rests.
pub(crate) const SILENT: f64 = 0.25;

/// And the delay must be larger than delayed acknowledgments explain: twice their distance.
pub(crate) const ACKS_APART: f64 = 2.0;

/// So many times more frames missing from a capture, though acknowledged, than found in it: not even a sniffer whose
/// ring overflows misses 19 of 20, so the captures show two transfers.
pub(crate) const MISSED: u64 = 19;

/// Share of bytes and of time, below both of which a finding is a note: one part in twenty, about what
/// one run differs from the next.
pub(crate) const BYSTANDER: f64 = 0.05;

/// Merge factor that counts as merging when two transfers are compared, and the one that counts as none: at most every
/// second frame carries two segments, as a repair and its neighbour do.
pub(crate) const MERGES: f64 = 2.0;
pub(crate) const DOES_NOT_MERGE: f64 = 1.5;
/// How much slower the second transfer must be for the difference to matter: two runs of one
/// transfer over one path differ by a few percent, and by more where slow start is most of it.
pub(crate) const SLOWER: f64 = 1.25;
/// Share of a transfer's frames that must come within reach of merging for it to be missed there.
pub(crate) const NEAR: f64 = 0.5;
/// Share of a transfer's time that gaps of a timeout's length must take to be what slows it.
pub(crate) const GAPS: f64 = 0.5;

/// Gaps of a timeout's length, from which they are no pauses of the application by chance.
pub(crate) const WAITS: u64 = 3;

/// Payload bytes of the largest packets on wires (an MTU of 9216 with some room for headers).
pub(crate) const LARGEST_PACKET: u32 = 9216;

/// Lengths up to 9 KB are counted together where they differ by less: bytes of a class (`capture/lengths`).
pub(crate) const CLASS: u32 = 256;
