//! One experiment in its guardian: its journal, its locks, its changes.

use super::entries::{
    at, find, held, is_about, is_at, lost, mind_move, mind_others, one, sysctl_entry,
};
use crate::journal::{
    Held, InterfaceEntry, Journal, Lock, State, Store, SysctlEntry, begin, boot_id,
};
use crate::restore::{
    Report, Spaces, interface_key, prune, read_entry, restore, stale, sysctl_key,
};
use crate::settings::{
    self, Change, Difference, Error, Knob, Move, NamespaceId, Outcome, Prepared, PreparedSysctl,
    Setting, What, check, dotted, read_at, read_named, read_sysctl, related, sysctl_owner,
};

/// The state of one experiment.
#[derive(Debug)]
pub(super) struct Session {
    store: Store,
    journal: Journal,
    spaces: Spaces,
    holder: String,
    journal_lock: Lock,
    locks: Vec<Lock>,
}

impl Session {
    /// Begins a journal. Its file is written with the first entry.
    pub(super) fn start(store: Store, command: Vec<String>, parent: u32) -> Result<Self, Error> {
        let journal = begin(&store, command, parent)?;
        let holder = format!("`{}`, process {parent}", journal.command_line());
        let journal_lock = store.lock(&journal.id, &holder)?;
        Ok(Self {
            store,
            journal,
            spaces: Spaces::default(),
            holder,
            journal_lock,
            locks: Vec::new(),
        })
    }

    /// Name of the journal.
    pub(super) fn id(&self) -> &str {
        &self.journal.id
    }

    /// Locks and reads the interfaces and sysctls of settings. Their values are on disk when this returns.
    pub(super) fn record(&mut self, settings: &[Setting]) -> Result<(), Error> {
        let mut journal = self.journal.clone();
        for setting in settings {
            self.add(&mut journal, setting)?;
        }
        self.commit(journal)
    }

    /// Writes a command to the journal that undoes the changes of the user's own commands.
    pub(super) fn remember(&mut self, command: &str) -> Result<(), Error> {
        let mut journal = self.journal.clone();
        journal.commands.push(command.to_owned());
        self.commit(journal)
    }

    /// Makes a change. The intended values are on disk before the change, and its outcome afterwards.
    pub(super) fn change(&mut self, setting: &Setting) -> Result<Change, Error> {
        let mut journal = self.journal.clone();
        self.add(&mut journal, setting)?;
        journal.want(setting);
        let outcomes = match &setting.subject.what {
            What::Sysctl(key) => self.change_sysctl(journal, setting, key)?,
            What::Interface { name, knob } => {
                self.change_interface(journal, setting, (name, knob))?
            }
        };
        Ok(Change {
            setting: setting.clone(),
            outcomes,
        })
    }

    /// What of a change is not in force any more.
    pub(super) fn lost(&mut self, change: &Change) -> Result<Vec<Difference>, Error> {
        let subject = &change.setting.subject;
        let space = self.spaces.named(subject.namespace.as_deref())?;
        let was = match &subject.what {
            What::Sysctl(_) => None,
            What::Interface { name, .. } => {
                let entry = find(&self.journal, space.id(), name);
                Some(&entry.ok_or_else(|| lost(space.id(), name))?.was)
            }
        };
        settings::lost(change, space, was)
    }

    fn change_sysctl(
        &mut self,
        mut journal: Journal,
        setting: &Setting,
        key: &str,
    ) -> Result<Vec<Outcome>, Error> {
        let name = setting.subject.namespace.as_deref();
        let id = self.spaces.named(name)?.id().clone();
        let space = self.spaces.get(&id)?;
        if let Some(entry) = sysctl_entry(&mut journal, &id, key) {
            read_entry(entry, space)?;
        }
        let prepared = PreparedSysctl::new(space, key, &setting.value)?;
        let held = held(&mut journal, &id, key).ok_or_else(|| lost(&id, key))?;
        let earlier = held.clone();
        mind_others(&earlier, &dotted(key), &prepared.from)?;
        held.intend(&prepared.from, prepared.next());
        // On disk before the kernel is asked: if the guardian is killed in between, undo knows what may be set.
        self.commit(journal)?;
        let (outcome, is) = prepared.make(self.spaces.get(&id)?)?;
        let mut journal = self.journal.clone();
        if let Some(held) = self::held(&mut journal, &id, key) {
            held.settle(prepared.next(), &is, true, Some(&earlier));
        }
        self.conclude(journal)?;
        Ok(vec![outcome])
    }

