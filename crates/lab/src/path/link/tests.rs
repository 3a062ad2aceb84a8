//! Links on a clock that the tests set.

use super::super::element::testing::Bench;
use super::*;
use gro::VirtioNetHeader;

const FOREVER: Nanos = 1_000_000_000_000;

/// Frames of 976 bytes: 1,000 on the wire, 8,000 bits. The last byte is their number.
fn frame(number: u8) -> Frame {
    let bytes = [&[2; 12][..], &[0x88, 0xb5], &[0; 961], &[number]].concat();
    Frame::new(&VirtioNetHeader::default(), &bytes)
}

/// Sends frames at one moment; gives when each came out, and its number.
fn through(lane: Lane, count: u8) -> (Bench, Vec<(Nanos, u8)>) {
    let (mut bench, mut link) = (Bench::default(), Link::both("link", lane).seed(7));
    for number in 0..count {
        let now = bench.frame(&mut link, frame(number), Side::Server, 0);
        assert_eq!(now, []);
    }
    let out = bench.wait(&mut link, FOREVER).into_iter();
    let out = out.map(|(at, _, frame)| (at, frame.bytes().last().copied().unwrap_or(0)));
    let out = out.collect();
    (bench, out)
}

#[test]
fn frames_leave_at_the_rate_and_arrive_after_the_delay() {
    let (_, out) = through(Lane::new(8_000_000, Duration::from_millis(5)), 3);
    assert_eq!(out, [(6_000_000, 0), (7_000_000, 1), (8_000_000, 2)]);
}

#[test]
fn what_does_not_fit_the_queue_is_dropped() {
    for (queue, passes) in [(Queue::Bytes(3_500), 3), (Queue::Frames(4), 5)] {
        let mut lane = Lane::new(8_000_000, Duration::ZERO);
        lane.queue = queue;
        let (bench, out) = through(lane, 10);
        assert_eq!(out.len(), passes, "{queue:?}");
        let lost = bench.dropped(Side::Server, DropReason::Queue);
        assert_eq!(lost, 10 - passes as u64);
    }
}

#[test]
fn jitter_keeps_the_order_and_reordering_does_not() {
    let jitter = Lane::delayed(Duration::ZERO).jittering(Duration::from_millis(1));
    let (_, out) = through(jitter, 100);
    assert!(out.is_sorted_by_key(|(_, number)| *number));
    assert!(out[99].0 > out[0].0 && out[99].0 <= 1_000_000);
    let mut late = Lane::delayed(Duration::ZERO);
    late.reorder = Some(Reorder {
        probability: 0.5,
        extra: Duration::from_millis(1),
    });
    let (_, out) = through(late, 100);
    assert!(!out.is_sorted_by_key(|(_, number)| *number));
    assert_eq!(out.len(), 100);
}

#[test]
fn losses_are_as_many_as_told_and_the_same_each_time() {
    let lane = Lane::delayed(Duration::ZERO).losing(0.25);
    let (bench, out) = through(lane.clone(), 200);
    let lost = bench.dropped(Side::Server, DropReason::Loss);
    assert_eq!(out.len() as u64 + lost, 200);
    // Four standard deviations of 200 draws: 25.
    assert!((25..=75).contains(&lost), "{lost}");
    assert_eq!(through(lane, 200).1, out);
}

#[test]
fn bursts_lose_neighbours() {
    let mut lane = Lane::delayed(Duration::ZERO);
    lane.bursts = Some(Bursts {
        begin: 0.05,
        end: 0.2,
        loss: 1.0,
    });
    let (bench, out) = through(lane, 250);
    let lost = bench.dropped(Side::Server, DropReason::Burst);
    assert_eq!(out.len() as u64 + lost, 250);
    let numbers: Vec<_> = out.iter().map(|(_, number)| *number).collect();
    let gaps = numbers
        .windows(2)
        .filter(|pair| pair[1] > pair[0] + 1)
        .count() as u64;
    assert!(gaps > 0 && lost > 2 * gaps, "{lost} lost in {gaps} gaps");
}

#[test]
fn a_lane_that_only_delays_carries_frames_whole() {
    assert!(!Lane::delayed(Duration::from_millis(1)).needs_single_frames());
    assert!(Lane::new(1, Duration::ZERO).needs_single_frames());
    assert!(
        Lane::delayed(Duration::ZERO)
            .losing(0.1)
            .needs_single_frames()
    );
}
