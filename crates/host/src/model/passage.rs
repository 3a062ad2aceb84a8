//! What a packet filter lets through a host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A base chain at a hook of packets that pass through the host: what is let through there, or translated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Passages {
    /// `forward`, `prerouting` or `postrouting`; `xfrm` for policies of IPsec.
    pub hook: String,
    /// At `forward`: what none of its rules accepts is dropped.
    pub drops_others: bool,
    /// At `forward` what rules accept, at `prerouting` those that change the destination, at `postrouting` those that change
    /// the source; at `xfrm` the networks of others that what came in a tunnel is passed on to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Passage>,
}

/// A rule about packets that pass through the host.
///
/// An interface is a name, `veth*` for all that begin so, `!docker0` for all but that one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Passage {
    /// The interface that they come in by; `None` if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The interface that they leave by; `None` if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The address or network that they come from; `None` if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where they are sent instead: an address, with or without a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Only packets of flows that are known already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replies: bool,
    /// The rule asks for more than this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub narrow: bool,
}
