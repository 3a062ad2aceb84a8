//! An archive says what its captures say, to the last word: whatever pieces they are cut into, and however many shards
//! there are.

mod common;

use coalescope_archive::{trace, trace_batches};
use coalescope_capture::Options;
use coalescope_knowledge::judge;
use coalescope_simulate::{Scenario, stories, story};
use common::{archived, captures, difference, digested, from_files};
use proptest::prelude::*;

fn scenarios() -> impl Strategy<Value = Scenario> {
    (0..stories().len(), any::<u64>(), 1..6_usize).prop_map(|(place, seed, connections)| {
        let mut scenario = story(stories()[place].name).expect("a story");
        scenario.seed = seed;
        scenario.connections = scenario.connections.max(connections);
        scenario
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_folder_says_what_its_captures_say(
        scenario in scenarios(),
        cuts in prop::collection::vec(0.0..1.0, 0..64),
        shards in 1..=64_u32,
    ) {
        let points = captures(scenario, &cuts[..cuts.len().min(12)]);
        let whole = from_files(&points);
        let folder = tempfile::tempdir().expect("a folder");
        let archive = archived(&points, shards, folder.path());
        let found = trace(&archive, &Options::default(), &mut |_| {}).expect("rows");
        prop_assert_eq!(difference(&whole, &found), None);
        prop_assert_eq!(format!("{:?}", judge(&whole)), format!("{:?}", judge(&found)));
    }

    /// The shards of one point, side by side.
    #[test]
    fn parts_say_what_the_whole_says(
        scenario in scenarios(),
        cuts in prop::collection::vec(0.0..1.0, 0..4),
        shards in 1..=64_u32,
        point in any::<prop::sample::Index>(),
    ) {
        let mut points = captures(scenario, &cuts);
        let point = point.index(points.len());
        points = vec![points.swap_remove(point)];
        let whole = from_files(&points);
        let folder = tempfile::tempdir().expect("a folder");
        let archive = archived(&points, shards, folder.path());
        let options = Options { threads: 2, ..Options::default() };
        let found = trace(&archive, &options, &mut |_| {}).expect("rows");
        prop_assert_eq!(difference(&whole, &found), None);
    }

    #[test]
    fn rows_in_any_order_say_it_too(
        scenario in scenarios(),
        cuts in prop::collection::vec(0.0..1.0, 0..64),
        shards in 1..=64_u32,
    ) {
        let points = captures(scenario, &cuts);
        let whole = from_files(&points);
        let (mut batches, files) = digested(&points, shards);
        batches.reverse();
        let batches: Vec<_> = batches.into_iter().map(|batch| batch.rows).collect();
        let found = trace_batches(&batches, &files, &Options::default()).expect("rows");
        prop_assert_eq!(difference(&whole, &found), None);
    }
}
