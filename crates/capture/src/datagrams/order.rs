//! Which point datagrams pass first.

use super::Seen;
use super::fates::{Fate, Fates};
use super::way::Way;
use crate::median::median;

/// Whether datagrams of this way pass the first point before the second; `None` where no datagram was found at both.
/// Routers decrement the TTL. With equal TTLs the delays of both ways are compared, so that the clocks' difference
/// cancels out. Without datagrams of the other way, datagrams that only one point has were lost behind it.
pub(super) fn upstream(fates: &Fates<'_>, way: Way) -> Option<bool> {
    let took = took_ns(fates, way)?;
    let counted: i64 = fates.found(way).map(|(one, two)| hops(one, two)).sum();
    if counted != 0 {
        return Some(counted > 0);
    }
    if let Some(back) = took_ns(fates, way.other()).filter(|back| *back != took) {
        return Some(took > back);
    }
    let mut all = fates.all.iter().zip(&fates.ways);
    let is_missing = all.any(|(fate, own)| *fate == Fate::Lost && *own == way);
    Some(is_missing || took >= 0)
}

fn hops(one: &Seen, two: &Seen) -> i64 {
    (i64::from(one.ttl) - i64::from(two.ttl)).signum()
}

fn took_ns(fates: &Fates<'_>, way: Way) -> Option<i64> {
    let found = fates.found(way);
    median(found.map(|(one, two)| two.time_ns.saturating_sub(one.time_ns)))
}
