//! The one pass through a capture.

use std::sync::atomic::Ordering;

use coalescope_capture::Progress;
use coalescope_capture::file::{RawFrame, Source};
use coalescope_wire::checksum::ChecksumState;
use gro::{Action, Decision};

use crate::connections::Key;
use crate::engines::Engines;
use crate::facts::Replay;
use crate::frame::Captured;
use crate::options::{Incoming, Options};
use crate::output::{Output, OutputError, Recorder};
use crate::results::{Moment, Results};
use crate::summary;
use crate::tally::{ALREADY_MERGED, Event};
use crate::token::Token;

/// Memory of held frames, roughly, at which all polls end early.
const MOST_HELD: usize = 64 << 20;
/// Frames between two reports of progress.
const REPORT_EVERY: u64 = 4_096;

/// A replay in progress.
pub(crate) struct Run {
    pub(crate) options: Options,
    pub(crate) engines: Engines,
    pub(crate) results: Results,
    pub(crate) incoming: Incoming,
    buffer: Vec<u8>,
}

/// Replays a capture.
///
/// # Errors
///
/// If the output cannot be written to. Damage in the capture is not an error: it is in the
/// warnings.
pub fn replay(
    mut source: Source,
    options: Options,
    output: Option<Output>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Replay, OutputError> {
    let mut run = Run::new(options, output);
    while run.may_go_on() && run.step(&mut source) {
        run.report(&source, progress);
    }
    run.engines.end_all(&mut run.results);
    if let Some(recorder) = run.results.recorder.take() {
        recorder.finish()?;
    }
    Ok(summary::facts(
        &run.options,
        run.incoming,
        run.engines.polls,
        &run.results,
        &source,
    ))
}

impl Run {
    fn new(options: Options, output: Option<Output>) -> Self {
        let (name, interval) = (options.profile.name, options.interval_us);
        let comment = format!("replayed under the profile {name}, polls of {interval} us");
        let recorder = output.map(|output| Recorder::new(output, &comment));
        Self {
            engines: Engines::new(options.profile, interval),
            results: Results::new(&options.profile, recorder),
            options,
            incoming: Incoming::default(),
            buffer: Vec::new(),
        }
    }

    fn may_go_on(&self) -> bool {
        let recorder = self.results.recorder.as_ref();
        !self.options.stop.load(Ordering::Relaxed) && recorder.is_none_or(Recorder::is_sound)
    }

    fn report(&self, source: &Source, progress: &mut dyn FnMut(Progress)) {
        if self.incoming.frames.is_multiple_of(REPORT_EVERY) {
            progress(Progress {
                consumed_bytes: source.consumed_bytes(),
                frames: self.incoming.frames,
            });
        }
    }

    /// Processes the next frame; false at the end.
    fn step(&mut self, source: &mut Source) -> bool {
        let Some(raw) = source.next() else {
            return false;
        };
        let recorder = self.results.recorder.as_ref();
        if recorder.is_none_or(|recorder| recorder.knows(raw.interface)) {
            self.take(raw);
            return true;
        }
        // The frame borrows from the source, which has the description of the interface.
        let (data, fixed) = (raw.data.to_vec(), RawFrame { data: &[], ..raw });
        self.describe(source, fixed.interface);
        self.take(RawFrame {
            data: &data,
            ..fixed
        });
        true
    }

    #[cold]
    fn describe(&mut self, source: &Source, number: u32) {
        if let Some(interface) = source.interfaces().get(number as usize)
            && let Some(recorder) = &mut self.results.recorder
        {
            recorder.interface(number, interface);
        }
    }

    fn take(&mut self, raw: RawFrame<'_>) {
        self.engines.end_due(raw.time_ns, &mut self.results);
        let found = self.engines.find(raw.interface, raw.direction, raw.link);
        let Some(lane) = found else {
            self.incoming.left_out += 1;
            return;
        };
        let frame = Captured::new(raw);
        let flow = self.flow(&frame);
        let already_merged = self.is_merged(&frame, flow);
        self.count(&frame, flow, already_merged);
        let decision = self.push(lane, &frame, flow, already_merged);
        self.note(decision, flow, already_merged);
        if self.results.held > MOST_HELD {
            self.incoming.ended_early += 1;
            self.engines.end_all(&mut self.results);
        }
    }

    fn flow(&mut self, frame: &Captured<'_>) -> Option<u32> {
        let packet = frame.packet.as_ref()?;
        let key = Key::of(frame.raw.interface, packet)?;
        let flow = self.results.connections.find(key);
        match flow {
            Some(flow) => self
                .results
                .connections
                .note_syn(flow, packet, frame.raw.data),
            None => self.incoming.unlisted += 1,
        }
        flow
    }

    fn is_merged(&self, frame: &Captured<'_>, flow: Option<u32>) -> bool {
        let mss = flow.and_then(|flow| self.results.connections.mss(flow));
        frame.is_data() && frame.is_merged(mss, self.options.mtu_bytes)
    }

    fn count(&mut self, frame: &Captured<'_>, flow: Option<u32>, already_merged: bool) {
        let incoming = &mut self.incoming;
        incoming.frames += 1;
        incoming.bytes += u64::from(frame.wire_len());
        incoming.already_merged += u64::from(already_merged);
        incoming.truncated += u64::from(frame.is_cut());
        incoming.other += u64::from(!frame.is_segment());
        let is_offloaded = frame.checksum == ChecksumState::PseudoHeaderOnly;
        let is_unverified = frame.checksum == ChecksumState::NotCaptured;
        incoming.offloaded += u64::from(is_offloaded);
        incoming.unverified += u64::from(is_unverified && frame.is_segment());
        if let Some(flow) = self.results.connections.get(flow) {
            flow.take(frame.wire_len(), frame.is_data(), already_merged);
        }
        self.results.data.data_in += u64::from(frame.is_data());
    }

    fn push(
        &mut self,
        lane: usize,
        frame: &Captured<'_>,
        flow: Option<u32>,
        already_merged: bool,
    ) -> Decision {
        let token = self.token(frame, flow, already_merged);
        let moment = Moment {
            time_ns: frame.raw.time_ns,
            passing_merged: already_merged,
        };
        let bytes = frame.for_engine(&mut self.buffer, already_merged);
        self.engines
            .push(lane, bytes, token, moment, &mut self.results)
    }

    fn token(&mut self, frame: &Captured<'_>, flow: Option<u32>, already_merged: bool) -> Token {
        let keep = match self.results.recorder {
            Some(_) => frame.raw.data.len(),
            None => frame.header_len(),
        };
        let bytes = frame.raw.data.get(..keep).unwrap_or_default();
        Token {
            number: frame.raw.number,
            interface: frame.raw.interface,
            link: frame.raw.link,
            flow,
            is_data: frame.is_data(),
            already_merged,
            wire_len: frame.wire_len(),
            direction: frame.raw.direction,
            bytes: self.results.copy(bytes),
        }
    }

    /// Counts the decision on a frame.
    fn note(&mut self, decision: Decision, flow: Option<u32>, already_merged: bool) {
        let event = match decision.action {
            Action::Passed => Event::Passed,
            Action::Held => Event::Refused,
            Action::Absorbed | Action::Merged => return,
        };
        let Some(reason) = decision.reason else {
            return;
        };
        let reason = match already_merged {
            true => ALREADY_MERGED,
            false => reason.name(),
        };
        self.results.tally.count(event, reason);
        self.results.connections.count(flow, event, reason);
    }
}
