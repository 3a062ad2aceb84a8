//! Counts of the frames that come out of the engines.

use gro::{About, Outgoing, Part, Profile, Reason};

use crate::connections::{Connections, Data};
use crate::output::Recorder;
use crate::reverse::Reverser;
use crate::tally::{ALREADY_MERGED, Event, Tally};
use crate::token::Token;

/// When a frame comes out, and because of which frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time_ns: i64,
    /// The passing frame was merged before the capture, and is disguised as one that nothing joins.
    pub(crate) passing_merged: bool,
}

impl Moment {
    /// The name of a reason. If the disguise is the cause, the reason is that the frame was already merged.
    fn name(self, reason: Reason) -> &'static str {
        let other = matches!(
            reason,
            Reason::Budget | Reason::BucketFull | Reason::Overtaken | Reason::EndOfPoll
        );
        if self.passing_merged && !other {
            return ALREADY_MERGED;
        }
        reason.name()
    }
}

/// Counts of all that came out.
#[derive(Default)]
pub(crate) struct Results {
    pub(crate) connections: Connections,
    pub(crate) data: Data,
    pub(crate) tally: Tally,
    pub(crate) frames_out: u64,
    pub(crate) bytes_out: u64,
    pub(crate) segments: u64,
    /// Frames without payload that came out as part of another.
    pub(crate) absorbed: u64,
    /// Merged frames that cannot be split again into the frames that they were made of.
    pub(crate) irreversible: u64,
    pub(crate) recorder: Option<Recorder>,
    /// Memory of held frames, roughly, in bytes.
    pub(crate) held: usize,
    parts: Vec<Part<Token>>,
    reverser: Reverser,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
}

impl Results {
    pub(crate) fn new(profile: &Profile, recorder: Option<Recorder>) -> Self {
        Self {
            recorder,
            reverser: Reverser::new(profile),
            ..Self::default()
        }
    }

    /// A copy of bytes, in a buffer that was used before if there is one.
    pub(crate) fn copy(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(bytes);
        copy
    }

    /// Takes a frame that comes out.
    pub(crate) fn take(&mut self, out: Outgoing<'_, Token>, moment: Moment) {
        self.frames_out += 1;
        match out {
            Outgoing::Unchanged { token, about } => self.unchanged(token, &about, moment),
            Outgoing::Merged {
                header,
                parts,
                about,
            } => {
                let mut taken = std::mem::take(&mut self.parts);
                taken.extend(parts);
                self.merged(header, &taken, &about, moment);
                for part in taken.drain(..) {
                    self.release(part.token);
                }
                self.parts = taken;
            }
        }
    }

    fn unchanged(&mut self, token: Token, about: &About, moment: Moment) {
        let reason = match token.already_merged {
            true => ALREADY_MERGED,
            false => moment.name(about.reason),
        };
        self.bytes_out += u64::from(token.wire_len);
        self.count_out(&token, u64::from(token.is_data), token.segments(), reason);
        if let Some(recorder) = &mut self.recorder {
            recorder.unchanged(&token, moment.time_ns);
        }
        self.release(token);
    }

    fn merged(&mut self, header: &[u8], parts: &[Part<Token>], about: &About, moment: Moment) {
        let Some(first) = parts.first().map(|part| &part.token) else {
            return;
        };
        let data = parts.iter().filter(|part| !part.payload.is_empty()).count() as u64;
        let payload: u64 = parts.iter().map(|part| part.payload.len() as u64).sum();
        self.bytes_out += header.len() as u64 + payload;
        self.segments += if data > 1 { data } else { 0 };
        self.absorbed += parts.len() as u64 - data.max(1);
        self.count_out(first, data, data, moment.name(about.reason));
        let restored = self.reverser.restores(first.link, header, parts, about);
        self.irreversible += u64::from(!restored);
        if let Some(recorder) = &mut self.recorder {
            recorder.merged(header, parts, about, moment.time_ns);
        }
    }

    /// Counts a frame that carries the payload of `frames` frames, for the direction of its first one.
    fn count_out(&mut self, token: &Token, frames: u64, segments: u64, reason: &'static str) {
        self.tally.count(Event::Out, reason);
        if frames > 0 {
            self.data.out(frames);
        }
        let Some(flow) = self.connections.get(token.flow) else {
            return;
        };
        flow.tally.count(Event::Out, reason);
        flow.frames_out += 1;
        if frames > 0 {
            flow.data.out(frames);
        }
        if frames > 0 && flow.is_tcp() {
            flow.after.take(segments);
        }
    }

    fn release(&mut self, token: Token) {
        self.held = self.held.saturating_sub(token.cost());
        if self.spare.len() < 1_024 && token.bytes.capacity() <= 4_096 {
            self.spare.push(token.bytes);
        }
    }
}
