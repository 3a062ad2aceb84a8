use super::*;

/// Ten seconds at 10 Mbit/s over 20 ms, without anything amiss.
fn sound() -> Direction {
    Direction {
        data_frames: 8_600,
        unique_bytes: 12_500_000,
        segment_size_bytes: Some(1448),
        merge_factor_mean: Some(1.0),
        throughput_bps: Some(1e7),
        duration_s: Some(10.0),
        rtt_min_s: Some(0.02),
        rtt_median_s: Some(0.021),
        effective_window_segments: Some(17.3),
        ..Direction::default()
    }
}

fn limit_of(change: impl FnOnce(&mut Direction)) -> Limit {
    let mut data = sound();
    change(&mut data);
    limit(&data, &Direction::default())
}

/// A window is sent at once and all of it acknowledged at once: round trips are long, and the link rests.
#[test]
fn a_link_that_rests_has_no_queue() {
    let queue = |silent_s, sender_idle_s| {
        limit_of(|d| {
            (d.rtt_median_s, d.silent_s) = (Some(0.04), silent_s);
            d.sender_idle_s = sender_idle_s;
        })
    };
    assert_eq!(queue(2.4, 0.0), Limit::PathBandwidth);
    assert_eq!(queue(2.6, 0.0), Limit::None);
    // Pauses are silent, and no rest of the link's.
    assert_eq!(queue(4.0, 2.4), Limit::PathBandwidth);
}

/// A first flight of ten segments is all that a first window allows, and the transfer is over two round trips later.
#[test]
fn what_fits_into_a_window_is_not_held_back_by_it() {
    let limit_of = |window| {
        let mut data = sound();
        (data.unique_bytes, data.duration_s, data.window_limited_s) = (45_000, Some(0.04), 0.03);
        let acks = Direction {
            window_max_bytes: Some(window),
            ..Direction::default()
        };
        limit(&data, &acks)
    };
    assert_eq!(limit_of(64_000), Limit::None);
    assert_eq!(limit_of(16_000), Limit::ReceiverWindow);
}

/// How few segments are in flight is not told by the frames that were captured, where many were not.
#[test]
fn what_a_capture_missed_was_in_flight_as_well() {
    let limit_of = |missed_bytes| {
        limit_of(|data| {
            (data.effective_window_segments, data.missed_bytes) = (Some(3.0), missed_bytes);
            (data.retransmitted_frames, data.retransmitted_bytes) = (900, 1_300_000);
        })
    };
    assert_eq!(limit_of(0), Limit::Unclear);
    assert_eq!(limit_of(12_500_000), Limit::Loss);
}

/// A receiver that opens its window as data comes holds nobody back for good.
#[test]
fn a_window_that_grows_is_no_limit() {
    let full =
        |growing_s| limit_of(|d| (d.window_limited_s, d.window_growing_s) = (6.0, growing_s));
    assert_eq!(full(0.5), Limit::ReceiverWindow);
    assert_eq!(full(2.0), Limit::None);
}

/// Behind a box that carries merged frames up to five segments: whatever is missing is longer.
#[test]
fn where_only_the_longest_frames_lack_merging_is_not_cleared() {
    let lacking = |least_hole_bytes| {
        limit_of(|d| {
            (d.merge_factor_max, d.longest_delivered_bytes) = (Some(5), Some(5 * 1448));
            (d.late_frames, d.holes) = (2_000, 300);
            d.least_hole_bytes = Some(least_hole_bytes);
        })
    };
    assert_eq!(lacking(6 * 1448), Limit::Unclear);
    assert_eq!(lacking(1448), Limit::Loss);
}

/// An upload of a tenth of a second, and a download that took ten for losing what was merged.
#[test]
fn the_way_that_takes_the_time_tells() {
    let upload = Direction {
        duration_s: Some(0.1),
        throughput_bps: Some(1e9),
        ..sound()
    };
    let download = Direction {
        unique_bytes: 1_250_000,
        effective_window_segments: Some(1.7),
        late_frames: 1_000,
        ..sound()
    };
    let connection = Connection {
        to_server: upload,
        to_client: download,
        ..Connection::default()
    };
    let told = super::limit_of(&"VM".into(), &connection);
    assert_eq!((told.direction, told.limit), ("to_client", Limit::Unclear));
}

