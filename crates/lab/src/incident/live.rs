//! A running incident.

use super::measure::{Between, Measured};
use super::paced::Paced;
use super::plan::{self, PORT};
use super::settings;
use crate::http::Server;
use crate::path::{Counts, DropReason, ElementCounts, Error, Path, Recorder};
use coalescope_incident::{Build, Built, Incident, Room, Setting, Value, Workload};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path as FilePath, PathBuf};
use std::thread;
use std::time::Duration;

/// Bytes kept of each frame: all headers of plain TCP, with room for tunnels.
const SNAP: u32 = 192;
/// How long elements may take to follow a setting: they read settings every 50 ms.
const OBEYED: Duration = Duration::from_millis(150);

/// A running incident. Dropping it ends the threads and removes the namespaces and their names.
#[derive(Debug)]
pub struct Live {
    // Servers first: they end before their room does.
    _paced: Option<Paced>,
    server: Server,
    path: Path,
    built: Built,
    recorders: Vec<Recorder>,
    address: SocketAddr,
}

/// A point's capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The point's name.
    pub point: String,
    /// The pcapng file.
    pub file: PathBuf,
    /// Frames in it.
    pub frames: u64,
}

impl Live {
    /// Makes the rooms and the path of an incident, as one of its measurements needs it, and starts the
    /// server.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where namespaces cannot be made here, and whatever the kernel refuses.
    /// Nothing is left behind then.
    pub fn start(incident: &Incident, build: Build<'_>) -> Result<Self, Error> {
        let built = incident.built(build);
        let planned = plan::of(&built);
        let path = planned.plan.start()?;
        let (server, paced) = serve(&path, &built)?;
        let live = Self {
            _paced: paced,
            server,
            path,
            recorders: planned.recorders,
            address: SocketAddr::new(planned.server.into(), PORT),
            built,
        };
        live.set_features()?;
        Ok(live)
    }

    /// The name under /run/netns of a room of the incident.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`], which lists the rooms.
    pub fn room_name(&self, room: &str) -> Result<&str, Error> {
        self.path.room(room)?;
        // All rooms of an incident's plan are named.
        Ok(self.path.name(room).unwrap_or_default())
    }

    /// Name of the client's room.
    #[must_use]
    pub fn client(&self) -> &str {
        plan::name_of(&self.built, self.built.client)
    }

    /// Name of the server's room.
    #[must_use]
    pub fn server(&self) -> &str {
        plan::name_of(&self.built, plan::last(&self.built))
    }

    /// The address at which the client reaches the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a number of bytes.
    #[must_use]
    pub fn url(&self, bytes: u64) -> String {
        format!("http://{}/{bytes}", self.address.ip())
    }

    /// A setting as an argument of `coalescope ab` on this machine: `ns/NAME/eth0:gro=off`.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`], which lists the rooms.
    pub fn setting(&self, setting: &Setting) -> Result<String, Error> {
        Ok(setting.in_namespace(self.room_name(&setting.room)?))
    }

    /// Makes a setting, and waits until the path follows it.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`], and whatever the kernel refuses.
    pub fn set(&self, setting: &Setting) -> Result<(), Error> {
        self.change(&setting.room, &setting.value)?;
        thread::sleep(OBEYED);
        Ok(())
    }

    fn change(&self, room: &str, value: &Value) -> Result<(), Error> {
        let applied = settings::apply(self.path.room(room)?, value);
        applied.map_err(|source| Error::Room {
            room: room.to_owned(),
            source,
        })
    }

    /// Sets the offloads of the file.
    fn set_features(&self) -> Result<(), Error> {
        let rooms = self.built.incident.rooms();
        let all: Vec<_> = rooms.flat_map(features).collect();
        for (room, value) in &all {
            self.change(room, value)?;
        }
        if !all.is_empty() {
            thread::sleep(OBEYED);
        }
        Ok(())
    }

    /// Runs the incident's workload once.
    ///
    /// # Errors
    ///
    /// If no connection is made within the workload's limit, or the connection breaks.
    pub fn measure(&self) -> Result<Measured, Error> {
        self.measure_workload(self.built.workload())
    }

