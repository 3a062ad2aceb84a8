//! Rings that the kernel writes events into, one of each event and processor.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use perf_event::data::Record;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Counter, SampleFlag, Sampler};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::error::PerfError;
use super::event::Description;
use super::tally::{Counted, EVENTS, Kind, Layout, Place, Tally};
use super::tracefs::Tracefs;
use crate::facts::Lost;

/// Processors that there are, `0-3,8`.
const PROCESSORS: &str = "/sys/devices/system/cpu/online";
/// Memory of all rings together, and of each at most and at least.
const ROOM: usize = 32 << 20;
const MOST_ROOM: usize = 1 << 20;
const LEAST_ROOM: usize = 1 << 12;
/// How often rings are emptied. One of 1 MiB has room for some 10,000 events: half a million a second.
const EVERY: Duration = Duration::from_millis(20);
/// More than any ring has room for, so that a flood of events holds up nobody.
const AT_ONCE: usize = 1 << 16;

/// All that was read so far.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Frames by the name of their interface.
    pub(crate) counted: BTreeMap<String, Counted>,
    /// Dropped frames.
    pub(crate) drops: BTreeMap<Place, u64>,
    /// How often each event happened, by perf's own count: also those that were not read.
    pub(crate) events: BTreeMap<String, u64>,
    pub(crate) lost: Lost,
}

/// Open rings, which a thread empties; all ends when this value is dropped.
pub(crate) struct Rings {
    all: Arc<Mutex<All>>,
    reasons: BTreeMap<u64, String>,
    has_reasons: bool,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

struct All {
    layouts: Vec<(&'static str, Layout)>,
    rings: Vec<Ring>,
    tally: Tally,
}

struct Ring {
    /// Which of the layouts.
    event: usize,
    sampler: Sampler,
    read: u64,
    lost: u64,
}

impl Rings {
    /// Begins to count.
    pub(crate) fn open() -> Result<Self, PerfError> {
        let events = described()?;
        let mut all = All {
            rings: open_all(&events)?,
            tally: Tally::default(),
            layouts: Vec::new(),
        };
        let mut drop = Description::default();
        for event in events {
            if matches!(event.layout, Layout::Drop(_)) {
                drop = event.said;
            }
            all.layouts.push((event.name, event.layout));
        }
        let all = Arc::new(Mutex::new(all));
        let is_over = Arc::new(AtomicBool::new(false));
        Ok(Self {
            has_reasons: drop.field("reason").is_some(),
            reasons: drop.names,
            reader: Some(empty_always(Arc::clone(&all), Arc::clone(&is_over))),
            all,
            is_over,
        })
    }

    /// Sets how long the frames of interfaces may be, by name.
    pub(crate) fn set_mtus<'a>(&self, mtus: impl Iterator<Item = (&'a str, Option<u64>)>) {
        let mut all = lock(&self.all);
        for (name, mtu) in mtus {
            all.tally.set_mtu(name, mtu);
        }
    }

    /// All that came until now.
    pub(crate) fn read(&self) -> Result<Read, PerfError> {
        lock(&self.all).read()
    }

    /// Whether the kernel gives reasons for drops.
    pub(crate) fn has_reasons(&self) -> bool {
        self.has_reasons
    }

    /// The name of a reason; its number where the description has no name for it.
    pub(crate) fn reason(&self, place: &Place) -> Option<String> {
        let number = place.reason?;
        let name = self.reasons.get(&number).cloned();
        Some(name.unwrap_or_else(|| format!("REASON_{number}")))
    }
}

impl std::ops::Drop for Rings {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            // It has nothing to tell.
            let _ = reader.join();
        }
    }
}

impl All {
    fn empty(&mut self) {
        for ring in &mut self.rings {
            if let Some((_, layout)) = self.layouts.get(ring.event) {
                ring.empty(layout, &mut self.tally);
            }
        }
    }

    fn read(&mut self) -> Result<Read, PerfError> {
        let mut read = Read::default();
        // Counters first: whatever they have is then in the rings, or lost.
        let mut happened = Vec::new();
        for ring in &mut self.rings {
            let count = ring.sampler.as_counter_mut().read();
            happened.push(count.map_err(PerfError::Read)?);
        }
        self.empty();
        for (ring, happened) in self.rings.iter().zip(happened) {
            let (event, _) = self.layouts[ring.event];
            *read.events.entry(event.to_owned()).or_default() += happened;
            // The kernel says of lost events only when there is room again.
            let missing = happened.saturating_sub(ring.read);
            read.lost.samples += missing.max(ring.lost);
        }
        read.lost.frames = self.tally.lost_frames;
        read.lost.drops = self.tally.lost_drops;
        read.counted = self.tally.counted();
        read.drops = self.tally.drops.clone();
        Ok(read)
    }
}

impl Ring {
    fn empty(&mut self, layout: &Layout, tally: &mut Tally) {
        for _ in 0..AT_ONCE {
            let Some(record) = self.sampler.next_record() else {
                return;
            };
            match record.parse_record() {
                Ok(Record::Sample(sample)) => {
                    self.read += 1;
                    tally.add(layout, sample.raw().unwrap_or_default());
                }
                Ok(Record::Lost(lost)) => self.lost += lost.lost,
                _ => {}
            }
        }
    }
}

/// A panic of the reader leaves sums that are right as far as they go.
fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

