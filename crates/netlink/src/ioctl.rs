//! The two ethtool commands that netlink does not have: the driver's description, and the values of
//! its statistics (netlink has only their names); and a socket option that nix does not know. What else is `unsafe` in the workspace, and why:
//! ARCHITECTURE.md, "What always holds".

#![allow(unsafe_code)]

use crate::error::Error;
use nix::errno::Errno;
use nix::libc;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `ETHTOOL_GDRVINFO`.
const DRIVER: u32 = 3;
/// `ETHTOOL_GSTATS`.
const STATISTICS: u32 = 0x1d;
/// `struct ethtool_drvinfo` has 196 bytes.
const DRIVER_WORDS: usize = 25;
/// Room for counters that a driver may add between the request for their number and the one for
/// their values: before 6.19 the kernel writes all counters, whatever number was asked for.
const SPARE: usize = 1 << 16;

nix::ioctl_readwrite_bad!(siocethtool, libc::SIOCETHTOOL, libc::ifreq);

/// `SO_NETNS_COOKIE` of a socket, since Linux 5.14.
pub(crate) fn netns_cookie(socket: BorrowedFd<'_>) -> Result<u64, Errno> {
    let mut cookie = 0_u64;
    let mut length = libc::socklen_t::try_from(size_of::<u64>()).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the kernel writes at most `length` bytes to `cookie`, which has as many and is borrowed
    // mutably for the call, and the length to `length`; it keeps neither pointer.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    Errno::result(done).map(|_| cookie)
}

/// The bytes of `struct ethtool_drvinfo`.
pub(crate) fn driver(socket: BorrowedFd<'_>, interface: &str) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0; DRIVER_WORDS];
    buffer[0] = first_word(DRIVER, 0);
    call(socket, interface, &mut buffer)
        .map_err(Error::system(format!("read the driver of {interface}")))?;
    Ok(buffer.iter().flat_map(|word| word.to_ne_bytes()).collect())
}

/// The values of all statistics, of which there were `count` a moment ago.
pub(crate) fn statistics(
    socket: BorrowedFd<'_>,
    interface: &str,
    count: u32,
) -> Result<Vec<u64>, Error> {
    // Zeroed memory is mapped on first write: a large buffer costs only what is written to it.
    let mut buffer = vec![0; 2 * count as usize + SPARE];
    buffer[0] = first_word(STATISTICS, count);
    call(socket, interface, &mut buffer)
        .map_err(Error::system(format!("read the statistics of {interface}")))?;
    let [_, _, _, _, written @ ..] = buffer[0].to_ne_bytes();
    let written = u32::from_ne_bytes(written) as usize;
    Ok(buffer.into_iter().skip(1).take(written).collect())
}

/// Command and the number after it, as the first eight bytes of every structure of ethtool.
fn first_word(command: u32, number: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&command.to_ne_bytes());
    bytes[4..].copy_from_slice(&number.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

/// Gives `buffer` to the kernel, which reads the command from its first word and fills it.
fn call(socket: BorrowedFd<'_>, interface: &str, buffer: &mut [u64]) -> Result<(), Errno> {
    let mut name: [libc::c_char; libc::IFNAMSIZ] = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(Errno::ENODEV);
    }
    for (to, from) in name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    let data = buffer.as_mut_ptr().cast();
    let mut request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data },
    };
    // SAFETY: `request` is a whole `struct ifreq`, and the kernel keeps no pointer after the call.
    // It writes to `buffer`, which is borrowed mutably for the call, aligned for 64-bit words, and
    // as long as either of the two commands above writes: 196 bytes for the driver; for statistics
    // 8 bytes and 8 for each counter, of which there would have to be `count + SPARE` more than
    // there were a moment ago to go past its end (from 6.19 on, the kernel writes none if there are
    // not exactly `count`).
    unsafe { siocethtool(socket.as_raw_fd(), &raw mut request) }.map(drop)
}
