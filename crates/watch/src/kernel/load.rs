//! Loads the BPF programs, and reads their maps.

use std::collections::BTreeMap;
use std::time::Duration;

use aya::maps::{HashMap, MapData, MapError, PerCpuArray, PerCpuValues, RingBuf};
use aya::programs::{FEntry, FExit, ProgramError};
use aya::{Btf, Ebpf, EbpfLoader, Endianness, include_bytes_aligned};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::attach::{PROGRAMS, attach, load, map, program};
use super::btf::{self, BTF, NoReasons};
use super::error::{LoadError, io_error, is_denied};
use super::layout::{
    COUNTER_WORDS, Counted, DROP_WORDS, FATE_WORDS, FLOW_WORDS, Fate, Place, RawSample, Shape,
    WHERE_WORDS, Where,
};
use super::pace::{BUSY, Pacer};
use crate::facts::{Lost, Sampling};

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/watch.bpf.o");

/// Slots for interfaces: at least this many, and twice as many as there are interfaces, so that a
/// free slot is found soon.
const LEAST_SLOTS: u32 = 1024;
const MOST_SLOTS: u32 = 65_536;

/// Interval between samples of the same drop: enough to see that frames are dropped again, with little load.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);
const DROPPED: &str = "kfree_skb";
/// The kernel's function that cuts merged frames.
const CUTS: &str = "__skb_gso_segment";
const CUT_BEGINS: &str = "cut_begins";
const CUT_ENDS: &str = "cut_ends";

/// Dropped frames of one place and reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) merged_frames: u64,
    pub(crate) merged_segments: u64,
    pub(crate) long_frames: u64,
    pub(crate) single_frames: u64,
}

impl Count {
    /// All frames.
    pub(crate) fn all(&self) -> u64 {
        self.merged_frames + self.long_frames + self.single_frames
    }
}

/// Constants of the programs, set before they run.
struct Options {
    /// The inode of the only namespace to count, 0 for all.
    space: u32,
    /// Room for interfaces, a power of two.
    slots: u32,
    /// Names of the kernel's drop reasons.
    reasons: Result<BTreeMap<u32, String>, NoReasons>,
    sample_every: Duration,
    /// Calls of programs a second, on one processor, from which on not each frame is counted; none: each is, always.
    busy: Option<f64>,
}

/// The running programs; they are detached when this value is dropped.
pub(crate) struct Programs {
    places: PerCpuArray<MapData, [u64; COUNTER_WORDS]>,
    drops: HashMap<MapData, [u32; WHERE_WORDS], [u64; DROP_WORDS]>,
    flows: HashMap<MapData, [u32; FLOW_WORDS], [u64; FATE_WORDS]>,
    samples: RingBuf<MapData>,
    lost: PerCpuArray<MapData, u64>,
    reasons: Result<BTreeMap<u32, String>, NoReasons>,
    /// Whether cuts are counted where they are made, or why not.
    cuts: Result<(), String>,
    /// Holds the programs.
    pacer: Pacer,
}

impl Programs {
    /// Loads and attaches the programs. `space` is the inode of the only namespace to count,
    /// `interfaces` the number of interfaces. `each` has every frame counted, however fast they come.
    pub(crate) fn load(
        space: Option<u32>,
        interfaces: usize,
        each: bool,
    ) -> Result<Self, LoadError> {
        let types = std::fs::read(BTF).map_err(LoadError::NoBtf)?;
        let options = Options {
            space: space.unwrap_or(0),
            slots: slots(interfaces),
            reasons: btf::reasons(&types),
            sample_every: SAMPLE_EVERY,
            busy: (!each).then_some(BUSY),
        };
        Self::load_as(&types, options)
    }

