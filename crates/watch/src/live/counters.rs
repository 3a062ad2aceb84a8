//! Without BPF: the counters that every kernel keeps.

use std::collections::BTreeMap;

use coalescope_host::model::Snapshot;

use crate::facts::{Interface, Unseen, Watched};

/// Counters at the beginning.
#[derive(Debug)]
pub(super) struct Counters {
    before: Snapshot,
}

impl Counters {
    pub(super) fn begin(snapshot: &Snapshot) -> Self {
        Self {
            before: snapshot.clone(),
        }
    }

    /// Adds the differences to the report.
    pub(super) fn describe(&self, now: &Snapshot, watched: &mut Watched) {
        let interfaces = now.interfaces.iter().map(|(key, interface)| {
            let before = self.before.interfaces.get(key);
            let before = before.filter(|before| before.index == interface.index);
            let none = BTreeMap::new();
            let known = before.map_or(&none, |before| &before.counters);
            Interface {
                counters: moved(known, &interface.counters),
                ..crate::names::fact(key, interface)
            }
        });
        watched.interfaces = interfaces
            .filter(|interface| !interface.counters.is_empty())
            .collect();
        watched.stack = moved(&self.before.stack.counters, &now.stack.counters);
    }
}

/// The differences of counters that have grown.
fn moved(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = now.iter().filter_map(|(name, value)| {
        let before = before.get(name).copied().unwrap_or_default();
        let by = value.saturating_sub(before);
        (by > 0).then(|| (name.clone(), by))
    });
    grown.collect()
}

/// What the kernel's counters do not show.
pub(super) fn unseen(why: &str) -> Vec<Unseen> {
    let all = [
        "merged frames: how many there are, forwarded, cut in software",
        "dropped frames by reason and place, and whether they were merged",
    ];
    let unseen = all.into_iter().map(|what| Unseen {
        what: what.to_owned(),
        why: why.to_owned(),
    });
    unseen.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_grown_is_told() {
        let counters = |values: [u64; 3]| {
            let names = ["a", "b", "c"].map(str::to_owned);
            names.into_iter().zip(values).collect::<BTreeMap<_, _>>()
        };
        let moved = moved(&counters([1, 5, 9]), &counters([4, 5, 0]));
        assert_eq!(moved, BTreeMap::from([("a".to_owned(), 3)]));
    }
}
