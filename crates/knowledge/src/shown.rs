//! Chooses the connections that show the findings best.

use std::cmp::Reverse;

use coalescope_capture::facts::Trace;
use coalescope_capture::series::Chosen;

use crate::limits::Limit;
use crate::same::Same;
use crate::verdict::Diagnosis;

/// Connections without a fault are added up to this number: they show what is usual.
const USUAL: usize = 2;

/// At most `most` connections, the worst first: those that findings name, then others by their limit and their bytes.
/// Each is listed once, however many points saw it.
#[must_use]
pub fn shown(trace: &Trace, diagnosis: &Diagnosis, most: usize) -> Vec<Chosen> {
    let same = Same::of(trace);
    let mut shown: Vec<Chosen> = Vec::new();
    let mut add = |chosen: Chosen, most: usize| {
        let group = |one: Chosen| same.group(&trace.points[one.point].name, one.id);
        if shown.len() < most && shown.iter().all(|one| group(*one) != group(chosen)) {
            shown.push(chosen);
        }
    };
    for chosen in named(trace, diagnosis) {
        add(chosen, most);
    }
    for (limit, _, chosen) in limited(trace, diagnosis) {
        add(
            chosen,
            if limit < Limit::None {
                most
            } else {
                most.min(USUAL)
            },
        );
    }
    if let Some(largest) = largest(trace) {
        add(largest, most.min(1));
    }
    shown
}

/// The connections that findings name.
fn named<'a>(trace: &'a Trace, diagnosis: &'a Diagnosis) -> impl Iterator<Item = Chosen> + 'a {
    let connections = diagnosis.findings.iter();
    connections.filter_map(|finding| {
        let named = finding.connection.as_ref()?;
        chosen(trace, &named.point, named.id)
    })
}

/// The connections with a known limit, the gravest first, and of equal ones the largest.
fn limited(trace: &Trace, diagnosis: &Diagnosis) -> Vec<(Limit, Reverse<u64>, Chosen)> {
    let bytes: Vec<Vec<u64>> = trace
        .points
        .iter()
        .map(|point| point.connections.most_bytes().collect())
        .collect();
    let mut limited: Vec<_> = diagnosis
        .limits
        .iter()
        .filter_map(|limit| {
            let chosen = chosen(trace, &limit.point, limit.connection)?;
            let bytes = *bytes[chosen.point].get(usize::try_from(chosen.id).ok()?)?;
            Some((limit.limit, Reverse(bytes), chosen))
        })
        .collect();
    limited.sort_by_key(|(limit, bytes, _)| (*limit, *bytes));
    limited
}

/// The connection with most bytes at the first point, if that has any.
fn largest(trace: &Trace) -> Option<Chosen> {
    let bytes = trace.points.first()?.connections.most_bytes().zip(0..);
    let (_, id) = bytes.filter(|(bytes, _)| *bytes > 0).max()?;
    Some(Chosen { point: 0, id })
}

fn chosen(trace: &Trace, name: &str, id: u64) -> Option<Chosen> {
    let point = trace.points.iter().position(|point| point.name == name)?;
    Some(Chosen { point, id })
}

#[cfg(test)]
mod tests {
    use coalescope_capture::facts::{Connection, Direction, Point};

    use super::*;
    use crate::judge;

    fn connection(id: u64, bytes: u64) -> Connection {
        Connection {
            id,
            to_client: Direction {
                unique_bytes: bytes,
                payload_bytes: bytes,
                data_frames: bytes / 1000,
                throughput_bps: Some(1e8),
                ..Direction::default()
            },
            ..Connection::default()
        }
    }

    fn trace(sizes: &[u64]) -> Trace {
        let connections = sizes
            .iter()
            .zip(0..)
            .map(|(bytes, id)| connection(id, *bytes));
        Trace {
            points: vec![Point {
                name: "here".to_owned(),
                connections: connections.collect(),
                ..Point::default()
            }],
            ..Trace::default()
        }
    }

    #[test]
    fn of_a_sound_trace_the_largest_are_shown() {
        let trace = trace(&[1_000, 9_000_000, 4_000_000, 2_000_000]);
        let shown = shown(&trace, &judge(&trace), 8);
        assert_eq!(shown.iter().map(|one| one.id).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn nothing_is_shown_of_nothing() {
        let trace = trace(&[0, 0]);
        assert!(shown(&trace, &judge(&trace), 8).is_empty());
        assert!(shown(&Trace::default(), &judge(&Trace::default()), 8).is_empty());
    }
}
