//! Scenarios without a fault, which the families change.

use coalescope_simulate::{Element, Hop, MergeKind, Scenario, Side};

use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::parts::{Wan, any_kind, cut_from, merging, near, point, scenario};

pub(super) fn bytes(dice: &mut Dice) -> u64 {
    dice.scaled_whole(400_000, 4_000_000)
}

/// A host that merges, and a wire in front of it.
pub(super) fn plain(dice: &mut Dice, name: &str, wan: Wan) -> Scenario {
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, name, bytes);
    let kind = any_kind(dice);
    scenario.path = vec![
        point("HOST"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, kind)),
        near(dice, wan),
        point("WIRE"),
        wan.link(),
        cut_from(Side::Server),
    ];
    scenario
}

/// Like [`plain`], over a path of any kind.
pub(super) fn any_plain(dice: &mut Dice, name: &str) -> (Scenario, Wan) {
    let wan = Wan::within(dice, (20, 1_000), (1.0, 40.0));
    (plain(dice, name, wan), wan)
}

/// Like [`any_plain`], with a change after which the scenario is still sound.
pub(super) fn any_plain_with(
    dice: &mut Dice,
    name: &str,
    change: impl FnOnce(&mut Scenario, &mut Dice),
) -> Drawn {
    let (mut scenario, _) = any_plain(dice, name);
    change(&mut scenario, dice);
    Drawn::one(scenario, Otherwise::Healthy)
}

/// A scenario in which this share of the frames is lost on the wide area.
pub(super) fn lossy(dice: &mut Dice, mut scenario: Scenario, wan: Wan, share: (f64, f64)) -> Drawn {
    let twin = scenario.clone();
    let loss = dice.scaled(share.0, share.1);
    scenario.path[5] = wan.link_with(|lane| lane.loss = loss);
    Drawn::one(scenario, Otherwise::Loss).beside(twin)
}

/// A VM behind a router that segments merged frames, with an element in between.
pub(super) fn routed(dice: &mut Dice, name: &str, wan: Wan, something: Element) -> Scenario {
    let bytes = bytes(dice);
    let mut scenario = scenario(dice, name, bytes);
    let mtu = scenario.client.mtu as u16;
    scenario.path = vec![
        point("VM"),
        something,
        point("HYP-OUT"),
        Element::Hop(Hop::Router { mtu, icmp: true }),
        point("HYP-IN"),
        cut_from(Side::Client),
        Element::Merge(merging(dice, wan, MergeKind::Gro)),
        wan.link(),
        cut_from(Side::Server),
    ];
    scenario
}

/// The scenario without the element at an index.
pub(super) fn sound_twin(scenario: &Scenario, place: usize) -> Scenario {
    let mut twin = scenario.clone();
    twin.path.remove(place);
    twin
}
