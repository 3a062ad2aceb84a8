//! What a finding is.

use coalescope_capture::facts::Hop;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found. The names are fixed: other people's scripts know them.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Id {
    /// Merged frames vanish where single ones pass.
    MergedFramesLost,
    /// A router refuses merged frames with "packet too big" although each segment would fit.
    MergedFramesRejected,
    /// Merged UDP datagrams vanish where single ones pass.
    MergedDatagramsLost,
    /// Of two transfers the slow one arrives unmerged (with `--compare`).
    NoMerging,
    /// Segments arrive out of order, so that they cannot be merged.
    ReorderedBeforeMerge,
    /// Segments are lost, merged or not alike.
    LossNotMerging,
    /// Losses that merging would explain, and something else too.
    NotEnoughEvidence,
    /// The receiver's window holds the sender back.
    ReceiverWindow,
    /// The sender has nothing to send most of the time.
    SenderIdle,
    /// The path is as fast as it gets.
    PathBandwidth,
    /// Nothing is wrong.
    Healthy,
}

impl Id {
    /// Its name, as printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MergedFramesLost => "merged-frames-lost",
            Self::MergedFramesRejected => "merged-frames-rejected",
            Self::MergedDatagramsLost => "merged-datagrams-lost",
            Self::NoMerging => "no-merging",
            Self::ReorderedBeforeMerge => "reordered-before-merge",
            Self::LossNotMerging => "loss-not-merging",
            Self::NotEnoughEvidence => "not-enough-evidence",
            Self::ReceiverWindow => "receiver-window",
            Self::SenderIdle => "sender-idle",
            Self::PathBandwidth => "path-bandwidth",
            Self::Healthy => "healthy",
        }
    }
}

/// How sure a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// It would explain what is seen.
    Suspected,
    /// Packets or counters show it.
    Observed,
    /// An experiment showed it.
    Proven,
}

impl Proof {
    /// Its name, as printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Observed => "observed",
            Self::Proven => "proven",
        }
    }
}

/// A finer cause than the finding's own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A rate limit that drops what exceeds it, and delays nothing.
    Policer,
    /// A queue that is full.
    Queue,
    /// Packets longer than a link of the path carries vanish, and nobody tells the sender.
    PathMtu,
    /// Bits change on the way, and whoever checks them drops the frame.
    Corruption,
    /// A box carries frames up to a length, or a number of segments, and loses longer ones.
    Length,
    /// A firewall drops what is further ahead of the acknowledgments than the window that it believes in.
    Window,
    /// Acknowledgments do not come back to the sender, or come too late.
    LostAcks,
}

/// What a finding is about, finer than its id. Code asks for this and never reads the title, which is for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// No more than the id says.
    #[default]
    Plain,
    /// Frames of several segments of which nothing shows whether a card merged them or their sender left them uncut.
    LargeFrames,
    /// A loss.
    Loss,
    /// A loss of merged frames for which merging is neither convicted nor cleared.
    DoubtedLoss,
    /// A loss of all sorts of frames, of merged ones more often than their length explains.
    MixedLoss,
    /// Handshakes that connections wait for.
    Handshake,
}

/// A connection, by the point that saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConnectionRef {
    /// The point.
    pub point: String,
    /// The connection's id there.
    pub id: u64,
    /// Client, `address:port`.
    pub client: String,
    /// Server, `address:port`.
    pub server: String,
}

/// A hop, in the direction of the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HopRef {
    /// The point that data left.
    pub from: String,
    /// The point that it went to.
    pub to: String,
}

impl HopRef {
    pub(crate) fn of(hop: &Hop) -> Self {
        Self {
            from: hop.from.clone(),
            to: hop.to.clone(),
        }
    }
}

/// One piece of evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// In words, with the numbers.
    pub text: String,
    /// The point whose frames these are, if any.
    pub point: Option<String>,
    /// Frame numbers to open in Wireshark.
    pub frames: Vec<u64>,
}

/// How much of a point's traffic a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// Connections that it is about.
    pub connections: u64,
    /// Connections that carry data.
    pub of_connections: u64,
    /// Their part of the payload, from 0 to 1.
    pub bytes: f64,
    /// Their part of the time in which senders were not idle, summed up over connections, from 0 to 1.
    pub time: f64,
}

impl Share {
    /// The larger of the two shares: of bytes, or of time.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.bytes.max(self.time)
    }
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What.
    pub id: Id,
    /// How sure.
    pub proof: Proof,
    /// The finer cause, if the captures tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What it is about, for other code: reports have the title.
    #[serde(skip)]
    pub subject: Subject,
    /// Nothing that network or host does wrong, or next to nothing of the traffic: good to know, and no reason to act.
    pub note: bool,
    /// How much of the traffic it is about.
    pub share: Option<Share>,
    /// In one line.
    pub title: String,
    /// The connection that shows it best, if it is about one.
    pub connection: Option<ConnectionRef>,
    /// Where on the path, if that is known.
    pub hop: Option<HopRef>,
    /// Why.
    pub evidence: Vec<Evidence>,
    /// What would prove it, or what to do next.
    pub next: String,
}

impl Finding {
    /// That captures do not show enough to judge anything.
    pub(crate) fn undecided(title: &str, evidence: Evidence, next: &str) -> Self {
        Self {
            id: Id::NotEnoughEvidence,
            proof: Proof::Suspected,
            reason: None,
            subject: Subject::Plain,
            note: false,
            share: None,
            title: title.to_owned(),
            connection: None,
            hop: None,
            evidence: vec![evidence],
            next: next.to_owned(),
        }
    }
}
