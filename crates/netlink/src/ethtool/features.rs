//! Offloads: read, and set by name.

use super::{Ethtool, bitset};
use crate::error::Error;
use crate::generic::Answer;
use std::collections::BTreeMap;

const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;
/// `ETHTOOL_MSG_FEATURES_SET_REPLY`, of the kernel's own numbering.
const FEATURES_SET_REPLY: u8 = 12;
const HW: u16 = 2;
const WANTED: u16 = 3;
const ACTIVE: u16 = 4;
const NOCHANGE: u16 = 5;

/// One offload as the kernel has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feature {
    /// It is on.
    pub active: bool,
    /// It was asked for: whoever set it, or the driver at the start. Another feature, the MTU or an
    /// upper device may keep it from being active.
    pub wanted: bool,
    /// Nobody can change it: the driver does not have it, or does not let it be changed.
    pub fixed: bool,
}

/// All offloads of an interface, by the kernel's names (`rx-gro`, `tx-tcp-segmentation`); ethtool's
/// short names for some of them (`generic-receive-offload`) are made of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    by_name: BTreeMap<String, Feature>,
}

impl Features {
    /// One of them; `None` if this kernel does not know the name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Feature> {
        self.by_name.get(name).copied()
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Feature)> {
        self.by_name
            .iter()
            .map(|(name, feature)| (name.as_str(), *feature))
    }

    /// Names of those that are on.
    pub fn active(&self) -> impl Iterator<Item = &str> {
        let on = self.iter().filter(|(_, feature)| feature.active);
        on.map(|(name, _)| name)
    }
}

/// What a request to set offloads came to, in the kernel's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Offloads whose state is now another, and which: those asked for and those that went with
    /// them (`tx-checksumming` off takes TSO along). To undo, set the opposite of all of these.
    pub changed: BTreeMap<String, bool>,
    /// Offloads asked for that do not have the wanted state, and the state that they have: fixed,
    /// or kept by another feature. Of the latter the kernel keeps the wish.
    pub refused: BTreeMap<String, bool>,
}

impl Ethtool {
    /// Reads all offloads of an interface.
    pub fn read_features(&self, interface: &str) -> Result<Features, Error> {
        let answer = self.get(FEATURES_GET, interface, "read the offloads")?;
        Ok(features(&answer))
    }

    /// Turns offloads on or off by the kernel's names, all in one request: one at a time could be
    /// undone by the next. An unknown name changes nothing and is an error; what is known but fixed
    /// is in [`Outcome::refused`].
    pub fn set_features(&self, interface: &str, wanted: &[(&str, bool)]) -> Result<Outcome, Error> {
        if wanted.is_empty() {
            return Ok(Outcome::default());
        }
        let request = vec![bitset::build(WANTED, wanted)];
        let answers = self.set(FEATURES_SET, interface, request, "set offloads")?;
        let reply = answers
            .iter()
            .find(|answer| answer.command == FEATURES_SET_REPLY);
        reply.map(outcome).ok_or_else(|| Error::Answer {
            action: format!("set offloads of {interface}"),
            lacks: "what has changed",
        })
    }
}

/// The set of what hardware has is the one with a mask: it names all features there are.
fn features(answer: &Answer) -> Features {
    let set = |kind| bitset::read(answer.attributes().inside(kind));
    let (wanted, active, nochange) = (set(WANTED), set(ACTIVE), set(NOCHANGE));
    let all = set(HW).into_iter().map(|(name, hardware)| {
        let feature = Feature {
            active: active.contains_key(&name),
            wanted: wanted.contains_key(&name),
            fixed: !hardware || nochange.contains_key(&name),
        };
        (name, feature)
    });
    Features {
        by_name: all.collect(),
    }
}

/// "Wanted" of the reply holds what was asked for and not given, with the value asked for.
fn outcome(reply: &Answer) -> Outcome {
    let refused = bitset::read(reply.attributes().inside(WANTED));
    Outcome {
        changed: bitset::read(reply.attributes().inside(ACTIVE)),
        refused: refused.into_iter().map(|(name, on)| (name, !on)).collect(),
    }
}