    fn load_as(types: &[u8], options: Options) -> Result<Self, LoadError> {
        let kernel = Btf::parse(types, Endianness::default()).map_err(LoadError::Types)?;
        lift_limit();
        let mut ebpf = object(&kernel, &options)?;
        let dropped = match options.reasons {
            Ok(_) => "dropped_with_reason",
            Err(_) => "dropped_without_reason",
        };
        load(&mut ebpf, dropped, DROPPED, &kernel)?;
        attach(&mut ebpf, dropped)?;
        for (name, event) in PROGRAMS {
            load(&mut ebpf, name, event, &kernel)?;
        }
        let cuts = attach_to_cuts(&mut ebpf, &kernel);
        Ok(Self {
            places: PerCpuArray::try_from(map(&mut ebpf, "places")?)?,
            drops: HashMap::try_from(map(&mut ebpf, "drops")?)?,
            flows: HashMap::try_from(map(&mut ebpf, "flows")?)?,
            samples: RingBuf::try_from(map(&mut ebpf, "samples")?)?,
            lost: PerCpuArray::try_from(map(&mut ebpf, "lost")?)?,
            reasons: options.reasons,
            cuts,
            pacer: Pacer::begin(ebpf, options.busy)?,
        })
    }

    /// Why drop reasons have no names, if they have none.
    pub(crate) fn no_reasons(&self) -> Option<&NoReasons> {
        self.reasons.as_ref().err()
    }

    /// Why cuts are not counted where they are made, if they are not.
    pub(crate) fn no_cuts(&self) -> Option<&str> {
        self.cuts.as_ref().err().map(String::as_str)
    }

    /// The name of a drop reason. Subsystems such as Open vSwitch have numbers of their own.
    pub(crate) fn reason(&self, number: u32) -> Option<String> {
        let reasons = self.reasons.as_ref().ok()?;
        let name = reasons.get(&number).cloned();
        Some(name.unwrap_or_else(|| match number >> 16 {
            0 => format!("REASON_{number}"),
            part => format!("PART_{part}_REASON_{}", number & 0xffff),
        }))
    }

    /// Counters of all interfaces that had a frame, since the programs were loaded.
    pub(crate) fn counted(&self) -> Result<BTreeMap<Place, Counted>, LoadError> {
        let mut all: BTreeMap<Place, Counted> = BTreeMap::new();
        for slot in 0..self.places.len() {
            let processors = self.places.get(&slot, 0)?;
            for (place, counted) in processors.iter().filter_map(Counted::read) {
                *all.entry(place).or_default() += counted;
            }
        }
        Ok(all)
    }

    /// Dropped frames, since the programs were loaded.
    pub(crate) fn dropped(&self) -> Result<BTreeMap<Where, Count>, LoadError> {
        let mut all: BTreeMap<Where, Count> = BTreeMap::new();
        for entry in &self.drops {
            let (key, [frames, segments, ..]) = entry?;
            let (at, shape) = Where::read(&key);
            let count = all.entry(at).or_default();
            match shape {
                Shape::Merged => {
                    count.merged_frames = frames;
                    count.merged_segments = segments;
                }
                Shape::Long => count.long_frames = frames,
                Shape::Single => count.single_frames = frames,
            }
        }
        Ok(all)
    }

    /// What became of flows of which merged frames were dropped, since then. A flow may make room for another one meanwhile.
    pub(crate) fn fates(&self) -> Vec<Fate> {
        let all = self.flows.iter().filter_map(Result::ok);
        all.map(|(_, words)| Fate::read(&words)).collect()
    }

    /// For how long frames came too fast to count each, if they did.
    ///
    /// # Errors
    ///
    /// If frames are no longer counted.
    pub(crate) fn sampling(&self) -> Result<Option<Sampling>, LoadError> {
        self.pacer.sampling()
    }

    /// Samples that came since the last call.
    pub(crate) fn samples(&mut self) -> Vec<RawSample> {
        let mut all = Vec::new();
        while let Some(bytes) = self.samples.next() {
            all.extend(RawSample::read(&bytes));
        }
        all
    }

