//! One change: everything is read before and after, and every difference is reported.

use super::lengths;
use super::link::Carrier;
use super::moves::{self, Move};
use super::state::{as_coalescing, gone, queues_are_alike};
use super::{
    Error, InterfaceState, Item, Knob, Outcome, Setting, Space, Value, What, differences, is_same,
    members, read_at, read_sysctl, sysctl, write_napi, write_sysctl,
};
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::Route;
use std::collections::BTreeSet;

/// A request to the kernel: items with their new values.
struct Request<'a> {
    knob: &'a Knob,
    number: u32,
    asked: Vec<(Item, String)>,
    /// Items that were asked for, and that nobody can change.
    fixed: Vec<String>,
}

/// Refuses a setting that cannot be made or undone; nothing is changed.
pub(crate) fn check(setting: &Setting, state: Option<&InterfaceState>) -> Result<(), Error> {
    match (&setting.subject.what, state) {
        (What::Sysctl(key), _) => sysctl::check(key),
        (What::Interface { knob, .. }, Some(state)) => {
            state.value(knob)?;
            lengths::check(knob, &setting.value, state)
        }
        (What::Interface { .. }, None) => Ok(()),
    }
}

/// A sysctl that is about to be written.
pub(crate) struct PreparedSysctl<'a> {
    key: &'a str,
    value: String,
    /// The present value.
    pub(crate) from: String,
}

impl<'a> PreparedSysctl<'a> {
    pub(crate) fn new(space: &Space, key: &'a str, value: &Value) -> Result<Self, Error> {
        Ok(Self {
            key,
            value: value.to_string(),
            from: read_sysctl(space, key)?,
        })
    }

    /// The new value.
    pub(crate) fn next(&self) -> &str {
        &self.value
    }

    /// Writes the value; returns the outcome, and the value afterwards.
    pub(crate) fn make(&self, space: &Space) -> Result<(Outcome, String), Error> {
        let item = Item::Sysctl(self.key.to_owned());
        let from = self.from.clone();
        if is_same(&from, &self.value) {
            return Ok((Outcome::Already { item, is: from }, self.from.clone()));
        }
        let answer = write_sysctl(space, self.key, &self.value)?;
        let to = read_sysctl(space, self.key)?;
        let is = to.clone();
        let outcome = match answer {
            Ok(()) if is_same(&to, &self.value) => Outcome::Changed { item, from, to },
            Ok(()) => Outcome::Ignored {
                item,
                is: to,
                asked: self.value.clone(),
            },
            Err(words) => Outcome::Refused {
                item,
                stays: to,
                words,
            },
        };
        Ok((outcome, is))
    }
}

/// A change of an interface that is about to be made: the present state, and the request.
pub(crate) struct Prepared<'a> {
    request: Request<'a>,
    before: InterfaceState,
    others: Vec<InterfaceState>,
    carrier: Carrier,
}

impl<'a> Prepared<'a> {
    /// `was` is the interface before the experiment: `on` turns on those features of a name that
    /// were on then. `related` are the interfaces that may change along.
    pub(crate) fn new(
        space: &Space,
        (knob, value): (&'a Knob, &Value),
        was: &InterfaceState,
        related: &BTreeSet<u32>,
    ) -> Result<Self, Error> {
        let before = same_device(space, was)?;
        Ok(Self {
            request: Request::new(knob, value, &before, was)?,
            others: read_all(space, related)?,
            carrier: space.run(|| Carrier::read(before.index))?,
            before,
        })
    }

    /// The moves that the change will make, as far as they are known before.
    pub(crate) fn foreseen(&self) -> Vec<Move> {
        moves::foreseen(&self.request.asked, &self.before, &self.others)
    }

    /// Makes the change; returns the outcomes, and the moves of all keys that were foreseen or moved along.
    pub(crate) fn make(&self, space: &Space) -> Result<(Vec<Outcome>, Vec<Move>), Error> {
        let (before, request) = (&self.before, &self.request);
        let answer = space.run(|| request.send(before))?;
        let mut after = vec![same_device(space, before)?];
        let mut outcomes = request.judge(before, &after[0], answer.err().as_deref());
        cascades(&mut outcomes, before, &after[0], request);
        let indexes = self.others.iter().map(|other| other.index).collect();
        after.extend(read_all(space, &indexes)?);
        for (before, after) in pairs(&self.others, &after) {
            cascades(&mut outcomes, before, after, &request.nothing());
        }
        let now = space.run(|| Carrier::read(before.index))?;
        outcomes.extend(self.carrier.went_down(now, &before.name));
        Ok((outcomes, self.moved(&after)))
    }

    fn moved(&self, after: &[InterfaceState]) -> Vec<Move> {
        let foreseen = self.foreseen();
        let mut moved: Vec<Move> = foreseen
            .iter()
            .filter_map(|one| one.became(after))
            .collect();
        let mut along = moves::own(self.request.knob, &self.before, &after[0]);
        for (before, after) in pairs(&self.others, after) {
            along.extend(moves::along(self.request.knob, before, after));
        }
        along.retain(|one| !foreseen.iter().any(|known| known.is_of(one)));
        moved.extend(along);
        moved
    }
}

/// States of each interface before and after; one that has gone meanwhile is left out.
fn pairs<'a>(
    before: &'a [InterfaceState],
    after: &'a [InterfaceState],
) -> impl Iterator<Item = (&'a InterfaceState, &'a InterfaceState)> {
    before.iter().filter_map(|before| {
        let now = after.iter().find(|after| after.index == before.index)?;
        Some((before, now))
    })
}

