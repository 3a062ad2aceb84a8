//! Indexes of a host's interfaces by their fields, as a value of CEL that `narrow` uses: `at['master'][['br0']]`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use cel::ExecutionError;
use cel::common::traits::Indexer;
use cel::common::types::{CelList, CelString, MAP_TYPE, Type};
use cel::common::value::{CowVal, Val};
use serde_json::Value as Json;

use super::shared::Shared;

/// All indexes, each built on first use.
#[derive(Clone, Debug)]
pub(super) struct Indexes<'v>(Arc<All<'v>>);

#[derive(Debug)]
struct All<'v> {
    facts: &'v [Json],
    seen: Vec<Shared<'v>>,
    whole: Shared<'v>,
    made: Mutex<HashMap<String, Index<'v>>>,
}

impl<'v> Indexes<'v> {
    /// Indexes of interfaces, and their values for conditions.
    pub(super) fn of(facts: &'v [Json], seen: Vec<Shared<'v>>) -> Self {
        Self(Arc::new(All {
            facts,
            whole: list(&seen),
            seen,
            made: Mutex::default(),
        }))
    }

    /// All interfaces, in their order.
    pub(super) fn whole(&self) -> Shared<'v> {
        self.0.whole.clone()
    }

    fn by(&self, field: &str) -> Index<'v> {
        let mut made = self.0.made.lock().unwrap_or_else(PoisonError::into_inner);
        let index = made.entry(field.to_owned());
        index.or_insert_with(|| Index::of(&self.0, field)).clone()
    }
}

/// Interfaces by their value in one field.
#[derive(Clone, Debug)]
struct Index<'v>(Arc<Places<'v>>);

#[derive(Debug)]
struct Places<'v> {
    seen: Vec<Shared<'v>>,
    whole: Shared<'v>,
    by_text: BTreeMap<&'v str, Vec<usize>>,
    /// The interfaces as a list, for a value that many have.
    lists: BTreeMap<&'v str, Shared<'v>>,
    /// Interfaces whose field is neither text nor a list.
    others: Vec<usize>,
}

impl<'v> Index<'v> {
    fn of(all: &All<'v>, field: &str) -> Self {
        let mut places = Places {
            seen: all.seen.clone(),
            whole: all.whole.clone(),
            by_text: BTreeMap::new(),
            lists: BTreeMap::new(),
            others: Vec::new(),
        };
        for (at, facts) in all.facts.iter().enumerate() {
            places.add(at, &facts[field]);
        }
        let lists = places.by_text.iter();
        let lists = lists.map(|(text, at)| (*text, places.list(at.iter().copied())));
        places.lists = lists.collect();
        Self(Arc::new(places))
    }
}

impl<'v> Places<'v> {
    fn add(&mut self, at: usize, value: &'v Json) {
        let texts: BTreeSet<&str> = match value {
            Json::String(text) => BTreeSet::from([text.as_str()]),
            Json::Array(items) => items.iter().filter_map(Json::as_str).collect(),
            _ => {
                self.others.push(at);
                return;
            }
        };
        for text in texts {
            self.by_text.entry(text).or_default().push(at);
        }
    }

    fn list(&self, places: impl Iterator<Item = usize>) -> Shared<'v> {
        let seen = places.filter_map(|at| self.seen.get(at));
        list(seen)
    }

    /// The interfaces that have one of the texts; all of them if a value is no text.
    fn having(&self, values: &dyn Val) -> Shared<'v> {
        let mut texts = BTreeSet::new();
        if self.others.len() == self.seen.len() || !add_texts(values, LISTS, &mut texts) {
            return self.whole.clone();
        }
        let mut found = texts
            .iter()
            .filter(|text| self.by_text.contains_key(text.as_str()));
        if let (Some(only), None, true) = (found.next(), found.next(), self.others.is_empty())
            && let Some(list) = self.lists.get(only.as_str())
        {
            return list.clone();
        }
        let places = texts
            .iter()
            .filter_map(|text| self.by_text.get(text.as_str()));
        let places: BTreeSet<usize> = places.chain([&self.others]).flatten().copied().collect();
        self.list(places.into_iter())
    }
}

fn list<'a, 'v: 'a>(seen: impl IntoIterator<Item = &'a Shared<'v>>) -> Shared<'v> {
    let items: Vec<Box<dyn Val + 'v>> = seen
        .into_iter()
        .map(|one| Box::new(one.clone()) as Box<dyn Val + 'v>)
        .collect();
    #[cfg(test)]
    super::steps::count(items.len());
    Shared::of(CelList::from(items))
}

/// Depth of lists around texts: the list of `narrow`, and one of a fact.
const LISTS: usize = 2;

/// Adds the texts of a value; false if the value is, or contains, anything else.
fn add_texts(value: &dyn Val, lists: usize, texts: &mut BTreeSet<String>) -> bool {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        texts.insert(text.inner().to_owned());
        return true;
    }
    let list = value.downcast_ref::<CelList<'_>>();
    let Some((list, lists)) = list.zip(lists.checked_sub(1)) else {
        return false;
    };
    let mut items = list.inner().iter();
    items.all(|one| add_texts(one.as_ref(), lists, texts))
}

macro_rules! looked_up {
    ($name:ident, $self:ident, $key:ident, $found:expr) => {
        impl Val for $name<'_> {
            fn get_type(&self) -> &Type {
                &MAP_TYPE
            }

            fn cel_type() -> &'static Type {
                &MAP_TYPE
            }

            fn as_indexer<'b, 'w>(&'b self) -> Option<&'b (dyn Indexer + 'w)>
            where
                Self: 'w,
            {
                Some(self)
            }

            fn into_indexer<'w>(self: Box<Self>) -> Option<Box<dyn Indexer + 'w>>
            where
                Self: 'w,
            {
                Some(self)
            }

            fn clone_as_boxed<'w>(&self) -> Box<dyn Val + 'w>
            where
                Self: 'w,
            {
                Box::new(self.clone())
            }
        }

        impl Indexer for $name<'_> {
            fn get<'b, 'w>(&'b $self, $key: &dyn Val) -> Result<CowVal<'b, 'w>, ExecutionError>
            where
                Self: 'w,
            {
                Ok(CowVal::owned($found))
            }

            fn steal<'w>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'w>, ExecutionError>
            where
                Self: 'w,
            {
                Ok(self.get(key)?.into_owned())
            }
        }
    };
}

looked_up!(Indexes, self, key, self.by(name(key)));
looked_up!(Index, self, key, self.0.having(key));

fn name(key: &dyn Val) -> &str {
    let text = key.downcast_ref::<CelString<'_>>();
    text.map(CelString::inner).unwrap_or_default()
}
