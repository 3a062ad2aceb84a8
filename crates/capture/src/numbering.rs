//! Numbers of frames through all files of a point, and back to the numbers in each file.

use crate::facts::connection::{Connection, Direction, Examples};

/// Frames of several files, counted on from each to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbering {
    /// What is added to the numbers of each file.
    added: Vec<u64>,
}

impl Numbering {
    /// The numbering of files whose last frames have these numbers.
    pub(crate) fn new(last: impl Iterator<Item = u64>) -> Self {
        let added = last.scan(0, |sum, last| {
            let before = *sum;
            *sum += last;
            Some(before)
        });
        Self {
            added: added.collect(),
        }
    }

    /// The number through all files.
    pub(crate) fn through_all(&self, file: u32, number: u64) -> u64 {
        self.added.get(file as usize).copied().unwrap_or(0) + number
    }

    fn in_file(&self, number: u64) -> u64 {
        let files = self.added.partition_point(|added| *added < number);
        let added = files.checked_sub(1).map_or(0, |file| self.added[file]);
        number - added
    }

    /// Gives a connection's frames the numbers that they have in their files.
    pub(crate) fn restore(&self, connection: &mut Connection) {
        connection.first_frame = self.in_file(connection.first_frame);
        for direction in [&mut connection.to_server, &mut connection.to_client] {
            self.restore_examples(direction);
        }
    }

    fn restore_examples(&self, direction: &mut Direction) {
        let Some(examples) = &mut direction.examples else {
            return;
        };
        let Examples {
            merged,
            merged_repeated,
            retransmitted,
            out_of_order,
            zero_windows,
            rejected,
        } = examples.as_mut();
        let all = [
            merged,
            merged_repeated,
            retransmitted,
            out_of_order,
            zero_windows,
            rejected,
        ];
        for number in all.into_iter().flatten() {
            *number = self.in_file(*number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_through_files_and_back() {
        let files = [3, 0, 5, 1];
        let numbering = Numbering::new(files.into_iter());
        let mut all = Vec::new();
        for (file, last) in (0..).zip(files) {
            for number in 1..=last {
                let through = numbering.through_all(file, number);
                assert_eq!(numbering.in_file(through), number);
                all.push(through);
            }
        }
        assert!(all.into_iter().eq(1..=9));
    }
}
