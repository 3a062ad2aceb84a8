//! A second capture takes no accusation away: where one capture alone shows that merging harms, the same beside another
//! one is never an acquittal, however bad that one is.

mod common;

use coalescope_capture::PointInput;
use coalescope_knowledge::{Merging, judge};
use coalescope_simulate::{run, stories, story};
use common::{input, make_classic, records, traced, word};

/// What is wrong with a classic capture.
#[derive(Clone, Copy, Debug)]
enum Flaw {
    None,
    /// It ends after this tenth of its frames.
    Ends(usize),
    /// It begins after this tenth of its frames.
    Begins(usize),
    /// It misses every frame of so many.
    Misses(usize),
    /// After so many frames the clock was set back by so many seconds.
    SetBack(usize, u32),
}

const FLAWS: [Flaw; 11] = [
    Flaw::None,
    Flaw::Ends(1),
    Flaw::Ends(5),
    Flaw::Begins(5),
    Flaw::Begins(9),
    Flaw::Misses(2),
    Flaw::Misses(3),
    Flaw::SetBack(6, 30),
    Flaw::SetBack(6, 90),
    Flaw::SetBack(30, 30),
    Flaw::SetBack(90, 90),
];

fn flawed(bytes: &[u8], flaw: Flaw) -> Vec<u8> {
    let mut records = records(bytes);
    let all = records.len();
    match flaw {
        Flaw::None => {}
        Flaw::Ends(tenth) => records.truncate(all * tenth / 10),
        Flaw::Begins(tenth) => drop(records.drain(..all * tenth / 10)),
        Flaw::Misses(every) => {
            let mut frame = 0;
            records.retain(|_| {
                frame += 1;
                frame % every != 0
            });
        }
        Flaw::SetBack(after, seconds) => {
            for record in &mut records[after.min(all)..] {
                let set = word(record, 0) - seconds;
                record[..4].copy_from_slice(&set.to_le_bytes());
            }
        }
    }
    [&bytes[..24], &records.concat()].concat()
}

fn merging(inputs: Vec<PointInput>) -> Merging {
    judge(&traced(inputs)).verdict.merging
}

#[test]
fn no_second_capture_takes_an_accusation_away() {
    let mut accused = 0;
    for story_of in stories() {
        let mut scenario = story(story_of.name).expect("a story");
        make_classic(&mut scenario);
        let points = run(&scenario).points;
        for one in &points {
            if merging(vec![input(&one.name, one.bytes.clone())]) != Merging::Harms {
                continue;
            }
            accused += 1;
            for other in points.iter().filter(|other| other.name != one.name) {
                let pairs = FLAWS
                    .iter()
                    .flat_map(|flaw| [[Flaw::None, *flaw], [*flaw, Flaw::None]]);
                // The first one must still show by itself that merging harms.
                for [own, others] in
                    pairs.filter(|[own, _]| matches!(own, Flaw::None | Flaw::SetBack(..)))
                {
                    let both = vec![
                        input(&one.name, flawed(&one.bytes, own)),
                        input(&other.name, flawed(&other.bytes, others)),
                    ];
                    let said = merging(both);
                    assert!(
                        matches!(said, Merging::Harms | Merging::Unclear),
                        "{}: {}, {own:?}, beside {}, {others:?}: {said:?}",
                        story_of.name,
                        one.name,
                        other.name
                    );
                }
            }
        }
    }
    assert!(accused > 3, "{accused} points accuse alone");
}
