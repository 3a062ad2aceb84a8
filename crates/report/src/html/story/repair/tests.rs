use super::*;

const SEGMENT: u32 = 1000;

/// A data frame: number, time in ms, first segment, segments, fate.
fn data(number: u64, at_ms: i64, first: i64, segments: u32, fate: Option<Fate>) -> Frame {
    Frame {
        number,
        at_ns: at_ms * 1_000_000,
        start: first * i64::from(SEGMENT),
        payload: segments * SEGMENT,
        segments,
        data: Data::New,
        fate,
        ..Frame::default()
    }
}

fn ack(number: u64, at_ms: i64, segments: i64) -> Frame {
    Frame {
        number,
        at_ns: at_ms * 1_000_000,
        to_client: true,
        ack: Some(segments * i64::from(SEGMENT)),
        ..Frame::default()
    }
}

fn lane(frames: Vec<Frame>) -> Lane {
    Lane {
        is_aligned: true,
        frames,
        ..Lane::default()
    }
}

fn numbers(frames: &[&Frame]) -> Vec<u64> {
    frames.iter().map(|frame| frame.number).collect()
}

const LOST: Option<Fate> = Some(Fate::Lost);
const PARTLY: Option<Fate> = Some(Fate::PartlyLost);
const ARRIVED: Option<Fate> = Some(Fate::Arrived);

/// Merged again, the retransmission vanishes too: what goes alone after the timeout repairs.
#[test]
fn what_vanishes_again_is_no_repair() {
    let here = lane(vec![
        data(41, 0, 0, 2, LOST),
        data(45, 10, 0, 2, LOST),
        data(50, 20, 0, 2, LOST),
        data(51, 250, 0, 1, ARRIVED),
        data(53, 251, 1, 1, ARRIVED),
    ]);
    let next = lane(vec![data(32, 255, 0, 1, None), data(34, 256, 1, 1, None)]);
    let repair = Repair::of(&here, Some(&next), &here.frames[0]);
    assert_eq!(numbers(&repair.vain), [45, 50]);
    assert_eq!(numbers(&repair.again), [51, 53]);
    assert_eq!(numbers(&repair.arrived), [32, 34]);
    assert!(repair.is_whole && !repair.was_there);
    assert_eq!(repair.wait_ns(&here.frames[0]), 250_000_000);
}

/// What came to the next point before the retransmission left has not come with that.
#[test]
fn nothing_arrives_before_it_leaves() {
    let here = lane(vec![data(1, 100, 0, 1, LOST), data(2, 200, 0, 1, ARRIVED)]);
    let next = lane(vec![data(7, 50, 0, 1, None)]);
    let repair = Repair::of(&here, Some(&next), &here.frames[0]);
    assert_eq!(numbers(&repair.again), [2]);
    assert!(repair.arrived.is_empty() && repair.was_there);
}

/// Of a frame that was lost in part, the rest alone is missing.
#[test]
fn the_part_that_came_is_not_missing() {
    let here = lane(vec![
        data(340, 0, 0, 3, PARTLY),
        data(400, 20, 1, 1, ARRIVED),
        data(401, 30, 2, 1, ARRIVED),
    ]);
    let next = lane(vec![
        data(391, 5, 0, 1, None),
        data(463, 25, 1, 1, None),
        data(464, 35, 2, 1, None),
    ]);
    let repair = Repair::of(&here, Some(&next), &here.frames[0]);
    assert_eq!(numbers(&repair.again), [400, 401]);
    assert_eq!(numbers(&repair.arrived), [463, 464]);
    assert!(repair.is_whole && !repair.was_there);
}

#[test]
fn a_part_that_never_comes_is_no_whole() {
    let here = lane(vec![data(1, 0, 0, 5, LOST), data(2, 10, 0, 1, ARRIVED)]);
    let next = lane(vec![data(3, 15, 0, 1, None)]);
    let repair = Repair::of(&here, Some(&next), &here.frames[0]);
    assert_eq!(numbers(&repair.again), [2]);
    assert!(!repair.is_whole);
}

/// Of several retransmissions the last one before the acknowledgment is acknowledged.
#[test]
fn at_one_point_the_acknowledgment_tells() {
    let here = lane(vec![
        data(1, 0, 0, 1, None),
        ack(2, 10, 1),
        data(41, 20, 1, 2, None),
        data(45, 40, 1, 2, None),
        data(50, 60, 1, 2, None),
        data(51, 250, 1, 1, None),
        ack(52, 260, 2),
        data(53, 261, 2, 1, None),
        ack(54, 271, 3),
    ]);
    let repair = Repair::of(&here, None, &here.frames[2]);
    assert_eq!(numbers(&repair.vain), [45, 50]);
    assert_eq!(numbers(&repair.again), [51, 53]);
    assert_eq!(repair.acknowledged.map(|ack| ack.number), Some(54));
    assert!(repair.is_whole && !repair.was_there);
}

/// An acknowledgment right behind a retransmission is for what left a round trip before.
#[test]
fn at_one_point_what_was_needless_repairs_nothing() {
    let here = lane(vec![
        data(1, 0, 0, 1, None),
        ack(2, 10, 1),
        data(3, 20, 1, 2, None),
        Frame {
            data: Data::Again,
            ..data(4, 29, 1, 2, None)
        },
        ack(5, 30, 3),
    ]);
    let repair = Repair::of(&here, None, &here.frames[2]);
    assert!(repair.was_there && repair.again.is_empty());
}

#[test]
fn at_one_point_nothing_is_acknowledged_without_an_acknowledgment() {
    let here = lane(vec![
        data(1, 0, 0, 2, None),
        data(2, 10, 0, 2, None),
        data(3, 20, 0, 2, None),
    ]);
    let repair = Repair::of(&here, None, &here.frames[0]);
    assert_eq!(numbers(&repair.vain), [2]);
    assert_eq!(numbers(&repair.unknown), [3]);
    assert!(repair.again.is_empty() && repair.acknowledged.is_none());
}
