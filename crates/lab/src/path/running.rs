//! A running path.

use super::bonding::Follower;
use super::clock::origin;
use super::follow::{Watched, follow};
use super::names::Names;
use super::plan::{Plan, Wire};
use super::rooms::Rooms;
use super::wire::{Running, Tallies};
use super::{ElementCounts, Error, Tap};
use crate::error::Error as LabError;
use crate::namespace::Namespace;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A running path. Dropping it ends the threads and removes the namespaces and their names.
#[derive(Debug)]
pub struct Path {
    rooms: Rooms,
    names: Option<Names>,
    stop: Arc<AtomicBool>,
    threads: Vec<(String, JoinHandle<Result<(), Error>>)>,
    tallies: Vec<Arc<Tallies>>,
}

impl Plan {
    /// Makes the rooms, joins them, and begins to carry frames.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where namespaces cannot be made here, [`Error::Value`] for values out
    /// of range, [`Error::NoRoom`] for names that are not in the plan, and whatever the kernel
    /// refuses. Nothing is left behind then.
    pub fn start(mut self) -> Result<Path, Error> {
        for wire in &self.wires {
            wire.elements
                .iter()
                .try_for_each(|element| element.check())?;
        }
        origin();
        let rooms = self.rooms();
        let names = self.reserve_names(&rooms)?;
        let rooms = Rooms::make(rooms.into_iter())?;
        let wires: Vec<_> = self.wires.drain(..).collect();
        let taps = wires.iter().map(|wire| taps(wire, &rooms));
        let taps: Vec<_> = taps.collect::<Result<_, _>>()?;
        self.steps.iter().try_for_each(|step| step.run(&rooms))?;
        let bonds = self.steps.iter().map(|step| step.followers(&rooms));
        let bonds = bonds.collect::<Result<Vec<_>, _>>()?;
        let bonds = bonds.into_iter().flatten().collect();
        let mut path = Path::new(rooms, names)?;
        path.begin(wires, taps, bonds)?;
        Ok(path)
    }

    fn reserve_names(&self, rooms: &BTreeSet<String>) -> Result<Option<Names>, Error> {
        self.named.then(|| Names::reserve(rooms)).transpose()
    }
}

fn taps(wire: &Wire, rooms: &Rooms) -> Result<[Tap; 2], Error> {
    let make = |end: usize| {
        let ((room, name), mtu) = (&wire.ends[end], wire.mtu[end]);
        rooms.get(room)?.enter(|| Tap::new(name, mtu))?
    };
    Ok([make(0)?, make(1)?])
}

impl Path {
    /// Gives the names when all rooms exist: the mount namespace of a room is a copy of ours, and a
    /// name mounted before the copy would outlive the one out here.
    fn new(rooms: Rooms, names: Option<Names>) -> Result<Self, Error> {
        if let Some(names) = &names {
            let mut all = rooms.iter();
            all.try_for_each(|(room, namespace)| names.give(room, namespace))?;
        }
        Ok(Self {
            rooms,
            names,
            stop: Arc::default(),
            threads: Vec::new(),
            tallies: Vec::new(),
        })
    }

    fn begin(
        &mut self,
        wires: Vec<Wire>,
        taps: Vec<[Tap; 2]>,
        bonds: Vec<Follower>,
    ) -> Result<(), Error> {
        let mut watched = Vec::new();
        for wire in &wires {
            watched.extend(self.watch(wire)?);
        }
        watched.iter().for_each(Watched::read);
        bonds.iter().for_each(Follower::obey);
        for (wire, taps) in wires.into_iter().zip(taps) {
            self.spawn_wire(wire, taps)?;
        }
        let stop = Arc::clone(&self.stop);
        let work = move || {
            follow(&watched, &bonds, &stop);
            Ok(())
        };
        self.spawn("settings".to_owned(), work)
    }

    fn watch(&self, wire: &Wire) -> Result<Vec<Watched>, Error> {
        let [(client, one), (server, two)] = &wire.ends;
        let rooms = [self.rooms.get(client)?, self.rooms.get(server)?];
        let follows = wire.elements.iter().flat_map(|element| element.follows());
        follows
            .map(|follow| Watched::open(follow, rooms, [one, two]))
            .collect()
    }

    fn spawn_wire(&mut self, wire: Wire, taps: [Tap; 2]) -> Result<(), Error> {
        let name = wire.name();
        let [client, server] = wire
            .ends
            .clone()
            .map(|(room, name)| format!("{room}/{name}"));
        let inner = wire
            .elements
            .iter()
            .map(|element| element.name().to_owned());
        let names = std::iter::once(client).chain(inner).chain([server]);
        let tallies = Tallies::new(name.clone(), names);
        self.tallies.push(Arc::clone(&tallies));
        let mut running = Running::new(taps, wire.elements, tallies);
        let stop = Arc::clone(&self.stop);
        self.spawn(name, move || running.run(&stop))
    }

    fn spawn(
        &mut self,
        name: String,
        work: impl FnOnce() -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let builder = thread::Builder::new().name("lab-path".to_owned());
        let thread = builder.spawn(work);
        let thread = thread.map_err(LabError::io("start a thread"))?;
        self.threads.push((name, thread));
        Ok(())
    }

    /// A room, to run programs in.
    ///
    /// # Errors
    ///
    /// [`Error::NoRoom`], which lists the rooms.
    pub fn room(&self, room: &str) -> Result<&Namespace, Error> {
        self.rooms.get(room)
    }

    /// The name under /run/netns of a room of a [named](Plan::named) plan.
    #[must_use]
    pub fn name(&self, room: &str) -> Option<&str> {
        self.names.as_ref()?.of(room)
    }

    /// Counters of all elements so far, wire by wire, from the client's end to the server's.
    #[must_use]
    pub fn counters(&self) -> Vec<ElementCounts> {
        let wires = self.tallies.iter();
        wires.flat_map(|tallies| tallies.read()).collect()
    }

    /// Counters of one element so far; `None` if there is no element of that name.
    #[must_use]
    pub fn counters_of(&self, element: &str) -> Option<ElementCounts> {
        let mut all = self.counters().into_iter();
        all.find(|counts| counts.element == element)
    }

    /// Ends the path and completes the captures. Frames under way are lost.
    ///
    /// # Errors
    ///
    /// The first error of a wire while it ran, or a capture that is not complete.
    pub fn stop(mut self) -> Result<(), Error> {
        self.join()
    }

    fn join(&mut self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        let joined = self.threads.drain(..).map(|(name, thread)| {
            let panicked = |_| Err(Error::Panicked(name));
            thread.join().unwrap_or_else(panicked)
        });
        joined.fold(Ok(()), Result::and)
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        // Callers who want the error call `stop`.
        let _ = self.join();
    }
}
