//! Our own engine, both ways.

use std::cell::RefCell;
use std::hint::black_box;
use std::io;
use std::rc::Rc;

use gro::{
    BatchCoalescer, Coalescer, LinkType, Outgoing, OutgoingBytes, Part, Profile, Settings, Sink,
    Verification,
};

use crate::engine::{Engine, Rule, Sample};
use crate::frames::{Frames, IP_AND_TCP, Load, PAYLOAD, passes};
use crate::id::Id;

/// Segments that fit into a merged IPv4 packet under a profile.
fn segments(profile: &Profile) -> usize {
    let by_size = (profile.limits.ip_len as usize - IP_AND_TCP) / PAYLOAD;
    by_size.min(profile.limits.segments.into())
}

/// The whole of a frame.
const WHOLE: u32 = u32::MAX;

/// What came out of a batch, kept so that it could be sent after it: what DPDK's chains of mbufs
/// are, which stay linked when the call returns.
#[derive(Debug, Default)]
struct Gathered {
    headers: Vec<u8>,
    pieces: Vec<Part<u32>>,
    frames: usize,
}

impl Sink<u32> for Gathered {
    #[inline(always)]
    fn take(&mut self, out: Outgoing<'_, u32>) {
        self.frames += 1;
        match out {
            Outgoing::Unchanged { token, .. } => self.pieces.push(Part {
                token,
                payload: 0..WHOLE,
            }),
            Outgoing::Merged { header, parts, .. } => {
                self.headers.extend_from_slice(header);
                self.pieces.extend_from_slice(parts.as_slice());
            }
        }
    }
}

impl Gathered {
    fn clear(&mut self) {
        self.headers.clear();
        self.pieces.clear();
        self.frames = 0;
    }
}

/// Merging without touching payload.
pub(crate) struct ZeroCopy {
    id: Id,
    profile: Profile,
    settings: Settings,
    frames: Rc<RefCell<Frames>>,
    batch: usize,
    /// Packets between flushes.
    hold: usize,
    engine: Coalescer<u32>,
    gathered: Gathered,
}

impl ZeroCopy {
    pub(crate) fn new(id: Id, profile: Profile, frames: &Rc<RefCell<Frames>>) -> Self {
        let settings = settings(frames, Verification::Trusted);
        Self {
            id,
            profile,
            settings,
            frames: Rc::clone(frames),
            batch: 64,
            hold: 64,
            engine: Coalescer::new(&profile, settings),
            gathered: Gathered::default(),
        }
    }

    /// Verifies checksums, in batches of 128.
    pub(crate) fn verifying(mut self) -> Self {
        self.settings.verification = Verification::Verify;
        (self.batch, self.hold) = (128, 128);
        self.engine = Coalescer::new(&self.profile, self.settings);
        self
    }

    /// One pass; `each` sees what came out of each batch.
    #[inline(always)]
    fn run(&mut self, frames: &[&[u8]], mut each: impl FnMut(&Gathered)) -> usize {
        let gathered = &mut self.gathered;
        let (mut out, mut first) = (0, 0_u32);
        for batch in frames.chunks(self.batch) {
            let tokens = first..;
            first += batch.len() as u32;
            let input = batch.iter().copied().zip(tokens);
            self.engine.push_batch(input, 0, gathered);
            if (first as usize).is_multiple_of(self.hold) {
                self.engine.flush(gathered);
            }
            out += gathered.frames;
            each(black_box(gathered));
            gathered.clear();
        }
        self.engine.flush(gathered);
        out += gathered.frames;
        each(gathered);
        gathered.clear();
        out
    }