pub(super) fn same_device(space: &Space, was: &InterfaceState) -> Result<InterfaceState, Error> {
    let is = read_at(space, was.index)?;
    let detail = match &is {
        Some(is) if is.is_same_device(was) => None,
        Some(_) => Some("another device has its number now"),
        None => Some("it has gone since the experiment began"),
    };
    match (is, detail) {
        (Some(is), None) => Ok(is),
        (_, detail) => Err(gone(space, &was.name, detail.unwrap_or_default())),
    }
}

/// States of these interfaces; one that has gone meanwhile is left out.
fn read_all(space: &Space, indexes: &BTreeSet<u32>) -> Result<Vec<InterfaceState>, Error> {
    let all = indexes.iter().map(|&index| read_at(space, index));
    all.filter_map(Result::transpose).collect()
}

impl<'a> Request<'a> {
    fn new(
        knob: &'a Knob,
        value: &Value,
        state: &InterfaceState,
        was: &InterfaceState,
    ) -> Result<Self, Error> {
        let number = match value {
            Value::Number(number) => *number,
            Value::Switch(on) => (*on).into(),
            Value::Text(_) => 0,
        };
        let mut request = Self {
            knob,
            number,
            asked: Vec::new(),
            fixed: Vec::new(),
        };
        state.value(knob)?;
        lengths::check(knob, value, state)?;
        match knob {
            Knob::Feature(name) => request.ask_features(name, number != 0, state, was)?,
            _ => request.asked.push((item(knob), value.to_string())),
        }
        Ok(request)
    }

