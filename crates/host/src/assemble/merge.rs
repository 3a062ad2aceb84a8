//! Merging, over JSON values: then a field that is new in the model needs nothing here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Part;
use super::rules::{is_empty, is_same, is_volatile, set};
use crate::model::{Interface, Snapshot, Unread};
use crate::names::FIRST_OF_TWO;

/// So many settings that differ are not one setting that was changed in between: `ethtool -K` of
/// all merging changes about five.
const MANY: usize = 8;

/// How many of them a message names.
const NAMED: usize = 3;

/// Texts among which the one is looked for that told a value first; conflicts of thousands of texts
/// would else be looked for in all of them.
const LOOKED_AT: usize = 1_000;

/// The snapshot of all texts so far.
#[derive(Default)]
pub(super) struct Merged {
    all: Map<String, Value>,
    /// Of interfaces, as JSON: as values they take ten times as much, and there may be thousands, of which
    /// a text tells of one.
    interfaces: BTreeMap<String, Vec<u8>>,
    /// The first texts themselves, to name the source of a value.
    texts: Vec<(String, Map<String, Value>)>,
}

/// Where a snapshot has its interfaces.
const INTERFACES: &str = "interfaces";

/// Settings that differ.
#[derive(Default)]
struct Difference {
    conflicts: Vec<Conflict>,
    /// How many settings both have.
    shared: usize,
}

struct Conflict {
    path: Vec<String>,
    kept: Value,
    other: Value,
}

impl Merged {
    /// Adds the snapshot of a text; false if the text was left out.
    pub(super) fn add(&mut self, part: Part, unread: &mut Vec<Unread>) -> bool {
        let values = values(&part.snapshot);
        self.unfold(&values);
        let is_taken = self.add_values(part.origin, values, unread);
        self.fold();
        is_taken
    }

    fn add_values(
        &mut self,
        origin: String,
        values: Map<String, Value>,
        unread: &mut Vec<Unread>,
    ) -> bool {
        let mut difference = Difference::default();
        difference.objects(&mut Vec::new(), &self.all, &values);
        if difference.is_another_host() {
            unread.push(self.left_out(&origin, &difference));
            return false;
        }
        for conflict in &difference.conflicts {
            unread.push(self.conflict(&origin, conflict));
        }
        take_objects(&mut Vec::new(), &mut self.all, &values);
        if self.texts.len() < LOOKED_AT {
            self.texts.push((origin, values));
        }
        true
    }

    /// Has those interfaces as values that a text tells of.
    fn unfold(&mut self, values: &Map<String, Value>) {
        let named = values.get(INTERFACES).and_then(Value::as_object);
        let names = named.into_iter().flat_map(Map::keys);
        let known = names.filter_map(|name| {
            let json = self.interfaces.get(name)?;
            Some((name.clone(), serde_json::from_slice(json).ok()?))
        });
        let known: Map<String, Value> = known.collect();
        if !known.is_empty() {
            self.all.insert(INTERFACES.to_owned(), known.into());
        }
    }

    /// Has all of them as JSON again.
    fn fold(&mut self) {
        if let Some(Value::Object(unfolded)) = self.all.remove(INTERFACES) {
            let unfolded = unfolded.into_iter();
            self.interfaces
                .extend(unfolded.map(|(name, value)| (name, value.to_string().into_bytes())));
        }
    }

    fn conflict(&self, origin: &str, conflict: &Conflict) -> Unread {
        let first = self.first(&conflict.path);
        Unread {
            what: conflict.path.join(" "),
            why: format!(
                "{first} says {}, {origin} says {}: what {first} says {FIRST_OF_TWO}",
                conflict.kept, conflict.other
            ),
        }
    }

    fn left_out(&self, origin: &str, difference: &Difference) -> Unread {
        let named = difference.conflicts.iter().take(NAMED);
        let named: Vec<String> = named
            .map(|conflict| {
                let what = conflict.path.join(" ");
                format!(
                    "{what} {} here, {} in {}",
                    conflict.other,
                    conflict.kept,
                    self.first(&conflict.path)
                )
            })
            .collect();
        let count = difference.conflicts.len();
        Unread {
            what: origin.to_owned(),
            why: format!(
                "two hosts or two times mixed: {count} of its settings differ from those of the \
                 other texts ({}); it was left out: give it as a host of its own",
                named.join("; ")
            ),
        }
    }

    /// The text that a value is from.
    fn first(&self, path: &[String]) -> &str {
        let mut texts = self.texts.iter();
        let text = texts.find(|(_, values)| has_value(values, path));
        text.map_or("another text", |(origin, _)| origin)
    }

