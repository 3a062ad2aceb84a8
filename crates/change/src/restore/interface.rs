//! Restoring the settings of one interface.

use super::along;
use super::features;
use super::keys::{standing, was};
use crate::journal::{InterfaceEntry, Journal, Standing};
use crate::settings::{
    Error, InterfaceState, Item, Space, as_coalescing, queues_are_alike, read_at, set_ipv6_mtu,
    set_size_back, write_napi,
};
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::Route;

/// A group of keys that is restored with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Features,
    Mtu,
    Coalescing,
    Napi,
    Sizes,
}

/// Sets back the keys that still hold what was set; the error holds the kernel's refusals. An interface that is gone,
/// or whose index another device has, is left alone: `verify` reports that.
pub(super) fn restore(
    entry: &InterfaceEntry,
    journal: &Journal,
    space: &Space,
    pass: u32,
) -> Result<(), Vec<String>> {
    let mut words = Vec::new();
    for step in steps(entry) {
        // Read anew before each step: the step before may have changed the state.
        let is = read_at(space, entry.was.index);
        let is = is.map_err(|error| vec![error.to_string()])?;
        let Some(is) = is.filter(|is| is.is_same_device(&entry.was)) else {
            return Ok(());
        };
        let along = match step {
            Step::Mtu => along::before(entry, journal, space),
            _ => Vec::new(),
        };
        let done = space.run(|| Ok(take(step, entry, &is, pass)));
        let done = done.and_then(|done| done).err();
        along.iter().for_each(|one| one.again(space));
        words.extend(done.map(|error| error.to_string()));
    }
    if words.is_empty() { Ok(()) } else { Err(words) }
}

/// Steps with something to set back, in the reverse order of the changes.
fn steps(entry: &InterfaceEntry) -> Vec<Step> {
    let mut steps = Vec::new();
    for key in &entry.keys {
        let step = of(&key.item);
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps.reverse();
    steps
}

fn of(item: &Item) -> Step {
    match item {
        Item::Active(_) | Item::Wanted(_) => Step::Features,
        Item::Mtu | Item::Ipv6Mtu => Step::Mtu,
        Item::Coalescing(_) => Step::Coalescing,
        Item::GroFlushTimeout | Item::NapiDeferHardIrqs | Item::Sysctl(_) => Step::Napi,
        Item::GsoMaxSize | Item::GroMaxSize => Step::Sizes,
    }
}

fn take(step: Step, entry: &InterfaceEntry, is: &InterfaceState, pass: u32) -> Result<(), Error> {
    match step {
        Step::Features => Ok(features::restore(entry, is, pass > 0 && !entry.related)?),
        Step::Mtu => mtu(entry, is),
        Step::Coalescing => Ok(coalescing(entry, is)?),
        Step::Napi => napi(entry, is),
        Step::Sizes => Ok(sizes(entry, is)?),
    }
}

/// The kernel sets IPv6's MTU with each change of the interface's MTU: a value that somebody else gave IPv6's MTU
/// meanwhile is set again.
fn mtu(entry: &InterfaceEntry, is: &InterfaceState) -> Result<(), Error> {
    let own = was(entry, &Item::Mtu, is);
    let ipv6 = match was(entry, &Item::Ipv6Mtu, is) {
        None => is.ipv6_mtu.filter(|mtu| own.is_some() && *mtu != is.mtu),
        was => was,
    };
    if let Some(mtu) = own {
        Route::open()?.set_mtu(&is.name, is.index, mtu)?;
    }
    let ipv6 = ipv6.filter(|mtu| own != Some(*mtu));
    ipv6.map_or(Ok(()), |mtu| set_ipv6_mtu(&is.name, mtu))
}

fn sizes(entry: &InterfaceEntry, is: &InterfaceState) -> Result<(), Kernel> {
    let both = [Item::GsoMaxSize, Item::GroMaxSize];
    let ours = both
        .iter()
        .filter_map(|item| Some((item, was(entry, item, is)?)));
    let set = ours.map(|(item, bytes)| set_size_back(is, item, bytes));
    set.fold(Ok(()), Result::and)
}

/// Sets all coalescing settings back in one request; if that is refused, one by one.
fn coalescing(entry: &InterfaceEntry, is: &InterfaceState) -> Result<(), Kernel> {
    let ours = entry.keys.iter().filter_map(|key| match &key.item {
        Item::Coalescing(name) if standing(entry, key, is) == Standing::Ours => {
            let was = number(&key.held.was)?;
            Some((name.as_str(), as_coalescing(name, was)))
        }
        _ => None,
    });
    let ours: Vec<_> = ours.collect();
    if ours.is_empty() {
        return Ok(());
    }
    let ethtool = Ethtool::open()?;
    if ethtool.set_coalescing(&is.name, &ours).is_ok() {
        return Ok(());
    }
    let single = ours
        .iter()
        .map(|one| ethtool.set_coalescing(&is.name, &[*one]));
    single.fold(Ok(()), Result::and)
}

/// Parses a value of the journal, in which flags are `on` and `off`.
fn number(text: &str) -> Option<u32> {
    match text {
        "on" => Some(1),
        "off" => Some(0),
        number => number.parse().ok(),
    }
}

fn napi(entry: &InterfaceEntry, is: &InterfaceState) -> Result<(), Error> {
    let both = [Item::GroFlushTimeout, Item::NapiDeferHardIrqs];
    let done = both.map(|item| was(entry, &item, is).map_or(Ok(()), |was| one(is, &item, was)));
    done.into_iter().fold(Ok(()), Result::and)
}

fn one(is: &InterfaceState, item: &Item, was: u32) -> Result<(), Error> {
    // Somebody has given single queues values of their own since.
    if !queues_are_alike(is, item) {
        let message = format!("{item}: its queues have values of their own now");
        return Err(Error::Kernel { message });
    }
    let written = write_napi(&is.name, &item.to_string(), was);
    written.map_err(|message| Error::Kernel { message })
}
