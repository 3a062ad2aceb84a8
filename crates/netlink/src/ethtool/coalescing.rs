//! Interrupt coalescing, by the names that `ethtool -c` prints.

use super::Ethtool;
use crate::attributes::{bytes, number};
use crate::error::Error;
use netlink_packet_core::DefaultNla;
use nix::errno::Errno;
use std::collections::BTreeMap;

const COALESCE_GET: u8 = 19;
const COALESCE_SET: u8 = 20;

/// The value of a coalescing setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// On or off.
    Flag(bool),
    /// Microseconds, frames, or bytes, as the name says.
    Number(u32),
}

struct Setting {
    attribute: u16,
    name: &'static str,
    /// Whether it is on or off rather than a number.
    is_flag: bool,
}

const SETTINGS: [Setting; 27] = [
    count(2, "rx-usecs"),
    count(3, "rx-frames"),
    count(4, "rx-usecs-irq"),
    count(5, "rx-frames-irq"),
    count(6, "tx-usecs"),
    count(7, "tx-frames"),
    count(8, "tx-usecs-irq"),
    count(9, "tx-frames-irq"),
    count(10, "stats-block-usecs"),
    flag(11, "adaptive-rx"),
    flag(12, "adaptive-tx"),
    count(13, "pkt-rate-low"),
    count(14, "rx-usecs-low"),
    count(15, "rx-frame-low"),
    count(16, "tx-usecs-low"),
    count(17, "tx-frame-low"),
    count(18, "pkt-rate-high"),
    count(19, "rx-usecs-high"),
    count(20, "rx-frame-high"),
    count(21, "tx-usecs-high"),
    count(22, "tx-frame-high"),
    count(23, "sample-interval"),
    flag(24, "cqe-mode-tx"),
    flag(25, "cqe-mode-rx"),
    count(26, "tx-aggr-max-bytes"),
    count(27, "tx-aggr-max-frames"),
    count(28, "tx-aggr-time-usecs"),
];

const fn count(attribute: u16, name: &'static str) -> Setting {
    Setting {
        attribute,
        name,
        is_flag: false,
    }
}

const fn flag(attribute: u16, name: &'static str) -> Setting {
    Setting {
        is_flag: true,
        ..count(attribute, name)
    }
}

/// Names of all coalescing settings, and whether each is on or off rather than a number.
pub fn coalescing_names() -> impl Iterator<Item = (&'static str, bool)> {
    SETTINGS
        .iter()
        .map(|setting| (setting.name, setting.is_flag))
}

impl Ethtool {
    /// Reads the coalescing settings that the driver has.
    pub fn read_coalescing(&self, interface: &str) -> Result<BTreeMap<String, Value>, Error> {
        let answer = self.get(COALESCE_GET, interface, "read the coalescing")?;
        let attributes = answer.attributes();
        let known = SETTINGS.iter().filter_map(|setting| {
            let value = if setting.is_flag {
                Value::Flag(attributes.u8(setting.attribute)? != 0)
            } else {
                Value::Number(attributes.u32(setting.attribute)?)
            };
            Some((setting.name.to_owned(), value))
        });
        Ok(known.collect())
    }

    /// Changes some settings, by the names of [`Ethtool::read_coalescing`]. Drivers round values: read them back.
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
    let found = SETTINGS.iter().find(|setting| setting.name == name);
    match (
        found.map(|setting| (setting.attribute, setting.is_flag)),
        value,
    ) {
        (Some((attribute, true)), Value::Flag(on)) => Ok(bytes(attribute, &[u8::from(on)])),
        (Some((attribute, false)), Value::Number(value)) => Ok(number(attribute, value)),
        _ => Err(Error::System {
            action: format!("set {name} of {interface}: no such setting, or of another kind"),
            errno: Errno::EINVAL,
        }),
    }
}
