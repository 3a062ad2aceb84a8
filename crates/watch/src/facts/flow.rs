//! Who sends to whom.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who sends to whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// `tcp`, `udp`, or a number of IANA's.
    pub protocol: String,
    /// The sender's address.
    pub source: String,
    /// The sender's port.
    pub source_port: Option<u16>,
    /// The receiver's address.
    pub destination: String,
    /// The receiver's port.
    pub destination_port: Option<u16>,
    /// The tunnel that the frame was in; none outside of tunnels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<Tunnel>,
}

/// A tunnel, as its packets show it; of several, the outermost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tunnel {
    /// Its kind and number, such as `vxlan 42`.
    pub name: String,
    /// The address that its packets come from.
    pub source: String,
    /// The address that they go to.
    pub destination: String,
}

impl fmt::Display for Flow {
    /// `tcp 192.0.2.1:80 -> [2001:db8::1]:40000`, followed by `in vxlan 42` in a tunnel.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |address: &str, port: Option<u16>| match port {
            Some(port) if address.contains(':') => format!("[{address}]:{port}"),
            Some(port) => format!("{address}:{port}"),
            None => address.to_owned(),
        };
        let source = end(&self.source, self.source_port);
        let destination = end(&self.destination, self.destination_port);
        write!(f, "{} {source} -> {destination}", self.protocol)?;
        match &self.tunnel {
            Some(tunnel) => write!(f, " in {}", tunnel.name),
            None => Ok(()),
        }
    }
}
