//! Interfaces that change along: a VLAN's MTU follows the interface beneath it, a bond's ports
//! follow the bond.

use super::{Error, Space};
use coalescope_netlink::route::{Link, Route};
use std::collections::BTreeSet;

/// Ifindexes of all interfaces above and beneath one, and of the other ports of its bond. Other
/// ports of a bridge are not related: their MTUs are their own.
///
/// # Errors
///
/// If the kernel does not list its interfaces.
pub fn related(space: &Space, index: u32) -> Result<BTreeSet<u32>, Error> {
    let links = space.run(|| Ok(Route::open()?.links()?))?;
    let mut found = closure(&links, index, above);
    let bonds = links.iter().filter(|link| found.contains(&link.index));
    let bonds: Vec<_> = bonds.filter(|link| is_bond(link)).collect();
    let ports = bonds
        .iter()
        .flat_map(|bond| closure(&links, bond.index, beneath));
    let more: Vec<_> = ports.chain(closure(&links, index, beneath)).collect();
    found.extend(more);
    found.remove(&index);
    Ok(found)
}

fn is_bond(link: &Link) -> bool {
    matches!(link.kind.as_deref(), Some("bond" | "team"))
}

/// All interfaces reached by following `next` repeatedly.
fn closure(links: &[Link], start: u32, next: fn(&[Link], u32) -> Vec<u32>) -> BTreeSet<u32> {
    let (mut found, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(index) = open.pop() {
        open.extend(
            next(links, index)
                .into_iter()
                .filter(|&new| found.insert(new)),
        );
    }
    found
}

fn above(links: &[Link], index: u32) -> Vec<u32> {
    let on_top = links.iter().filter(|link| stands_on(link, index));
    let master = links.iter().filter(|link| link.index == index);
    let masters = master.filter_map(|link| link.master);
    on_top.map(|link| link.index).chain(masters).collect()
}

fn beneath(links: &[Link], index: u32) -> Vec<u32> {
    let is_beneath = |link: &&Link| {
        let top = links.iter().find(|top| top.index == index);
        link.master == Some(index) || top.is_some_and(|top| stands_on(top, link.index))
    };
    links
        .iter()
        .filter(is_beneath)
        .map(|link| link.index)
        .collect()
}

/// Whether a link is on top of an interface. The other end of a veth pair is not, though the kernel
/// reports it as `IFLA_LINK`, too.
fn stands_on(link: &Link, index: u32) -> bool {
    link.link == Some(index)
        && link.link_namespace.is_none()
        && link.index != index
        && link.kind.as_deref() != Some("veth")
}