fn empty_always(all: Arc<Mutex<All>>, is_over: Arc<AtomicBool>) -> JoinHandle<()> {
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            lock(&all).empty();
            thread::sleep(EVERY);
        }
    })
}

/// An event of this kernel.
struct Event {
    name: &'static str,
    layout: Layout,
    said: Description,
}

/// All events that this kernel has.
fn described() -> Result<Vec<Event>, PerfError> {
    let tracefs = Tracefs::open().map_err(PerfError::NoTracefs)?;
    let mut all = Vec::new();
    for (name, kind) in EVENTS {
        if let Some(said) = describe(&tracefs, name, kind)? {
            let layout = Layout::of(name, kind, &said)?;
            all.push(Event { name, layout, said });
        }
    }
    Ok(all)
}

/// The kernel's description; none if it lacks one of several ways in.
fn describe(
    tracefs: &Tracefs,
    event: &'static str,
    kind: Kind,
) -> Result<Option<Description>, PerfError> {
    let field = "anything";
    match tracefs.format(event) {
        Ok(text) => match Description::read(&text) {
            None => Err(PerfError::NoField { event, field }),
            some => Ok(some),
        },
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PerfError::NoTracefs(error)),
        Err(_) if kind == Kind::Entered => Ok(None),
        Err(_) => Err(PerfError::NoField { event, field }),
    }
}

fn open_all(events: &[Event]) -> Result<Vec<Ring>, PerfError> {
    let processors = processors();
    let wanted = ROOM / (events.len() * processors.len()).max(1);
    let room = wanted.clamp(LEAST_ROOM, MOST_ROOM);
    lift_limit();
    let mut rings = Vec::new();
    for (n, event) in events.iter().enumerate() {
        for processor in &processors {
            let opened = open(event.said.id, *processor, room);
            let sampler = opened.map_err(|source| refused(event.name, source))?;
            rings.push(Ring {
                event: n,
                sampler,
                read: 0,
                lost: 0,
            });
        }
    }
    for ring in &mut rings {
        let enabled = ring.sampler.as_counter_mut().enable();
        enabled.map_err(|source| refused(events[ring.event].name, source))?;
    }
    Ok(rings)
}

fn refused(event: &'static str, source: io::Error) -> PerfError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => PerfError::Denied,
        _ => PerfError::Open { event, source },
    }
}

/// Opens a ring. Who may lock little memory gets a smaller one.
fn open(id: u64, processor: usize, mut room: usize) -> io::Result<Sampler> {
    loop {
        let error = match counter(id, processor)?.sampled(room) {
            Ok(sampler) => return Ok(sampler),
            Err(error) => error,
        };
        room /= 2;
        if room < LEAST_ROOM {
            return Err(error);
        }
    }
}

fn counter(id: u64, processor: usize) -> io::Result<Counter> {
    let mut builder = Builder::new(Tracepoint::with_id(id));
    builder.any_pid().one_cpu(processor).include_kernel();
    builder.sample(SampleFlag::RAW).sample_period(1);
    // Nobody waits for the ring, so nobody need be woken.
    builder.wakeup_watermark(ROOM);
    builder.build()
}

/// Each ring is an open file.
fn lift_limit() {
    let now = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: now.maximum,
        ..now
    };
    // What is refused follows when a ring is opened.
    let _ = setrlimit(Resource::Nofile, most);
}

fn processors() -> Vec<usize> {
    let text = fs::read_to_string(PROCESSORS).unwrap_or_default();
    let all: Vec<usize> = text.trim().split(',').filter_map(range).flatten().collect();
    match all.is_empty() {
        true => (0..thread::available_parallelism().map_or(1, usize::from)).collect(),
        false => all,
    }
}

fn range(text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::net::UdpSocket;

    use coalescope_needs as needs;
    use coalescope_netlink::namespace::Namespace;
    use coalescope_netlink::route::Route;

    /// Nobody empties the rings while the lock is held.
    #[test]
    fn events_that_find_no_room_are_counted() {
        let test = "full rings";
        let own = Namespace::create().and_then(|own| own.join());
        let Some(()) = needs::had(test, own) else {
            return;
        };
        let Some(rings) = needs::had(test, Rings::open()) else {
            return;
        };
        Route::open().unwrap().set_up("lo", 1, true).unwrap();
        let send = |count: usize| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let to = socket.local_addr().unwrap();
            for _ in 0..count {
                socket.send_to(&[7], to).unwrap();
            }
        };
        const MANY: usize = 200_000;
        let held = lock(&rings.all);
        send(MANY);
        drop(held);
        let read = rings.read().unwrap();
        let queued = read.counted["lo"].queued;
        let happened = read.events["net/net_dev_queue"];
        assert!(happened >= MANY as u64 && queued < MANY as u64, "{read:?}");
        assert!(read.lost.samples >= MANY as u64 - queued, "{read:?}");
        send(100);
        let again = rings.read().unwrap();
        assert!(again.counted["lo"].queued > queued, "there is room again");
    }

    #[test]
    fn ranges_of_processors() {
        let all =
            |text: &str| -> Vec<usize> { text.split(',').filter_map(range).flatten().collect() };
        assert_eq!(all("0-2,8"), [0, 1, 2, 8]);
        assert_eq!(all(""), [0; 0]);
    }
}
