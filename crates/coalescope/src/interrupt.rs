//! Ctrl-C: the first one ends reading, so that what was read is reported; the second one kills.

use std::ffi::c_int;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

#[cfg(not(unix))]
pub(crate) use elsewhere::{Interrupt, Patient};
#[cfg(unix)]
pub(crate) use unix::{Interrupt, Patient};

/// A flag that the first Ctrl-C or SIGTERM sets at once; a second signal kills.
pub(crate) fn until_told() -> io::Result<Arc<AtomicBool>> {
    let told = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        set_by_first(signal, &told)?;
    }
    Ok(told)
}

/// Has the first signal set a flag; one that comes while the flag is set kills.
fn set_by_first(signal: c_int, came: &Arc<AtomicBool>) -> io::Result<()> {
    // In this order: the first signal finds the second handler's flag not yet set.
    flag::register_conditional_default(signal, Arc::clone(came))?;
    flag::register(signal, Arc::clone(came))?;
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use signal_hook::consts::SIGINT;
    use signal_hook::iterator::Signals;

    /// A terminal sends Ctrl-C to the whole pipeline: tcpdump then writes what it still holds, and
    /// that should be read.
    const LAST_WORDS: Duration = Duration::from_millis(300);
    /// How often a reader that waits looks whether it should give up.
    const LOOK: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };

    /// Whether reading should end.
    #[derive(Clone, Debug)]
    pub(crate) struct Interrupt(Arc<AtomicBool>);

    impl Interrupt {
        /// Listens for Ctrl-C from now on.
        pub(crate) fn listen() -> io::Result<Self> {
            super::set_by_first(SIGINT, &Arc::default())?;
            let mut signals = Signals::new([SIGINT])?;
            let interrupt = Self(Arc::default());
            let stop = interrupt.flag();
            thread::spawn(move || {
                if signals.forever().next().is_some() {
                    thread::sleep(LAST_WORDS);
                    stop.store(true, Ordering::Relaxed);
                }
            });
            Ok(interrupt)
        }

        /// The flag that is set when reading should end.
        pub(crate) fn flag(&self) -> Arc<AtomicBool> {
            Arc::clone(&self.0)
        }

        /// Whether it is set.
        pub(crate) fn is_set(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// Reads from a pipe, which may have nothing to say for a long time, and ends when reading
    /// should end.
    pub(crate) struct Patient {
        file: File,
        interrupt: Interrupt,
    }

    impl Patient {
        /// Reads standard input.
        pub(crate) fn stdin(interrupt: &Interrupt) -> io::Result<Box<Self>> {
            let fd: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
            Ok(Self::file(File::from(fd), interrupt))
        }

        /// Reads an open file.
        pub(crate) fn file(file: File, interrupt: &Interrupt) -> Box<Self> {
            let interrupt = interrupt.clone();
            Box::new(Self { file, interrupt })
        }

        /// Whether there is something to read (or the end of it).
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
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// Never set: Ctrl-C ends the program.
    #[derive(Clone, Debug)]
    pub(crate) struct Interrupt(Arc<AtomicBool>);

    impl Interrupt {
        /// Makes the flag.
        pub(crate) fn listen() -> io::Result<Self> {
            Ok(Self(Arc::default()))
        }

        /// The flag.
        pub(crate) fn flag(&self) -> Arc<AtomicBool> {
            Arc::clone(&self.0)
        }

        /// Whether it is set.
        pub(crate) fn is_set(&self) -> bool {
            false
        }
    }

    /// Reads on until the end.
    pub(crate) struct Patient(Box<dyn Read + Send>);

    impl Patient {
        /// Reads standard input.
        pub(crate) fn stdin(_: &Interrupt) -> io::Result<Box<Self>> {
            Ok(Box::new(Self(Box::new(io::stdin()))))
        }

        /// Reads an open file.
        pub(crate) fn file(file: File, _: &Interrupt) -> Box<Self> {
            Box::new(Self(Box::new(file)))
        }
    }

    impl Read for Patient {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }
}
