//! Families in which merged frames are lost: the incidents, and similar faults.

use coalescope_simulate::{
    Content, Element, Hop, MICROSECOND, Merge, MergeKind, Scenario, Side, Turn,
};

use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, any_kind, cut_from, merging, near, point, scenario};

pub(super) const ALL: &[Family] = &[
    Family::guilty(
        "vm-bridge",
        "a hypervisor's bridge loses what its uplink merged (story A)",
        vm_bridge,
    ),
    Family::guilty(
        "vm-neighbour",
        "the same toward a neighbour, where it is hardly felt",
        vm_neighbour,
    ),
    Family::guilty(
        "jail-lro",
        "LRO in front of a bridge, on a path that loses frames besides (story B)",
        jail_lro,
    ),
    Family::guilty(
        "director",
        "a load balancer that cannot send on what was merged (story D)",
        director,
    ),
    Family::guilty(
        "virtual-switch",
        "a virtual switch merges, and a guest with jumbo frames gets none of it (story E)",
        virtual_switch,
    ),
    Family::guilty(
        "router-refuses",
        "a router answers merged frames with \"fragmentation needed\"",
        router_refuses,
    ),
    Family::guilty(
        "router-silent",
        "a router drops merged frames without a word",
        router_silent,
    ),
    Family::guilty(
        "longest-frame",
        "a box that carries frames up to some length",
        longest_frame,
    ),
    Family::guilty(
        "short-connections",
        "many short connections through the bridge of story A",
        short_connections,
    ),
];

/// Bytes enough for some hundred round trips of one or two segments.
pub(super) fn bytes(dice: &mut Dice) -> u64 {
    dice.scaled_whole(150_000, 1_500_000)
}

/// A VM, a fault, and an uplink that merges.
pub(super) fn forwarded(
    scenario: &mut Scenario,
    dice: &mut Dice,
    fault: Element,
    merge: Merge,
    wan: Wan,
) {
    scenario.path = from_vm(near(dice, wan), fault, merge, wan);
    if dice.chance(0.5) {
        scenario.path.insert(8, point("SWITCH"));
    }
    if dice.chance(0.3) {
        scenario.path.push(point("SERVER"));
    }
}

/// The elements from a VM to the end of the wide area.
pub(super) fn from_vm(near: Element, fault: Element, merge: Merge, wan: Wan) -> Vec<Element> {
    vec![
        point("VM"),
        cut_from(Side::Client),
        near,
        point("HYP-TAP"),
        fault,
        point("HYP-UPLINK"),
        cut_from(Side::Client),
        Element::Merge(merge),
        wan.link(),
        cut_from(Side::Server),
    ]
}

/// Like [`from_vm`], with any card that merges, and all merged frames lost.
pub(super) fn from_vm_and_lost(dice: &mut Dice, wan: Wan) -> Vec<Element> {
    let kind = any_kind(dice);
    let near = near(dice, wan);
    from_vm(near, fault(), merging(dice, wan, kind), wan)
}

/// An element that drops merged frames.
pub(super) fn fault() -> Element {
    Element::Hop(Hop::DropMerged { toward: HERE })
}

/// The bridge of story A behind a long way, with a card of any kind.
pub(super) fn bridge_behind(dice: &mut Dice, name: &str, wan: Wan) -> Scenario {
    let bytes = bytes(dice);
    let scenario = scenario(dice, name, bytes);
    bridged(dice, scenario, wan)
}

/// Like [`bridge_behind`], with a path of any kind.
pub(super) fn any_bridge(dice: &mut Dice, name: &str) -> (Scenario, Wan) {
    let wan = Wan::within(dice, (50, 1_000), (1.5, 40.0));
    (bridge_behind(dice, name, wan), wan)
}

