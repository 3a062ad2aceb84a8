//! Frames that a router refuses for their length, and whether merging made them too long.

use super::{Flow, MIN_RTO_NS};
use crate::frame::TooBig;
use crate::tally::note;

/// The payloads that a message is about.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    /// What the refused packet carries.
    quoted: u32,
    /// What a packet of the named MTU carries.
    fits: u32,
    /// A full segment, before the sender knew the MTU.
    segment: u32,
}

impl Lengths {
    /// Of a message about segments with so many bytes of TCP options.
    fn of(error: &TooBig, segment: u32, options: u32) -> Self {
        let payload_of = |length: u32| length.saturating_sub(error.quoted_ip_header + 20 + options);
        Self {
            quoted: payload_of(error.quoted_len),
            fits: payload_of(error.mtu),
            segment,
        }
    }

    /// Whether so many bytes are several segments as the MTU allows them, or one, and none of those from before.
    fn obeys(&self, payload: u32) -> bool {
        payload > 0
            && self.fits > 0
            && payload.is_multiple_of(self.fits)
            && !payload.is_multiple_of(self.segment.max(1))
    }
}

impl Flow {
    /// Counts a "packet too big" that quotes a frame of this direction, whose segments have `options` bytes of TCP
    /// options. If each segment would have fitted, merging made the packet too big; else this is path MTU discovery at
    /// work, whatever was to be cut into segments. The sender makes its segments smaller after such a message: of the
    /// known sizes the larger one is that of the quoted segments, unless the quote is a multiple of the segments that the
    /// MTU allows, or the sender is known to make no longer ones.
    pub(crate) fn reject(&mut self, error: &TooBig, options: u32, (now_ns, rtt_ns): (i64, i64)) {
        let size = self.tally.largest_segment();
        let newest = self.outstanding.newest().len;
        let odd = self.tally.note_odd();
        let is_new = std::mem::replace(&mut odd.rejected_mtu, error.mtu) != error.mtu;
        if let Some(size) = size {
            let lengths = Lengths::of(error, size, options);
            // Another router has a smaller MTU, or the sender has forgotten this one, as Linux does after 600 s.
            if is_new || newest > lengths.fits && !lengths.obeys(newest) {
                odd.obeyed_ns = 0;
            }
            if odd.obeyed_ns == 0 && lengths.obeys(newest) {
                odd.obeyed_ns = now_ns;
            }
            // By then no segment is on its way that left before.
            let waits_ns = rtt_ns.max(MIN_RTO_NS);
            let has_obeyed = odd.obeyed_ns != 0 && now_ns - odd.obeyed_ns > waits_ns;
            // The quote may end before the options, which are at most 40 bytes, with the header 60.
            let is_several = error.quoted_len > size + error.quoted_ip_header + 60;
            let is_of_fitting = size <= lengths.fits || lengths.obeys(lengths.quoted);
            let is_merged = error.quoted_len > error.mtu
                && (is_several && is_of_fitting || has_obeyed && lengths.quoted > lengths.fits);
            odd.rejected_merged += u32::from(is_merged);
            odd.rejected_single += u32::from(!is_several && !is_merged);
        }
        note(&mut self.tally.examples().rejected, error.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::outstanding::{Common, Transmission};

    const SECOND: i64 = 1_000_000_000;
    /// Bytes of headers, with timestamps.
    const HEADERS: u32 = 52;

    /// Merged and single frames that were refused with this MTU, of a sender with segments of 1,448 bytes whose newest data has
    /// `newest` bytes: by when each message came, in seconds, and the payload that it quotes.
    fn rejected(mtu: u32, newest: u32, messages: &[(i64, u32)]) -> [u32; 2] {
        let all: Vec<_> = messages
            .iter()
            .map(|(time_s, payload)| (*time_s, mtu, newest, *payload))
            .collect();
        rejected_in_turn(&all)
    }

    /// The same, of messages with an MTU and the newest data of their own.
    fn rejected_in_turn(messages: &[(i64, u32, u32, u32)]) -> [u32; 2] {
        let mut flow = Flow::default();
        flow.tally.segment.set_bound(1_448);
        for (at, (time_s, mtu, newest, payload)) in messages.iter().enumerate() {
            let mut frame = Frame::default();
            frame.payload = *newest;
            let sent = Transmission::new(&frame, 1 + 10_000 * at as u64);
            flow.outstanding.push(sent, &mut Common::default());
            let error = TooBig {
                mtu: *mtu,
                quoted_len: payload + HEADERS,
                quoted_ip_header: 20,
                ..TooBig::default()
            };
            flow.reject(&error, 12, (time_s * SECOND, SECOND / 50));
        }
        let odd = flow.tally.odd();
        [odd.rejected_merged, odd.rejected_single]
    }

    #[test]
    fn segments_that_fit_were_merged() {
        assert_eq!(rejected(1_500, 1_448, &[(1, 2_896), (1, 4_000)]), [2, 0]);
    }

    #[test]
    fn segments_that_do_not_fit_are_path_mtu_discovery_merged_or_not() {
        assert_eq!(
            rejected(1_400, 1_448, &[(1, 2_896), (1, 1_448), (9, 1_448)]),
            [0, 2]
        );
    }

    /// The router merges what the sender cuts as the messages told it.
    #[test]
    fn several_segments_as_the_mtu_allows_them_were_merged() {
        assert_eq!(
            rejected(1_400, 1_448, &[(1, 2_696), (1, 1_348 * 3)]),
            [2, 0]
        );
    }

    /// What was a segment before, and is cut in two parts now, is as long as before once the parts are merged.
    #[test]
    fn a_sender_that_has_obeyed_for_a_while_sends_nothing_longer() {
        let messages = [(1, 1_448), (1, 1_448), (2, 1_448), (3, 1_448)];
        assert_eq!(rejected(1_400, 1_348, &messages), [2, 2]);
        assert_eq!(rejected(1_400, 1_448, &messages), [0, 4]);
        assert_eq!(rejected(1_400, 100, &messages), [0, 4]);
    }

    #[test]
    fn a_smaller_mtu_farther_on_and_one_that_is_forgotten_are_told_anew() {
        let learnt = (1, 1_400, 1_348, 1_448);
        let farther = (2, 1_280, 1_348, 1_348);
        assert_eq!(
            rejected_in_turn(&[learnt, farther, farther, farther]),
            [0, 4]
        );
        let forgotten = (700, 1_400, 1_448, 1_448);
        assert_eq!(
            rejected_in_turn(&[learnt, forgotten, forgotten, forgotten]),
            [0, 4]
        );
    }
}
