//! The driver's own statistics.

use super::{Ethtool, who};
use crate::attributes::{Attributes, nest, number};
use crate::error::Error;
use crate::ioctl;
use std::collections::BTreeMap;

const STRSET_GET: u8 = 1;
const STRINGSETS: u16 = 2;
const STRINGSET: u16 = 1;
const STRINGSET_ID: u16 = 1;
const STRINGSET_STRINGS: u16 = 3;
const STRING_INDEX: u16 = 1;
const STRING_VALUE: u16 = 2;
/// `ETH_SS_STATS`.
const STATISTICS: u32 = 1;

impl Ethtool {
    /// Counters by the driver's names; empty if there are none. Counters of the same name (queues
    /// of some drivers) are added up.
    pub fn statistics(&self, interface: &str) -> Result<BTreeMap<String, u64>, Error> {
        let names = self.statistics_names(interface)?;
        let Ok(count @ 1..) = u32::try_from(names.len()) else {
            return Ok(BTreeMap::new());
        };
        let socket = self.family.socket().as_fd();
        let values = ioctl::statistics(socket, interface, count)?;
        // Queues were added or removed between the two requests, so that names and values do not match.
        if values.len() != names.len() {
            return Ok(BTreeMap::new());
        }
        let mut counters = BTreeMap::new();
        for (name, value) in names.into_iter().zip(values) {
            let sum: &mut u64 = counters.entry(name).or_default();
            *sum = sum.saturating_add(value);
        }
        Ok(counters)
    }

    fn statistics_names(&self, interface: &str) -> Result<Vec<String>, Error> {
        let set = nest(STRINGSET, &[number(STRINGSET_ID, STATISTICS)]);
        let request = [who(interface), nest(STRINGSETS, &[set])];
        let action = format!("read the names of the statistics of {interface}");
        let answers = self.family.ask(STRSET_GET, &request, &action)?;
        let sets = answers
            .first()
            .map(|answer| answer.attributes().inside(STRINGSETS));
        Ok(sets.map(names).unwrap_or_default())
    }
}

/// The names in the order of their indices.
fn names(sets: Attributes<'_>) -> Vec<String> {
    let strings = sets.inside(STRINGSET).inside(STRINGSET_STRINGS);
    let indexed = strings.iter().filter_map(|(_, string)| {
        let string = Attributes(string);
        Some((
            string.u32(STRING_INDEX)?,
            string.text(STRING_VALUE)?.trim().to_owned(),
        ))
    });
    let ordered: BTreeMap<_, _> = indexed.collect();
    ordered.into_values().collect()
}
