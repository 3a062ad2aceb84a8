//! The example `tun_forward`: real TCP through it, between two network namespaces.

#[path = "../examples/tun_forward/forward.rs"]
mod forward;
#[path = "../examples/tun_forward/rooms.rs"]
mod rooms;

use rooms::{Done, available, transfer};

const BYTES: u64 = 20_000_000;

/// A transfer, whose bytes `transfer` compares; or a line that says why the test is left out.
fn sent(test: &str, merges: bool) -> Option<Done> {
    if let Err(reason) = available() {
        eprintln!("SKIPPED, {test}: {reason}");
        return None;
    }
    let done = transfer(BYTES, merges).expect(test);
    println!("{test}: {:.2} Gbit/s, {:?}", done.gbps, done.counts);
    Some(done)
}

#[test]
fn what_is_written_is_merged_again() {
    let Some(Done { counts, .. }) = sent("tun_forward with merging", true) else {
        return;
    };
    // The kernel hands over a stream in large packets, and gets it in large ones.
    assert!(counts.read_merged * 2 > counts.read, "{counts:?}");
    assert!(counts.segments > 4 * counts.written, "{counts:?}");
    assert!(counts.written_merged * 2 > counts.written, "{counts:?}");
    assert_eq!(counts.lost, 0, "{counts:?}");
}

#[test]
fn without_merging_each_segment_is_a_packet() {
    let Some(Done { counts, .. }) = sent("tun_forward without merging", false) else {
        return;
    };
    assert_eq!(counts.written_merged, 0, "{counts:?}");
    assert_eq!(counts.written + counts.lost, counts.segments, "{counts:?}");
}
