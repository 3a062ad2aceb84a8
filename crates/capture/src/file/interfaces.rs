//! The interfaces of a capture, over all its sections.

use super::time_units::DEFAULT_RESOLUTION;
use coalescope_wire::LinkType;
use std::collections::HashMap;

/// Interfaces whose details are kept. A file may describe a new one every 20 bytes.
pub(super) const MAX_INTERFACES: usize = 65_536;

/// Further entries, each for all interfaces of one link type and clock.
const MAX_SHARED: usize = 1_024;

/// Longest name or description that is kept, in characters.
const MAX_NAME: usize = 200;

/// An interface that captured frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, if the file says (`if_name`).
    pub name: Option<String>,
    /// Its description, if the file has one (`if_description`).
    pub description: Option<String>,
    /// Link type of its frames.
    pub link: LinkType,
    /// The link type as a number, for link types that are not known here.
    pub link_number: u16,
    /// The most bytes of a frame that were recorded; 0 if there was no limit.
    pub snap_len: u32,
    /// Which section of a pcapng file it belongs to, from 0.
    pub section: u32,
    /// `if_tsresol` as in the file: a power of ten, or of two if the high bit is set.
    pub time_resolution: u8,
    /// `if_tsoffset`: seconds to add to its times (done already).
    pub time_offset: i64,
}

impl Interface {
    /// An interface of which only the link type and the snap length are known.
    pub(super) fn new(link_number: u16, snap_len: u32) -> Interface {
        Interface {
            name: None,
            description: None,
            link: LinkType::from_dlt(link_number),
            link_number,
            snap_len,
            section: 0,
            time_resolution: DEFAULT_RESOLUTION,
            time_offset: 0,
        }
    }
}

/// Text of an option, cut to bound the memory that it takes.
pub(super) fn name(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(4 * MAX_NAME)];
    let text = String::from_utf8_lossy(start);
    let name: String = text.trim_end_matches('\0').chars().take(MAX_NAME).collect();
    (!name.is_empty()).then_some(name)
}

/// All interfaces seen, up to a bound.
#[derive(Default)]
pub(super) struct Interfaces {
    list: Vec<Interface>,
    shared: HashMap<(u16, u8, i64), u32>,
}

impl Interfaces {
    pub(super) fn as_slice(&self) -> &[Interface] {
        &self.list
    }

    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MAX_INTERFACES
    }

    /// Adds an interface; returns its index, or `None` if there are too many already.
    pub(super) fn add(&mut self, interface: Interface) -> Option<u32> {
        if self.is_full() {
            return self.share(&interface);
        }
        Some(self.push(interface))
    }

    fn push(&mut self, interface: Interface) -> u32 {
        self.list.push(interface);
        self.list.len() as u32 - 1
    }

    /// One entry for all interfaces with the same link type and clock, which is what reading their frames needs.
    fn share(&mut self, like: &Interface) -> Option<u32> {
        let key = (like.link_number, like.time_resolution, like.time_offset);
        if let Some(&index) = self.shared.get(&key) {
            return Some(index);
        }
        if self.shared.len() == MAX_SHARED {
            return None;
        }
        let index = self.push(Interface {
            time_resolution: like.time_resolution,
            time_offset: like.time_offset,
            ..Interface::new(like.link_number, 0)
        });
        self.shared.insert(key, index);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_interfaces_share_then_are_refused() {
        let mut all = Interfaces::default();
        for _ in 0..MAX_INTERFACES {
            assert!(all.add(Interface::new(1, 96)).is_some());
        }
        let first = all.add(Interface::new(1, 96));
        assert_eq!(first, Some(MAX_INTERFACES as u32));
        assert_eq!(all.add(Interface::new(1, 1500)), first);
        for link in 2..=MAX_SHARED as u16 {
            assert!(all.add(Interface::new(link, 0)).is_some());
        }
        assert_eq!(all.add(Interface::new(40_000, 0)), None);
        assert_eq!(all.as_slice().len(), MAX_INTERFACES + MAX_SHARED);
    }

    #[test]
    fn names_are_kept_short() {
        assert_eq!(name(b"eth0\0\0"), Some("eth0".to_owned()));
        assert_eq!(name(b""), None);
        assert_eq!(name(&[b'x'; 65_535]).map(|n| n.len()), Some(MAX_NAME));
        assert!(name(&[0xff; 9]).is_some());
    }
}
