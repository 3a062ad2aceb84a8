//! The phases of a request that curl prints: connect, TLS, first byte, transfer.

use crate::facts::connection::Phases;
use crate::frame::Frame;

/// TLS record types (RFC 8446, section 5.1).
const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;

/// Where the exchange stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No data yet.
    #[default]
    Quiet,
    /// The client has sent a ClientHello.
    Tls,
    /// The client's finished, or its first application data, has passed; a TLS 1.2 server's
    /// change of cipher may follow.
    TlsEnding,
    /// The request is out.
    Asked,
    /// The answer has begun.
    Answered,
}

/// Times of one connection's phases, in nanoseconds; 0 is "not seen".
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct PhaseClock {
    // First the fields that frames with data touch.
    last_byte_ns: i64,
    stage: Stage,
    first_syn_ns: i64,
    connected_ns: i64,
    tls_ns: i64,
    first_byte_ns: i64,
}

impl PhaseClock {
    pub(crate) fn syn(&mut self, now_ns: i64) {
        if self.first_syn_ns == 0 {
            self.first_syn_ns = now_ns;
        }
    }

    pub(crate) fn connected(&mut self, now_ns: i64) {
        self.connected_ns = now_ns;
    }

    /// Takes a frame with new data.
    #[inline]
    pub(crate) fn data(&mut self, frame: &Frame, from_client: bool) {
        match self.stage {
            Stage::Answered if !from_client => self.last_byte_ns = frame.time_ns,
            Stage::Answered => {}
            _ => self.data_before_answer(frame, from_client),
        }
    }

    fn data_before_answer(&mut self, frame: &Frame, from_client: bool) {
        let record = record_type(frame);
        self.stage = match (self.stage, from_client, record) {
            (Stage::Quiet, true, Some(HANDSHAKE)) => Stage::Tls,
            (Stage::Tls, true, Some(CHANGE_CIPHER_SPEC | APPLICATION_DATA))
            | (Stage::TlsEnding, false, Some(CHANGE_CIPHER_SPEC)) => self.end_tls(frame),
            (Stage::Quiet | Stage::TlsEnding, true, _) => Stage::Asked,
            (Stage::Quiet | Stage::Asked | Stage::TlsEnding, false, _) => self.answer(frame),
            (stage, ..) => stage,
        };
    }

    fn end_tls(&mut self, frame: &Frame) -> Stage {
        self.tls_ns = frame.time_ns;
        Stage::TlsEnding
    }

    fn answer(&mut self, frame: &Frame) -> Stage {
        self.first_byte_ns = frame.time_ns;
        self.last_byte_ns = frame.time_ns;
        Stage::Answered
    }

    /// See [`crate::table::Table::warm`].
    pub(crate) fn touch(&self) -> u64 {
        self.stage as u64
    }

    pub(crate) fn facts(&self) -> Phases {
        let ready_ns = if self.tls_ns > 0 {
            self.tls_ns
        } else {
            self.connected_ns
        };
        Phases {
            connect_s: between(self.first_syn_ns, self.connected_ns),
            tls_s: between(self.connected_ns, self.tls_ns),
            first_byte_s: between(ready_ns, self.first_byte_ns),
            transfer_s: between(self.first_byte_ns, self.last_byte_ns),
        }
    }
}

fn between(from_ns: i64, to_ns: i64) -> Option<f64> {
    (from_ns != 0 && to_ns >= from_ns).then(|| (to_ns - from_ns) as f64 / 1e9)
}

/// The type of the TLS record that the payload begins with, if it looks like one: versions 3.0 to
/// 3.4 are on the wire, whatever was negotiated.
fn record_type(frame: &Frame) -> Option<u8> {
    let [kind, major, minor, ..] = frame.head;
    let looks = frame.head_len >= 3 && (20..=23).contains(&kind) && major == 3 && minor <= 4;
    looks.then_some(kind)
}