    /// Frees the slots of places. A slot that another place has on another processor stays, since
    /// the kernel writes into it.
    pub(crate) fn forget_places(&mut self, all: &[Place]) -> Result<(), LoadError> {
        if all.is_empty() {
            return Ok(());
        }
        for slot in 0..self.places.len() {
            let processors = self.places.get(&slot, 0)?;
            let taken = processors.iter().filter_map(Counted::read);
            let mut taken = taken.map(|(place, _)| all.contains(&place)).peekable();
            if taken.peek().is_some() && taken.all(|is_idle| is_idle) {
                let none = vec![[0; COUNTER_WORDS]; processors.len()];
                let none = PerCpuValues::try_from(none).map_err(MapError::from)?;
                self.places.set(slot, none, 0)?;
            }
        }
        Ok(())
    }

    /// Removes drops from the map.
    pub(crate) fn forget_drops(&mut self, all: &[Where]) -> Result<(), LoadError> {
        if all.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = self.drops.keys().collect::<Result<_, _>>()?;
        for key in keys {
            if all.contains(&Where::read(&key).0) {
                // The program may have removed it already.
                let _ = self.drops.remove(&key);
            }
        }
        Ok(())
    }

    /// What the programs had no room for.
    pub(crate) fn lost(&self) -> Result<Lost, LoadError> {
        let of =
            |kind: u32| -> Result<u64, LoadError> { Ok(self.lost.get(&kind, 0)?.iter().sum()) };
        Ok(Lost {
            frames: of(0)?,
            drops: of(1)?,
            samples: of(2)?,
        })
    }
}

/// Raises the limit: before Linux 5.11 maps count as locked memory, of which only 64 KiB are allowed.
fn lift_limit() {
    let none = Rlimit {
        current: None,
        maximum: None,
    };
    // Without the right to raise it, the error follows when maps are made.
    let _ = setrlimit(Resource::Memlock, none);
}

fn slots(interfaces: usize) -> u32 {
    let wanted = u32::try_from(interfaces.saturating_mul(2)).unwrap_or(MOST_SLOTS);
    wanted.clamp(LEAST_SLOTS, MOST_SLOTS).next_power_of_two()
}

fn object(kernel: &Btf, options: &Options) -> Result<Ebpf, LoadError> {
    let mask = options.slots - 1;
    let every = u64::try_from(options.sample_every.as_nanos()).unwrap_or(u64::MAX);
    let mut loader = EbpfLoader::new();
    loader.btf(Some(kernel));
    loader.map_max_entries("places", options.slots);
    loader.override_global("places_mask", &mask, true);
    loader.override_global("only_space", &options.space, true);
    loader.override_global("sample_every_ns", &every, true);
    loader
        .load(OBJECT)
        .map_err(|error| match is_denied(&error) {
            true => LoadError::Denied,
            false => LoadError::Object(error),
        })
}

/// Attaches to both ends of the function that cuts; not all kernels let programs be attached to functions.
fn attach_to_cuts(ebpf: &mut Ebpf, kernel: &Btf) -> Result<(), String> {
    attach_both(ebpf, kernel).map_err(|error| {
        // One end alone tells nothing, and costs.
        let begins: Result<&mut FEntry, _> = program(ebpf, CUT_BEGINS);
        let _ = begins.and_then(FEntry::unload);
        let io = io_error(&error).map(ToString::to_string);
        let why = io.unwrap_or_else(|| error.to_string());
        format!("the kernel lets no program be attached to its function {CUTS}: {why}")
    })
}

fn attach_both(ebpf: &mut Ebpf, kernel: &Btf) -> Result<(), ProgramError> {
    let begins: &mut FEntry = program(ebpf, CUT_BEGINS)?;
    begins.load(CUTS, kernel)?;
    begins.attach()?;
    let ends: &mut FExit = program(ebpf, CUT_ENDS)?;
    ends.load(CUTS, kernel)?;
    ends.attach()?;
    Ok(())
}

#[cfg(test)]
mod tests;
