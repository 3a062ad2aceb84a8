//! Round-trip samples: the smallest exactly, the median from an even selection.

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
    /// Of so many samples one is kept, as a power of two.
    stride: u8,
    kept: Kept,
}

/// Every so many-th sample since the start.
#[derive(Clone, Debug)]
enum Kept {
    Few([u32; FIRST]),
    All(Box<[u32; KEPT]>),
}

impl Default for Kept {
    fn default() -> Self {
        Self::Few([0; FIRST])
    }
}

impl Kept {
    fn set(&mut self, at: usize, sample: u32) {
        match self {
            Self::Few(few) if at < FIRST => few[at] = sample,
            Self::Few(few) => {
                let mut all = Box::new(extend(few));
                all[at] = sample;
                *self = Self::All(all);
            }
            Self::All(all) => all[at] = sample,
        }
    }
}

impl Samples {
    /// Takes a sample; negative ones (a clock that stepped) are left out. Of what was not prompt, such
    /// as an answer that may have been delayed, only the smallest counts.
    #[inline]
    pub(crate) fn push(&mut self, sample_ns: i64, is_prompt: bool) {
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
            self.keep(sample_ns);
        }
    }

    fn keep(&mut self, sample_ns: i64) {
        self.skipped = 0;
        if usize::from(self.len) == KEPT {
            self.halve();
        }
        let len = usize::from(self.len);
        let sample = u32::try_from(sample_ns / UNIT_NS).unwrap_or(u32::MAX);
        self.kept.set(len, sample);
        self.len += 1;
    }

    /// Halving keeps the selection even over the whole connection.
    fn halve(&mut self) {
        if let Kept::All(all) = &mut self.kept {
            for i in 0..KEPT / 2 {
                all[i] = all[2 * i];
            }
        }
        self.len /= 2;
        self.stride = (self.stride + 1).min(31);
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        self.min_ns as u64
    }

    /// The same for what that leads to.
    pub(crate) fn touch_box(&self) -> u64 {
        match &self.kept {
            Kept::All(all) => u64::from(all[usize::from(self.len).min(KEPT - 1)]),
            Kept::Few(_) => 0,
        }
    }

    /// Reads a value from every cache line that the median takes.
    pub(crate) fn touch_all(&self) -> u32 {
        match &self.kept {
            Kept::All(all) => all.iter().step_by(15).fold(0, |sum, sample| sum ^ sample),
            Kept::Few(few) => few[0],
        }
    }

    pub(crate) fn min_ns(&self) -> Option<i64> {
        self.any.then_some(self.min_ns)
    }

    pub(crate) fn median_ns(&self) -> Option<i64> {
        let mut kept = match &self.kept {
            Kept::All(all) => **all,
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
            samples.push((i * 7919) % 10_000 * 1000, true);
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
            samples.push(if i % 3 == 0 { 1_000_000 } else { 40_000_000 }, i % 3 == 0);
        }
        samples.push(900_000, false);
        assert_eq!(samples.median_ns(), Some(1_000_000));
        assert_eq!(samples.min_ns(), Some(900_000));
    }

    #[test]
    fn nothing_gives_nothing() {
        let mut samples = Samples::default();
        samples.push(-5, true);
        assert_eq!((samples.min_ns(), samples.median_ns()), (None, None));
    }
}
