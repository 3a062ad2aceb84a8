//! Whether a change is still in force: what it set is read again.

use super::apply::same_device;
use super::{
    Change, Difference, Error, InterfaceState, Item, Outcome, Space, What, is_adaptive, is_same,
    read_sysctl,
};

/// The items of a change that no longer have the value that the change left them with. `was` is the interface before
/// the experiment, `None` for a sysctl.
pub(crate) fn lost(
    change: &Change,
    space: &Space,
    was: Option<&InterfaceState>,
) -> Result<Vec<Difference>, Error> {
    let is = match (&change.setting.subject.what, was) {
        (What::Interface { .. }, Some(was)) => Some(same_device(space, was)?),
        _ => None,
    };
    let mut all = Vec::new();
    for (item, from) in change.outcomes.iter().filter_map(left) {
        let to = match (item, &is) {
            (Item::Sysctl(key), _) => read_sysctl(space, key)?,
            // The driver itself moves these while adaptive coalescing is on.
            (Item::Coalescing(name), Some(is)) if is_adaptive(is, name) => continue,
            (item, Some(is)) => is.shown(item),
            (_, None) => continue,
        };
        if !is_same(from, &to) {
            all.push(Difference {
                item: item.clone(),
                from: from.to_owned(),
                to,
            });
        }
    }
    Ok(all)
}

/// An item that was asked for, with the value that it was left with.
fn left(outcome: &Outcome) -> Option<(&Item, &str)> {
    match outcome {
        Outcome::Changed { item, to, .. } => Some((item, to)),
        Outcome::Already { item, is } => Some((item, is)),
        _ => None,
    }
}
