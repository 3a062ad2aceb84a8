//! Interrupt coalescing, by the names that `ethtool -c` prints.

use super::Ethtool;
use crate::attributes::{bytes, number};
use crate::error::Error;
use netlink_packet_core::DefaultNla;
use nix::errno::Errno;
use std::collections::BTreeMap;

const COALESCE_GET: u8 = 19;
const COALESCE_SET: u8 = 20;

/// A setting that is a number, or on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// Microseconds, frames, or bytes, as the name says.
    Number(u32),
}

/// Attribute, name, and whether it is a flag.
const NAMES: [(u16, &str, bool); 27] = [
    (2, "rx-usecs", false),
    (3, "rx-frames", false),
    (4, "rx-usecs-irq", false),
    (5, "rx-frames-irq", false),
    (6, "tx-usecs", false),
    (7, "tx-frames", false),
    (8, "tx-usecs-irq", false),
    (9, "tx-frames-irq", false),
    (10, "stats-block-usecs", false),
    (11, "adaptive-rx", true),
    (12, "adaptive-tx", true),
    (13, "pkt-rate-low", false),
    (14, "rx-usecs-low", false),
    (15, "rx-frame-low", false),
    (16, "tx-usecs-low", false),
    (17, "tx-frame-low", false),
    (18, "pkt-rate-high", false),
    (19, "rx-usecs-high", false),
    (20, "rx-frame-high", false),
    (21, "tx-usecs-high", false),
    (22, "tx-frame-high", false),
    (23, "sample-interval", false),
    (24, "cqe-mode-tx", true),
    (25, "cqe-mode-rx", true),
    (26, "tx-aggr-max-bytes", false),
    (27, "tx-aggr-max-frames", false),
    (28, "tx-aggr-time-usecs", false),
];

/// Names of all coalescing settings, and whether each is on or off rather than a number.
pub fn coalescing_names() -> impl Iterator<Item = (&'static str, bool)> {
    NAMES.iter().map(|&(_, name, flag)| (name, flag))
}

impl Ethtool {
    /// Reads what the driver has of it.
    pub fn read_coalescing(&self, interface: &str) -> Result<BTreeMap<String, Value>, Error> {
        let answer = self.get(COALESCE_GET, interface, "read the coalescing")?;
        let attributes = answer.attributes();
        let known = NAMES.iter().filter_map(|&(kind, name, flag)| {
            let value = if flag {
                Value::Flag(attributes.u8(kind)? != 0)
            } else {
                Value::Number(attributes.u32(kind)?)
            };
            Some((name.to_owned(), value))
        });
        Ok(known.collect())
    }

    /// Sets some of it, by the names of [`Ethtool::read_coalescing`]; the rest stays. Drivers round
    /// values: read them back.
    pub fn set_coalescing(&self, interface: &str, wanted: &[(&str, Value)]) -> Result<(), Error> {
        let attributes: Result<Vec<_>, _> = wanted
            .iter()
            .map(|(name, value)| attribute(interface, name, *value))
            .collect();
        self.set(COALESCE_SET, interface, attributes?, "set the coalescing")
            .map(drop)
    }
}

fn attribute(interface: &str, name: &str, value: Value) -> Result<DefaultNla, Error> {
    let found = NAMES.iter().find(|(_, known, _)| *known == name);
    match (found, value) {
        (Some((kind, _, true)), Value::Flag(on)) => Ok(bytes(*kind, &[u8::from(on)])),
        (Some((kind, _, false)), Value::Number(value)) => Ok(number(*kind, value)),
        _ => Err(Error::System {
            action: format!("set {name} of {interface}: no such setting, or of another kind"),
            errno: Errno::EINVAL,
        }),
    }
}
