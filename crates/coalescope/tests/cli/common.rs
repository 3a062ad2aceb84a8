//! Running the command.

use assert_cmd::Command;
use coalescope_simulate::{Outcome, run, story};
use serde_json::{Map, Value};
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

    /// A folder for others.
    pub(crate) fn empty() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
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

/// The schema of that name.
pub(crate) fn schema(name: &str) -> Value {
    let output = coalescope().args(["schema", name]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Fails if a document is not as its schema says, or has a field of which that says nothing.
pub(crate) fn is_as_its_schema_says(name: &str, document: &Value) {
    let mut schema = schema(name);
    each_object(&mut schema, &mut close);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

/// Fields may be added; until they are, there are no others.
fn close(object: &mut Map<String, Value>) {
    let open = ["additionalProperties", "allOf", "anyOf", "oneOf"];
    if object.contains_key("properties") && !open.iter().any(|key| object.contains_key(*key)) {
        object.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Looks at each object in a schema that is a schema itself, not a map of them by name.
pub(crate) fn each_object(part: &mut Value, look: &mut impl FnMut(&mut Map<String, Value>)) {
    match part {
        Value::Object(object) => {
            look(object);
            for (name, part) in object {
                match part {
                    Value::Object(named) if ["properties", "$defs"].contains(&name.as_str()) => {
                        named.values_mut().for_each(|part| each_object(part, look));
                    }
                    _ => each_object(part, look),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|part| each_object(part, look)),
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