    fn change_interface(
        &mut self,
        mut journal: Journal,
        setting: &Setting,
        (name, knob): (&str, &Knob),
    ) -> Result<Vec<Outcome>, Error> {
        let space = self.spaces.named(setting.subject.namespace.as_deref())?;
        let id = space.id().clone();
        let was = find(&journal, &id, name).map(|entry| entry.was.clone());
        let was = was.ok_or_else(|| lost(&id, name))?;
        let others = related(space, was.index)?;
        let prepared = Prepared::new(space, (knob, &setting.value), &was, &others)?;
        let earlier = journal.clone();
        for one in prepared.foreseen() {
            let Some(entry) = at(&mut journal, &id, one.index) else {
                continue;
            };
            if let (Some(held), true) = (entry.held(&one.item), one.is_asked) {
                mind_move(entry, held, &one)?;
            }
            entry.intend(&one);
        }
        // On disk before the kernel is asked, as above.
        self.commit(journal)?;
        let (outcomes, moved) = prepared.make(self.spaces.get(&id)?)?;
        self.settle(&id, &earlier, &prepared.foreseen(), &moved)?;
        Ok(outcomes)
    }

    /// Writes to the journal what became of the foreseen moves, and which other keys moved with them.
    fn settle(
        &mut self,
        id: &NamespaceId,
        earlier: &Journal,
        foreseen: &[Move],
        moved: &[Move],
    ) -> Result<(), Error> {
        let mut journal = self.journal.clone();
        for one in moved {
            let asked = foreseen.iter().find(|known| known.is_of(one));
            let same = |entry: &&InterfaceEntry| is_at(entry, id, one.index);
            let before = earlier.interfaces.iter().find(same);
            let before = before.and_then(|entry| entry.held(&one.item));
            if let Some(entry) = at(&mut journal, id, one.index) {
                entry.settle(one, asked.map(|asked| asked.to.as_str()), before);
            }
        }
        self.conclude(journal)
    }

    /// Replaces the journal in memory before it is written: the changes were made, even if the disk is full.
    fn conclude(&mut self, journal: Journal) -> Result<(), Error> {
        if journal == self.journal {
            return Ok(());
        }
        self.journal = journal;
        self.store.write(&self.journal)
    }

    /// Restores everything; the experiment may go on.
    pub(super) fn restore(&mut self) -> Report {
        let unrestored = restore(&self.journal, &mut self.spaces);
        prune(&mut self.journal, &mut self.spaces);
        Report {
            journal: self.journal.id.clone(),
            unrestored,
        }
    }

    /// Restores everything and releases the locks. What could not be restored stays in the journal.
    pub(super) fn finish(mut self) -> Report {
        let mut report = self.restore();
        if report.is_complete() {
            // If the file cannot be removed, `undo` finds nothing to restore.
            let _ = self.store.remove(&self.journal.id);
            self.journal_lock.remove();
            return report;
        }
        self.journal.state = State::Failed;
        self.journal.unrestored.clone_from(&report.unrestored);
        let written = self.store.write(&self.journal);
        let stale = written.err().map(|error| stale(&self.journal, &error));
        report.unrestored.extend(stale);
        report
    }

    /// Leaves all changes as they are. The session goes on if the journal could not be written.
    pub(super) fn keep(&mut self) -> Result<(), Error> {
        let mut journal = self.journal.clone();
        journal.state = State::Kept;
        self.commit(journal)
    }

    fn commit(&mut self, journal: Journal) -> Result<(), Error> {
        if journal != self.journal {
            self.store.write(&journal)?;
            self.journal = journal;
        }
        Ok(())
    }

    fn add(&mut self, journal: &mut Journal, setting: &Setting) -> Result<(), Error> {
        match &setting.subject.what {
            What::Sysctl(key) => self.add_sysctl(journal, setting, key),
            What::Interface { name, .. } => self.add_interface(journal, setting, name),
        }
    }