    /// Runs another workload once.
    ///
    /// # Errors
    ///
    /// As [`measure`](Self::measure).
    pub(crate) fn measure_workload(&self, workload: &Workload) -> Result<Measured, Error> {
        let between = Between {
            path: &self.path,
            client: self.client(),
            server: &self.server,
            address: self.address,
        };
        let (bytes, time) = between.run(workload)?;
        let mut measured = Measured {
            bytes,
            time,
            effective_window_segments: 0.0,
        };
        measured.effective_window_segments = self.built.effective_window(measured.bps());
        Ok(measured)
    }

    /// Begins a capture at each point of the incident: `FOLDER/POINT.pcapng`. Captures under way are ended.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub fn capture(&self, folder: &FilePath) -> Result<(), Error> {
        let file = |recorder: &Recorder| capture_file(folder, recorder.name());
        self.chosen()
            .try_for_each(|recorder| recorder.begin(&file(recorder), SNAP))
    }

    /// Ends the captures in a folder; returns them in the order of the path.
    ///
    /// # Errors
    ///
    /// If a capture is not complete: the disk may be full.
    pub fn end_capture(&self, folder: &FilePath) -> Result<Vec<Captured>, Error> {
        let ended = self.chosen().map(|recorder| {
            Ok(Captured {
                point: recorder.name().to_owned(),
                file: capture_file(folder, recorder.name()),
                frames: recorder.end()?,
            })
        });
        ended.collect()
    }

    fn chosen(&self) -> impl Iterator<Item = &Recorder> {
        let points = &self.built.incident.points;
        let named = |recorder: &&Recorder| points.iter().any(|point| point == recorder.name());
        self.recorders.iter().filter(named)
    }

    /// The counters of all elements so far.
    #[must_use]
    pub fn counters(&self) -> Vec<ElementCounts> {
        self.path.counters()
    }

    /// Frames that elements of the path dropped because they were merged, or longer than an MTU.
    /// Drops of the kernel's own bridge or router are not counted.
    #[must_use]
    pub fn dropped_merged(&self) -> u64 {
        let lost = |counts: &Counts| {
            let reasons = [DropReason::TooLong, DropReason::Merged];
            reasons
                .map(|reason| counts.dropped_for(reason))
                .iter()
                .sum::<u64>()
        };
        let elements = self.path.counters();
        elements
            .iter()
            .flat_map(|element| &element.toward)
            .map(lost)
            .sum()
    }

    /// The underlying path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The incident as it was built.
    #[must_use]
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Ends the incident.
    ///
    /// # Errors
    ///
    /// The first error of a wire while it ran, or a capture that is not complete.
    pub fn stop(self) -> Result<(), Error> {
        self.path.stop()
    }
}

/// Offloads and sizes of a room in the file.
fn features(room: &Room) -> impl Iterator<Item = (&str, Value)> {
    let sizes = room.gso_max_size.iter().map(|(interface, bytes)| {
        let (interface, bytes) = (interface.clone(), *bytes);
        (room.name.as_str(), Value::GsoMaxSize { interface, bytes })
    });
    let switches = room.features.iter().flat_map(|(interface, features)| {
        features.iter().map(|(feature, on)| {
            let (interface, feature) = (interface.clone(), feature.clone());
            let on = *on;
            let value = Value::Feature {
                interface,
                feature,
                on,
            };
            (room.name.as_str(), value)
        })
    });
    switches.chain(sizes)
}

fn capture_file(folder: &FilePath, point: &str) -> PathBuf {
    folder.join(format!("{point}.pcapng"))
}

/// Starts the server, and in front of it a relay that limits its rate if the file has a rate.
fn serve(path: &Path, built: &Built) -> Result<(Server, Option<Paced>), Error> {
    let room = path.room(plan::name_of(built, plan::last(built)))?;
    let everywhere = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), PORT);
    let rate = built.workload().sender_rate_bps;
    let Some(rate) = rate.filter(|_| !built.workload().upload) else {
        return Ok((Server::start_in(room, everywhere)?, None));
    };
    let hidden = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
    let server = Server::start_in(room, hidden)?;
    let paced = Paced::start(room, everywhere, server.address(), rate)?;
    Ok((server, Some(paced)))
}
