//! Corrections of a point's facts by what hops show.

use crate::facts::connection::Vantage;
use crate::facts::trace::Trace;

/// Of two points that both seem to stand at one end, the farther one is set to stand between: by round trips alone a
/// host cannot be told from the switch that it is attached to.
pub(crate) fn set_between(trace: &mut Trace) {
    for hop in &trace.hops {
        for seen in &hop.connections {
            let (near_from, near_to) = match seen.direction {
                "to_client" => (Vantage::Server, Vantage::Client),
                _ => (Vantage::Client, Vantage::Server),
            };
            let place = |name: &str| trace.points.iter().position(|point| point.name == name);
            let Some((from, to)) = place(&hop.from).zip(place(&hop.to)) else {
                continue;
            };
            let vantage = |point: usize, id| Some(trace.points[point].connections.get(id)?.vantage);
            let from_vantage = vantage(from, seen.from_id);
            let to_vantage = vantage(to, seen.to_id);
            let mut set = |point: usize, id| {
                let connections = &mut trace.points[point].connections;
                connections.change(id, |connection| connection.vantage = Vantage::Between);
            };
            if from_vantage == Some(near_to) && to_vantage.is_some() {
                set(from, seen.from_id);
            }
            if to_vantage == Some(near_from) && from_vantage.is_some() {
                set(to, seen.to_id);
            }
        }
    }
}

/// Where a hop merged single frames, their sender has not left them unsegmented: frames that were taken for TSO frames
/// at the next point were merged.
pub(crate) fn disprove_uncut(trace: &mut Trace) {
    let merged: Vec<(String, u64, &'static str)> = trace
        .hops
        .iter()
        .flat_map(|hop| hop.connections.iter().map(move |seen| (hop, seen)))
        .filter(|(_, seen)| seen.single.merged_further > 0)
        .map(|(hop, seen)| (hop.to.clone(), seen.to_id, seen.direction))
        .collect();
    for (name, id, direction) in merged {
        if let Some(point) = trace.points.iter_mut().find(|point| point.name == name) {
            point.connections.change(id, |connection| {
                let merged = match direction {
                    "to_client" => &mut connection.to_client,
                    _ => &mut connection.to_server,
                };
                merged.call_merged();
            });
        }
        for hop in trace.hops.iter_mut().filter(|hop| hop.from == name) {
            hop.call_merged(id, direction);
        }
    }
}
