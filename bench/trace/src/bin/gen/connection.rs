//! A transfer from a server to a client.

use crate::Chance;
use crate::capture::{ACK, Capture, FIN, Frame, Lost, PSH, REQUEST, SEGMENT, SYN};

/// One end of a connection.
#[derive(Clone, Copy, Default)]
pub(crate) struct End {
    pub(crate) address: u32,
    pub(crate) port: u16,
    next: u32,
    pub(crate) ip_id: u16,
}

#[derive(Default)]
pub(crate) struct Connection {
    client: End,
    server: End,
    /// Everything below is acknowledged.
    acked: u32,
    /// Segments since the last ACK.
    unacked: u32,
    hole: Option<Hole>,
}

/// A segment that the client has not got.
struct Hole {
    start: u32,
    /// Segments until it is sent again.
    left: u64,
    /// The capture has it.
    captured: bool,
}

/// What was written.
#[derive(Default)]
pub(crate) struct Truth {
    pub(crate) data_frames: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) lost_before: u64,
    pub(crate) lost_behind: u64,
    /// Sent again, and captured the first time.
    pub(crate) retransmitted: u64,
    /// Sent again, and not captured the first time.
    pub(crate) late: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) acks: u64,
}

impl Connection {
    pub(crate) fn new(number: u32, chance: &mut Chance) -> Self {
        let mut end = |address, port| End {
            address,
            port,
            next: chance.next() as u32,
            ip_id: chance.next() as u16,
        };
        // 10.0.0.0/9 are the clients, 10.128.0.0/28 the servers.
        let client = end(0x0a00_0001 + number, 32_768 + (number % 28_000) as u16);
        let server = end(0x0a80_0001 + number % 16, 443);
        Self {
            client,
            server,
            ..Self::default()
        }
    }

    fn send(&mut self, capture: &mut Capture, frame: &Frame) -> std::io::Result<()> {
        let (from, to) = if frame.from_server {
            (&mut self.server, &self.client)
        } else {
            (&mut self.client, &self.server)
        };
        from.ip_id = from.ip_id.wrapping_add(1);
        capture.write(from, to, frame)
    }

    /// A frame of the client that acknowledges up to `ack`.
    fn by_client(&self, ack: u32) -> Frame {
        Frame {
            seq: self.client.next,
            ack,
            flags: ACK,
            ..Frame::default()
        }
    }

    fn by_server(&self, seq: u32, flags: u8, payload: usize) -> Frame {
        Frame {
            from_server: true,
            seq,
            ack: self.client.next,
            flags,
            payload,
            ..Frame::default()
        }
    }

    pub(crate) fn open(&mut self, capture: &mut Capture, truth: &mut Truth) -> std::io::Result<()> {
        let syn = Frame {
            flags: SYN,
            ..self.by_client(0)
        };
        self.send(capture, &syn)?;
        self.client.next = self.client.next.wrapping_add(1);
        self.send(capture, &self.by_server(self.server.next, SYN | ACK, 0))?;
        self.server.next = self.server.next.wrapping_add(1);
        self.send(capture, &self.by_client(self.server.next))?;
        let request = Frame {
            flags: PSH | ACK,
            payload: REQUEST,
            ..self.by_client(self.server.next)
        };
        self.send(capture, &request)?;
        self.client.next = self.client.next.wrapping_add(REQUEST as u32);
        self.acked = self.server.next;
        truth.acks += 1;
        truth.data_frames += 1;
        truth.payload_bytes += REQUEST as u64;
        Ok(())
    }

    /// The server's next segment and what it brings about.
    pub(crate) fn segment(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        chance: &mut Chance,
        loss: u64,
    ) -> std::io::Result<()> {
        let start = self.server.next;
        self.server.next = start.wrapping_add(SEGMENT as u32);
        if self.hole.is_none() && chance.below(1000) < loss {
            let captured = chance.below(2) == 0;
            self.hole = Some(Hole {
                start,
                left: 20 + chance.below(40),
                captured,
            });
            return self.lose(capture, truth, start, captured);
        }
        self.data(capture, truth, start, ACK)?;
        match &mut self.hole {
            Some(hole) => {
                hole.left -= 1;
                let (missing, captured, repair) = (hole.start, hole.captured, hole.left == 0);
                let after = missing.wrapping_add(SEGMENT as u32);
                let duplicate = Frame {
                    sack: Some((after, self.server.next)),
                    ..self.by_client(missing)
                };
                self.send(capture, &duplicate)?;
                // The first one may acknowledge a segment that was waiting for a second.
                if self.acked == missing {
                    truth.duplicate_acks += 1;
                } else {
                    truth.acks += 1;
                }
                self.acked = missing;
                if repair {
                    self.repair(capture, truth, missing, captured)?;
                }
            }
            None if self.unacked == 1 => self.acknowledge(capture, truth)?,
            None => self.unacked += 1,
        }
        Ok(())
    }

    /// A segment that is lost before the capture, or behind it.
    fn lose(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        seq: u32,
        captured: bool,
    ) -> std::io::Result<()> {
        let lost = if captured {
            truth.lost_behind += 1;
            truth.data_frames += 1;
            truth.payload_bytes += SEGMENT as u64;
            Lost::Behind
        } else {
            truth.lost_before += 1;
            Lost::Before
        };
        if !captured && !capture.shows_all() {
            return Ok(());
        }
        let frame = Frame {
            lost: Some(lost),
            ..self.by_server(seq, ACK, SEGMENT)
        };
        self.send(capture, &frame)
    }

    /// Sends what was lost again.
    fn repair(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        missing: u32,
        captured: bool,
    ) -> std::io::Result<()> {
        self.hole = None;
        self.data(capture, truth, missing, PSH | ACK)?;
        if captured {
            truth.retransmitted += 1;
        } else {
            truth.late += 1;
        }
        self.acknowledge(capture, truth)
    }

    fn data(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
        seq: u32,
        flags: u8,
    ) -> std::io::Result<()> {
        truth.data_frames += 1;
        truth.payload_bytes += SEGMENT as u64;
        self.send(capture, &self.by_server(seq, flags, SEGMENT))
    }

    fn acknowledge(&mut self, capture: &mut Capture, truth: &mut Truth) -> std::io::Result<()> {
        self.unacked = 0;
        self.acked = self.server.next;
        truth.acks += 1;
        self.send(capture, &self.by_client(self.server.next))
    }

    pub(crate) fn close(
        &mut self,
        capture: &mut Capture,
        truth: &mut Truth,
    ) -> std::io::Result<()> {
        if let Some(Hole {
            start, captured, ..
        }) = self.hole
        {
            self.repair(capture, truth, start, captured)?;
        }
        self.send(capture, &self.by_server(self.server.next, FIN | ACK, 0))?;
        let fin = Frame {
            flags: FIN | ACK,
            ..self.by_client(self.server.next.wrapping_add(1))
        };
        self.send(capture, &fin)
    }
}
