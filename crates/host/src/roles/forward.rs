//! Whether a host passes on what comes in at an interface: by its settings, by where packets could go, and by what its
//! packet filter lets through.

use std::collections::BTreeMap;

use super::around::Around;
use super::passing::{self, Family, is_let_through};
use super::place::{is_kind, is_unrouted, keeps_frames, kind_of, role};
use super::{Role, RoleName};
use crate::model::{Interface, Setting, Snapshot};
use crate::names::key_of;
use crate::text::windows::passing::FORWARDING;

/// The host routes between this interface and others, or out of it again.
pub(super) fn forwarder(snapshot: &Snapshot, around: &Around<'_>, key: &str) -> Option<Role> {
    // A port's frames are routed only if the bridge or bond itself is; it inherits or is bridged.
    let keeps = keeps_frames(snapshot, around.graph, key);
    if !keeps || is_unrouted(snapshot, key) || receives_nothing(snapshot, key) {
        return None;
    }
    let all = settings(snapshot, key);
    let mut whys = all.iter().filter_map(|(family, setting)| {
        let where_to = routed(snapshot, around, key, *family)
            .or_else(|| passing::out_again(snapshot, around, key, *family))?;
        Some(format!("{setting}, and {where_to}"))
    });
    whys.next().map(|why| role(RoleName::Forwarder, why))
}

/// Whether forwarding is on at an interface, and no other one of its stack was read, not even the loopback, which each list of
/// all links has.
pub(super) fn is_alone(snapshot: &Snapshot, key: &str) -> bool {
    let Some(interface) = snapshot.interfaces.get(key) else {
        return false;
    };
    let all = snapshot.interfaces.values();
    let beside = all.filter(|other| other.namespace == interface.namespace);
    beside.count() == 1 && !settings(snapshot, key).is_empty()
}

/// A NIC without a carrier.
fn receives_nothing(snapshot: &Snapshot, key: &str) -> bool {
    let interface = snapshot.interfaces.get(key);
    interface.is_some_and(|one| is_kind(one, "physical") && one.carrier == Some(false))
}

/// Where packets could go, in words.
fn routed(snapshot: &Snapshot, around: &Around<'_>, key: &str, family: Family) -> Option<String> {
    let others = around.routed_beside(snapshot, key);
    let s = if others == 1 { "" } else { "s" };
    let is_open = others > 0 && is_let_through(snapshot, around, key, family);
    is_open.then(|| format!("{others} other interface{s} to route to"))
}

/// tc sends what comes in out of another interface. From an ifb, where ingress is shaped, frames come back.
pub(super) fn redirected(snapshot: &Snapshot, interface: &Interface) -> Option<Role> {
    let comes_back = |to: &str| match kind_of(snapshot, &key_of(interface.namespace.as_deref(), to))
    {
        "" => to.starts_with("ifb"),
        kind => kind == "ifb",
    };
    let redirects = &snapshot.stack_of(interface).redirects;
    let own = redirects
        .iter()
        .filter(|redirect| redirect.from == interface.name);
    let to = own
        .map(|redirect| &redirect.to)
        .find(|to| !comes_back(to))?;
    let why = format!("tc redirects what it receives to {to}");
    (interface.up != Some(false)).then(|| role(RoleName::Forwarder, why))
}

/// The settings by which the stack forwards what comes in at an interface, in words.
///
/// Linux asks the interface's own setting for IPv4, which `ip_forward` has set at all of them when it was set itself; for
/// IPv6 the one of `all`, and from 6.17 on the interface's `force_forwarding` as well (Documentation/networking/ip-sysctl).
fn settings(snapshot: &Snapshot, key: &str) -> Vec<(Family, String)> {
    let Some(interface) = snapshot.interfaces.get(key) else {
        return Vec::new();
    };
    if interface.properties.get(FORWARDING) == Some(&Setting::Flag(true)) {
        return vec![(Family::Any, "forwarding is enabled at it".to_owned())];
    }
    let sysctls = &snapshot.stack_of(interface).sysctls;
    let own = interface.name.replace('.', "/");
    let ipv4 = [
        format!("net.ipv4.conf.{own}.forwarding"),
        "net.ipv4.ip_forward".to_owned(),
        "net.ipv4.conf.all.forwarding".to_owned(),
    ];
    let ipv4 = ipv4.into_iter().find(|name| sysctls.contains_key(name));
    let others = [
        (Family::Ip6, "net.ipv6.conf.all.forwarding".to_owned()),
        (Family::Ip6, format!("net.ipv6.conf.{own}.force_forwarding")),
        (Family::Any, "net.inet.ip.forwarding".to_owned()),
        (Family::Any, "net.inet6.ip6.forwarding".to_owned()),
    ];
    let all = ipv4
        .map(|name| (Family::Ip, name))
        .into_iter()
        .chain(others);
    let on = all.filter(|(family, name)| {
        is_on(sysctls, name) && (*family != Family::Ip6 || !is_ipv6_local(snapshot, interface))
    });
    on.filter_map(|(family, name)| Some((family, format!("{name}={}", sysctls.get(&name)?))))
        .collect()
}

/// Whether the routes and addresses of IPv6 that were read reach no further than a link: there is nothing to forward to
/// (RFC 4291 section 2.5.6: routers forward no packet with a link-local address).
fn is_ipv6_local(snapshot: &Snapshot, of: &Interface) -> bool {
    let is_far = |network: &str| !LOCAL.iter().any(|begin| network.starts_with(begin));
    let mut routes = snapshot.stack_of(of).routes.iter().map(|route| &route.to);
    let are_read = routes.clone().any(|to| to.contains(':'));
    let mut all = snapshot.interfaces.values();
    let is_beside = |other: &Interface| other.namespace == of.namespace;
    let is_addressed = all.any(|other| {
        let mut own = other.addresses.iter().filter(|_| is_beside(other));
        own.any(|address| address.contains(':') && is_far(address))
    });
    are_read && !is_addressed && !routes.any(|to| to.contains(':') && is_far(to))
}

/// How addresses and networks of a link begin, of a host by itself, and of multicast.
const LOCAL: [&str; 6] = ["fe8", "fe9", "fea", "feb", "ff", "::1"];

fn is_on(sysctls: &BTreeMap<String, String>, name: &str) -> bool {
    sysctls.get(name).is_some_and(|value| is_set(value))
}

/// A number but 0: what is none was no answer.
fn is_set(value: &str) -> bool {
    value.parse::<i64>().is_ok_and(|value| value != 0)
}

/// Whether packets from other interfaces of its stack can be routed to an interface, whatever its own setting.
pub(super) fn is_routed(snapshot: &Snapshot, key: &str) -> bool {
    let stack = snapshot
        .interfaces
        .get(key)
        .map(|interface| snapshot.stack_of(interface));
    let any = stack.is_some_and(|stack| {
        let all = stack.sysctls.iter();
        let mut on = all.filter(|(_, value)| is_set(value));
        on.any(|(name, _)| is_forwarding(name))
    });
    any || !settings(snapshot, key).is_empty()
}

/// A setting by which a stack forwards what comes in at one of its interfaces. `default` is for interfaces to come, and others
/// that end so are of multicast and broadcast.
fn is_forwarding(sysctl: &str) -> bool {
    let is_of_one = sysctl.ends_with(".forwarding") || sysctl.ends_with(".force_forwarding");
    sysctl == "net.ipv4.ip_forward" || is_of_one && !sysctl.contains(".default.")
}
