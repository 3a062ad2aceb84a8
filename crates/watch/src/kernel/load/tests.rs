use super::*;
use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use crate::facts::Frames;
use coalescope_needs as needs;
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::route::Route;
use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};

/// Segments of a merged datagram, and bytes of each.
const SEGMENTS: usize = 4;
const SEGMENT: usize = 1000;

/// The programs are called for what other tests send as well.
static MACHINE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs that count a namespace of this thread's own, of a kernel with reasons or without, and give all samples that they can.
fn programs(test: &str, with_reasons: bool) -> Option<Programs> {
    programs_at(test, with_reasons, None)
}

/// The same, which count in spans alone from this rate of calls on.
fn programs_at(test: &str, with_reasons: bool, busy: Option<f64>) -> Option<Programs> {
    let types = needs::had(test, std::fs::read(BTF))?;
    needs::had(test, Namespace::create().and_then(|own| own.join()))?;
    Route::open().unwrap().set_up("lo", 1, true).unwrap();
    let space = std::fs::metadata("/proc/thread-self/ns/net").unwrap().ino();
    let options = Options {
        space: u32::try_from(space).unwrap(),
        slots: LEAST_SLOTS,
        reasons: match with_reasons {
            true => btf::reasons(&types),
            false => Err(NoReasons::Old),
        },
        sample_every: Duration::ZERO,
        busy,
    };
    needs::had(test, Programs::load_as(&types, options))
}

/// Sends merged datagrams to a port of this host where nobody listens: the loopback interface hands them on uncut.
fn die(count: usize) {
    let nobody = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    setsockopt(&socket, UdpGsoSegment, &(SEGMENT as i32)).unwrap();
    for _ in 0..count {
        // That nobody listens is told by an error, of one datagram at the next.
        let _ = socket.send_to(&[7; SEGMENTS * SEGMENT], nobody);
    }
}

/// Places and counts of merged frames that died.
fn merged(programs: &Programs) -> Vec<(Where, Count)> {
    let all = programs.dropped().unwrap().into_iter();
    all.filter(|(_, count)| count.merged_frames > 0).collect()
}

#[test]
fn a_kernel_without_reasons_tells_where() {
    let _turn = alone();
    let Some(programs) = programs("no reasons", false) else {
        return;
    };
    assert_eq!(programs.no_reasons(), Some(&NoReasons::Old));
    die(20);
    let all = merged(&programs);
    let [(at, count)] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!((at.reason, programs.reason(at.reason)), (0, None));
    assert!(at.location != 0 && at.place.is_some(), "{at:?}");
    assert!(count.merged_frames >= 10, "{count:?}");
    let segments = count.merged_frames * SEGMENTS as u64;
    assert_eq!(count.merged_segments, segments);
}

/// The ring has room for some 1,400 samples.
#[test]
fn samples_that_nobody_fetches_are_counted() {
    let _turn = alone();
    let Some(mut programs) = programs("lost samples", true) else {
        return;
    };
    die(4000);
    let died: u64 = merged(&programs)
        .iter()
        .map(|(_, of)| of.merged_frames)
        .sum();
    let lost = programs.lost().unwrap();
    let kept = programs.samples().len() as u64;
    assert!(lost.samples > 100 && kept > 1000, "{kept} {lost:?}");
    assert_eq!(kept + lost.samples, died);
    die(20);
    assert!(!programs.samples().is_empty(), "there is room again");
}

/// Frames of the only interface.
fn frames(programs: &Programs) -> Frames {
    let all = programs.counted().unwrap();
    let mut all = all.into_values().map(|Counted(frames)| frames);
    let only = all.next().unwrap_or_default();
    assert_eq!(all.next(), None);
    only
}

/// Sends datagrams to a port where somebody listens.
struct Sender {
    socket: UdpSocket,
    somebody: UdpSocket,
}

impl Sender {
    fn new() -> Self {
        let own = || UdpSocket::bind("127.0.0.1:0").unwrap();
        let (socket, somebody) = (own(), own());
        setsockopt(&socket, UdpGsoSegment, &(SEGMENT as i32)).unwrap();
        Self { socket, somebody }
    }

    /// So many single ones, and as many merged ones.
    fn pass(&self, count: u64) {
        let to = self.somebody.local_addr().unwrap();
        for _ in 0..count {
            self.socket.send_to(&[7], to).unwrap();
            self.socket.send_to(&[7; SEGMENTS * SEGMENT], to).unwrap();
        }
    }

