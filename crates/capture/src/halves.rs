//! The two halves of the path from a point, and where between its ends the point stands.

use crate::facts::connection::Vantage;

/// If one end is closer than this part of the whole path, the point stands at that end.
const NEAR: f64 = 0.1;
/// Shorter paths than this (loopback, one machine) are too noisy to be divided.
const SHORT_NS: i64 = 100_000;

/// How long the two halves of the path take from this point, there and back, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halves {
    pub(crate) to_server_ns: Option<i64>,
    pub(crate) to_client_ns: Option<i64>,
}

impl Halves {
    /// The whole path.
    pub(crate) fn whole_ns(self) -> Option<i64> {
        Some(self.to_server_ns? + self.to_client_ns?)
    }

    /// Where the point stands.
    pub(crate) fn vantage(self) -> Vantage {
        let (Some(server), Some(client)) = (self.to_server_ns, self.to_client_ns) else {
            return Vantage::Unknown;
        };
        let whole = server + client;
        if whole < SHORT_NS {
            Vantage::Unknown
        } else if (client as f64) < NEAR * whole as f64 {
            Vantage::Client
        } else if (server as f64) < NEAR * whole as f64 {
            Vantage::Server
        } else {
            Vantage::Between
        }
    }
}
