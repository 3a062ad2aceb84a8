//! Settings and counters of ethtool(8), by the names that ethtool prints.
//!
//! Numbers: include/uapi/linux/ethtool_netlink.h.

mod bitset;
mod coalescing;
mod driver;
mod features;
mod names;
mod sizes;
mod strings;

pub use coalescing::{Value, coalescing_names};
pub use driver::Driver;
pub use features::{Feature, Features, Outcome};
pub use names::{OFFLOADS, Offload, matches};

use crate::attributes::{Attributes, nest, string};
use crate::error::Error;
use crate::generic::{Answer, Family};
use netlink_packet_core::DefaultNla;
use std::collections::BTreeMap;

const LINKMODES_GET: u8 = 4;
const PRIVFLAGS_GET: u8 = 13;
/// The header attribute of every message: which interface.
const HEADER: u16 = 1;
const HEADER_DEV_NAME: u16 = 2;
const LINKMODES_SPEED: u16 = 5;
const PRIVFLAGS_FLAGS: u16 = 2;
/// `SPEED_UNKNOWN`.
const UNKNOWN: u32 = u32::MAX;

/// The ethtool family in the namespace of the thread that opened it.
#[derive(Debug)]
pub struct Ethtool {
    family: Family,
}

impl Ethtool {
    /// Opens the ethtool family, which Linux 5.6 and later have.
    pub fn open() -> Result<Self, Error> {
        let family = Family::open("ethtool")?;
        Ok(Self { family })
    }

    /// Speed of the link in bits per second; `None` if the driver does not know.
    pub fn speed_bps(&self, interface: &str) -> Result<Option<u64>, Error> {
        let answer = self.get(LINKMODES_GET, interface, "read the speed")?;
        let mbps = answer.attributes().u32(LINKMODES_SPEED);
        let known = mbps.filter(|&mbps| mbps != UNKNOWN && mbps != 0);
        Ok(known.map(|mbps| u64::from(mbps) * 1_000_000))
    }

    /// Flags that only this driver has (`ethtool --show-priv-flags`).
    pub fn private_flags(&self, interface: &str) -> Result<BTreeMap<String, bool>, Error> {
        let answer = self.get(PRIVFLAGS_GET, interface, "read the private flags")?;
        Ok(bitset::read(answer.attributes().inside(PRIVFLAGS_FLAGS)))
    }

    /// The one answer to a question about an interface.
    fn get(&self, command: u8, interface: &str, action: &str) -> Result<Answer, Error> {
        let action = format!("{action} of {interface}");
        let answers = self.family.ask(command, &[who(interface)], &action)?;
        answers.into_iter().next().ok_or(Error::Answer {
            action,
            lacks: "any message",
        })
    }

    /// Changes a setting of an interface; returns the kernel's answers, which may be none.
    fn set(
        &self,
        command: u8,
        interface: &str,
        mut attributes: Vec<DefaultNla>,
        action: &str,
    ) -> Result<Vec<Answer>, Error> {
        attributes.insert(0, who(interface));
        let action = format!("{action} of {interface}");
        self.family.ask(command, &attributes, &action)
    }
}

fn who(interface: &str) -> DefaultNla {
    nest(HEADER, &[string(HEADER_DEV_NAME, interface)])
}

/// Numeric attributes by name; attributes that the driver lacks are missing.
fn numbers(attributes: Attributes<'_>, names: &[(u16, &str)]) -> BTreeMap<String, u64> {
    let present = names.iter().filter_map(|(kind, name)| {
        let value = attributes.u32(*kind)?;
        Some(((*name).to_owned(), u64::from(value)))
    });
    present.collect()
}
