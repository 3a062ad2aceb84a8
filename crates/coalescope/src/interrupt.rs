//! Ctrl-C: the first one ends reading, so that the frames read so far are reported; the second one kills.

use std::ffi::c_int;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use coalescope_analysis::interrupt::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Listens for Ctrl-C from now on.
#[cfg(unix)]
pub(crate) fn listen() -> io::Result<Interrupt> {
    unix::listen()
}

/// A flag that is never set: Ctrl-C ends the program.
#[cfg(not(unix))]
pub(crate) fn listen() -> io::Result<Interrupt> {
    Ok(Interrupt::default())
}

/// A flag that the first Ctrl-C or SIGTERM sets at once; a second signal kills.
pub(crate) fn stop_on_signal() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        set_by_first(signal, &stop)?;
    }
    Ok(stop)
}

/// Makes the first signal set a flag; a signal while the flag is set kills.
fn set_by_first(signal: c_int, came: &Arc<AtomicBool>) -> io::Result<()> {
    // In this order: the first action kills if the flag is set, and has to run before the second one sets it.
    flag::register_conditional_default(signal, Arc::clone(came))?;
    flag::register(signal, Arc::clone(came))?;
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::thread;
    use std::time::Duration;

    use coalescope_analysis::interrupt::Interrupt;
    use signal_hook::consts::SIGINT;
    use signal_hook::iterator::Signals;

    /// A terminal sends Ctrl-C to the whole pipeline. tcpdump then writes the frames that it still
    /// holds, which should be read.
    const LAST_WORDS: Duration = Duration::from_millis(300);

    pub(super) fn listen() -> io::Result<Interrupt> {
        super::set_by_first(SIGINT, &Arc::default())?;
        let mut signals = Signals::new([SIGINT])?;
        let interrupt = Interrupt::default();
        let stop = interrupt.flag();
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                thread::sleep(LAST_WORDS);
                stop.store(true, Ordering::Relaxed);
            }
        });
        Ok(interrupt)
    }
}