    pub(super) fn snapshot(self) -> Snapshot {
        // Only what was a snapshot was merged, field by field; should that fail nevertheless, then
        // nothing is known, and that is said.
        let interfaces: Result<BTreeMap<String, Box<Interface>>, _> = self
            .interfaces
            .into_iter()
            .map(|(name, json)| Ok((name, serde_json::from_slice(&json)?)))
            .collect();
        let all = serde_json::from_value::<Snapshot>(Value::Object(self.all));
        let whole = all.and_then(|all| {
            Ok(Snapshot {
                interfaces: interfaces?,
                ..all
            })
        });
        whole.unwrap_or_else(|error| {
            let mut empty = Snapshot::default();
            empty.not_read("all texts", format!("they cannot be put together: {error}"));
            empty
        })
    }
}

fn has_value(values: &Map<String, Value>, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    let mut value = values.get(first);
    for key in rest {
        value = value.and_then(|value| value.get(key));
    }
    value.is_some_and(|value| !is_empty(value))
}

fn values(snapshot: &Snapshot) -> Map<String, Value> {
    match serde_json::to_value(snapshot) {
        Ok(Value::Object(mut values)) => {
            values.retain(|key, _| !matches!(key.as_str(), "schema" | "unread"));
            values
        }
        _ => Map::new(),
    }
}

/// Whether settings differ that both snapshots have.
pub(super) fn differ(a: &Snapshot, b: &Snapshot) -> bool {
    let mut difference = Difference::default();
    difference.objects(&mut Vec::new(), &values(a), &values(b));
    !difference.conflicts.is_empty()
}

impl Difference {
    fn objects<'a>(
        &mut self,
        path: &mut Vec<&'a str>,
        kept: &Map<String, Value>,
        other: &'a Map<String, Value>,
    ) {
        for (key, value) in other {
            if let Some(known) = kept.get(key) {
                path.push(key);
                self.values(path, known, value);
                path.pop();
            }
        }
    }

    fn values<'a>(&mut self, path: &mut Vec<&'a str>, kept: &Value, other: &'a Value) {
        if let (Value::Object(kept), Value::Object(other)) = (kept, other) {
            return self.objects(path, kept, other);
        }
        if is_volatile(path) {
            return;
        }
        self.shared += 1;
        if !is_same(path, kept, other) {
            self.conflicts.push(Conflict {
                path: path.iter().map(|&key| key.to_owned()).collect(),
                kept: kept.clone(),
                other: other.clone(),
            });
        }
    }

    /// Many settings differ, or hardware addresses of most interfaces that both know.
    fn is_another_host(&self) -> bool {
        let macs = |conflict: &&Conflict| conflict.path.last().is_some_and(|key| key == "mac");
        let macs = self.conflicts.iter().filter(macs).count();
        let count = self.conflicts.len();
        let half = count * 2 >= self.shared;
        count >= MANY || macs >= 2 || count >= 3 && half
    }
}

/// Takes what is new.
fn take_objects<'a>(
    path: &mut Vec<&'a str>,
    into: &mut Map<String, Value>,
    from: &'a Map<String, Value>,
) {
    for (key, value) in from {
        path.push(key);
        match into.get_mut(key) {
            Some(known) => take(path, known, value),
            None => {
                into.insert(key.clone(), value.clone());
            }
        }
        path.pop();
    }
}

fn take<'a>(path: &mut Vec<&'a str>, into: &mut Value, from: &'a Value) {
    match (&mut *into, from) {
        (Value::Object(into), Value::Object(from)) => take_objects(path, into, from),
        (Value::Array(into), Value::Array(from)) => take_list(path, into, from),
        (into, from) if is_empty(into) => *into = from.clone(),
        // The longer form of the same tells more: a host with its domain, a kernel with its build.
        (Value::String(into), Value::String(from))
            if matches!(path[..], ["name" | "kernel"]) && from.len() > into.len() =>
        {
            from.clone_into(into);
        }
        _ => {}
    }
}

/// Of lists that do not contradict each other, the longer one; of lists that change, all entries.
fn take_list(path: &[&str], into: &mut Vec<Value>, from: &[Value]) {
    let given = set(from);
    let is_given = into.iter().all(|value| given.contains(&value.to_string()));
    if is_given
        || matches!(
            path.last(),
            Some(&"addresses" | &"log" | &"routes" | &"length_rules" | &"redirects")
        )
    {
        let new = from.iter().filter(|value| !into.contains(value));
        let new: Vec<Value> = new.cloned().collect();
        into.extend(new);
    }
}
