//! Limits of a connection other than loss: reordering, windows, ends, the path's rate; and those that nothing shows.

use super::case::Case;
use crate::finding::{Finding, Id, Proof, Subject};
use crate::limits::{has_few_segments, is_short, overtakings};
use crate::thresholds::{MERGES, OFTEN_REORDERED};
use crate::words::{bytes, counted, share, shown, time, without_frames};

/// Titles where nothing shows what connections wait for.
const SHORT: &str =
    "short connections wait for timeouts or repairs, and these captures do not show why";
const FEW_SEGMENTS: &str =
    "a few segments get through in each round trip, and these captures do not show why";
const MUCH: &str = "much is lost, and these captures do not show why";

impl Case<'_> {
    pub(super) fn unclear(&self) -> Finding {
        let text = format!(
            "{} bytes sent again, {} late; the receiver has room for more",
            self.data().retransmitted_bytes,
            self.data().late_frames
        );
        let again = self.data().frames_of(|examples| &examples.retransmitted);
        let mut evidence = vec![shown(text, self.point, again)];
        evidence.extend(self.waits().map(without_frames));
        let (title, subject) = self.unexplained();
        let mut finding = self.make(
            Id::NotEnoughEvidence,
            title,
            evidence,
            "lost merged frames look like this from where they are not seen, and so does a path \
             that loses most of each burst: capture in front of and behind each bridge, router or \
             load balancer on the way, and give coalescope all of it",
        );
        finding.proof = Proof::Suspected;
        finding.subject = subject;
        finding
    }

    fn unexplained(&self) -> (&'static str, Subject) {
        if is_short(self.data()) {
            (SHORT, Subject::Plain)
        } else if has_few_segments(self.data()) {
            (FEW_SEGMENTS, Subject::Plain)
        } else {
            (MUCH, Subject::Loss)
        }
    }

    pub(super) fn waits(&self) -> Option<String> {
        let (gaps, all) = (self.data().gaps_s, self.data().duration_s.unwrap_or(0.0));
        let words = || {
            format!(
                "nothing came for as long as a timeout takes: {} of {} together",
                time(gaps),
                time(all)
            )
        };
        (gaps > 0.0).then(words)
    }

    pub(super) fn reordering(&self) -> Finding {
        let text = format!(
            "{} data frames arrived out of order, in {}, {} of them late enough to have been lost",
            share(self.data().out_of_order_frames, self.data().data_frames),
            counted(overtakings(self.data()), "place"),
            self.data().late_frames
        );
        let factor = self.data().merge_factor_mean.unwrap_or(1.0);
        let merged = without_frames(format!(
            "merging takes only what is next in sequence: {factor:.1} segments a frame here"
        ));
        let often = OFTEN_REORDERED * self.data().data_frames as f64;
        let title = if factor < MERGES && overtakings(self.data()) as f64 >= often {
            "segments overtake each other on the way, so that few can be merged"
        } else {
            "segments overtake each other on the way, so that not all can be merged"
        };
        let evidence = vec![
            shown(
                text,
                self.point,
                self.data().frames_of(|examples| &examples.out_of_order),
            ),
            merged,
        ];
        self.make(
            Id::ReorderedBeforeMerge,
            title,
            evidence,
            "find what spreads one connection over several links (balance-rr bonding, packet \
             spraying, multi-queue without flow hashing); leave merging on: it hides reordering \
             within a batch and saves ACKs",
        )
    }

    pub(super) fn window(&self) -> Finding {
        let closed = format!(
            "{}, closed for {} of {}",
            counted(self.acks().zero_windows, "zero window"),
            time(self.data().window_closed_s),
            time(self.data().duration_s.unwrap_or(0.0))
        );
        let open = self.open_window();
        let evidence = if self.acks().zero_windows > 0 {
            vec![
                shown(
                    closed,
                    self.point,
                    self.acks().frames_of(|examples| &examples.zero_windows),
                ),
                without_frames(open),
            ]
        } else {
            vec![without_frames(open)]
        };
        self.make(
            Id::ReceiverWindow,
            "the receiver's window holds the sender back",
            evidence,
            "look at the receiving application and its socket buffer (net.ipv4.tcp_rmem, SO_RCVBUF)",
        )
    }

    /// How large the window is. Where only its scale is inferred, that is what the finding rests on.
    fn open_window(&self) -> String {
        let rtt = time(self.data().rtt_min_s.unwrap_or(0.0));
        let Some(scale) = self.acks().window_scale_inferred else {
            let window = bytes(self.acks().window_mean_bytes.unwrap_or(0));
            return format!("the window is {window} on average, and one round trip is {rtt}");
        };
        let at_edge = time(self.data().window_limited_s);
        let duration = time(self.data().duration_s.unwrap_or(0.0));
        format!(
            "for {at_edge} of {duration} all was sent that the window allows, if its scale is {scale}: no handshake in the capture \
             shows the scale, but data and windows do; one round trip is {rtt}"
        )
    }

    pub(super) fn idle(&self) -> Finding {
        let text = format!(
            "the sender had nothing to send for {} of {}",
            time(self.data().sender_idle_s),
            time(self.data().duration_s.unwrap_or(0.0))
        );
        self.make(
            Id::SenderIdle,
            "the sender is idle most of the time: the network waits for the application",
            vec![without_frames(text)],
            "look at the sending application, its disk, its database, or what it waits for",
        )
    }

    pub(super) fn bandwidth(&self) -> Finding {
        let text = format!(
            "a round trip takes {} with a queue on the path, {} without",
            time(self.data().rtt_median_s.unwrap_or(0.0)),
            time(self.data().rtt_min_s.unwrap_or(0.0))
        );
        self.make(
            Id::PathBandwidth,
            "the path carries all that it can",
            vec![without_frames(text)],
            "find the slowest link or the rate limit on the way; leave merging as it is",
        )
    }
}
