//! How a page was made: the command, the time, and the input files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

use coalescope_analysis::inputs::{self, Input, Point};
use coalescope_analysis::interrupt::Interrupt;
use coalescope_capture::provenance::digest;
use coalescope_host::safe::{printable_line, sh};
use coalescope_report::{Is, Made, Source};

use crate::page::PageFile;

/// The record for a page: these sources, this process's command line, the present time.
pub(crate) fn made(sources: Vec<Source>) -> Made {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Made {
        command: command(),
        at_unix_s: now.map_or(0, |since| since.as_secs()),
        sources,
    }
}

/// The command, as a shell would take it; the program without its folder.
fn command() -> String {
    let mut words = std::env::args_os();
    let program = words.next().map(PathBuf::from).unwrap_or_default();
    let program = program.file_name().map(ToOwned::to_owned);
    let words = program.into_iter().chain(words);
    let words = words.map(|word| sh(&printable_line(&word.to_string_lossy())).into_owned());
    words.collect::<Vec<_>>().join(" ")
}

/// The captures of points, which are read once more to be hashed.
pub(crate) fn captures(points: &[Point], interrupt: &Interrupt) -> Vec<Source> {
    let of = |point: &Point, input: &Input| Source {
        about: Some(point.name.clone()),
        name: input.name.clone(),
        is: input.described(&interrupt.flag()),
    };
    let each = points.iter();
    each.flat_map(|point| point.inputs.iter().map(|input| of(point, input)))
        .collect()
}

/// Saved output of hosts, opened, to be hashed once rights are given up.
pub(crate) struct Saved(Vec<(String, Option<File>)>);

impl Saved {
    /// Opens the saved output, for a page.
    pub(crate) fn open(page: &PageFile, from: &[PathBuf]) -> Self {
        let open = |path: &PathBuf| (inputs::display(path), file(path));
        let wanted = from.iter().filter(|_| page.is_wanted());
        Self(wanted.map(open).collect())
    }

    /// The sources; without saved output, this host.
    pub(crate) fn sources(self) -> Vec<Source> {
        if self.0.is_empty() {
            return of_this_host();
        }
        let all = self.0.into_iter();
        all.map(|(name, file)| match file {
            Some(file) => hashed(name, file),
            None => other(&name, "A folder or a stream: not hashed."),
        })
        .collect()
    }
}

/// This host, of which there is no file.
pub(crate) fn of_this_host() -> Vec<Source> {
    vec![other(
        "this host",
        "Looked at while the command ran: its settings are in no file.",
    )]
}

/// A source that is no file, with the reason why it is not described further.
pub(crate) fn other(name: &str, why: &str) -> Source {
    Source {
        about: None,
        name: name.to_owned(),
        is: Is::Other(why.to_owned()),
    }
}

/// Opens a path only if it is a file: a pipe would block until somebody writes, and can be read only once.
fn file(path: &Path) -> Option<File> {
    let is_file = std::fs::metadata(path).is_ok_and(|there| there.is_file());
    is_file.then(|| File::open(path).ok())?
}

fn hashed(name: String, mut file: File) -> Source {
    Source {
        about: None,
        name,
        is: Is::file(digest(&mut file, &AtomicBool::new(false))),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pipe, plain) = (folder.path().join("pipe"), folder.path().join("plain"));
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, &pipe, FileType::Fifo, mode, 0).expect("a pipe");
        std::fs::write(&plain, "text").expect("a file");
        assert!(file(&plain).is_some());
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(file(&pipe).is_some()));
        let opened = receiver.recv_timeout(Duration::from_secs(10));
        assert_eq!(opened, Ok(false), "nobody ever writes into it");
    }
}
