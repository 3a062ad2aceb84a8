//! TCP connections of a namespace with their `struct tcp_info`, through socket diagnosis.
//!
//! Layout: include/uapi/linux/inet_diag.h and tcp.h. A request may load a module: only send one
//! where the kernel has `tcp_diag` already.

use crate::attributes::Attributes;
use crate::error::Error;
use crate::socket::{Raw, Socket};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use nix::libc;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// `struct inet_diag_msg`.
const ANSWER: usize = 72;
/// `INET_DIAG_INFO`: a `struct tcp_info`.
const INFO: u16 = 2;
/// `TCP_ESTABLISHED`, as a bit.
const ESTABLISHED: u32 = 1 << 1;

/// An established connection, from one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSocket {
    /// The socket's cookie, unique until the machine is booted again.
    pub cookie: u64,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The kernel's `tcp_info`.
    pub info: TcpInfo,
}

/// Fields of `struct tcp_info`, by the kernel's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// `tcpi_snd_mss`: bytes of data in a segment to be sent.
    pub snd_mss: u32,
    /// `tcpi_unacked`: segments sent and not acknowledged; includes `tcpi_sacked`, `tcpi_lost` and `tcpi_retrans`.
    pub unacked: u32,
    /// `tcpi_sacked`.
    pub sacked: u32,
    /// `tcpi_lost`.
    pub lost: u32,
    /// `tcpi_retrans`: retransmitted and not acknowledged.
    pub retrans: u32,
    /// `tcpi_rtt`, in microseconds: smoothed.
    pub rtt_us: u32,
    /// `tcpi_min_rtt`, in microseconds.
    pub min_rtt_us: u32,
    /// `tcpi_snd_cwnd`, in segments.
    pub snd_cwnd: u32,
    /// `tcpi_total_retrans`: retransmissions since the beginning of the connection.
    pub total_retrans: u32,
    /// `tcpi_data_segs_out`: segments with data that were sent, including retransmissions.
    pub data_segs_out: u32,
    /// `tcpi_bytes_acked`.
    pub bytes_acked: u64,
    /// `tcpi_bytes_received`.
    pub bytes_received: u64,
    /// `tcpi_delivery_rate`, in bytes a second.
    pub delivery_rate: u64,
    /// `tcpi_busy_time`, in microseconds: the time with data to send.
    pub busy_time_us: u64,
    /// `tcpi_rwnd_limited`, in microseconds: the time limited by the receive window.
    pub rwnd_limited_us: u64,
    /// `tcpi_sndbuf_limited`, in microseconds: the time limited by the send buffer.
    pub sndbuf_limited_us: u64,
}

/// All established connections of the calling thread's namespace.
pub fn tcp_sockets() -> Result<Vec<TcpSocket>, Error> {
    let socket = Socket::open(NETLINK_SOCK_DIAG)?;
    let mut all = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let answers = socket.dump(&request(family), "list the TCP connections")?;
        all.extend(answers.iter().filter_map(read));
    }
    Ok(all)
}

/// `struct inet_diag_req_v2`: family, protocol, attributes, padding, states; an id of zeros matches any socket.
fn request(family: i32) -> Raw {
    let mut bytes = vec![0; REQUEST];
    bytes[0] = family as u8;
    bytes[1] = libc::IPPROTO_TCP as u8;
    bytes[2] = 1 << (INFO - 1);
    bytes[4..8].copy_from_slice(&ESTABLISHED.to_ne_bytes());
    Raw {
        kind: BY_FAMILY,
        bytes,
    }
}

fn read(message: &Raw) -> Option<TcpSocket> {
    let (head, rest) = message.bytes.split_first_chunk::<ANSWER>()?;
    let is_six = i32::from(head[0]) == libc::AF_INET6;
    let port = |at: usize| Some(u16::from_be_bytes(*head.get(at..)?.first_chunk()?));
    let end = |at: usize, port| Some(SocketAddr::new(address(head.get(at..)?, is_six)?, port));
    Some(TcpSocket {
        local: end(8, port(4)?)?,
        remote: end(24, port(6)?)?,
        cookie: u64::from_ne_bytes(*head.get(44..)?.first_chunk()?),
        info: info(Attributes(rest).get(INFO)?),
    })
}

/// An IPv4-mapped address of an IPv6 socket becomes an IPv4 address.
fn address(bytes: &[u8], is_six: bool) -> Option<IpAddr> {
    Some(match is_six {
        true => IpAddr::from(Ipv6Addr::from(*bytes.first_chunk::<16>()?)).to_canonical(),
        false => Ipv4Addr::from(*bytes.first_chunk::<4>()?).into(),
    })
}

/// Fields that an older kernel lacks are 0.
fn info(bytes: &[u8]) -> TcpInfo {
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
        word.map_or(0, |word| u32::from_ne_bytes(*word))
    };
    let long = |at: usize| {
        let long = bytes.get(at..).and_then(|rest| rest.first_chunk());
        long.map_or(0, |long| u64::from_ne_bytes(*long))
    };
    TcpInfo {
        snd_mss: word(16),
        unacked: word(24),
        sacked: word(28),
        lost: word(32),
        retrans: word(36),
        rtt_us: word(68),
        snd_cwnd: word(80),
        total_retrans: word(100),
        bytes_acked: long(120),
        bytes_received: long(128),
        min_rtt_us: word(148),
        data_segs_out: word(156),
        delivery_rate: long(160),
        busy_time_us: long(168),
        rwnd_limited_us: long(176),
        sndbuf_limited_us: long(184),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_kernel_does_not_tell_is_nothing() {
        let bytes: Vec<u8> = (0..200).collect();
        let whole = info(&bytes);
        assert_eq!(whole.snd_mss, u32::from_ne_bytes([16, 17, 18, 19]));
        assert_ne!(whole.sndbuf_limited_us, 0);
        let old = info(&bytes[..104]);
        assert_eq!(old.total_retrans, whole.total_retrans);
        assert_eq!((old.bytes_acked, old.min_rtt_us), (0, 0));
        assert_eq!(info(&[]), TcpInfo::default());
    }

    #[test]
    fn an_answer_that_is_cut_is_none() {
        let message = |length| Raw {
            kind: BY_FAMILY,
            bytes: vec![0; length],
        };
        assert_eq!(read(&message(ANSWER - 1)), None);
        assert_eq!(read(&message(ANSWER)), None, "it says nothing of TCP");
    }
}