    fn add_sysctl(
        &mut self,
        journal: &mut Journal,
        setting: &Setting,
        key: &str,
    ) -> Result<(), Error> {
        check(setting, None)?;
        let space = self.spaces.named(setting.subject.namespace.as_deref())?;
        let namespace = space.id().clone();
        let known = |entry: &SysctlEntry| entry.namespace == namespace && entry.key == key;
        if journal.sysctls.iter().any(known) {
            return Ok(());
        }
        read_sysctl(space, key)?;
        self.lock(&sysctl_key(&namespace, key), &dotted(key))?;
        self.check_unfinished(&dotted(key), |other| {
            let mut sysctls = other.sysctls.iter();
            sysctls.any(|entry| entry.namespace.is_same(&namespace) && entry.key == key)
        })?;
        let space = self.spaces.get(&namespace)?;
        let was = read_sysctl(space, key)?;
        journal.sysctls.push(SysctlEntry {
            device: sysctl_owner(space, key)?,
            namespace,
            key: key.to_owned(),
            held: Held::new(&was),
        });
        Ok(())
    }

    fn add_interface(
        &mut self,
        journal: &mut Journal,
        setting: &Setting,
        name: &str,
    ) -> Result<(), Error> {
        let space = self.spaces.named(setting.subject.namespace.as_deref())?;
        let namespace = space.id().clone();
        let index = match find(journal, &namespace, name) {
            Some(entry) => entry.was.index,
            None => read_named(space, name)?.index,
        };
        let others = related(space, index)?;
        check(setting, Some(&one(space, index, name)?))?;
        self.note(journal, &namespace, index, Some(name))?;
        for other in others {
            self.note(journal, &namespace, other, None)?;
        }
        Ok(())
    }

    /// Locks an interface and then reads its state. `own` is the name of an interface that is set
    /// itself, `None` for one that may change along.
    fn note(
        &mut self,
        journal: &mut Journal,
        namespace: &NamespaceId,
        index: u32,
        own: Option<&str>,
    ) -> Result<(), Error> {
        let same =
            |entry: &&mut InterfaceEntry| entry.namespace == *namespace && entry.was.index == index;
        if let Some(entry) = journal.interfaces.iter_mut().find(same) {
            // An interface that was noted because it may change along is now set itself: it is
            // restored before the related ones.
            entry.related &= own.is_none();
            return Ok(());
        }
        let shown = own.map_or_else(|| format!("interface {index}"), str::to_owned);
        self.lock(&interface_key(namespace, index), &shown)?;
        self.check_unfinished(&shown, |other| is_about(other, namespace, index))?;
        let space = self.spaces.get(namespace)?;
        let was = match own {
            Some(name) => Some(one(space, index, name)?),
            None => read_at(space, index)?,
        };
        journal.interfaces.extend(was.map(|was| InterfaceEntry {
            namespace: namespace.clone(),
            related: own.is_none(),
            was,
            keys: Vec::new(),
        }));
        Ok(())
    }

    fn lock(&mut self, key: &str, what: &str) -> Result<(), Error> {
        if !self.locks.iter().any(|lock| lock.is(key)) {
            self.locks
                .push(Lock::take_shared(&self.store, key, what, &self.holder)?);
        }
        Ok(())
    }

    /// Refuses a setting that another journal still holds: the value a killed experiment left behind must not be
    /// recorded as the one to restore.
    fn check_unfinished(
        &self,
        what: &str,
        is_about: impl Fn(&Journal) -> bool,
    ) -> Result<(), Error> {
        let (boot, own) = (boot_id()?, self.store.path());
        let others = Store::everywhere().into_iter().flatten();
        for store in others.filter(|store| store.path() != own) {
            // A damaged journal in another folder does not matter here.
            for journal in store.left().unwrap_or_default() {
                if journal.boot_id == boot && is_about(&journal) {
                    return Err(unfinished(what, &journal));
                }
            }
        }
        let ids = self.store.list()?.into_iter();
        for id in ids.filter(|id| *id != self.journal.id) {
            let other = match self.store.read(&id) {
                // Another experiment has ended meanwhile.
                Err(_) if !self.store.file(&id).exists() => continue,
                other => other?,
            };
            if other.boot_id == boot && other.state != State::Kept && is_about(&other) {
                return Err(unfinished(what, &other));
            }
        }
        Ok(())
    }
}

fn unfinished(what: &str, other: &Journal) -> Error {
    Error::Unfinished {
        what: what.to_owned(),
        command: other.command_line(),
        journal: other.id.clone(),
    }
}
