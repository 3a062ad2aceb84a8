//! Capture points.

use super::clock::origin;
use super::{Element, Error, Frame, Nanos, Onward, Side, nanos};
use coalescope_pcapng::{Interface, Record, Writer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// A capture point, controlled by its [`Recorder`].
///
/// A frame is captured as it is on the wire at this place: a merged frame is long, with the
/// pseudo-header's sum as its checksum where that is left to a card. All points of a process have
/// the same clock.
#[derive(Debug)]
pub struct Point {
    name: String,
    own: Option<Side>,
    recording: Shared,
}

/// Begins and ends the captures of a point.
#[derive(Clone, Debug)]
pub struct Recorder {
    name: String,
    recording: Shared,
}

type Shared = Arc<Mutex<Option<Recording>>>;

/// A capture under way.
#[derive(Debug)]
struct Recording {
    path: PathBuf,
    writer: Writer<BufWriter<File>>,
    snap: u32,
    /// The wall clock at time 0 of the path's clock.
    epoch: u64,
    frames: u64,
    failed: Option<io::Error>,
}

impl Point {
    /// A point that captures nothing yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            own: None,
            recording: Shared::default(),
        }
    }

    /// Makes this the capture of the host on that side itself: frames are marked inbound or outbound.
    #[must_use]
    pub fn own(mut self, side: Side) -> Self {
        self.own = Some(side);
        self
    }

    /// The recorder of this point.
    #[must_use]
    pub fn recorder(&self) -> Recorder {
        Recorder {
            name: self.name.clone(),
            recording: Arc::clone(&self.recording),
        }
    }
}

impl Recorder {
    /// The point's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins a pcapng file with one interface that has the point's name, with `snap` bytes of each
    /// frame: 128 hold all headers, 262,144 everything. A capture under way is ended.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written, or the one before is not complete.
    pub fn begin(&self, path: &Path, snap: u32) -> Result<(), Error> {
        let begun = Recording::begin(&self.name, path, snap)?;
        let before = lock(&self.recording).replace(begun);
        before.map_or(Ok(()), |before| before.end().map(drop))
    }

    /// Completes the file; returns the number of frames in it, 0 if there was no capture.
    ///
    /// # Errors
    ///
    /// Where it is not complete: the disk may be full.
    pub fn end(&self) -> Result<u64, Error> {
        let ended = lock(&self.recording).take();
        ended.map_or(Ok(0), Recording::end)
    }
}

/// The capture, even after a thread has panicked: the file is complete after each frame.
fn lock(recording: &Shared) -> MutexGuard<'_, Option<Recording>> {
    recording.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    fn begin(name: &str, path: &Path, snap: u32) -> Result<Self, Error> {
        let writer = begun(name, path, snap);
        Ok(Self {
            writer: writer.map_err(Error::file("write the capture", path))?,
            path: path.to_owned(),
            snap,
            epoch: epoch(),
            frames: 0,
            failed: None,
        })
    }

    /// Writes a frame. A full disk ends the capture, not the path; [`end`](Self::end) returns the error.
    fn take(&mut self, frame: &Frame, inbound: Option<bool>, at: Nanos) {
        if self.failed.is_some() {
            return;
        }
        let bytes = frame.bytes();
        let kept = bytes.len().min(self.snap as usize);
        let written = self.writer.packet(&Record {
            interface: 0,
            time_ns: self.epoch.saturating_add(at),
            original_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            data: bytes.get(..kept).unwrap_or(bytes),
            inbound,
            comment: None,
        });
        self.frames += 1;
        self.failed = written.err();
    }

    fn end(mut self) -> Result<u64, Error> {
        let written = self.failed.take().map_or_else(|| self.writer.flush(), Err);
        written.map_err(Error::file("write the capture", &self.path))?;
        Ok(self.frames)
    }
}

/// Begins a file with one interface.
fn begun(name: &str, path: &Path, snap: u32) -> io::Result<Writer<BufWriter<File>>> {
    let mut writer = Writer::new(BufWriter::new(File::create(path)?), None)?;
    writer.interface(&Interface {
        link_number: ETHERNET,
        name: Some(name),
        snap_len: snap,
    })?;
    Ok(writer)
}

/// The wall clock at time 0 of the path's clock.
fn epoch() -> u64 {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH);
    let since = nanos(origin().elapsed());
    wall.map_or(0, nanos).saturating_sub(since)
}

impl Element for Point {
    fn name(&self) -> &str {
        &self.name
    }

    fn frame(&mut self, frame: Frame, toward: Side, at: Nanos, out: &mut Onward<'_>) {
        if let Some(recording) = lock(&self.recording).as_mut() {
            recording.take(&frame, self.own.map(|own| own == toward), at);
        }
        out.pass(frame, toward);
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.recorder().end().map(drop)
    }
}
