//! Round-trip samples: the smallest exactly, the median from an even selection.

mod backs;

pub(crate) use backs::Stamp;
use backs::{Back, Backs};

/// Samples kept for the median. With 32 the median's 95% interval spans about the 33rd to the
/// 67th percentile, enough to tell a queue's delay from the path's.
const KEPT: usize = 32;

/// Samples for the median are kept in units of 100 ns: up to 7 minutes in 32 bits.
const UNIT_NS: i64 = 100;

/// Samples kept in place: most connections are so short that they need no more.
const FIRST: usize = 3;

/// Time samples in nanoseconds, in constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    /// Valid if any are kept.
    min_ns: i64,
    /// Samples since the last one that was kept.
    skipped: u32,
    len: u8,
    /// Whether there is a smallest one.
    any: bool,
    /// One of 2^stride samples is kept.
    stride: u8,
    kept: Kept,
}

/// Every so many-th sample since the start.
#[derive(Clone, Debug)]
enum Kept {
    Few([u32; FIRST]),
    All(Box<All>),
}

/// Samples, each beside the duration of the way back, so that both are in one cache line.
#[derive(Clone, Debug)]
struct All {
    backs: Backs,
    samples: [(u32, Back); KEPT],
}

impl Default for Kept {
    fn default() -> Self {
        Self::Few([0; FIRST])
    }
}

impl Kept {
    fn set(&mut self, at: usize, sample: u32, stamp: Option<Stamp>) {
        match self {
            Self::Few(few) if at < FIRST => few[at] = sample,
            Self::Few(few) => {
                let mut all = Box::new(All {
                    samples: extend(few).map(|sample| (sample, Back::default())),
                    backs: Backs::default(),
                });
                all.set(at, sample, stamp);
                *self = Self::All(all);
            }
            Self::All(all) => all.set(at, sample, stamp),
        }
    }
}

impl All {
    fn set(&mut self, at: usize, sample: u32, stamp: Option<Stamp>) {
        self.samples[at] = (sample, self.backs.of(stamp));
    }
}

impl Samples {
    /// Takes a sample; negative ones (a clock that stepped) are left out. A sample that was not prompt, such as an
    /// answer that may have been delayed, counts for the smallest only.
    #[inline]
    pub(crate) fn push(&mut self, sample_ns: i64, is_prompt: bool, stamp: Option<Stamp>) {
        if sample_ns < 0 {
            return;
        }
        if !self.any || sample_ns < self.min_ns {
            self.min_ns = sample_ns;
        }
        self.any = true;
        if !is_prompt {
            return;
        }
        self.skipped += 1;
        if self.skipped >> self.stride > 0 {
            self.keep(sample_ns, stamp);
        }
    }

    fn keep(&mut self, sample_ns: i64, stamp: Option<Stamp>) {
        self.skipped = 0;
        if usize::from(self.len) == KEPT {
            self.halve();
        }
        let len = usize::from(self.len);
        let sample = u32::try_from(sample_ns / UNIT_NS).unwrap_or(u32::MAX);
        self.kept.set(len, sample, stamp);
        self.len += 1;
    }

    /// Halving keeps the selection even over the whole connection.
    fn halve(&mut self) {
        if let Kept::All(all) = &mut self.kept {
            for i in 0..KEPT / 2 {
                all.samples[i] = all.samples[2 * i];
            }
        }
        self.len /= 2;
        self.stride = (self.stride + 1).min(31);
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        self.min_ns as u64
    }

    /// Like `touch`, for the box of samples.
    pub(crate) fn touch_box(&self) -> u64 {
        match &self.kept {
            Kept::All(all) => {
                let (next, _) = all.samples[usize::from(self.len).min(KEPT - 1)];
                u64::from(next) ^ all.backs.touch()
            }
            Kept::Few(_) => 0,
        }
    }

