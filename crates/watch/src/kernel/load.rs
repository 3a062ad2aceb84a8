//! Loads the BPF programs, and reads their maps.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use aya::maps::{HashMap, MapData, MapError, PerCpuArray, PerCpuValues, RingBuf};
use aya::programs::{BtfTracePoint, FEntry, FExit, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfError, EbpfLoader, Endianness, include_bytes_aligned};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::btf::{self, NoReasons};
use super::layout::{
    COUNTER_WORDS, Counted, DROP_WORDS, FATE_WORDS, FLOW_WORDS, Fate, Place, RawSample, Shape,
    WHERE_WORDS, Where,
};
use crate::facts::Lost;

static OBJECT: &[u8] = include_bytes_aligned!("../bpf/watch.bpf.o");
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Slots for interfaces: at least this many, and twice as many as there are interfaces, so that a
/// free slot is found soon.
const LEAST_SLOTS: u32 = 1024;
const MOST_SLOTS: u32 = 65_536;

/// Interval between samples of the same drop: enough to see that frames are dropped again, with little load.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

/// Programs by name, each with the kernel's tracepoint that calls it.
const PROGRAMS: [(&str, &str); 3] = [
    ("received", "netif_receive_skb"),
    ("queued", "net_dev_queue"),
    ("handed", "net_dev_start_xmit"),
];
const DROPPED: &str = "kfree_skb";
/// The kernel's function that cuts merged frames.
const CUTS: &str = "__skb_gso_segment";
const CUT_BEGINS: &str = "cut_begins";
const CUT_ENDS: &str = "cut_ends";

/// Why the programs could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The kernel has no BTF.
    #[error("{BTF} cannot be read ({0}): the kernel was built without CONFIG_DEBUG_INFO_BTF")]
    NoBtf(io::Error),
    /// As with types of a newer kind.
    #[error("{BTF} is not understood ({0}): a newer version of coalescope may understand it")]
    Types(BtfError),
    /// Rights are missing.
    #[error("BPF programs may not be loaded: it takes root, or CAP_BPF and CAP_PERFMON")]
    Denied,
    /// The kernel refuses the object or one of its maps.
    #[error("the kernel refuses the object: {0}")]
    Object(#[source] EbpfError),
    /// The kernel refuses a program.
    #[error("the kernel refuses the program {name}: {source}")]
    Program {
        /// Its name.
        name: &'static str,
        /// Why.
        source: ProgramError,
    },
    /// A map cannot be read.
    #[error("what was counted cannot be read: {0}")]
    Map(#[from] MapError),
}

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
    /// Holds the programs' links.
    _ebpf: Ebpf,
}

impl Programs {
    /// Loads and attaches the programs. `space` is the inode of the only namespace to count,
    /// `interfaces` the number of interfaces.
    pub(crate) fn load(space: Option<u32>, interfaces: usize) -> Result<Self, LoadError> {
        let types = std::fs::read(BTF).map_err(LoadError::NoBtf)?;
        let options = Options {
            space: space.unwrap_or(0),
            slots: slots(interfaces),
            reasons: btf::reasons(&types),
            sample_every: SAMPLE_EVERY,
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
        for (name, event) in PROGRAMS.into_iter().chain([(dropped, DROPPED)]) {
            attach(&mut ebpf, name, event, &kernel)?;
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
            _ebpf: ebpf,
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

fn attach(ebpf: &mut Ebpf, name: &'static str, event: &str, kernel: &Btf) -> Result<(), LoadError> {
    let refused = |source: ProgramError| match is_denied(&source) {
        true => LoadError::Denied,
        false => LoadError::Program { name, source },
    };
    let program: &mut BtfTracePoint = program(ebpf, name).map_err(refused)?;
    program.load(event, kernel).map_err(refused)?;
    program.attach().map_err(refused)?;
    Ok(())
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

fn program<'e, P>(ebpf: &'e mut Ebpf, name: &str) -> Result<&'e mut P, ProgramError>
where
    &'e mut P: TryFrom<&'e mut aya::programs::Program, Error = ProgramError>,
{
    ebpf.program_mut(name)
        .ok_or(ProgramError::NotLoaded)?
        .try_into()
}

fn map(ebpf: &mut Ebpf, name: &'static str) -> Result<aya::maps::Map, LoadError> {
    let missing = || MapError::InvalidName {
        name: name.to_owned(),
    };
    Ok(ebpf.take_map(name).ok_or_else(missing)?)
}

/// Whether an error, or one of its causes, is the kernel's "operation not permitted".
fn is_denied(error: &(dyn std::error::Error + 'static)) -> bool {
    io_error(error).is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// What the kernel answered.
fn io_error<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e io::Error> {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|error| error.downcast_ref()).last()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::unix::fs::MetadataExt;

    use coalescope_needs as needs;
    use coalescope_netlink::namespace::Namespace;
    use coalescope_netlink::route::Route;
    use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};

    /// Segments of a merged datagram, and bytes of each.
    const SEGMENTS: usize = 4;
    const SEGMENT: usize = 1000;

    /// Programs that count a namespace of this thread's own, of a kernel with reasons or without, and give all samples that they can.
    fn programs(test: &str, with_reasons: bool) -> Option<Programs> {
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

    #[test]
    fn there_are_twice_as_many_slots_as_interfaces() {
        assert_eq!([0, 500, 513].map(slots), [1024, 1024, 2048]);
        assert_eq!([10_000, usize::MAX].map(slots), [32_768, 65_536]);
    }
}
