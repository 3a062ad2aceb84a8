//! Classic captures, taken apart into their records, and given to `trace`.

mod input;

use coalescope_simulate::{Element, Format, Scenario};
pub(crate) use input::{input, traced};

/// A number of a capture, at a place in bytes.
pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The records of a classic capture, each with its header.
pub(crate) fn records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut at = 24;
    while at < bytes.len() {
        let end = at + 16 + word(bytes, at + 8) as usize;
        records.push(bytes[at..end].to_vec());
        at = end;
    }
    records
}

/// Has a scenario write classic captures.
pub(crate) fn make_classic(scenario: &mut Scenario) {
    for element in &mut scenario.path {
        if let Element::Point(point) = element {
            point.format = Format::default();
        }
    }
}