#[test]
fn few_bytes_that_are_stuck_are_lost_however_few() {
    let stuck = |direction: &mut Direction| {
        direction.data_frames = 14;
        direction.unique_bytes = 14_480;
        (direction.stuck_timeouts, direction.stuck_s) = (4, 6.0);
        direction.stuck_bytes = Some(1448);
    };
    assert_eq!(limit_of(stuck), Limit::Loss);
    let mut data = sound();
    stuck(&mut data);
    let acks = Direction {
        acks: 3,
        ..Direction::default()
    };
    assert!(is_stuck_by_length(&data, &acks));
    assert!(!is_stuck_by_length(&data, &Direction::default()));
    data.longest_delivered_bytes = Some(1448);
    assert!(!is_stuck_by_length(&data, &acks));
    // Segments pass, and what carries several of them does not.
    data.segment_size_bytes = Some(1448);
    for several in [2_896, 2_148] {
        data.stuck_bytes = Some(several);
        assert!(!is_stuck_by_length(&data, &acks), "{several}");
    }
    data.longest_delivered_bytes = Some(700);
    assert!(is_stuck_by_length(&data, &acks));
    assert_eq!(
        limit_of(|d| (d.stuck_timeouts, d.stuck_s) = (1, 0.2)),
        Limit::None
    );
}

#[test]
fn a_few_segments_in_flight_are_no_sign_without_loss() {
    let slow = |d: &mut Direction| d.effective_window_segments = Some(1.5);
    assert_eq!(limit_of(slow), Limit::None);
    let lossy = |d: &mut Direction| {
        slow(d);
        d.late_frames = 1_000;
    };
    assert_eq!(limit_of(lossy), Limit::Unclear);
}

/// As where one direction alone was captured.
fn without_round_trip(d: &mut Direction) {
    (d.rtt_min_s, d.rtt_median_s, d.effective_window_segments) = (None, None, None);
}

/// Nothing says that many segments are under way.
#[test]
fn heavy_loss_is_unclear_where_the_round_trip_is_not_known() {
    let blind = |d: &mut Direction| {
        without_round_trip(d);
        d.late_frames = 1_000;
    };
    assert_eq!(limit_of(blind), Limit::Unclear);
    let merged_pass = |d: &mut Direction| {
        without_round_trip(d);
        (d.retransmitted_frames, d.retransmitted_bytes) = (1_000, 1_448_000);
        (d.repeats.merged, d.repeats.merged_repeated) = (140, 21);
        d.repeats.single_repeated = 979;
    };
    assert_eq!(limit_of(merged_pass), Limit::Loss);
    let behind_the_loss = |d: &mut Direction| {
        blind(d);
        (d.repeats.merged, d.repeats.single) = (140, 1_000);
    };
    assert_eq!(limit_of(behind_the_loss), Limit::Unclear);
}

/// One of two members of a bond loses what is merged, and hardly a single frame is sent for the first time.
#[test]
fn merged_frames_that_pass_are_compared_with_single_ones_where_many_do_not() {
    let with_single = |single| {
        limit_of(|d| {
            (d.retransmitted_frames, d.retransmitted_bytes) = (1_000, 1_448_000);
            d.effective_window_segments = Some(1.2);
            (d.repeats.merged, d.repeats.merged_repeated) = (140, 64);
            (d.repeats.single, d.repeats.single_repeated) = (single, single / 2);
        })
    };
    assert_eq!(with_single(1), Limit::Unclear);
    assert_eq!(with_single(100), Limit::Loss);
}

