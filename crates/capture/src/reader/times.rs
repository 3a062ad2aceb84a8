//! Times that stand still.

use super::batch::Item;

/// So many frames at one time are no burst: no clock is so coarse that a transfer shows nothing of it.
const MANY: u64 = 20;

/// The times of a file, as long as they are all the same.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    first_ns: Option<i64>,
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
        let times = || items.iter().map(|item| item.frame.time_ns);
        self.first_ns = self.first_ns.or_else(|| times().next());
        self.frames += items.len() as u64;
        self.go_on = times().any(|time_ns| Some(time_ns) != self.first_ns);
    }

    /// A warning, if no frame shows another time than the first.
    pub(super) fn words(&self) -> Option<String> {
        (!self.go_on && self.frames >= MANY).then(|| {
            format!(
                "all {} frames have the same time: nothing that rests on time can be judged (a program that writes no times, \
                 or pcapng's simple packets, which have none)",
                self.frames
            )
        })
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
        assert_eq!(times(&[]), None);
    }
}
