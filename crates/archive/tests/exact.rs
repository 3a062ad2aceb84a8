//! An archive says what its captures say, to the last word: whatever pieces they are cut into, and however many shards
//! there are.

mod common;
mod refused;

use coalescope_archive::{
    Error, Facts, Folder, Judged, facts, facts_of, judge as judge_facts, parts, trace,
    trace_batches,
};
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

/// What is judged of the facts of each part, the last one first; of all together where parts do not tell.
fn by_parts(archive: &Folder) -> Judged {
    let options = Options::default();
    let mut all = Facts::default();
    for part in parts(archive).into_iter().rev() {
        all.add(facts(archive, part, &options).expect("rows"));
    }
    match judge_facts(&all, archive.files()) {
        Err(Error::Together) => {
            let together = facts(archive, None, &options).expect("rows");
            judge_facts(&together, archive.files()).expect("facts")
        }
        judged => judged.expect("facts"),
    }
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

    /// Facts of shards as tables, judged once: of all points, and of one of them alone.
    #[test]
    fn judged_facts_say_what_the_whole_says(
        scenario in scenarios(),
        cuts in prop::collection::vec(0.0..1.0, 0..6),
        shards in 1..=64_u32,
        point in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut points = captures(scenario, &cuts);
        if let Some(point) = point {
            points = vec![points.swap_remove(point.index(points.len()))];
        }
        let whole = from_files(&points);
        let folder = tempfile::tempdir().expect("a folder");
        let judged = by_parts(&archived(&points, shards, folder.path()));
        prop_assert_eq!(difference(&whole, &judged.trace), None);
        prop_assert_eq!(format!("{:?}", judge(&whole)), format!("{:?}", judged.diagnosis));
    }

    /// Facts of rows in memory are those of rows in a folder.
    #[test]
    fn rows_in_memory_have_the_same_facts(
        scenario in scenarios(),
        shards in 1..=8_u32,
        point in any::<prop::sample::Index>(),
    ) {
        let mut points = captures(scenario, &[0.5]);
        points = vec![points.swap_remove(point.index(points.len()))];
        let folder = tempfile::tempdir().expect("a folder");
        let archive = archived(&points, shards, folder.path());
        let (batches, files) = digested(&points, shards);
        let options = Options::default();
        for part in parts(&archive) {
            let of_part = batches.iter().filter(|batch| part.is_none_or(|shard| batch.shard == shard));
            let rows: Vec<_> = of_part.rev().map(|batch| batch.rows.clone()).collect();
            let found = facts_of(&rows, &files, part, &options).expect("rows");
            prop_assert_eq!(found, facts(&archive, part, &options).expect("rows"));
        }
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
