//! A round-robin bond (Linux's balance-rr): frames take its lines in turn, and overtake each other.

use super::link::{Lane, Link};
use super::{Element, Error, Frame, Nanos, Onward, Side, cut};

/// Several lines between two hosts; in both directions each frame takes the next one.
#[derive(Debug)]
pub struct Bond {
    name: String,
    lines: Vec<Link>,
    next: [usize; 2],
}

impl Bond {
    /// A bond of lines, each the same both ways. Each line has a random stream of its own.
    #[must_use]
    pub fn new(name: &str, lanes: &[Lane]) -> Self {
        let line = |(lane, number): (&Lane, u64)| {
            let line = format!("{name}: line {number}");
            Link::both(&line, lane.clone()).seed(number)
        };
        Self {
            name: name.to_owned(),
            lines: lanes.iter().zip(0..).map(line).collect(),
            next: [0; 2],
        }
    }

    /// The line that takes the next frame.
    fn line(&mut self, toward: Side) -> Option<&mut Link> {
        let count = self.lines.len().max(1);
        let turn = &mut self.next[toward.index()];
        let line = *turn % count;
        *turn = (line + 1) % count;
        self.lines.get_mut(line)
    }
}

impl Element for Bond {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>) {
        let mut single = |single: Frame| {
            if let Some(line) = self.line(toward) {
                line.frame(single, toward, at, out);
            }
        };
        if let Err(why) = cut(frame, &mut single) {
            out.drop_frame(toward, why);
        }
    }

    fn deadline(&self) -> Option<Nanos> {
        let deadlines = self.lines.iter().filter_map(Link::deadline);
        deadlines.min()
    }

    fn tick(&mut self, at: Nanos, out: &mut Onward<'_>) {
        for line in &mut self.lines {
            if line.deadline().is_some_and(|deadline| deadline <= at) {
                line.tick(at, out);
            }
        }
    }

    fn check(&self) -> Result<(), Error> {
        if self.lines.is_empty() {
            return Err(Error::Value {
                element: self.name.clone(),
                what: "the number of lines",
                value: "0".to_owned(),
                range: "1 or more",
            });
        }
        self.lines.iter().try_for_each(Link::check)
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::testing::Bench;
    use super::*;
    use crate::craft::{Ipv4, Segment};
    use gro::VirtioNetHeader;
    use std::time::Duration;

    /// Frames that differ in their length.
    fn frame(number: usize) -> Frame {
        let mut segment = Segment::v4(Ipv4::default());
        segment.payload = vec![7; 100 + number];
        Frame::new(&VirtioNetHeader::default(), &segment.frame())
    }

    #[test]
    fn frames_take_turns_and_overtake() {
        let lanes = [30, 10, 20].map(|delay| Lane::delayed(Duration::from_nanos(delay)));
        let (mut bench, mut bond) = (Bench::default(), Bond::new("bond", &lanes));
        for number in 0..6 {
            let now = bench.frame(
                &mut bond,
                frame(number),
                Side::Client,
                100 * (number as u64 / 3),
            );
            assert!(now.is_empty());
        }
        let out = bench.wait(&mut bond, u64::MAX);
        let order: Vec<_> = out
            .iter()
            .map(|(at, _, frame)| (*at, frame.bytes().len() - frame_of_none()))
            .collect();
        assert_eq!(
            order,
            [(10, 1), (20, 2), (30, 0), (110, 4), (120, 5), (130, 3)]
        );
        assert!(Bond::new("none", &[]).check().is_err());
    }

    fn frame_of_none() -> usize {
        frame(0).bytes().len()
    }
}