    /// Whether the payload of each frame comes out once.
    fn check(&mut self) -> io::Result<()> {
        let shared = Rc::clone(&self.frames);
        let frames = shared.borrow();
        let link = frames.layout.link;
        let payload = (link + IP_AND_TCP) as u32..(link + IP_AND_TCP + PAYLOAD) as u32;
        let mut times = vec![0_u8; frames.packets];
        self.run(&frames.slices(), |gathered| {
            for piece in &gathered.pieces {
                let whole = (piece.payload.start, piece.payload.end) == (0, WHOLE);
                if whole || (piece.payload.start..piece.payload.end) == payload {
                    times[piece.token as usize] += 1;
                }
            }
        });
        match times.iter().all(|&times| times == 1) {
            true => Ok(()),
            false => Err(io::Error::other("payload was lost or came out twice")),
        }
    }
}

fn settings(frames: &Rc<RefCell<Frames>>, verification: Verification) -> Settings {
    Settings {
        link: match frames.borrow().layout.link {
            0 => LinkType::Raw,
            _ => LinkType::Ethernet,
        },
        verification,
        ..Settings::default()
    }
}

impl Engine for ZeroCopy {
    fn id(&self) -> Id {
        self.id
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        self.frames.borrow_mut().load(load);
        if self.id == Id::OursTable {
            self.hold = held_table(load);
            // A full frame stays beside the next of its flow.
            self.profile.table.per_bucket = load.flows.max(64) as u32;
            self.profile.table.budget = 0;
            self.engine = Coalescer::new(&self.profile, self.settings);
        }
        self.check()
    }

    fn pass(&mut self, loops: u32) -> io::Result<Sample> {
        let frames = Rc::clone(&self.frames);
        Ok(passes(&frames, loops, |slices| self.run(slices, |_| ())))
    }

    fn rule(&self, _: &Load) -> Option<Rule> {
        Some(Rule {
            hold: self.hold,
            segments: segments(&self.profile),
        })
    }
}

/// Packets between flushes where all flows are held: eight of each flow, whole batches of 64.
pub(crate) fn held_table(load: &Load) -> usize {
    (8 * load.flows).max(256).min(load.packets)
}

/// Merging into contiguous frames.
pub(crate) struct Copying {
    id: Id,
    profile: Profile,
    frames: Rc<RefCell<Frames>>,
    batch: usize,
    engine: BatchCoalescer,
}

impl Copying {
    pub(crate) fn new(id: Id, batch: usize, frames: &Rc<RefCell<Frames>>) -> Self {
        let profile = Profile::wireguard();
        Self {
            id,
            profile,
            frames: Rc::clone(frames),
            batch,
            engine: BatchCoalescer::new(&profile, settings(frames, Verification::WhenMerging)),
        }
    }

    /// One pass; `each` sees each frame that comes out.
    #[inline(always)]
    fn run(&mut self, frames: &[&[u8]], mut each: impl FnMut(&[u8])) -> usize {
        let mut out = 0;
        let mut take = OutgoingBytes::each(|frame| {
            out += 1;
            each(black_box(frame).bytes);
        });
        for batch in frames.chunks(self.batch) {
            self.engine.run(batch, &mut take);
        }
        out
    }

    /// Whether all payload comes out, right behind the headers.
    fn check(&mut self) -> io::Result<()> {
        let shared = Rc::clone(&self.frames);
        let frames = shared.borrow();
        let payload = crate::frames::payload();
        let (mut bytes, mut right) = (0, true);
        self.run(&frames.slices(), |frame| {
            let segments = &frame[IP_AND_TCP..];
            bytes += segments.len();
            right &= segments.chunks(PAYLOAD).all(|segment| segment == payload);
        });
        match right && bytes == frames.packets * PAYLOAD {
            true => Ok(()),
            false => Err(io::Error::other("payload was lost or altered")),
        }
    }
}

impl Engine for Copying {
    fn id(&self) -> Id {
        self.id
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        self.frames.borrow_mut().load(load);
        self.check()
    }

    fn pass(&mut self, loops: u32) -> io::Result<Sample> {
        let frames = Rc::clone(&self.frames);
        Ok(passes(&frames, loops, |slices| self.run(slices, |_| ())))
    }

    fn rule(&self, _: &Load) -> Option<Rule> {
        Some(Rule {
            hold: self.batch,
            segments: segments(&self.profile),
        })
    }
}
