//! Any bytes as the captures of one or two points, through the whole analysis.
//!
//! The first byte chooses what the rest is: one capture, the same capture at two points, two
//! captures (two bytes tell where the second one begins), or one capture whose interfaces are
//! points.

use coalescope_capture::facts::{Direction, Trace};
use coalescope_capture::file::Source;
use coalescope_capture::{Options, PointInput, trace};
use std::io::{Cursor, sink};

pub(super) fn run(data: &[u8]) {
    let Some((mode, data)) = data.split_first() else {
        return;
    };
    let captures = match mode & 3 {
        1 => vec![data, data],
        2 => {
            let [low, high, rest @ ..] = data else {
                return;
            };
            let at = usize::from(u16::from_le_bytes([*low, *high]));
            let (first, second) = rest.split_at(at.min(rest.len()));
            vec![first, second]
        }
        _ => vec![data],
    };
    let Some(inputs) = captures.into_iter().map(point).collect() else {
        return;
    };
    let options = Options {
        threads: 1,
        points_by_interface: mode & 3 == 3,
        separate: mode & 4 != 0,
        ..Options::default()
    };
    let facts = trace(inputs, &options, &mut |_| {}).expect("the options fit the inputs");
    check(&facts);
    serde_json::to_writer(sink(), &facts).expect("facts can be written");
}

fn point(data: &[u8]) -> Option<PointInput> {
    let size = Some(data.len() as u64);
    let source = Source::from_reader("fuzz", Box::new(Cursor::new(data.to_vec())), size).ok()?;
    Some(PointInput {
        name: "fuzz".to_owned(),
        sources: vec![("fuzz".to_owned(), source)],
    })
}

fn check(facts: &Trace) {
    for point in &facts.points {
        assert!(point.tcp_frames <= point.frames);
        for found in point.connections.iter() {
            check_direction(&found.to_server);
            check_direction(&found.to_client);
        }
    }
    for hop in &facts.hops {
        for outcomes in [&hop.merged, &hop.tso, &hop.single] {
            let told = outcomes.shown() + outcomes.missed + outcomes.not_judged;
            assert!(told <= outcomes.seen);
        }
    }
}

fn check_direction(direction: &Direction) {
    assert!(direction.data_frames <= direction.frames);
    assert!(direction.unique_bytes <= direction.payload_bytes);
    assert!(direction.merged_frames + direction.tso_frames <= direction.data_frames);
    assert!(direction.retransmitted_frames <= direction.data_frames);
    assert!(direction.retransmitted_bytes <= direction.payload_bytes);
}