    /// Reads a value from every cache line that the median reads.
    pub(crate) fn touch_all(&self) -> u32 {
        match &self.kept {
            Kept::All(all) => {
                let samples = all.samples.iter().step_by(7);
                samples.fold(0, |sum, (sample, _)| sum ^ sample)
            }
            Kept::Few(few) => few[0],
        }
    }

    pub(crate) fn min_ns(&self) -> Option<i64> {
        self.any.then_some(self.min_ns)
    }

    pub(crate) fn median_ns(&self) -> Option<i64> {
        let mut kept = match &self.kept {
            Kept::All(all) => all.samples.map(|(sample, _)| sample),
            Kept::Few(few) => extend(few),
        };
        let kept = kept.get_mut(..usize::from(self.len))?;
        if kept.is_empty() {
            return None;
        }
        let middle = kept.len() / 2;
        let (_, median, _) = kept.select_nth_unstable(middle);
        Some(i64::from(*median) * UNIT_NS)
    }

    /// By how much the median of the way to the answering host, and that of the way back, exceed the smallest, if
    /// answers have timestamps.
    pub(crate) fn extra_ns(&self) -> Option<[i64; 2]> {
        match &self.kept {
            Kept::All(all) => all.backs.extra_ns(&all.samples[..usize::from(self.len)]),
            Kept::Few(_) => None,
        }
    }
}

fn extend(first: &[u32; FIRST]) -> [u32; KEPT] {
    let mut all = [0; KEPT];
    all[..FIRST].copy_from_slice(first);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_many_is_close_and_min_exact() {
        let mut samples = Samples::default();
        for i in 0..10_000 {
            samples.push((i * 7919) % 10_000 * 1000, true, None);
        }
        assert_eq!(samples.min_ns(), Some(0));
        let median = samples.median_ns().unwrap();
        assert!((3_000_000..7_000_000).contains(&median), "{median}");
        assert!(usize::from(samples.len) <= KEPT && samples.stride > 7);
    }

    #[test]
    fn what_may_have_been_delayed_is_in_no_median() {
        let mut samples = Samples::default();
        for i in 0..100 {
            samples.push(
                if i % 3 == 0 { 1_000_000 } else { 40_000_000 },
                i % 3 == 0,
                None,
            );
        }
        samples.push(900_000, false, None);
        assert_eq!(samples.median_ns(), Some(1_000_000));
        assert_eq!(samples.min_ns(), Some(900_000));
    }

    const MS: i64 = 1_000_000;

    /// Round trips of 5 ms, of which every second one took 6 ms more, there or on the way back.
    fn extra_ms(waits_there: bool) -> [i64; 2] {
        let mut samples = Samples::default();
        for i in 0..30_i64 {
            let more = if i % 2 == 0 { 0 } else { 6 };
            let (there, back) = if waits_there { (more, 0) } else { (0, more) };
            let made_ms = 100 * i + 2 + there;
            let stamp = Stamp {
                time_ns: (made_ms + 3 + back) * MS,
                tsval: (7_000 + made_ms) as u32,
            };
            samples.push((5 + more) * MS, true, Some(stamp));
        }
        samples.extra_ns().unwrap().map(|ns| ns / MS)
    }

    /// A box that holds acknowledgments back makes round trips longer, and no queue of data.
    #[test]
    fn stamps_tell_which_way_waited() {
        assert_eq!(extra_ms(true), [6, 0]);
        assert_eq!(extra_ms(false), [0, 6]);
    }

    /// A clock that counts in hundredths of a second says nothing of milliseconds.
    #[test]
    fn stamps_of_another_clock_tell_nothing() {
        let mut samples = Samples::default();
        for i in 0..30_i64 {
            let stamp = Stamp {
                time_ns: 100 * i * MS,
                tsval: 10 * i as u32,
            };
            samples.push(5 * MS, true, Some(stamp));
        }
        assert_eq!(samples.extra_ns(), None);
    }

    #[test]
    fn nothing_gives_nothing() {
        let mut samples = Samples::default();
        samples.push(-5, true, None);
        assert_eq!((samples.min_ns(), samples.median_ns()), (None, None));
    }
}
