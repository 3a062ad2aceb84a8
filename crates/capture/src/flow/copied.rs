//! Whether a frame stands in the capture a second time, as one frame, as a piece of one, or as several merged.

use coalescope_wire::Flags;

use super::Flow;
use super::counts::Around;
use crate::doubled::{Copies, First, Surroundings};
use crate::frame::Frame;
use crate::outstanding::{Common, Whole};

impl Flow {
    /// Whether a frame is a copy of one that passed. A piece is remembered: it may be there twice as well.
    pub(super) fn is_copy(
        &mut self,
        frame: &Frame,
        signature: u64,
        around: Around,
        common: &mut Common,
    ) -> bool {
        let first = self.first_with_news_of(frame, around.acknowledged);
        let around = Surroundings {
            rtt_ns: around.rtt_ns,
            loss_reported: around.loss_reported,
            doubling: common.doubling,
            ends: around.ends,
        };
        if common.copies.knows(frame, signature, first, &around) {
            return true;
        }
        let is_piece = frame.payload > 0 && self.is_cut_otherwise(frame, &around, &common.copies);
        if is_piece {
            common.copies.add(frame, signature);
        }
        is_piece
    }

    /// Where to look for the frame that first brought this frame's last byte, or, without data, its acknowledgment.
    fn first_with_news_of(&mut self, frame: &Frame, acknowledged: First) -> First {
        if frame.payload == 0 {
            return acknowledged;
        }
        let syn = u32::from(frame.is_syn());
        let end = self.position(frame.seq.wrapping_add(syn).wrapping_add(frame.payload));
        match self.outstanding.place_of(end.saturating_sub(1)) {
            Some(place) => First::At(place),
            None if end <= self.una => First::Anywhere,
            None => First::None,
        }
    }

    /// Whether a frame is a piece of one that passed, or is merged of such: a capture of several interfaces, as of
    /// `tcpdump -i any`, shows the same bytes in front of and behind the merging or the cutting. All headers of a piece are
    /// those of the merged frame but for what counts bytes and frames (Linux: `tcp_gso_segment`, `inet_gso_segment`).
    #[cold]
    fn is_cut_otherwise(&mut self, frame: &Frame, around: &Surroundings, copies: &Copies) -> bool {
        let start = self.position(frame.seq);
        let Some(first) = self.outstanding.whole_at(start) else {
            return false;
        };
        let end = start + u64::from(frame.payload);
        let is_piece = end <= first.start + u64::from(first.len) && frame.payload < first.len;
        let mut is_merged = || first.start == start && self.is_made_of_pieces_like(&first, end);
        // Whatever else the receiver misses, no sender cuts a frame otherwise before it can know of its loss; and where its
        // timestamp stands still no time has passed. Without one, a short path may have taken a long handshake.
        let around = Surroundings {
            loss_reported: around.loss_reported && frame.timestamps().is_none(),
            ..*around
        };
        let as_first = |frame: Frame| {
            let signature = frame.signature(around.ends);
            copies.knows(&frame, signature, First::At(first.place), &around)
        };
        if !is_piece && !is_merged() {
            return false;
        }
        let pieces = self.pieces_before(frame, &first, start);
        like_first(frame, &first, start, pieces).any(as_first)
    }

    /// How many pieces of a frame there may be in front of one: all of one length, which is that of a piece that is not the
    /// last.
    fn pieces_before(&self, frame: &Frame, first: &Whole, start: u64) -> Vec<u32> {
        let offset = (start - first.start) as u32;
        let is_last = offset + frame.payload >= first.len;
        let size = self.tally.size().map(|size| size.bytes);
        let fits = |pieces: &u32| {
            let length = offset / pieces;
            let as_long = if is_last {
                length >= frame.payload && size.is_none_or(|size| size == length)
            } else {
                length == frame.payload
            };
            offset.is_multiple_of(*pieces) && as_long
        };
        (1..=offset / frame.payload.max(1)).filter(fits).collect()
    }

    /// Whether frames as long as the first one, and a last one that may be shorter, bring all bytes up to an end.
    fn is_made_of_pieces_like(&mut self, first: &Whole, end: u64) -> bool {
        let mut at = first.start;
        while at < end {
            let piece = self.outstanding.whole_at(at);
            let Some(piece) = piece.filter(|piece| piece.start == at && piece.len <= first.len)
            else {
                return false;
            };
            at += u64::from(piece.len);
            if piece.len < first.len {
                break;
            }
        }
        at == end
    }
}

/// What the first of two frames with the same bytes may have been like: with PSH or FIN, which the last piece alone has, and
/// with an identification that was counted up for each piece, or not.
fn like_first(
    frame: &Frame,
    first: &Whole,
    start: u64,
    pieces: Vec<u32>,
) -> impl Iterator<Item = Frame> {
    let offset = (start - first.start) as u32;
    let flags = [
        frame.flags.0,
        frame.flags.0 | Flags::PSH,
        frame.flags.0 | Flags::PSH | Flags::FIN,
        frame.flags.0 & !(Flags::PSH | Flags::FIN),
    ];
    let as_first = move |flags, pieces: u32| {
        let mut like = frame.clone();
        (like.seq, like.payload) = (frame.seq.wrapping_sub(offset), first.len);
        (like.flags, like.id) = (Flags(flags), frame.id.wrapping_sub(pieces as u16));
        like
    };
    std::iter::once(0)
        .chain(pieces)
        .flat_map(move |pieces| flags.map(|flags| as_first(flags, pieces)))
}
