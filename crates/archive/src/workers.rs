//! Work in several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `work` for each item, in at most this number of threads; returns the results in order. A
/// thread ends with its first error; `broken` makes the error of a thread that panicked.
///
/// # Errors
///
/// The first error of a thread.
pub fn each<T: Sync, R: Send, E: Send>(
    all: &[T],
    threads: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
    broken: impl Fn() -> E,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(at) else {
                return Ok(done);
            };
            done.push((at, work(one)?));
        }
    };
    let done = thread::scope(|scope| {
        let threads = 0..threads.min(all.len());
        let workers: Vec<_> = threads.map(|_| scope.spawn(some)).collect();
        let done = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(_) => Err(broken()),
        });
        done.collect::<Result<Vec<_>, E>>()
    })?;
    let mut done: Vec<_> = done.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, one)| one).collect())
}
