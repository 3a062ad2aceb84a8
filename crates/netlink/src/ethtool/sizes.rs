//! Ring sizes and numbers of channels.

use super::{Ethtool, numbers};
use crate::error::Error;
use std::collections::BTreeMap;

const RINGS_GET: u8 = 15;
const CHANNELS_GET: u8 = 17;

const RINGS: [(u16, &str); 10] = [
    (2, "rx-max"),
    (3, "rx-mini-max"),
    (4, "rx-jumbo-max"),
    (5, "tx-max"),
    (6, "rx"),
    (7, "rx-mini"),
    (8, "rx-jumbo"),
    (9, "tx"),
    (10, "rx-buf-len"),
    (12, "cqe-size"),
];

const CHANNELS: [(u16, &str); 8] = [
    (2, "rx-max"),
    (3, "tx-max"),
    (4, "other-max"),
    (5, "combined-max"),
    (6, "rx"),
    (7, "tx"),
    (8, "other"),
    (9, "combined"),
];

impl Ethtool {
    /// Ring sizes in entries: `rx`, `tx`, each with its `-max`, and further rings that few drivers have.
    pub fn rings(&self, interface: &str) -> Result<BTreeMap<String, u64>, Error> {
        let answer = self.get(RINGS_GET, interface, "read the ring sizes")?;
        Ok(numbers(answer.attributes(), &RINGS))
    }

    /// Numbers of channels: `rx`, `tx`, `other`, `combined`, each with its `-max`.
    pub fn channels(&self, interface: &str) -> Result<BTreeMap<String, u64>, Error> {
        let answer = self.get(CHANNELS_GET, interface, "read the channels")?;
        Ok(numbers(answer.attributes(), &CHANNELS))
    }
}
