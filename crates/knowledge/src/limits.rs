//! What limits one connection.

use serde::Serialize;

/// What holds a connection back most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Merged frames are lost or refused.
    MergedLoss,
    /// Segments are lost.
    Loss,
    /// Segments arrive out of order.
    Reordering,
    /// The receiver's window.
    ReceiverWindow,
    /// The sender had nothing to send.
    SenderIdle,
    /// The path's rate.
    PathBandwidth,
    /// Too little data to tell.
    TooShort,
    /// Nothing stands out.
    None,
}

/// The limit of one connection.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionLimit {
    /// The point.
    pub point: String,
    /// The connection's id there.
    pub connection: u64,
    /// `to_client` or `to_server`: where most data went.
    pub direction: &'static str,
    /// What limits it.
    pub limit: Limit,
}
