//! Which interfaces the outer packets of a tunnel use.

use coalescope_netlink::route::{Address, Link, Route, Tunnel};

/// By the interface that the tunnel is bound to, the routes to its other end, or the interface that
/// has its own outer address; none if these are in another namespace or not known.
pub(super) fn find(route: &Route, link: &Link, tunnel: &Tunnel, addresses: &[Address]) -> Vec<u32> {
    if link.link_namespace.is_some() {
        return Vec::new();
    }
    let bound: Vec<_> = tunnel.link.or(link.link).into_iter().collect();
    if !bound.is_empty() {
        return bound;
    }
    let there = tunnel
        .remote
        .and_then(|remote| route.interfaces_to(remote).ok());
    let mut found = there.unwrap_or_default();
    if found.is_empty() {
        let own = addresses
            .iter()
            .filter(|address| Some(address.address) == tunnel.local);
        found.extend(own.map(|address| address.interface));
    }
    // A route into the tunnel itself would be a loop, not an underlay.
    found.retain(|index| *index != link.index);
    found.sort_unstable();
    found.dedup();
    found
}
