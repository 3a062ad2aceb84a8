//! Times that stand still, or count frames.

use super::batch::Item;
use crate::facts::trace::{COUNTED_NS, UNTIMED_FRAMES};

/// The times of a file, as long as they show nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    last_ns: Option<i64>,
    /// From each frame to the next.
    step_ns: Option<i64>,
    frames: u64,
    go_on: bool,
}

impl Times {
    /// Looks at more frames of the file.
    #[inline]
    pub(super) fn see(&mut self, items: &[Item]) {
        if self.go_on {
            return;
        }
        self.frames += items.len() as u64;
        self.go_on = items.iter().any(|item| !self.counts(item.frame.time_ns));
    }

    /// Whether a frame is as far from the one before as all others are, which is not at all or what is counted.
    fn counts(&mut self, time_ns: i64) -> bool {
        let Some(last_ns) = self.last_ns.replace(time_ns) else {
            return true;
        };
        let step_ns = time_ns - last_ns;
        matches!(step_ns, 0 | COUNTED_NS) && *self.step_ns.get_or_insert(step_ns) == step_ns
    }

    /// A warning, if the times show nothing.
    pub(super) fn words(&self) -> Option<String> {
        if self.go_on || self.frames < UNTIMED_FRAMES {
            return None;
        }
        let (how, why) = match self.step_ns {
            Some(COUNTED_NS) => (
                "are one microsecond apart",
                "text2pcap, of a text without times",
            ),
            _ => (
                "have the same time",
                "a program that writes no times, or pcapng's simple packets, which have none",
            ),
        };
        Some(format!(
            "all {} frames {how}: nothing that rests on time can be judged ({why})",
            self.frames
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(times_ns: &[i64]) -> Option<String> {
        let item = |time_ns: &i64| {
            let mut item = Item::default();
            item.frame.time_ns = *time_ns;
            item
        };
        let items: Vec<Item> = times_ns.iter().map(item).collect();
        let mut times = Times::default();
        items.chunks(7).for_each(|items| times.see(items));
        times.words()
    }

    #[test]
    fn a_clock_that_stands_is_told_from_one_that_goes() {
        assert!(times(&[5; 20]).is_some_and(|words| words.contains("all 20 frames")));
        assert!(times(&[0; 99]).is_some());
        assert_eq!(times(&[5; 19]), None);
        assert_eq!(times(&[[5; 99].as_slice(), &[6]].concat()), None);
        assert_eq!(times(&[[5; 99].as_slice(), &[1_005]].concat()), None);
        let counted: Vec<i64> = (0..40).map(|frame| 7 + frame * 1_000).collect();
        assert!(times(&counted).is_some_and(|words| words.contains("one microsecond apart")));
        assert_eq!(times(&[&counted[..], &[46_007]].concat()), None);
        let paced: Vec<i64> = (0..40).map(|frame| frame * 2_000).collect();
        assert_eq!(times(&paced), None);
        assert_eq!(times(&[]), None);
    }
}
