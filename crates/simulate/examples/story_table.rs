//! Runs every story and prints what came of it: `cargo run --release -p coalescope-simulate --example story_table [NAME..]`.

use coalescope_simulate::{Side, run, stories, story};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|other| other == name);
    for story_of in stories().iter().filter(|story| wanted(story.name)) {
        let Some(scenario) = story(story_of.name) else {
            continue;
        };
        let outcome = run(&scenario);
        let truth = &outcome.truth;
        let toward = if story_of.name == "upload" {
            Side::Server
        } else {
            Side::Client
        };
        let connection = &truth.connections[0];
        let window = connection.effective_window(toward).unwrap_or(0.0);
        let timeouts: u64 = truth
            .connections
            .iter()
            .map(|end| end.toward[toward.index()].timeouts)
            .sum();
        let mbit = truth.throughput_bps(toward) / 1e6;
        let end = connection.toward[toward.index()].end as f64 / 1e9;
        println!(
            "{:24} {mbit:9.3} Mbit/s {end:7.2} s  window {window:7.2}  rto {timeouts:4} closed {}",
            scenario.name, connection.closed
        );
        for point in &truth.points {
            let flow = &point.flows[0][toward.index()];
            println!(
                "    {:13} frames {:5} data {:5} merged {:4}/{:4} tso {:4}/{:4} retrans {:4} ooo {:4} missed {} icmp {}",
                point.name,
                flow.frames,
                flow.data_frames,
                flow.merged_frames,
                flow.merged_segments,
                flow.tso_frames,
                flow.tso_segments,
                flow.retransmitted_frames,
                flow.out_of_order_frames,
                point.missed,
                point.icmp
            );
        }
        for hop in truth.hops.iter().filter(|hop| hop.toward == toward) {
            println!(
                "    {} > {}: {:?} {:?} missed {}",
                hop.upstream, hop.downstream, hop.merged, hop.single, hop.missed_downstream
            );
        }
    }
}