/// Lost merged frames under a sender that paces: no queue makes it lose half of all.
#[test]
fn what_no_sender_brings_upon_itself_is_unclear_at_any_rate() {
    assert_eq!(limit_of(|d| d.late_frames = 1_000), Limit::Loss);
    assert_eq!(limit_of(|d| d.late_frames = 4_000), Limit::Unclear);
}

/// Whoever pauses between bursts waits for no timeout, though no acknowledgment says so.
#[test]
fn gaps_without_a_loss_are_pauses() {
    let pausing = |d: &mut Direction| {
        without_round_trip(d);
        (d.gaps_s, d.gaps) = (7.0, 10);
    };
    assert_eq!(limit_of(pausing), Limit::None);
    let mut data = sound();
    pausing(&mut data);
    let acks = Direction {
        acks: 4_000,
        ..Direction::default()
    };
    // A round trip may be as long as a gap.
    assert_eq!(limit(&data, &acks), Limit::None);
    data.rtt_min_s = Some(0.02);
    data.effective_window_segments = Some(1.0);
    assert_eq!(limit(&data, &acks), Limit::Unclear);
    let mut heard = data.clone();
    (heard.retransmitted_frames, heard.retransmitted_spurious) = (9, 9);
    assert_eq!(limit(&heard, &acks), Limit::None);
    data.gaps = 2;
    assert_eq!(limit(&data, &acks), Limit::None);
    let lossy = |d: &mut Direction| {
        pausing(d);
        d.late_frames = 20;
    };
    assert_eq!(limit_of(lossy), Limit::Unclear);
}

/// Pages with pauses between them, each torn by losses.
#[test]
fn pauses_explain_nothing_that_is_lost_between_them() {
    let browsing = |late| {
        limit_of(|d| {
            (d.sender_idle_s, d.late_frames) = (7.0, late);
            d.effective_window_segments = Some(0.9);
        })
    };
    assert_eq!(
        (browsing(0), browsing(2)),
        (Limit::SenderIdle, Limit::SenderIdle)
    );
    assert_eq!(browsing(2_000), Limit::Unclear);
}

/// A card behind the loss merges what gets through.
#[test]
fn what_is_merged_behind_a_loss_clears_nobody() {
    let behind = |late| {
        limit_of(|d| {
            (d.late_frames, d.effective_window_segments) = (late, Some(0.9));
            (d.retransmitted_frames, d.retransmitted_bytes) = (1_000, 1_448_000);
            (d.repeats.merged, d.repeats.single_repeated) = (300, 80);
        })
    };
    assert_eq!((behind(1_000), behind(10)), (Limit::Unclear, Limit::Loss));
}

/// A box that thins acknowledgments makes round trips longer, and no queue of data.
#[test]
fn acknowledgments_that_wait_are_no_full_path() {
    let queue = |ack_wait_s| {
        limit_of(|d| {
            d.rtt_median_s = Some(0.06);
            d.ack_wait_s = ack_wait_s;
        })
    };
    assert_eq!(queue(None), Limit::PathBandwidth);
    assert_eq!(queue(Some(0.01)), Limit::PathBandwidth);
    assert_eq!(queue(Some(0.02)), Limit::None);
}

/// One in ten lost is not what a sender does that fills a queue.
#[test]
fn a_queue_that_loses_much_is_not_sound() {
    let queue = |share: f64, part: u64| {
        limit_of(|d| {
            d.rtt_median_s = Some(0.06);
            d.unique_bytes /= part;
            d.retransmitted_bytes = (share * d.unique_bytes as f64) as u64;
            d.retransmitted_frames = d.retransmitted_bytes / 1_448;
            (d.repeats.merged, d.repeats.single_repeated) = (300, 80);
        })
    };
    assert_eq!(queue(0.05, 1), Limit::PathBandwidth);
    assert_eq!(queue(0.13, 1), Limit::Loss);
    // At the end of slow start a window is lost, which is more of a short transfer.
    assert_eq!(queue(0.13, 100), Limit::PathBandwidth);
}