    /// A name may stand for several features. Fixed ones are reported only if all are fixed. `on` turns on those that
    /// were on at first, if any were: other features would be another level.
    fn ask_features(
        &mut self,
        name: &str,
        on: bool,
        state: &InterfaceState,
        was: &InterfaceState,
    ) -> Result<(), Error> {
        let all = members(state, name)?;
        let (free, fixed): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|name| state.changeable.contains(name));
        if free.is_empty() {
            self.fixed = fixed;
            return Ok(());
        }
        let first: Vec<_> = free
            .iter()
            .filter(|name| was.wanted.contains(*name))
            .cloned()
            .collect();
        let chosen = if on && !first.is_empty() { first } else { free };
        let word = Value::Switch(on).to_string();
        self.asked = chosen
            .into_iter()
            .map(|name| (Item::Active(name), word.clone()))
            .collect();
        Ok(())
    }

    /// This request with no item asked for.
    fn nothing(&self) -> Self {
        Self {
            asked: Vec::new(),
            fixed: Vec::new(),
            ..*self
        }
    }

    /// Sends the request. The inner error is a refusal, in the kernel's words.
    fn send(&self, state: &InterfaceState) -> Result<Result<(), String>, Error> {
        let name = &state.name;
        let answer = match self.knob {
            Knob::Feature(_) => self.send_features(name),
            Knob::Mtu => Route::open()?.set_mtu(name, state.index, self.number),
            Knob::Coalescing(setting) => {
                let value = as_coalescing(setting, self.number);
                Ethtool::open()?.set_coalescing(name, &[(setting, value)])
            }
            Knob::GroFlushTimeout | Knob::NapiDeferHardIrqs => return self.send_napi(state),
            Knob::GsoMaxSize | Knob::GroMaxSize => {
                lengths::set_size(state, &item(self.knob), self.number)
            }
        };
        match answer {
            Ok(()) => Ok(Ok(())),
            Err(error) if error.is_denied() || error.is_gone() => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn send_features(&self, interface: &str) -> Result<(), Kernel> {
        let wanted = self.asked.iter().filter_map(|(item, _)| match item {
            Item::Active(name) => Some((name.as_str(), self.number != 0)),
            _ => None,
        });
        let wanted: Vec<_> = wanted.collect();
        Ethtool::open()?.set_features(interface, &wanted).map(drop)
    }

    fn send_napi(&self, state: &InterfaceState) -> Result<Result<(), String>, Error> {
        if !queues_are_alike(state, &item(self.knob)) {
            return Err(Error::NotReversible {
                what: format!("{}: {}", state.name, self.knob),
                why: "its queues have values of their own, which would be lost".to_owned(),
            });
        }
        Ok(write_napi(&state.name, &self.knob.to_string(), self.number))
    }

    fn judge(
        &self,
        before: &InterfaceState,
        after: &InterfaceState,
        words: Option<&str>,
    ) -> Vec<Outcome> {
        let fixed = self
            .fixed
            .iter()
            .map(|name| fixed(name, self.number != 0, after));
        let asked = self.asked.iter().map(|(item, asked)| {
            let (from, to) = (before.shown(item), after.shown(item));
            one(item.clone(), asked.clone(), from, to, words)
        });
        fixed.chain(asked).collect()
    }
}

fn fixed(name: &str, on: bool, state: &InterfaceState) -> Outcome {
    let item = Item::Active(name.to_owned());
    let is = state.shown(&item);
    if is == Value::Switch(on).to_string() {
        Outcome::Already { item, is }
    } else {
        Outcome::Fixed { item, stays: is }
    }
}

fn one(item: Item, asked: String, from: String, to: String, words: Option<&str>) -> Outcome {
    match words {
        _ if to == asked && from == asked => Outcome::Already { item, is: to },
        _ if to == asked => Outcome::Changed { item, from, to },
        Some(words) => Outcome::Refused {
            item,
            stays: to,
            words: words.to_owned(),
        },
        None => Outcome::Ignored {
            item,
            is: to,
            asked,
        },
    }
}

/// Reports changes that were not asked for. A wanted feature follows its active one, and IPv6's MTU
/// follows the MTU: these two are not reported again.
fn cascades(
    outcomes: &mut Vec<Outcome>,
    before: &InterfaceState,
    after: &InterfaceState,
    request: &Request<'_>,
) {
    let asked = |item: &Item| request.asked.iter().any(|(asked, _)| asked == item);
    let has_followed = |item: &Item| match item {
        Item::Ipv6Mtu => true,
        Item::Wanted(name) => asked(&Item::Active(name.clone())),
        item => asked(item),
    };
    let with_it = differences(before, after).into_iter();
    let with_it = with_it.filter(|difference| !has_followed(&difference.item));
    outcomes.extend(with_it.map(|difference| Outcome::Cascaded {
        interface: Some(before.name.clone()),
        item: difference.item,
        from: difference.from,
        to: difference.to,
    }));
}

fn item(knob: &Knob) -> Item {
    match knob {
        Knob::Feature(name) => Item::Active(name.clone()),
        Knob::Mtu => Item::Mtu,
        Knob::Coalescing(name) => Item::Coalescing(name.clone()),
        Knob::GroFlushTimeout => Item::GroFlushTimeout,
        Knob::NapiDeferHardIrqs => Item::NapiDeferHardIrqs,
        Knob::GsoMaxSize => Item::GsoMaxSize,
        Knob::GroMaxSize => Item::GroMaxSize,
    }
}

impl InterfaceState {
    /// The value of an item as text, as a [`Value`] is written.
    pub(crate) fn shown(&self, item: &Item) -> String {
        let switch = |on| Value::Switch(on).to_string();
        let number = |value: Option<u32>| value.map_or_else(String::new, |it| it.to_string());
        match item {
            Item::Active(name) => switch(self.active.contains(name)),
            Item::Wanted(name) => switch(self.wanted.contains(name)),
            Item::Mtu => self.mtu.to_string(),
            Item::Ipv6Mtu => number(self.ipv6_mtu),
            Item::Coalescing(name) => {
                let value = self.value(&Knob::Coalescing(name.clone()));
                value.map(|value| value.to_string()).unwrap_or_default()
            }
            Item::GroFlushTimeout => number(self.gro_flush_timeout),
            Item::NapiDeferHardIrqs => number(self.napi_defer_hard_irqs),
            Item::GsoMaxSize => number(self.gso_max_size),
            Item::GroMaxSize => number(self.gro_max_size),
            Item::Sysctl(_) => String::new(),
        }
    }
}
