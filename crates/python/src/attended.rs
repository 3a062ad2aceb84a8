//! Work that Ctrl-C ends: Python hears of signals in its own thread only, and that must not be the one that works.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use coalescope_analysis::interrupt::Interrupt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Python is asked whether a signal came.
const LOOK: Duration = Duration::from_millis(50);

/// Does the work while other threads of Python run; a signal ends it early, and is raised.
pub(crate) fn attended<T: Send>(
    py: Python<'_>,
    interrupt: &Interrupt,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (sender, done) = channel();
    let attend = move || loop {
        match done.recv_timeout(LOOK) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => return Err(ended_early()),
        }
    };
    py.detach(move || {
        thread::scope(move |scope| {
            let worker = scope.spawn(move || sender.send(work()));
            let attended = attend();
            if attended.is_err() {
                interrupt.flag().store(true, Ordering::Relaxed);
            }
            drop(worker.join());
            attended
        })
    })
}

fn ended_early() -> PyErr {
    PyRuntimeError::new_err("this ended early because of a bug in coalescope: please report it")
}
