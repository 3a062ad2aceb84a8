//! A box that thins acknowledgements, as cable modems and WiFi do: of those that wait, only the newest of each
//! connection goes on.

use super::Outbox;
use crate::packet::{ACK, FIN, PSH, Packet, SYN};
use crate::schedule::Nanos;
use crate::side::Side;

/// The box, and what waits in it.
#[derive(Debug)]
pub(crate) struct Thin {
    toward: Side,
    every: Nanos,
    waiting: Vec<Packet>,
    due: Option<Nanos>,
}

impl Thin {
    /// A box in which nothing waits.
    pub(crate) fn new(toward: Side, every: Nanos) -> Self {
        Self {
            toward,
            every,
            waiting: Vec::new(),
            due: None,
        }
    }

    /// A packet arrives; one that is more than an acknowledgement takes those in front of it along.
    pub(crate) fn handle(&mut self, packet: Packet, now: Nanos, out: &mut Outbox) {
        if packet.toward != self.toward {
            out.onward.push((now, packet));
            return;
        }
        self.waiting
            .retain(|other| other.flow != packet.flow || !is_acknowledgement(other));
        let waits = is_acknowledgement(&packet);
        self.waiting.push(packet);
        if !waits {
            self.flush(now, out);
        } else if self.due.is_none() {
            self.due = Some(now + self.every);
            out.wake = self.due;
        }
    }

    /// Called at the time asked for; all packets may have gone on before.
    pub(crate) fn wake(&mut self, now: Nanos, out: &mut Outbox) {
        if self.due.is_some_and(|due| due <= now) {
            self.flush(now, out);
        }
    }

    fn flush(&mut self, now: Nanos, out: &mut Outbox) {
        self.due = None;
        let waiting = self.waiting.drain(..);
        out.onward.extend(waiting.map(|packet| (now, packet)));
    }
}

fn is_acknowledgement(packet: &Packet) -> bool {
    let bare = |flags: u8| flags & (SYN | FIN | PSH | ACK) == ACK;
    packet
        .tcp()
        .is_some_and(|tcp| tcp.len() == 0 && bare(tcp.flags))
}

#[cfg(test)]
mod tests {
    use crate::path::{Element, Hop};
    use crate::schedule::MILLISECOND;
    use crate::side::Side;
    use crate::stories::story;
    use crate::world::run;

    #[test]
    fn most_acknowledgements_are_gone_and_all_bytes_arrive() {
        let mut scenario = story("healthy-gro").unwrap();
        let before = run(&scenario).truth.point("WIRE").unwrap().flows[0][1].pure_acks;
        let thin = Hop::ThinAcks {
            toward: Side::Server,
            every: 4 * MILLISECOND,
        };
        scenario.path.insert(3, Element::Hop(thin));
        let truth = run(&scenario).truth;
        let after = truth.point("WIRE").unwrap().flows[0][1].pure_acks;
        assert!(after * 3 < before, "{after} of {before}");
        assert!(truth.connections[0].closed);
        assert_eq!(truth.connections[0].toward[0].timeouts, 0);
    }
}
