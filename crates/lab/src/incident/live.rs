//! An incident at work.

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
/// How long elements may take to obey a setting: they look every 50 ms.
const OBEYED: Duration = Duration::from_millis(150);

/// An incident at work. It ends with this value: threads, rooms, names.
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
        // All rooms of its plans are named.
        Ok(self.path.name(room).unwrap_or_default())
    }

    /// The room that asks.
    #[must_use]
    pub fn client(&self) -> &str {
        plan::name_of(&self.built, self.built.client)
    }

    /// The room that is asked.
    #[must_use]
    pub fn server(&self) -> &str {
        plan::name_of(&self.built, plan::last(&self.built))
    }

    /// Where the client reaches the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What the client asks for to get so many bytes.
    #[must_use]
    pub fn url(&self, bytes: u64) -> String {
        format!("http://{}/{bytes}", self.address.ip())
    }

    /// A setting as `coalescope ab` takes it on this machine: `ns/NAME/eth0:gro=off`.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`], which lists the rooms.
    pub fn setting(&self, setting: &Setting) -> Result<String, Error> {
        Ok(setting.in_namespace(self.room_name(&setting.room)?))
    }

    /// Makes a setting, and waits until the path obeys it.
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

    /// The offloads of the file.
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

    /// Makes the workload once.
    ///
    /// # Errors
    ///
    /// Where no connection comes about within the workload's limit, or it breaks.
    pub fn measure(&self) -> Result<Measured, Error> {
        self.measure_workload(self.built.workload())
    }

    /// Makes another workload once.
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

    /// Begins captures at the incident's points: `FOLDER/POINT.pcapng` each. Those under way are ended.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written.
    pub fn capture(&self, folder: &FilePath) -> Result<(), Error> {
        let file = |recorder: &Recorder| capture_file(folder, recorder.name());
        self.chosen()
            .try_for_each(|recorder| recorder.begin(&file(recorder), SNAP))
    }

    /// Ends the captures that were begun in a folder; they are in the order of the path.
    ///
    /// # Errors
    ///
    /// Where one is not complete: the disk may be full.
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

    /// What every element did so far.
    #[must_use]
    pub fn counters(&self) -> Vec<ElementCounts> {
        self.path.counters()
    }

    /// Frames that elements of the path dropped because they were merged, or longer than an MTU. What
    /// the kernel's own bridge or router drops is not among them.
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

    /// The path beneath, for what is not offered here.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The incident as it was built.
    #[must_use]
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// The first thing that went wrong on a wire while it ran, or a capture that is not complete.
    pub fn stop(self) -> Result<(), Error> {
        self.path.stop()
    }
}

/// All offloads and sizes that a room sets.
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

/// The server, and what makes it slow if it is to be.
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
