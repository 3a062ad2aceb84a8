//! Reading that another thread can end (Ctrl-C), so that the frames read so far are reported.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(not(unix))]
use elsewhere::Patient;
#[cfg(unix)]
use unix::Patient;

/// A flag that ends reading.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether the flag is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads standard input until the flag is set; its writer may be silent for a long time.
pub(crate) fn patient_stdin(interrupt: &Interrupt) -> io::Result<Box<dyn io::Read + Send>> {
    Ok(Patient::stdin(interrupt)?)
}

/// Reads an open file until the flag is set.
pub(crate) fn patient(file: File, interrupt: &Interrupt) -> Box<dyn io::Read + Send> {
    Patient::file(file, interrupt)
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{AsFd, OwnedFd};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::Interrupt;

    /// How often a waiting reader checks the flag.
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };

    /// Reads a pipe, whose writer may be silent for a long time, until the flag is set.
    pub(super) struct Patient {
        file: File,
        interrupt: Interrupt,
    }

    impl Patient {
        /// Reads standard input.
        pub(super) fn stdin(interrupt: &Interrupt) -> io::Result<Box<Self>> {
            let fd: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
            Ok(Self::file(File::from(fd), interrupt))
        }

        /// Reads an open file.
        pub(super) fn file(file: File, interrupt: &Interrupt) -> Box<Self> {
            let interrupt = interrupt.clone();
            Box::new(Self { file, interrupt })
        }

        /// Whether a read would not block.
        fn is_ready(&self) -> io::Result<bool> {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut fds, Some(&LOOK)) {
                Ok(ready) => Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
    }

    impl Read for Patient {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            while !self.interrupt.is_set() {
                if self.is_ready()? {
                    return self.file.read(buffer);
                }
            }
            Ok(0)
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::fs::File;
    use std::io::{self, Read};

    use super::Interrupt;

    /// Reads to the end: on other systems, no flag is checked while waiting.
    pub(super) struct Patient(Box<dyn Read + Send>);

    impl Patient {
        /// Reads standard input.
        pub(super) fn stdin(_: &Interrupt) -> io::Result<Box<Self>> {
            Ok(Box::new(Self(Box::new(io::stdin()))))
        }

        /// Reads an open file.
        pub(super) fn file(file: File, _: &Interrupt) -> Box<Self> {
            Box::new(Self(Box::new(file)))
        }
    }

    impl Read for Patient {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }
}
