//! The connections of the one point, followed by several threads: one reads, and shares what it reads out among the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use foldhash::fast::RandomState;

use crate::facts::trace::Trace;
use crate::key::Key;
use crate::lockstep::{Options, PointInput, Progress, TraceError};
use crate::numbering::Numbering;
use crate::parts::{self, Follower, Part};
use crate::reader::{BATCH_BETWEEN_THREADS, Batch, End, Frames, Item, Reader};

/// Batches that may wait for a thread.
const AHEAD: usize = 4;

/// The facts of one point, whose connections are followed by as many threads as the options say, less the one that
/// reads: those that [`crate::trace()`] gives, or `None` where these may be others (copies of frames, more connections than are to be
/// kept, or more that waits for acknowledgment than is remembered). The captures have to be read once more then, in their order.
///
/// # Errors
///
/// If a thread ends early because of a bug.
pub fn trace_parts(
    input: PointInput,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Trace>, TraceError> {
    let name = input.name;
    let stop = Arc::clone(&options.stop);
    let reader = Reader::new(input.sources, false, stop).alone();
    let mut files = Files::new(reader.file_by_file());
    let is_more = AtomicBool::new(false);
    let parts = std::thread::scope(|scope| {
        let followers = (1..options.threads.max(2)).map(|_| Shard::spawn(options, &is_more, scope));
        let mut shards = Shards::new(followers.collect());
        while !is_more.load(Ordering::Relaxed) && files.read() {
            files
                .batch
                .items_mut()
                .iter_mut()
                .for_each(|item| shards.give(item));
            progress(files.progress());
        }
        shards.finish()
    });
    let parts = parts.ok_or_else(|| TraceError::Reader { name: name.clone() })?;
    if is_more.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let (end, numbering) = files.finish();
    let max_connections = options.max_connections;
    Ok(parts::join(
        &name,
        parts,
        (&end, numbering),
        max_connections,
    ))
}

/// Files in their order, whose frames are counted on from each to the next.
struct Files {
    reader: Box<Reader>,
    batch: Batch,
    /// Number of the last frame of each file.
    last: Vec<u64>,
    /// The same of all files in front of the last one of these, together.
    before: u64,
    frames: u64,
}

impl Files {
    fn new(reader: Reader) -> Self {
        Self {
            reader: Box::new(reader),
            batch: Batch::default(),
            last: Vec::new(),
            before: 0,
            frames: 0,
        }
    }

    /// Reads some frames of one file; false if there are no more.
    fn read(&mut self) -> bool {
        self.reader.fill(&mut self.batch);
        let Some(last) = self.batch.items().last().map(|item| item.frame.number) else {
            return false;
        };
        self.go_to(self.reader.file());
        if let Some(known) = self.last.last_mut() {
            *known = last;
        }
        self.frames += self.batch.items().len() as u64;
        for item in self.batch.items_mut() {
            item.frame.count_on(self.before);
        }
        true
    }

    /// Begins a file; those in between had no frames.
    fn go_to(&mut self, file: usize) {
        while self.last.len() <= file {
            self.before += self.last.last().copied().unwrap_or(0);
            self.last.push(0);
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            consumed_bytes: self.batch.consumed,
            frames: self.frames,
        }
    }

    fn finish(self) -> (End, Numbering) {
        (self.reader.finish(), Numbering::new(self.last.into_iter()))
    }
}

/// All threads that follow.
struct Shards<'scope> {
    all: Vec<Shard<'scope>>,
    state: RandomState,
    /// That of the TCP frame before.
    last: usize,
}

impl<'scope> Shards<'scope> {
    fn new(all: Vec<Shard<'scope>>) -> Self {
        Self {
            all,
            state: RandomState::default(),
            last: 0,
        }
    }

    /// Gives a frame to the thread that follows its connection; one that is in none, to any.
    #[inline]
    fn give(&mut self, item: &mut Item) {
        if item.is_tcp() && !item.continues() {
            self.last = self.of(&item.frame.key);
        }
        let shard = match item.rejected() {
            Some(key) => self.of(key),
            None => self.last,
        };
        self.all[shard].push(item);
    }

    /// The thread that follows a connection, whose directions can be in different tunnels.
    #[inline]
    fn of(&self, key: &Key) -> usize {
        (key.within(0).hash(&self.state) % self.all.len() as u64) as usize
    }

    /// What was followed; `None` if a thread ended early.
    fn finish(self) -> Option<Vec<Part>> {
        let all: Vec<_> = self.all.into_iter().map(Shard::end).collect();
        all.into_iter().map(|thread| thread.join().ok()).collect()
    }
}

/// A thread that follows connections, and the batch that is going to be its next one.
struct Shard<'scope> {
    batch: Batch,
    batches: SyncSender<Batch>,
    used: Receiver<Batch>,
    thread: ScopedJoinHandle<'scope, Part>,
}

impl<'scope> Shard<'scope> {
    fn spawn<'env>(
        options: &Options,
        is_more: &'env AtomicBool,
        scope: &'scope Scope<'scope, 'env>,
    ) -> Self {
        let (batches, received) = sync_channel(AHEAD);
        let (returned, used) = channel();
        let follower = Follower::limited(options.max_connections, options.is_short);
        let thread = scope.spawn(move || follow(follower, &received, &returned, is_more));
        let mut shard = Self {
            batch: Batch::default(),
            batches,
            used,
            thread,
        };
        shard.batch.begin(BATCH_BETWEEN_THREADS);
        shard
    }

    /// Takes a frame, in whose place another one is left.
    #[inline]
    fn push(&mut self, item: &mut Item) {
        if !self.batch.take_over(item) {
            self.send();
            self.batch.take_over(item);
        }
    }

    #[cold]
    fn send(&mut self) {
        let mut next = self.used.try_recv().unwrap_or_default();
        next.begin(BATCH_BETWEEN_THREADS);
        let full = std::mem::replace(&mut self.batch, next);
        // The thread may have ended; who waits for it is told.
        let _ = self.batches.send(full);
    }

    fn end(mut self) -> ScopedJoinHandle<'scope, Part> {
        self.send();
        self.thread
    }
}

fn follow(
    mut follower: Follower,
    batches: &Receiver<Batch>,
    used: &Sender<Batch>,
    is_more: &AtomicBool,
) -> Part {
    while let Ok(batch) = batches.recv() {
        follower.take(batch.items());
        if follower.is_more_than_a_part() {
            is_more.store(true, Ordering::Relaxed);
        }
        // Nobody needs it when all was read.
        let _ = used.send(batch);
    }
    follower.finish()
}
