//! Lines of the kernel's log that rules know.

use super::unread::{Unreads, why};
use crate::signatures::{KEPT, is_known};
use nix::libc;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;

/// Longest record that the kernel gives (`LOG_LINE_MAX` with its prefix and dictionary).
const RECORD: usize = 8192;

/// Reads the log without waiting for more of it.
pub(super) fn known_lines(unread: &mut Unreads) -> Vec<String> {
    let mut options = OpenOptions::new();
    let opened = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/kmsg");
    match opened.and_then(|mut log| read_all(&mut log)) {
        Ok(lines) => lines,
        Err(error) => {
            unread.note("kernel log (/dev/kmsg)", why(&error));
            Vec::new()
        }
    }
}

fn read_all(log: &mut File) -> std::io::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut record = [0; RECORD];
    loop {
        match log.read(&mut record) {
            Ok(0) => break,
            Ok(length) => lines.extend(known(&record[..length])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            // Overwritten while it was read (EPIPE): the next read goes on with the oldest left.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(lines.split_off(lines.len().saturating_sub(KEPT)))
}

/// The message of a record (`priority,number,time,flags;message`), if it has a signature.
fn known(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    let (_, message) = record.split_once(';')?;
    let line = message.lines().next()?;
    let has = is_known(line);
    has.then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_lines_are_kept() {
        let line = b"4,1,2,-;eth0: failed to disable LRO!\n SUBSYSTEM=net\n";
        assert_eq!(known(line).as_deref(), Some("eth0: failed to disable LRO!"));
        assert_eq!(known(b"6,1,2,-;eth0: link up\n gso_size=1\n"), None);
        assert_eq!(known(b"no semicolon"), None);
    }
}
