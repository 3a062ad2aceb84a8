//! The guarded program's side.

use super::protocol::{Reply, Request};
use super::server::ARGUMENT;
use crate::journal::Store;
use crate::restore::{Fate, Report, undo_one};
use crate::settings::{Change, Difference, Error, Setting};
use coalescope_host::safe::printable;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long an answer may take: some drivers start their device anew for each change, and a user's
/// command may take two minutes.
const ANSWER: Duration = Duration::from_secs(300);
/// How long a guardian may take to end: without an answer it may still be restoring.
const END: Duration = Duration::from_secs(150);
/// How long a killed guardian may take to end.
const KILLED: Duration = Duration::from_secs(5);

/// How the guardian is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The executable, whose `main` begins with [`serve_if_asked`](super::serve_if_asked).
    pub program: PathBuf,
}

impl Default for Launch {
    /// This executable, even if its file was replaced meanwhile.
    fn default() -> Self {
        Self {
            program: PathBuf::from("/proc/self/exe"),
        }
    }
}

/// What an experiment is begun with.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where the journal is kept.
    pub store: Store,
    /// The command, for whoever finds the journal.
    pub command: Vec<String>,
    /// Restores after this time whatever happens.
    pub deadline: Option<Duration>,
    /// How the guardian is started.
    pub launch: Launch,
}

impl Options {
    /// Without a deadline, guarded by this executable.
    #[must_use]
    pub fn new(store: Store, command: Vec<String>) -> Self {
        Self {
            store,
            command,
            deadline: None,
            launch: Launch::default(),
        }
    }
}

/// Changes settings, and takes all of them back: with [`finish`](Self::finish), when it is dropped,
/// or by the guardian when the program ends in another way.
#[derive(Debug)]
pub struct Guard {
    child: Child,
    /// `None` after the guardian was asked to end, or after an error.
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    store: Store,
    journal: String,
    /// Everything was restored as far as possible, or is kept.
    has_ended: bool,
}