#[test]
fn a_short_transfer_that_loses_much_is_lossy() {
    let short = |d: &mut Direction| {
        (d.data_frames, d.unique_bytes) = (27, 11_352);
        d.effective_window_segments = Some(5.0);
    };
    assert_eq!(limit_of(short), Limit::TooShort);
    let again = |frames| {
        limit_of(|d| {
            short(d);
            d.retransmitted_frames = frames;
        })
    };
    assert_eq!((again(4), again(7)), (Limit::TooShort, Limit::Loss));
}

/// Timeouts in a row at place after place, and single segments get through in between: no outage.
#[test]
fn stuck_at_many_places_is_not_cut_off() {
    let stuck = |d: &mut Direction| {
        (d.stuck_timeouts, d.stuck_s, d.stuck_places) = (2, 6.0, 1);
        (d.gaps_s, d.effective_window_segments) = (7.0, Some(0.5));
        d.retransmitted_frames = 60;
    };
    assert_eq!(limit_of(stuck), Limit::Loss);
    let often = |d: &mut Direction| {
        stuck(d);
        d.stuck_places = 30;
    };
    assert_eq!(limit_of(often), Limit::Unclear);
}

#[test]
fn a_repair_tells_the_round_trip_where_nothing_else_does() {
    let blind = |d: &mut Direction| {
        without_round_trip(d);
        (d.late_frames, d.repair_s) = (30, Some(0.02));
    };
    assert_eq!(limit_of(blind), Limit::Loss);
    let near = |d: &mut Direction| {
        blind(d);
        d.repair_s = Some(0.001);
    };
    assert_eq!(limit_of(near), Limit::None);
}

#[test]
fn what_waits_for_an_acknowledgment_stands_in_no_queue() {
    let mut data = sound();
    (data.rtt_min_s, data.rtt_median_s) = (Some(0.005), Some(0.011));
    let apart = |acks| Direction {
        acks,
        ..Direction::default()
    };
    assert_eq!(limit(&data, &apart(4_000)), Limit::PathBandwidth);
    assert_eq!(limit(&data, &apart(2_000)), Limit::None);
}

#[test]
fn loss_counts_where_it_holds_the_rate() {
    // Mathis et al.: 0.07% and 20 ms hold a sender to 27 Mbit/s, and 1 ms to 540.
    let few = |d: &mut Direction| d.retransmitted_frames = 6;
    assert_eq!(limit_of(few), Limit::Loss);
    let near = |d: &mut Direction| {
        few(d);
        (d.rtt_min_s, d.rtt_median_s) = (Some(0.001), Some(0.001));
    };
    assert_eq!(limit_of(near), Limit::None);
}

#[test]
fn a_queue_holds_what_the_rate_brings_in_its_delay() {
    let queue = |d: &mut Direction| d.rtt_median_s = Some(0.06);
    assert_eq!(limit_of(queue), Limit::PathBandwidth);
    let slow = |d: &mut Direction| {
        queue(d);
        (d.throughput_bps, d.unique_bytes) = (Some(41_000.0), 51_250);
    };
    assert_eq!(limit_of(slow), Limit::None);
}

#[test]
fn a_window_counts_by_the_time_at_its_edge() {
    assert_eq!(
        limit_of(|d| d.window_limited_s = 6.0),
        Limit::ReceiverWindow
    );
    assert_eq!(limit_of(|d| d.window_limited_s = 4.0), Limit::None);
    let pausing = |d: &mut Direction| (d.window_limited_s, d.sender_idle_s) = (2.6, 5.0);
    assert_eq!(limit_of(pausing), Limit::ReceiverWindow);
}

/// Behind a hop that merges and loses what it merged: single frames come, and never a single one is missing.
#[test]
fn where_only_runs_lack_merging_is_not_cleared() {
    let lacking = |holes, segments: u32| {
        limit_of(|d| {
            (d.late_frames, d.holes, d.merge_factor_max) = (400, holes, Some(1));
            d.least_hole_bytes = Some(segments * 1448);
        })
    };
    assert_eq!(lacking(60, 2), Limit::Unclear);
    assert_eq!(lacking(60, 1), Limit::Loss);
    assert_eq!(lacking(9, 2), Limit::Loss);
}

