//! The results of a replay: plain data.
//!
//! A *data frame* is a TCP or UDP frame with payload, whole (no IP fragment). Lengths are those on
//! the wire, whatever the snap length kept of a frame.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

/// What a capture became under a profile.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Replay {
    /// The profile's name.
    pub profile: String,
    /// Frames in.
    pub frames_in: u64,
    /// Frames out.
    pub frames_out: u64,
    /// Of the frames out, those that carry more than one frame's payload.
    pub merged_frames: u64,
    /// Data frames in for each data frame out. None without data.
    pub merge_factor_mean: Option<f64>,
    /// Whether every frame out that is made of several could be cut again into exactly these, in
    /// the order in which they came. It was tried; checksums and payload are not compared.
    pub reversible: bool,
    /// Why frames were not merged, and why held ones went up.
    pub reasons: Reasons,
    /// Each direction of each connection, in order of its first frame; not those beyond the bound.
    pub connections: Vec<Connection>,

    /// Where the profile's rules were read.
    pub profile_source: String,
    /// How long a poll lasted, in microseconds; 0: each frame was a poll.
    pub interval_us: u64,
    /// The longest IP packet taken for a single segment where no SYN told a limit, in bytes.
    pub mtu_bytes: u32,
    /// Polls in which frames came.
    pub polls: u64,
    /// Frames in the largest merged frame. None without data.
    pub merge_factor_max: Option<u64>,
    /// Data frames in.
    pub data_frames_in: u64,
    /// Data frames out.
    pub data_frames_out: u64,
    /// Data frames in that became part of a merged frame.
    pub segments: u64,
    /// Frames out that could not be cut again into the frames they were made of.
    pub irreversible_frames: u64,
    /// Frames without payload (ACKs) that came out as part of another frame.
    pub absorbed_frames: u64,
    /// Bytes of all frames in.
    pub bytes_in: u64,
    /// Bytes of all frames out.
    pub bytes_out: u64,
    /// ACKs that receivers would send for the data frames in. An estimate.
    pub acks_before: u64,
    /// Of these, ACKs that they need not send for the data frames out. An estimate.
    pub acks_saved: u64,
    /// Frames that held several segments when they were captured, and so were passed.
    pub already_merged_frames: u64,
    /// Frames of which not all bytes were captured.
    pub truncated_frames: u64,
    /// TCP and UDP frames whose checksum could not be verified, since bytes were not captured. It
    /// was taken to be right.
    pub unverified_frames: u64,
    /// TCP and UDP frames whose checksum was left to the network card, and was completed.
    pub offloaded_frames: u64,
    /// Frames in that are of no TCP or UDP connection: other protocols, fragments, damage.
    pub other_frames: u64,
    /// Frames in of connections beyond the bound.
    pub unlisted_frames: u64,
    /// Frames left out, since their interface came after the bound: not in `frames_in`.
    pub left_out_frames: u64,
    /// Bytes of the file, unpacked, that damage kept from being read.
    pub unreadable_bytes: u64,
    /// What was left out or looked odd, a sentence each.
    pub warnings: Vec<String>,
}

/// Counts by reason. Only reasons that occurred are there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reasons {
    /// Frames that went on as they came, without having been held.
    pub passed: BTreeMap<&'static str, u64>,
    /// Frames that could not be added to what was held of their flow: that went up, and they are held in its place.
    pub refused: BTreeMap<&'static str, u64>,
    /// Held frames, merged or not, that went up.
    pub flushed: BTreeMap<&'static str, u64>,
}

/// One direction of a connection at one interface.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Connection {
    /// Its number, from 0.
    pub id: u64,
    /// The capture's interface, from 0.
    pub interface: u32,
    /// `ipv4` or `ipv6`.
    pub network: &'static str,
    /// `tcp` or `udp`.
    pub protocol: &'static str,
    /// The tunnels it came in, outermost first.
    pub tunnel: Option<String>,
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it goes.
    pub destination: Endpoint,
    /// Frames in.
    pub frames_in: u64,
    /// Frames out.
    pub frames_out: u64,
    /// Of them, those that carry more than one frame's payload.
    pub merged_frames: u64,
    /// Data frames in for each data frame out. None without data.
    pub merge_factor_mean: Option<f64>,
    /// Frames in the largest merged frame. None without data.
    pub merge_factor_max: Option<u64>,
    /// Data frames in.
    pub data_frames_in: u64,
    /// Data frames out.
    pub data_frames_out: u64,
    /// Bytes of all frames in.
    pub bytes_in: u64,
    /// ACKs that the receiver would send for the data frames in; 0 for UDP. An estimate.
    pub acks_before: u64,
    /// Of these, ACKs that it need not send for the data frames out. An estimate.
    pub acks_saved: u64,
    /// Frames that held several segments when they were captured.
    pub already_merged_frames: u64,
    /// Why its frames were not merged, and why held ones went up.
    pub reasons: Reasons,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Endpoint {
    /// Its address.
    pub address: IpAddr,
    /// Its port.
    pub port: u16,
}
