//! Running the command.

use assert_cmd::Command;
use coalescope_simulate::{Outcome, run, story};
use serde_json::Value;
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

/// Fails if a document is not as its schema says, or has a field of which that says nothing.
pub(crate) fn is_as_its_schema_says(name: &str, document: &Value) {
    let output = coalescope().args(["schema", name]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// Fields may be added; until they are, there are no others.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            let open = ["additionalProperties", "allOf", "anyOf", "oneOf"];
            if parts.contains_key("properties") && !open.iter().any(|key| parts.contains_key(*key))
            {
                parts.insert("additionalProperties".to_owned(), false.into());
            }
            parts.values_mut().for_each(close);
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
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
