//! Frames on their way out.

/// Frames to be sent, in order. Keeps its memory for the next ones.
#[derive(Debug, Default)]
pub struct Outgoing {
    frames: Vec<Vec<u8>>,
    used: usize,
}

impl Outgoing {
    /// Adds a frame.
    pub fn push(&mut self, frame: &[u8]) {
        self.push_parts([frame]);
    }

    /// Adds a frame that consists of several parts.
    pub(crate) fn push_parts<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        if self.used == self.frames.len() {
            self.frames.push(Vec::new());
        }
        let frame = &mut self.frames[self.used];
        frame.clear();
        parts
            .into_iter()
            .for_each(|part| frame.extend_from_slice(part));
        self.used += 1;
    }

    /// The frames.
    pub fn frames(&self) -> &[Vec<u8>] {
        &self.frames[..self.used]
    }

    /// Forgets them.
    pub fn clear(&mut self) {
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_shows_nothing_old() {
        let mut out = Outgoing::default();
        out.push(b"a long frame");
        out.clear();
        assert!(out.frames().is_empty());
        out.push_parts([&b"two "[..], b"parts"]);
        assert_eq!(out.frames(), [b"two parts"]);
    }
}