/// A queue or a policer in front of the capture drops segments; a hop that loses what it merged leaves longer holes, or none, where
/// nothing goes on before a timeout.
#[test]
fn where_single_segments_lack_no_merged_frame_was_lost() {
    let acks = Direction {
        acks: 4_000,
        ..Direction::default()
    };
    let lacking = |single_holes, gaps| {
        let data = Direction {
            late_frames: 2_000,
            holes: 60,
            single_holes,
            gaps,
            effective_window_segments: Some(2.0),
            ..sound()
        };
        limit(&data, &acks)
    };
    assert_eq!(lacking(40, 0), Limit::Loss);
    assert_eq!(lacking(20, 0), Limit::Unclear);
    assert_eq!(lacking(40, 50), Limit::Unclear);
}

/// A capture that begins in the middle of a transfer that losses have slowed down shows no loss any more, and no window.
#[test]
fn a_sender_with_one_full_segment_in_flight_is_not_well() {
    let crawl = |change: &dyn Fn(&mut Direction)| {
        let mut data = sound();
        let d = &mut data;
        (d.data_frames, d.unique_bytes, d.payload_bytes) = (50, 72_400, 72_400);
        (d.merge_factor_max, d.effective_window_segments) = (Some(1), Some(1.1));
        (d.rtt_min_s, d.rtt_median_s) = (Some(0.06), Some(0.07));
        (d.throughput_bps, d.duration_s) = (Some(2e5), Some(2.9));
        change(d);
        data
    };
    let crawling = |change| limit(&crawl(change), &Direction::default());
    assert_eq!(crawling(&|_| ()), Limit::Unclear);
    // A request for each segment, and one for three of them.
    let answers = |requests| {
        let data_frames = requests;
        limit(
            &crawl(&|_| ()),
            &Direction {
                data_frames,
                ..Direction::default()
            },
        )
    };
    assert_ne!(answers(50), Limit::Unclear);
    assert_eq!(answers(17), Limit::Unclear);
    let well: [&dyn Fn(&mut Direction); 7] = [
        // A slow link, of which a queue tells, or a short way.
        &|d| d.rtt_median_s = Some(0.1),
        &|d| (d.rtt_min_s, d.rtt_median_s) = (Some(0.002), Some(0.002)),
        &|d| d.effective_window_segments = Some(2.1),
        // Messages, pauses, and what is over soon.
        &|d| d.payload_bytes = 40_000,
        &|d| d.sender_idle_s = 0.1,
        &|d| d.merge_factor_max = Some(3),
        &|d| (d.data_frames, d.unique_bytes, d.payload_bytes) = (20, 28_960, 28_960),
    ];
    for change in well {
        assert_ne!(crawling(change), Limit::Unclear);
    }
}

/// A handshake on a path that takes a second waits for no SYN; one that takes longer than the path does.
#[test]
fn a_path_that_takes_a_second_loses_no_syn() {
    let waits = |connect_s, rtt_s| {
        let data = Direction {
            data_frames: 2,
            rtt_min_s: rtt_s,
            ..Direction::default()
        };
        let mut connection = Connection {
            last_s: 1.5 * connect_s,
            to_server: data,
            ..Connection::default()
        };
        connection.phases.connect_s = Some(connect_s);
        waits_for_handshake(&connection)
    };
    for (connect_s, rtt_s) in [(1.02, 0.02), (3.6, 0.6), (7.0, 0.5)] {
        assert!(waits(connect_s, Some(rtt_s)) && waits(connect_s, None));
    }
    for (connect_s, rtt_s) in [(1.2, 1.2), (2.0, 1.9), (0.9, 0.1)] {
        assert!(!waits(connect_s, Some(rtt_s)), "{connect_s}");
    }
}
