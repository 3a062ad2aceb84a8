//! From facts to findings: what the evidence means, with its level of proof.
//!
//! [`judge`] reads the facts of a trace and decides what limits each connection, whether merged frames are lost, and on
//! which hop; [`compare`] sets two transfers side by side. Every threshold has its reason beside it, in `thresholds`.

mod arrived;
mod bucket;
mod by_size;
mod compare;
mod crossing;
mod datagrams;
mod excess;
mod experiment;
mod finding;
mod hints;
mod impact;
mod join;
mod judged;
mod limits;
mod loss;
mod merging;
mod nearest;
mod odds;
mod others;
mod overview;
mod part;
mod pooled;
mod ranking;
pub mod rules;
mod same;
#[cfg(test)]
mod sample;
mod settle;
mod short;
mod shown;
mod thresholds;
mod traffic;
mod unanswered;
mod unarrived;
mod unlinked;
mod unseen;
mod untimed;
mod verdict;
mod watched;
mod ways;
mod words;

pub use compare::{Comparison, Transfer, compare};
pub use experiment::{Experiment, SetTo, Switch};
pub use finding::{ConnectionRef, Evidence, Finding, HopRef, Id, Proof, Reason, Share, Subject};
pub use join::join;
pub use limits::{ConnectionLimit, Limit};
pub use nearest::nearest;
pub use settle::{Settled, Standing, Suspicion, Switched, Went, settle};
pub use shown::shown;
pub use verdict::{Diagnosis, Merging, Verdict, judge, judge_pair};
pub use watched::{
    beside_single, gets_little_through, join_watched, judge_watched, plain_reason, saw_enough,
};