    /// So many every millisecond, for this time; returns how many of each.
    fn flow(&self, each: u64, time: Duration) -> u64 {
        let (begun, mut sent) = (Instant::now(), 0);
        while begun.elapsed() < time {
            let due = u64::try_from(begun.elapsed().as_millis()).unwrap() * each;
            self.pass(due - sent);
            sent = due;
            thread::sleep(Duration::from_millis(1));
        }
        sent
    }
}

/// Calls a second that a sender of this makes many times.
const SLOW: f64 = 5000.0;

#[test]
fn frames_that_come_fast_are_estimated() {
    let _turn = alone();
    let Some(programs) = programs_at("fast frames", true, Some(SLOW)) else {
        return;
    };
    let sent = Sender::new().flow(5, Duration::from_secs(5));
    let sampling = programs.sampling().unwrap().unwrap();
    assert_eq!(sampling.one_in, 16);
    assert!(sampling.took_s > 3.0, "{sampling:?}");
    let of = frames(&programs);
    // A machine may do something else in the spans that are counted, or in the others.
    let is_near = |counted: u64, sent: u64| (sent / 2..sent * 2).contains(&counted);
    for counted in [of.received.frames, of.queued.frames, of.sent.frames] {
        assert!(is_near(counted, 2 * sent), "{counted} of {}", 2 * sent);
    }
    for counted in [
        of.received.merged_frames,
        of.queued.merged_frames,
        of.sent.merged_frames,
    ] {
        assert!(is_near(counted, sent), "{counted} of {sent}");
    }
    let single = of.received.frames - of.received.merged_frames;
    let merged = of.received.merged_frames * SEGMENTS as u64;
    assert_eq!(of.received.segments, single + merged);
    // One of 64, of all.
    let looked = of.received.looked_frames;
    assert!((sent / 256..sent / 8).contains(&looked), "{looked}");
}

#[test]
fn frames_that_come_slowly_are_counted_one_by_one() {
    let _turn = alone();
    let Some(programs) = programs_at("slow frames", true, Some(BUSY)) else {
        return;
    };
    let sent = Sender::new().flow(1, Duration::from_secs(1));
    assert_eq!(programs.sampling().unwrap(), None);
    assert_eq!(frames(&programs).received.frames, 2 * sent);
}

/// For how long not each frame was counted, once each is again: until then the time grows from one look to the next. It
/// takes two turns of spans, and longer on a busy machine.
fn calm(programs: &Programs) -> Option<Sampling> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let took = programs.sampling().unwrap();
        thread::sleep(Duration::from_millis(50));
        if programs.sampling().unwrap() == took {
            return took;
        }
        assert!(Instant::now() < end, "not each frame is counted again");
    }
}

#[test]
fn frames_that_stop_to_come_fast_are_counted_one_by_one_again() {
    let _turn = alone();
    let Some(programs) = programs_at("no longer fast frames", true, Some(SLOW)) else {
        return;
    };
    let sender = Sender::new();
    sender.flow(5, Duration::from_secs(1));
    assert!(programs.sampling().unwrap().is_some());
    let before = (calm(&programs), frames(&programs).received);
    sender.pass(10);
    assert_eq!(programs.sampling().unwrap(), before.0);
    assert_eq!(frames(&programs).received.frames, before.1.frames + 20);
}

#[test]
fn once_a_merged_frame_has_died_each_is_counted() {
    let _turn = alone();
    let Some(programs) = programs_at("fast frames, and one died", true, Some(SLOW)) else {
        return;
    };
    let sender = Sender::new();
    sender.flow(5, Duration::from_secs(1));
    assert!(programs.sampling().unwrap().is_some());
    die(1);
    // It is noticed within a span: from now on each is counted.
    sender.flow(5, Duration::from_millis(300));
    let before = (programs.sampling().unwrap(), frames(&programs).received);
    die(10);
    let sent = sender.flow(5, Duration::from_secs(1));
    assert_eq!(programs.sampling().unwrap(), before.0);
    let more = frames(&programs).received.frames - before.1.frames;
    // Besides, those that died, and what their sender is told of that.
    assert!((2 * sent + 10..=2 * sent + 20).contains(&more), "{more}");
    let fates = programs.fates();
    let died = |fate: &Fate| fate.died.merged == 10 && fate.came.merged == 10;
    assert!(fates.iter().any(died), "{fates:?}");
}

#[test]
fn there_are_twice_as_many_slots_as_interfaces() {
    assert_eq!([0, 500, 513].map(slots), [1024, 1024, 2048]);
    assert_eq!([10_000, usize::MAX].map(slots), [32_768, 65_536]);
}
