//! Running the command.

use assert_cmd::Command;
use coalescope_simulate::{Outcome, run, story};
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// The command, without whatever the tester's environment says about colour.
pub(crate) fn coalescope() -> Command {
    let mut command = Command::cargo_bin("coalescope").unwrap();
    command.env_remove("NO_COLOR").env("COLUMNS", "100");
    command
}

/// What a story's points captured, as files.
pub(crate) struct Captures {
    directory: TempDir,
}

impl Captures {
    pub(crate) fn of(name: &str) -> Self {
        let captures = Self {
            directory: TempDir::new().unwrap(),
        };
        for point in &simulated(name).points {
            captures.write(&format!("{}.pcap", point.name), &point.bytes);
        }
        captures
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// `coalescope trace` with these arguments, run where the captures are.
    pub(crate) fn trace(&self, arguments: &[&str]) -> Output {
        let mut command = coalescope();
        command.current_dir(self.path()).arg("trace");
        command.args(arguments).output().unwrap()
    }
}

pub(crate) fn simulated(name: &str) -> Outcome {
    run(&story(name).unwrap())
}

/// What `coalescope demo` says on standard output.
pub(crate) fn demo(name: &str) -> String {
    let output = coalescope().args(["demo", name]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
