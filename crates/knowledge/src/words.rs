//! Numbers in words.

use std::net::SocketAddr;

use coalescope_capture::facts::{Connection, Direction, Endpoint};

use crate::finding::{ConnectionRef, Evidence};

/// `12 of 40 (30%)`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 of 0".to_owned();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    let digits = usize::from(percent > 0.0 && percent < 10.0);
    format!("{part} of {whole} ({percent:.digits$}%)")
}

/// A probability, without pretending to know very small ones.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if p < 1e-12 => "p < 1e-12".to_owned(),
        p if p < 1e-3 => format!("p = {p:.0e}"),
        p => format!("p = {p:.3}"),
    }
}

/// So many connections.
pub(crate) fn connections(n: u64) -> String {
    counted(n, "connection")
}

/// So many of something.
pub(crate) fn counted(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// Bits a second.
pub(crate) fn rate(bps: f64) -> String {
    match bps {
        bps if bps >= 1e9 => format!("{:.2} Gbit/s", bps / 1e9),
        bps if bps >= 1e6 => format!("{:.1} Mbit/s", bps / 1e6),
        bps => format!("{:.0} kbit/s", bps / 1e3),
    }
}

/// Seconds.
pub(crate) fn time(s: f64) -> String {
    match s {
        s if s >= 1.0 => format!("{s:.1} s"),
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// Bytes.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        n if n >= 1_000_000 => format!("{:.2} MB", n as f64 / 1e6),
        n if n >= 10_000 => format!("{:.1} KB", n as f64 / 1e3),
        n => format!("{n} bytes"),
    }
}

/// `address:port`, with brackets around IPv6.
pub(crate) fn endpoint(end: &Endpoint) -> String {
    SocketAddr::new(end.address, end.port).to_string()
}

/// A reference to a connection at a point.
pub(crate) fn reference(point: &str, connection: &Connection) -> ConnectionRef {
    ConnectionRef {
        point: point.to_owned(),
        id: connection.id,
        client: endpoint(&connection.client),
        server: endpoint(&connection.server),
    }
}

/// Evidence with frames of a point.
pub(crate) fn shown(text: String, point: &str, frames: &[u64]) -> Evidence {
    let point = (!frames.is_empty()).then(|| point.to_owned());
    Evidence {
        text,
        point,
        frames: frames.to_vec(),
    }
}

/// Evidence without frames.
pub(crate) fn without_frames(text: String) -> Evidence {
    Evidence {
        text,
        ..Evidence::default()
    }
}

/// The effect of losses on a transfer: segments a round trip, and the rate.
pub(crate) fn slow(direction: &Direction) -> Option<Evidence> {
    let (window, throughput) = direction
        .effective_window_segments
        .zip(direction.throughput_bps)?;
    Some(without_frames(format!(
        "a round trip delivers {window:.1} segments: {}",
        rate(throughput)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(share(158, 158), "158 of 158 (100%)");
        assert_eq!(share(3, 1000), "3 of 1000 (0.3%)");
        assert_eq!(share(0, 745), "0 of 745 (0%)");
        assert_eq!(probability(1e-40), "p < 1e-12");
        assert_eq!(probability(0.0123), "p = 0.012");
        assert_eq!(rate(352_192.0), "352 kbit/s");
        assert_eq!(time(0.0101), "10.1 ms");
    }
}
