//! One input as a stream of batches, read here or in a thread of its own.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use crate::reader::{BATCH_BETWEEN_THREADS, Batch, End, Frames, Item};

/// Batches that a reading thread may be ahead.
const AHEAD: usize = 4;

/// Where batches come from.
enum Intake<'scope> {
    Here(Box<dyn Frames>),
    Thread {
        batches: Receiver<Batch>,
        used: Sender<Batch>,
        handle: ScopedJoinHandle<'scope, End>,
    },
}

/// One input and its next batch.
pub(crate) struct Feed<'scope> {
    intake: Intake<'scope>,
    pub(crate) batch: Batch,
    /// Batches after `batch`, which were looked at already.
    ahead: VecDeque<Batch>,
}

impl<'scope> Feed<'scope> {
    pub(crate) fn new(
        frames: Box<dyn Frames>,
        threaded: bool,
        scope: &'scope Scope<'scope, '_>,
    ) -> Self {
        let intake = if threaded {
            Intake::spawn(frames, scope)
        } else {
            Intake::Here(frames)
        };
        let mut feed = Self {
            intake,
            batch: Batch::default(),
            ahead: VecDeque::new(),
        };
        feed.refill();
        feed
    }

    /// Reads so many frames, or all, and keeps them for later.
    pub(crate) fn look_ahead(&mut self, frames: usize) {
        let first = std::mem::take(&mut self.batch);
        let mut seen = first.items().len();
        self.ahead.push_back(first);
        while seen < frames
            && self
                .ahead
                .back()
                .is_some_and(|batch| !batch.items().is_empty())
        {
            self.read();
            seen += self.batch.items().len();
            self.ahead.push_back(std::mem::take(&mut self.batch));
        }
        self.refill();
    }

    /// The next frames, out of those that `look_ahead` has read.
    pub(crate) fn ahead(&self, frames: usize) -> impl Iterator<Item = &Item> {
        let batches = std::iter::once(&self.batch).chain(&self.ahead);
        batches.flat_map(Batch::items).take(frames)
    }

    /// Gets the next batch; it is empty at the end.
    pub(crate) fn refill(&mut self) {
        match self.ahead.pop_front() {
            Some(next) => self.batch = next,
            None => self.read(),
        }
    }

    fn read(&mut self) {
        match &mut self.intake {
            Intake::Here(frames) => frames.fill(&mut self.batch),
            Intake::Thread { batches, used, .. } => {
                let next = batches.recv().unwrap_or_default();
                // The thread may have ended, and then needs no buffer.
                let _ = used.send(std::mem::replace(&mut self.batch, next));
            }
        }
    }

    pub(crate) fn finish(self) -> Option<End> {
        match self.intake {
            Intake::Here(frames) => Some(frames.finish()),
            Intake::Thread {
                batches, handle, ..
            } => {
                drop(batches);
                handle.join().ok()
            }
        }
    }
}

impl<'scope> Intake<'scope> {
    fn spawn(mut frames: Box<dyn Frames>, scope: &'scope Scope<'scope, '_>) -> Self {
        let (sender, batches) = sync_channel(AHEAD);
        let (used, returned) = channel();
        frames.set_batch(BATCH_BETWEEN_THREADS);
        let handle = scope.spawn(move || read_all(frames, &sender, &returned));
        Self::Thread {
            batches,
            used,
            handle,
        }
    }
}

fn read_all(
    mut frames: Box<dyn Frames>,
    batches: &SyncSender<Batch>,
    returned: &Receiver<Batch>,
) -> End {
    loop {
        let mut batch = returned.try_recv().unwrap_or_default();
        frames.fill(&mut batch);
        let ended = batch.items().is_empty();
        if ended || batches.send(batch).is_err() {
            return frames.finish();
        }
    }
}