/// Like [`any_bridge`], with a change that does not affect merging.
pub(super) fn any_bridge_with(
    dice: &mut Dice,
    name: &str,
    change: impl FnOnce(&mut Scenario, &mut Dice),
) -> Drawn {
    let (mut scenario, _) = any_bridge(dice, name);
    change(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// A run behind a bridge that loses the frames that any card has merged.
pub(super) fn bridged(dice: &mut Dice, scenario: Scenario, wan: Wan) -> Scenario {
    behind_card(dice, scenario, wan, fault())
}

/// A run with an element between a card of any kind, which merges, and the guest.
pub(super) fn behind_card(
    dice: &mut Dice,
    mut scenario: Scenario,
    wan: Wan,
    something: Element,
) -> Scenario {
    let kind = any_kind(dice);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, something, merge, wan);
    scenario
}

fn vm_bridge(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 2_000), (1.5, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "vm-bridge", bytes);
    scenario.connections = dice.whole(1..=4) as usize;
    let merge = merging(dice, wan, MergeKind::Gro);
    forwarded(&mut scenario, dice, fault(), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn vm_neighbour(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (500, 10_000), (0.02, 0.2));
    let bytes = bytes(dice) * 2;
    let mut scenario = scenario(dice, "vm-neighbour", bytes);
    let kind = any_kind(dice);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, fault(), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn jail_lro(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 30.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "jail-lro", bytes);
    scenario.connections = dice.whole(1..=3) as usize;
    let loss = dice.scaled(0.0003, 0.01);
    scenario.path = vec![
        point("HOST-JAIL"),
        fault(),
        point("HOST-NIC"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, MergeKind::Lro)),
        wan.link_with(|lane| lane.loss = loss),
        cut_from(Side::Server),
        point("SENDER"),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

/// TLS, a request, and a picture or more.
fn https(dice: &mut Dice) -> Vec<Turn> {
    let bytes = dice.scaled_whole(60_000, 800_000);
    let think = dice.scaled_whole(200 * MICROSECOND, 20_000 * MICROSECOND);
    vec![
        Turn::new(Side::Client, 517).holding(Content::Handshake),
        Turn::new(Side::Server, dice.whole(2_500..=5_000)).holding(Content::Handshake),
        Turn::new(Side::Client, dice.whole(200..=800)).holding(Content::Records),
        Turn::new(Side::Server, bytes)
            .holding(Content::Records)
            .after(think),
    ]
}

fn director(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (2.0, 60.0));
    let rack = Wan::within(dice, (1_000, 10_000), (0.02, 0.1));
    let mut scenario = scenario(dice, "director", 0);
    scenario.turns = https(dice);
    scenario.connections = dice.whole(1..=3) as usize;
    let mtu = scenario.client.mtu as u16;
    let kind = any_kind(dice);
    scenario.path = vec![
        point("CLIENT"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
        point("LB-OUT"),
        Element::Hop(Hop::Director { mtu }),
        point("LB-IN"),
        Element::Merge(merging(dice, rack, kind)),
        rack.link(),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

fn virtual_switch(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, "virtual-switch", bytes);
    scenario.client.mtu = dice.pick(&[2_900, 4_000, 9_000]);
    let hop = Hop::DropMergedIfMtuOver {
        guest: HERE,
        limit: 2_850,
    };
    scenario.path = vec![
        point("GUEST"),
        Element::Hop(hop),
        point("HV-SWITCH"),
        Element::Merge(merging(dice, wan, MergeKind::Rsc)),
        cut_from(Side::Client),
        point("MIRROR"),
        wan.link(),
        cut_from(Side::Server),
    ];
    Drawn::one(scenario, Otherwise::Healthy)
}

pub(super) fn router(dice: &mut Dice, name: &str, icmp: bool) -> Drawn {
    let wan = Wan::within(dice, (50, 1_000), (1.0, 40.0));
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, name, bytes);
    let hop = Hop::Router {
        mtu: scenario.client.mtu as u16,
        icmp,
    };
    let kind = dice.pick(&[MergeKind::Lro, MergeKind::Rsc]);
    let merge = merging(dice, wan, kind);
    forwarded(&mut scenario, dice, Element::Hop(hop), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

fn router_refuses(dice: &mut Dice) -> Drawn {
    router(dice, "router-refuses", true)
}

fn router_silent(dice: &mut Dice) -> Drawn {
    router(dice, "router-silent", false)
}

/// A hop that drops frames longer than one to six segments.
fn longest_frame(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 40.0));
    let bytes = bytes(dice) * 2;
    let mut scenario = scenario(dice, "longest-frame", bytes);
    let segments = dice.between(1.3, 6.0);
    let hop = Hop::DropLargerThan {
        toward: HERE,
        bytes: (segments * f64::from(scenario.client.mtu)) as usize,
    };
    let kind = any_kind(dice);
    let mut merge = merging(dice, wan, kind);
    merge.interval = merge.interval.max(wan.time_of(segments * 1.6));
    merge.max_segments = 0;
    forwarded(&mut scenario, dice, Element::Hop(hop), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// Each is over after a few frames.
fn short_connections(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 2_000), (1.0, 20.0));
    let bytes = dice.scaled_whole(6_000, 40_000);
    let mut scenario = scenario(dice, "short-connections", bytes);
    scenario.connections = dice.whole(20..=80) as usize;
    scenario.spacing = dice.scaled_whole(2_000 * MICROSECOND, 60_000 * MICROSECOND);
    let merge = merging(dice, wan, MergeKind::Gro);
    forwarded(&mut scenario, dice, fault(), merge, wan);
    Drawn::one(scenario, Otherwise::Healthy)
}
