//! What one side reports about the data that it receives: acknowledgments, receive windows, SACK.

use coalescope_wire::Flags;

use crate::doubled::Place;
use crate::frame::Frame;

/// ACKs of one direction: 32 bytes that every frame touches, then the rest.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Acks {
    window_sum: u64,
    windows: u32,
    pub(crate) window_max: u32,
    /// Frames that only acknowledge.
    pub(crate) pure: u32,
    last_ack: u32,
    last_window: u16,
    /// Where `doubled` remembers the last frame without data that advanced the acknowledgment.
    pub(crate) advanced_at: Place,
    scale: Scale,
    /// Duplicate ACKs in a row.
    run: u8,
    sacked: bool,
    /// The window is closed.
    is_shut: bool,
    pub(crate) duplicates: u32,
    pub(crate) sack_frames: u32,
    /// Boxed, since most directions never close the window.
    closed: Option<Box<Closed>>,
}

/// Window scale announced in the SYN, in one byte.
#[derive(Clone, Copy, Debug, Default)]
struct Scale(u8);

impl Scale {
    /// Marks the scale as announced, in a bit that no scale has: a scale is 14 at most (RFC 7323, 2.3).
    const KNOWN: u8 = 1 << 7;

    fn announced(self) -> Option<u8> {
        (self.0 & Self::KNOWN != 0).then_some(self.0 & !Self::KNOWN)
    }

    /// A window of the header, in bytes.
    #[inline(always)]
    fn window(self, window: u16) -> u32 {
        // The mask removes `KNOWN` and no valid scale; shift instructions apply such a mask by themselves.
        u32::from(window) << (self.0 & 31)
    }
}

/// Times at which the receive window was zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Closed {
    pub(crate) zero_windows: u32,
    since_ns: Option<i64>,
    /// Time with the window closed.
    pub(crate) closed_ns: i64,
}

impl Acks {
    /// Window scale announced in the SYN; `None` without a SYN.
    #[inline]
    pub(crate) fn scale(&self) -> Option<u8> {
        self.scale.announced()
    }

    pub(crate) fn set_scale(&mut self, scale: u8) {
        self.scale = Scale(scale | Scale::KNOWN);
    }

    /// Counts a frame of this direction. `outstanding`: the other side has sent data which the frame does not
    /// acknowledge; without such data no ACK is a duplicate ACK (RFC 5681, section 2).
    #[inline]
    pub(crate) fn add(&mut self, frame: &Frame, outstanding: bool) {
        if frame.flags.has(Flags::RST) || !frame.flags.has(Flags::ACK) {
            return;
        }
        let pure = frame.payload == 0 && !frame.flags.has(Flags::SYN | Flags::FIN);
        if !frame.sack().is_empty() {
            self.sack_frames += 1;
            self.sacked |= reports_hole(frame);
        }
        if !frame.flags.has(Flags::SYN) {
            self.look_at_window(frame);
        }
        self.pure += u32::from(pure);
        self.count_run(frame, pure && outstanding, reports_hole(frame));
    }

    /// Like `add`, for a frame with ACK and data, without SYN, FIN, RST and SACK.
    #[inline(always)]
    pub(crate) fn add_data(&mut self, frame: &Frame) {
        self.look_at_window(frame);
        self.count_run(frame, false, false);
    }

    /// Like `add`, for a frame with ACK and without data, SYN, FIN, RST and SACK.
    #[inline(always)]
    pub(crate) fn add_pure(&mut self, frame: &Frame, outstanding: bool) {
        self.look_at_window(frame);
        self.pure += 1;
        self.count_run(frame, outstanding, false);
    }

    #[inline(always)]
    fn count_run(&mut self, frame: &Frame, may_repeat: bool, reports_hole: bool) {
        if frame.ack != self.last_ack {
            (self.run, self.sacked) = (0, reports_hole);
            self.last_ack = frame.ack;
        } else if may_repeat && frame.window == self.last_window {
            self.run = self.run.saturating_add(1);
            self.duplicates += 1;
        }
        self.last_window = frame.window;
    }

    #[inline]
    fn look_at_window(&mut self, frame: &Frame) {
        let window = self.scale.window(frame.window);
        self.window_max = self.window_max.max(window);
        self.window_sum += u64::from(window);
        self.windows += 1;
        if window == 0 {
            self.shut(frame.time_ns);
        } else if self.is_shut {
            self.reopened(frame.time_ns);
        }
    }

    #[cold]
    fn shut(&mut self, now_ns: i64) {
        let closed = self.closed.get_or_insert_default();
        closed.zero_windows += 1;
        closed.since_ns.get_or_insert(now_ns);
        self.is_shut = true;
    }

    /// The largest window that was announced, in bytes, where its scale is known.
    pub(crate) fn largest_window(&self) -> Option<u32> {
        self.scale().map(|_| self.window_max)
    }

    /// The window that was announced last, in bytes.
    pub(crate) fn last_window(&self) -> u64 {
        u64::from(self.scale.window(self.last_window))
    }

    /// How often and for how long the window was closed.
    pub(crate) fn closed(&self) -> Closed {
        self.closed.as_deref().copied().unwrap_or_default()
    }

    /// Whether this side reports data missing: three duplicates (RFC 5681) or SACK (RFC 6675).
    pub(crate) fn reports_loss(&self) -> bool {
        self.run >= 3 || self.sacked
    }

    /// Whether the last frames reported missing data: the data acknowledged next may have arrived long ago.
    #[inline(always)]
    pub(crate) fn is_repeating(&self) -> bool {
        self.run > 0 || self.sacked
    }

    pub(crate) fn window_mean(&self) -> Option<u64> {
        (self.windows > 0).then(|| self.window_sum / u64::from(self.windows))
    }

    /// Ends the count at the end of the capture: a window that is still closed was closed until then.
    pub(crate) fn finish(&mut self, now_ns: i64) {
        self.reopened(now_ns);
    }

    #[cold]
    fn reopened(&mut self, now_ns: i64) {
        self.is_shut = false;
        if let Some(closed) = &mut self.closed
            && let Some(since) = closed.since_ns.take()
        {
            closed.closed_ns = closed.closed_ns.saturating_add(now_ns - since);
        }
    }
}

/// Whether a frame reports by SACK bytes beyond its ACK, and so a hole; a D-SACK below the ACK reports none.
#[inline]
fn reports_hole(frame: &Frame) -> bool {
    let beyond = |(_, end): &(u32, u32)| end.wrapping_sub(frame.ack) as i32 > 0;
    frame.sack().iter().any(beyond)
}
