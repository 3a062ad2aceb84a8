//! From files of packets to connections, hops between points, and facts.
//!
//! Reading is one pass and bounded in memory: [`mod@file`] hands over one frame at a time, `frame`
//! keeps of it what the analysis needs, `point` follows every connection by byte ranges, and `hop`
//! finds the same frames again at the next point. [`trace()`] runs all of it; what comes out is
//! [`facts`], plain data without an opinion.
//!
//! # From a file to facts
//!
//! | step | where | what happens |
//! |---|---|---|
//! | bytes | [`mod@file`] | pcap or pcapng, plain, gzip or zstd; one window, forward only |
//! | frame | `frame` | the headers are walked once and a digest is kept; `fragments` waits for whole datagrams |
//! | batch | `reader` | 128 digests at a time; with two threads 1,024: one reads, one follows |
//! | path | `lockstep/path` | the first frames of three or more points, each beside every other, give their order |
//! | order | `lockstep` | all points side by side, about equally far by the clock of the first; until a connection was found at both ends of a hop, none further ahead than 65,536 events |
//! | connection | `point`, `table`, `connection` | found once for each run of its frames; handshake, phases, round trips; a frame that was to be expected passes all checks (`connection/predicted`) |
//! | direction | `flow` | byte ranges (`ranges`): new, again, late, merged |
//! | hops | `lockstep/hops` | between neighbours, and over points that connections pass by |
//! | hop | `hop` | the same connection at the next point (`link`), which point comes first (`order`, `sides`), clocks (`clock`), the fate of each frame (`join`, `outcome`) |
//! | UDP | `datagrams` | the same datagram at the next point, by how its payload begins; what was merged, by lengths |
//! | threads | `shared_out`, `parts` | of one point: one thread reads, each of the others follows some of the connections |
//! | facts | `summary`, `facts`, `kept` | a connection's facts are made when asked for, not kept |
//!
//! For a page's pictures [`mod@series`] reads the same inputs again, with a few connections only.
//!
//! # Bounds
//!
//! Memory grows with the number of connections, about 1 KiB each, and with nothing that a file claims:
//!
//! | what | at most | beyond that |
//! |---|---|---|
//! | read window | 256 KiB, or the largest record held: 256 KiB (pcap), 16 MiB (pcapng) | block passed over, warning |
//! | zstd window | 128 MiB, as the frame asks | reading ends, warning |
//! | pcapng interfaces | 65,536, then 1,024 shared by link type and clock; 64 as points | shared, or left out with a warning |
//! | UDP datagrams remembered of a point, where there are several points | 131,072 (12 MiB) | later ones are not judged, with a warning |
//! | IP datagrams in reassembly, a point | 64 of 128 pieces, 30 s; lengths only | oldest left out, counted |
//! | unacknowledged first transmissions | 8,192 a direction, 524,288 a point (16 to 32 MiB) | oldest without a verdict; 16 a direction stay |
//! | frames among which copies are found | 65,536 a point (1 MiB) | oldest forgotten |
//! | frames read once more and known, where times go back | 65,536 a point (3 MiB) | oldest forgotten |
//! | rows known of times in which two files of an archive were written | 1,048,576 a point (48 MiB) | later ones are not found again |
//! | holes in a direction | 256 | oldest given up, counted as missed bytes |
//! | round-trip samples | 32 a direction | thinned evenly |
//! | connections kept of one point | 1,000,000, unless told otherwise | the oldest that are over are summed up, with a warning; not where hops are followed |
//! | frames looked at before hops are followed | 4,096 a point | the rest is not asked for the order |
//! | frames held by a hop | 196,608 (32 MiB) | the older half of connections not matched first, then all: not judged |
//! | frames of a connection that wait for its hop's order | 16,384 | what evidence there is decides |
//! | tokens to match connections | 262,144 a side of a hop (16 MiB) | all forgotten |
//! | frames drawn, a connection and point | 20,000, and 100,000 a page | thinned, the dullest first; the page says so |
//! | frames of these that wait for their fate | 32,768 a connection and point | oldest without a fate |
//! | bins over time | 256 a direction | width doubles |
//! | ACKs remembered | 1,024 a direction of a pair | oldest forgotten |

mod acks;
mod connection;
mod counts;
mod datagrams;
mod divisor;
mod doubled;
pub mod facts;
mod feed;
pub mod file;
mod fisher;
mod flow;
mod fragments;
mod frame;
mod halves;
mod hop;
mod kept;
mod key;
mod lately;
mod lengths;
mod lockstep;
mod median;
mod numbering;
mod outstanding;
mod parts;
mod passes;
mod phases;
mod point;
pub mod provenance;
mod ranges;
mod reader;
mod rested;
mod revised;
mod row;
pub mod rows;
mod rtt;
mod segment;
mod sent;
pub mod series;
mod shared_out;
mod stuck;
mod summary;
mod table;
mod tally;
mod together;
mod vantage;

pub use fisher::fisher_exact;
pub use lockstep::{Options, PointInput, Progress, TraceError, trace};
pub use shared_out::trace_parts;