impl Guard {
    /// Starts a guardian. No setting is locked, written or changed yet. "Here" is the network namespace of the calling
    /// thread.
    pub fn start(options: &Options) -> Result<Self, Error> {
        let mut command = Command::new(&options.launch.program);
        command
            .arg0("coalescope")
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let failed = Error::guardian("could not be started");
        let mut child = command.spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, replies) = pipes.ok_or_else(|| Error::guardian("has no pipes")(""))?;
        let mut guard = Self {
            child,
            requests: Some(requests),
            replies: BufReader::new(replies),
            store: options.store.clone(),
            journal: String::new(),
            has_ended: false,
        };
        let introduced = guard.introduce(options);
        if introduced.is_err() {
            // Nothing was changed yet, so nothing has to be restored.
            guard.has_ended = true;
            guard.part();
        }
        introduced.map(|()| guard)
    }

    fn introduce(&mut self, options: &Options) -> Result<(), Error> {
        let reply = self.ask(&Request::Start {
            store: options.store.path().to_owned(),
            command: options.command.clone(),
            parent: std::process::id(),
            deadline_s: options.deadline.map(|deadline| deadline.as_secs_f64()),
        })?;
        match reply {
            Reply::Ready(journal) => self.journal = journal,
            other => return Err(unexpected(other)),
        }
        Ok(())
    }

    /// Name of the journal.
    #[must_use]
    pub fn journal(&self) -> &str {
        &self.journal
    }

    /// The guardian's process.
    #[must_use]
    pub fn guardian_pid(&self) -> u32 {
        self.child.id()
    }

    /// Locks the interfaces and sysctls of these settings, and writes their present values to the
    /// journal. An experiment records all levels before its first run, so that a setting that
    /// cannot be changed is refused before anything is changed.
    pub fn record(&mut self, settings: &[Setting]) -> Result<(), Error> {
        self.done(&Request::Record(settings.to_vec()))
    }

    /// Writes a command to the journal that undoes the changes of the user's own commands. The
    /// command is run by `sh -c` in the present folder when the settings are restored.
    pub fn remember(&mut self, command: &str) -> Result<(), Error> {
        let folder = std::env::current_dir().map_err(Error::file("find", Path::new(".")))?;
        let folder = folder.to_string_lossy();
        let folder =
            shlex::try_quote(&folder).map_err(Error::guardian("cannot name the folder"))?;
        self.done(&Request::Remember(format!(
            "cd {folder} || exit; {command}"
        )))
    }

    /// Makes one change and returns its outcome. A setting that is not recorded yet is recorded first.
    pub fn change(&mut self, setting: &Setting) -> Result<Change, Error> {
        match self.ask(&Request::Change(setting.clone()))? {
            Reply::Changed(change) => Ok(change),
            other => Err(unexpected(other)),
        }
    }

    /// What of a change is not in force any more, since somebody else has set it; empty if the change holds.
    ///
    /// # Errors
    ///
    /// [`Error::Expired`] after the deadline: the guardian has restored everything then.
    pub fn lost(&mut self, change: &Change) -> Result<Vec<Difference>, Error> {
        match self.ask(&Request::Holds(change.clone()))? {
            Reply::Lost(differences) => Ok(differences),
            other => Err(unexpected(other)),
        }
    }

    /// Restores all settings; further changes may follow.
    pub fn restore(&mut self) -> Result<Report, Error> {
        match self.ask(&Request::Restore)? {
            Reply::Restored(report) => Ok(report),
            other => Err(unexpected(other)),
        }
    }

    /// Sets another deadline, counted from now; `None` for no deadline.
    pub fn set_deadline(&mut self, deadline: Option<Duration>) -> Result<(), Error> {
        let seconds = deadline.map(|deadline| deadline.as_secs_f64());
        self.done(&Request::Deadline(seconds))
    }

    /// Leaves all changes as they are and returns the name of the journal that can undo them. If
    /// this fails, the changes are still guarded.
    pub fn keep(&mut self) -> Result<String, Error> {
        self.done(&Request::Keep)?;
        self.has_ended = true;
        self.part();
        Ok(self.journal.clone())
    }

    /// Restores all settings and ends the guardian. If the guardian is gone, this process restores.
    pub fn finish(mut self) -> Result<Report, Error> {
        self.end()
    }

    fn end(&mut self) -> Result<Report, Error> {
        self.has_ended = true;
        let answer = self.ask(&Request::Finish);
        self.part();
        match answer {
            Ok(Reply::Restored(report)) => Ok(report),
            Ok(other) => Err(unexpected(other)),
            Err(_) => self.recover(),
        }
    }

    /// Restores from the journal after the guardian has ended.
    fn recover(&self) -> Result<Report, Error> {
        let undone = undo_one(&self.store, &self.journal);
        let unrestored = match undone.map(|undone| undone.fate) {
            None | Some(Fate::Restored { .. } | Fate::Reset) => Vec::new(),
            Some(Fate::Failed { unrestored }) => unrestored,
            Some(Fate::Unusable { problem }) => return Err(problem),
            Some(Fate::Running { holder: why } | Fate::Held { why, .. }) => {
                return Err(Error::guardian("neither answers nor ends")(why));
            }
        };
        Ok(Report {
            journal: self.journal.clone(),
            unrestored,
        })
    }

    fn done(&mut self, request: &Request) -> Result<(), Error> {
        match self.ask(request)? {
            Reply::Done => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Sends a request and reads its reply. After an error no request is sent any more, since
    /// replies would no longer match requests.
    fn ask(&mut self, request: &Request) -> Result<Reply, Error> {
        let answer = self.exchange(request);
        if answer.is_err() {
            self.requests = None;
        }
        answer
    }

    fn exchange(&mut self, request: &Request) -> Result<Reply, Error> {
        let gone = "is gone";
        let mut line = serde_json::to_vec(request).map_err(Error::guardian("was not asked"))?;
        line.push(b'\n');
        let requests = self.requests.as_mut();
        let requests = requests.ok_or_else(|| Error::guardian(gone)("it did not answer before"))?;
        requests.write_all(&line).map_err(Error::guardian(gone))?;
        self.wait_for_answer()?;
        let mut answer = String::new();
        let read = self.replies.read_line(&mut answer);
        match read.map_err(Error::guardian(gone))? {
            0 => Err(Error::guardian(gone)("it ended without an answer")),
            _ => serde_json::from_str(&answer).map_err(Error::guardian("gives no answer of ours")),
        }
    }

    fn wait_for_answer(&self) -> Result<(), Error> {
        let end = Instant::now() + ANSWER;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut replies = [PollFd::new(
                self.replies.get_ref().as_fd(),
                PollFlags::POLLIN,
            )];
            match poll(&mut replies, timeout) {
                Ok(0) => return Err(Error::guardian("says nothing")("a change takes too long")),
                Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(Error::guardian("cannot be waited for")(errno.desc())),
            }
        }
    }

    /// Closes the pipe, which makes a living guardian restore, and waits for the guardian's end. A
    /// guardian that does not end is killed: it holds the lock of the journal, and nobody else
    /// could restore.
    fn part(&mut self) {
        self.requests = None;
        if !self.ends_within(END) {
            let _ = self.child.kill();
            self.ends_within(KILLED);
        }
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() >= end {
                return false;
            }
            sleep(Duration::from_millis(1));
        }
        true
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        match self.end() {
            Ok(report) if report.is_complete() => {}
            Ok(report) => warn(&report.to_string()),
            Err(error) => warn(&format!("{error}; run `coalescope undo`")),
        }
    }
}

/// Prints to standard error, since `Drop` has no result. Names may hold escape sequences of a terminal.
fn warn(text: &str) {
    eprintln!("coalescope: {}", printable(text));
}

/// The guardian's own error if it sent one; any other reply is an error of the protocol.
fn unexpected(reply: Reply) -> Error {
    match reply {
        Reply::Failed(error) => error,
        other => Error::guardian("gives another answer")(format!("{other:?}")),
    }
}
