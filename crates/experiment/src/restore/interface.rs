//! One interface, as it was.

use super::features;
use crate::journal::{InterfaceEntry, Journal};
use crate::settings::{
    Error, InterfaceState, Knob, Space, What, as_coalescing, read_at, write_napi,
};
use coalescope_netlink::Error as Kernel;
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::Route;
use std::fs;

/// A group of settings that is restored with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Features,
    Mtu,
    Coalescing,
    Napi,
}

const STEPS: [Step; 4] = [Step::Features, Step::Mtu, Step::Coalescing, Step::Napi];

/// Asks for everything that differs; the error is what the kernel said against it. An interface that
/// is gone, or is another one now, is left alone: looking will say so.
pub(super) fn restore(
    journal: &Journal,
    entry: &InterfaceEntry,
    space: &Space,
    pass: u32,
) -> Result<(), Vec<String>> {
    let mut words = Vec::new();
    for step in steps(journal, entry) {
        // What one step changes is before the next: a step starts from what is.
        let is = read_at(space, entry.was.index);
        let is = is.map_err(|error| vec![error.to_string()])?;
        let Some(is) = is.filter(|is| is.is_same_device(&entry.was)) else {
            return Ok(());
        };
        let done = space.run(|| Ok(take(step, entry, &is, pass)));
        words.extend(
            done.and_then(|done| done)
                .err()
                .map(|error| error.to_string()),
        );
    }
    if words.is_empty() { Ok(()) } else { Err(words) }
}

/// The reverse of the order of the changes; what was not changed itself comes last.
fn steps(journal: &Journal, entry: &InterfaceEntry) -> Vec<Step> {
    let rank = |step: &Step| {
        let rank = journal.rank(|subject| match &subject.what {
            What::Interface { name, knob } => *name == entry.was.name && of(knob) == *step,
            What::Sysctl(_) => false,
        });
        std::cmp::Reverse(rank)
    };
    let mut steps = STEPS.to_vec();
    steps.sort_by_key(rank);
    if entry.related {
        steps.retain(|step| matches!(step, Step::Features | Step::Mtu));
    }
    steps
}

fn of(knob: &Knob) -> Step {
    match knob {
        Knob::Feature(_) => Step::Features,
        Knob::Mtu => Step::Mtu,
        Knob::Coalescing(_) => Step::Coalescing,
        Knob::GroFlushTimeout | Knob::NapiDeferHardIrqs => Step::Napi,
    }
}

fn take(step: Step, entry: &InterfaceEntry, is: &InterfaceState, pass: u32) -> Result<(), Error> {
    let was = &entry.was;
    match step {
        Step::Features => Ok(features::restore(was, is, pass > 0 && !entry.related)?),
        Step::Mtu => mtu(was, is),
        Step::Coalescing => Ok(coalescing(was, is)?),
        Step::Napi => napi(was, is),
    }
}

fn mtu(was: &InterfaceState, is: &InterfaceState) -> Result<(), Error> {
    if was.mtu != is.mtu {
        Route::open()?.set_mtu(&is.name, is.index, was.mtu)?;
    }
    match was.ipv6_mtu {
        // It follows the interface's, unless it had been set or announced apart.
        Some(mtu) if mtu != was.mtu => {
            let path = format!("/proc/sys/net/ipv6/conf/{}/mtu", is.name);
            let written = fs::write(&path, mtu.to_string());
            written.map_err(Error::file("write", path.as_ref()))
        }
        _ => Ok(()),
    }
}

/// All that differs at once; if that is refused, one by one.
fn coalescing(was: &InterfaceState, is: &InterfaceState) -> Result<(), Kernel> {
    let differs = was
        .coalescing
        .iter()
        .filter(|(name, value)| is.coalescing.get(*name) != Some(*value));
    let differs: Vec<_> = differs
        .map(|(name, &value)| (name.as_str(), as_coalescing(name, value)))
        .collect();
    if differs.is_empty() {
        return Ok(());
    }
    let ethtool = Ethtool::open()?;
    if ethtool.set_coalescing(&is.name, &differs).is_ok() {
        return Ok(());
    }
    let single = differs
        .iter()
        .map(|one| ethtool.set_coalescing(&is.name, &[*one]));
    single.fold(Ok(()), Result::and)
}

fn napi(was: &InterfaceState, is: &InterfaceState) -> Result<(), Error> {
    let both = [
        (
            "gro_flush_timeout",
            was.gro_flush_timeout,
            is.gro_flush_timeout,
        ),
        (
            "napi_defer_hard_irqs",
            was.napi_defer_hard_irqs,
            is.napi_defer_hard_irqs,
        ),
    ];
    for (name, was, now) in both {
        if let (Some(was), true) = (was, was != now) {
            write_napi(&is.name, name, was).map_err(|message| Error::Kernel { message })?;
        }
    }
    Ok(())
}
