//! A firewall that drops all data of some connections.

use coalescope_simulate::{Element, Hop, MILLISECOND, MergeKind, Other, SECOND, Side, Turn};

use super::guilty::forwarded;
use crate::dice::Dice;
use crate::drawn::{Drawn, Otherwise};
use crate::family::Family;
use crate::parts::{HERE, Wan, download, merging, scenario};

pub(super) const ALL: &[Family] = &[Family::innocent(
    "blocked-beside",
    "all data of some connections is dropped, and others send single frames that pass",
    blocked_beside,
)];

/// Every second connection opens, and no answer comes through. The others write a little from time to time.
fn blocked_beside(dice: &mut Dice) -> Drawn {
    let wan = Wan::within(dice, (100, 1_000), (2.0, 30.0));
    let bytes = dice.scaled_whole(20_000, 200_000);
    let mut scenario = scenario(dice, "blocked-beside", bytes);
    scenario.others = (0..dice.whole(5..=15)).flat_map(|_| pair(dice)).collect();
    scenario.limit = dice.whole(4..=20) * SECOND;
    let no_data = Hop::DropLargerThan {
        toward: HERE,
        bytes: 100,
    };
    let firewall = Element::OfSome {
        every: 2,
        element: Box::new(Element::Hop(no_data)),
    };
    let merge = merging(dice, wan, MergeKind::Gro);
    forwarded(&mut scenario, dice, firewall, merge, wan);
    Drawn::one(scenario, Otherwise::NotMerging)
}

/// One that passes, and one that is blocked.
fn pair(dice: &mut Dice) -> [Other; 2] {
    let pause = dice.scaled_whole(20, 200) * MILLISECOND;
    let paced = Turn::new(Side::Server, dice.whole(20_000..=80_000)).in_writes(1_000, pause);
    let bytes = dice.scaled_whole(15_000, 100_000);
    [
        vec![Turn::new(Side::Client, 100), paced],
        download(dice, bytes),
    ]
    .map(|turns| Other {
        start: 0,
        turns,
        client: None,
        server: None,
    })
}
