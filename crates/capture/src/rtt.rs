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
    /// Every `stride`-th sample since the start: the first few here, or all of them there.
    first: [u32; FIRST],
    all: Option<Box<[u32; KEPT]>>,
    len: u16,
    stride: u32,
    skipped: u32,
}

impl Samples {
    /// Takes a sample; negative ones (a clock that stepped) are left out.
    #[inline]
    pub(crate) fn push(&mut self, sample_ns: i64) {
        if sample_ns < 0 {
            return;
        }
        if self.len == 0 || sample_ns < self.min_ns {
            self.min_ns = sample_ns;
        }
        self.skipped += 1;
        if self.skipped >= self.stride.max(1) {
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
        match &mut self.all {
            None if len < FIRST => self.first[len] = sample,
            all => all.get_or_insert_with(|| Box::new(extend(&self.first)))[len] = sample,
        }
        self.len += 1;
    }

    /// Halving keeps the selection even over the whole connection.
    fn halve(&mut self) {
        if let Some(all) = &mut self.all {
            for i in 0..KEPT / 2 {
                all[i] = all[2 * i];
            }
        }
        self.len /= 2;
        self.stride = self.stride.max(1) * 2;
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u32 {
        let last = usize::from(self.len).min(KEPT - 1);
        self.all.as_ref().map_or(0, |all| all[last])
    }

    pub(crate) fn min_ns(&self) -> Option<i64> {
        (self.len > 0).then_some(self.min_ns)
    }

    pub(crate) fn median_ns(&self) -> Option<i64> {
        let mut kept = match &self.all {
            Some(all) => **all,
            None => extend(&self.first),
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
            samples.push((i * 7919) % 10_000 * 1000);
        }
        assert_eq!(samples.min_ns(), Some(0));
        let median = samples.median_ns().unwrap();
        assert!((3_000_000..7_000_000).contains(&median), "{median}");
        assert!(usize::from(samples.len) <= KEPT && samples.stride > 100);
    }

    #[test]
    fn nothing_gives_nothing() {
        let mut samples = Samples::default();
        samples.push(-5);
        assert_eq!((samples.min_ns(), samples.median_ns()), (None, None));
    }
}
