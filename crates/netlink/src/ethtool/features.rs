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
    /// Whether the feature is on.
    pub active: bool,
    /// Whether the feature is wanted, by whoever set it or by the driver at its start. Another feature,
    /// the MTU or an upper device may keep a wanted feature inactive.
    pub wanted: bool,
    /// Whether nobody can change the feature: the driver lacks it, or keeps it fixed.
    pub fixed: bool,
}

/// All features of an interface, by the kernel's names (`rx-gro`, `tx-tcp-segmentation`). ethtool's
/// own names (`generic-receive-offload`) stand for one or several of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    by_name: BTreeMap<String, Feature>,
}

impl Features {
    /// A feature by its name; `None` if this kernel does not know the name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Feature> {
        self.by_name.get(name).copied()
    }

    /// All features with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Feature)> {
        self.by_name
            .iter()
            .map(|(name, feature)| (name.as_str(), *feature))
    }

    /// Names of the features that are on.
    pub fn active(&self) -> impl Iterator<Item = &str> {
        let on = self.iter().filter(|(_, feature)| feature.active);
        on.map(|(name, _)| name)
    }
}

/// The result of a request to set features, from the kernel's reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Features whose state has changed, with their new state: those asked for, and those that changed
    /// along (`tx-checksumming` off turns TSO off). To undo, set the opposite of all of them.
    pub changed: BTreeMap<String, bool>,
    /// Features asked for that do not have the wanted state, with their present state: fixed ones, or
    /// ones that another feature keeps from changing. For the latter the kernel remembers the wanted state.
    pub refused: BTreeMap<String, bool>,
}

impl Ethtool {
    /// Reads all offloads of an interface.
    pub fn read_features(&self, interface: &str) -> Result<Features, Error> {
        let answer = self.get(FEATURES_GET, interface, "read the offloads")?;
        Ok(features(&answer))
    }

    /// Turns features on or off by the kernel's names, all in one request: of several requests, one
    /// could be undone by the next. An unknown name is an error, and nothing is changed; a known
    /// but fixed feature is in [`Outcome::refused`].
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

/// `ETHTOOL_A_FEATURES_HW` is the bit set with a mask: it has all features by name.
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

/// `ETHTOOL_A_FEATURES_WANTED` of the reply has the refused features, with the value that was asked for.
fn outcome(reply: &Answer) -> Outcome {
    let refused = bitset::read(reply.attributes().inside(WANTED));
    Outcome {
        changed: bitset::read(reply.attributes().inside(ACTIVE)),
        refused: refused.into_iter().map(|(name, on)| (name, !on)).collect(),
    }
}
