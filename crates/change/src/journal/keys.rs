//! Values of keys: the one before the first change and the one that was set. Nothing else is ever written.

use super::InterfaceEntry;
use crate::settings::{Item, Move, is_same};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One key of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// Which one.
    pub item: Item,
    /// Its values.
    pub held: Held,
}

/// What a key was, and what it was set to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Its value before it was first set.
    pub was: String,
    /// What it was set to last; two values while it is being set, none if it was not set.
    pub set: Vec<String>,
    /// It is being set: the kernel may make another value of the one that was asked for.
    pub is_open: bool,
}

/// Who has set the present value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody: the key has the value from before, or was never set.
    Settled,
    /// We: the key has the value that was set.
    Ours,
    /// Somebody else: the key has a third value.
    Theirs,
}

impl Held {
    /// A key that was not set yet.
    pub(crate) fn new(now: &str) -> Self {
        Self {
            was: now.to_owned(),
            ..Self::default()
        }
    }

    /// Who has set the value `now`.
    pub(crate) fn standing(&self, now: &str) -> Standing {
        if self.set.is_empty() || is_same(now, &self.was) {
            Standing::Settled
        } else if self.was_set_to(now) {
            Standing::Ours
        } else {
            Standing::Theirs
        }
    }

    fn was_set_to(&self, now: &str) -> bool {
        self.set.iter().any(|set| is_same(set, now))
    }

    /// Before setting the key. `was` is taken from `now` unless the key was set before.
    pub(crate) fn intend(&mut self, now: &str, next: &str) {
        if self.set.is_empty() {
            now.clone_into(&mut self.was);
        }
        self.set = vec![now.to_owned(), next.to_owned()];
        self.is_open = true;
    }

    /// Before the kernel moves the key along with another one: a value that somebody else has set
    /// since becomes the value to restore.
    fn mind_others(&mut self, now: &str) {
        if self.standing(now) == Standing::Theirs {
            *self = Self::new(now);
        }
    }

    /// After the key was set to `now`.
    pub(crate) fn conclude(&mut self, now: &str) {
        self.set = vec![now.to_owned()];
        self.is_open = false;
    }

    /// After the key was to be set to `asked` and now reads `now`. Where the value did not change,
    /// `earlier` is put back. A third value is the kernel's own if the kernel rounds values of this
    /// key, and somebody else's otherwise.
    pub(crate) fn settle(&mut self, asked: &str, now: &str, rounds: bool, earlier: Option<&Self>) {
        let before = self.set.first().cloned().unwrap_or_default();
        if is_same(now, &before) && !is_same(now, asked) {
            *self = earlier.cloned().unwrap_or_else(|| Self::new(&before));
        } else {
            self.conclude(if rounds { now } else { asked });
        }
    }

    /// The value that was set, as text.
    pub(crate) fn shown_set(&self) -> String {
        self.set.join(" or ")
    }
}

/// Whether the kernel or a driver may make another value of the one that is asked for.
pub(crate) fn rounds(item: &Item) -> bool {
    matches!(item, Item::Coalescing(_) | Item::Sysctl(_))
}

impl InterfaceEntry {
    /// The values of a key.
    pub(crate) fn held(&self, item: &Item) -> Option<&Held> {
        let mut keys = self.keys.iter();
        keys.find(|key| key.item == *item).map(|key| &key.held)
    }

    fn held_mut(&mut self, item: &Item, now: &str) -> &mut Held {
        let known = self.keys.iter().position(|key| key.item == *item);
        let at = known.unwrap_or_else(|| {
            self.keys.push(KeyEntry {
                item: item.clone(),
                held: Held::new(now),
            });
            self.keys.len() - 1
        });
        &mut self.keys[at].held
    }

    /// Before a move of a key.
    pub(crate) fn intend(&mut self, one: &Move) {
        let held = self.held_mut(&one.item, &one.from);
        if !one.is_asked {
            held.mind_others(&one.from);
        }
        held.intend(&one.from, &one.to);
    }

    /// After a move of a key, or an attempt at one. `asked` is the value foreseen; `None` for a key
    /// that moved along unforeseen.
    pub(crate) fn settle(&mut self, one: &Move, asked: Option<&str>, earlier: Option<&Held>) {
        let held = self.held_mut(&one.item, &one.from);
        match asked {
            Some(asked) => {
                let rounds = rounds(&one.item) || !one.is_asked;
                held.settle(asked, &one.to, rounds, earlier);
            }
            None => {
                held.mind_others(&one.from);
                if held.set.is_empty() {
                    one.from.clone_into(&mut held.was);
                }
                held.conclude(&one.to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_knows_whose_value_it_holds() {
        let mut held = Held::new("1500");
        assert_eq!(held.standing("9000"), Standing::Settled, "never set");
        held.intend("1500", "9000");
        for now in ["9000", "1500"] {
            assert_ne!(held.standing(now), Standing::Theirs);
        }
        held.settle("9000", "9000", false, None);
        assert_eq!(held.standing("9000"), Standing::Ours);
        assert_eq!(held.standing("1500"), Standing::Settled);
        assert_eq!(held.standing("1400"), Standing::Theirs);
    }

    #[test]
    fn what_somebody_else_set_before_is_what_was() {
        let mut held = Held::new("on");
        held.intend("off", "off");
        held.settle("off", "off", false, None);
        assert_eq!(held.was, "off");
    }

    #[test]
    fn a_refusal_leaves_it_as_it_was_known() {
        let mut held = Held::new("a");
        held.intend("a", "b");
        held.settle("b", "b", false, None);
        let earlier = held.clone();
        held.intend("b", "c");
        held.settle("c", "b", false, Some(&earlier));
        assert_eq!(held, earlier);
        held.intend("b", "99");
        held.settle("99", "64", true, Some(&earlier));
        assert_eq!(held.set, ["64"]);
    }
}
