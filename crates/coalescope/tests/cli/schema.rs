//! JSON Schemas: they are as they were, and what is printed is as they say.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::check::{check, diagnose, director};
use crate::common::{
    Captures, coalescope, each_object, is_as_its_schema_says, schema, simulated, stderr, stdout,
};

/// The names that `coalescope schema` lists.
fn names() -> Vec<String> {
    let output = coalescope().arg("schema").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let list = stdout(&output);
    let words = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    words.map(str::to_owned).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn schemas_are_as_they_were() {
    insta::assert_snapshot!("schemas", names().join("\n"));
    for name in names() {
        let output = coalescope().args(["schema", &name]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        insta::assert_snapshot!(format!("schema_of_{name}"), stdout(&output));
    }
}

#[test]
fn all_are_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let reference = std::fs::read_to_string(root.join("docs/formats.md")).unwrap();
    for name in names() {
        assert!(reference.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn every_field_is_described() {
    // What a tag says is said with the variant.
    let is_silent =
        |field: &Value| field.get("description").is_none() && field.get("const").is_none();
    for name in names() {
        let mut silent = BTreeSet::new();
        each_object(&mut schema(&name), &mut |object| {
            let fields = object.get("properties").and_then(Value::as_object);
            // The name of a variant, which is described around it.
            let is_variant = object.contains_key("description");
            let fields = fields.filter(|fields| fields.len() > 1 || !is_variant);
            let fields = fields
                .into_iter()
                .flatten()
                .filter(|(_, field)| is_silent(field));
            silent.extend(fields.map(|(field, _)| field.clone()));
        });
        assert!(silent.is_empty(), "{name}: {silent:?}");
    }
}

fn document(command: &mut assert_cmd::Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    let document = serde_json::from_slice(&output.stdout);
    assert!(document.is_ok(), "{}", stderr(&output));
    document.unwrap()
}

#[test]
fn of_traces() {
    for story in [
        "hyperv-rsc-jumbo",
        "frag-needed",
        "vxlan",
        "zero-window",
        "upload",
    ] {
        let captures = Captures::of(story);
        let points = simulated(story).points.into_iter();
        let files: Vec<_> = points.map(|point| format!("{}.pcap", point.name)).collect();
        let mut command = coalescope();
        command
            .current_dir(captures.path())
            .arg("trace")
            .args(&files);
        is_as_its_schema_says("trace", &document(&mut command));
    }
}

#[test]
fn of_a_comparison() {
    let captures = Captures::of("ipvs-gro-direct");
    captures.write("vip.pcap", &simulated("ipvs-gro-vip").points[0].bytes);
    let mut command = coalescope();
    command.current_dir(captures.path());
    command.args(["trace", "--compare", "CLIENT.pcap", "vip.pcap"]);
    let document = document(&mut command);
    assert!(document["comparison"].is_object());
    is_as_its_schema_says("trace", &document);
}

#[test]
fn of_checks_and_diagnoses() {
    let (one, two) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["off", "on"]),
    );
    let output = check(&[one.path(), two.path()], &["--format", "json"]);
    is_as_its_schema_says("check", &serde_json::from_slice(&output.stdout).unwrap());
    let told = diagnose("hyperv-rsc-jumbo", &["CAP-01", "CAP-02", "VM-01"]);
    assert!(told["trace"].is_object());
    is_as_its_schema_says("diagnose", &told);
}

#[test]
fn of_replays() {
    let captures = Captures::of("healthy-gro");
    let mut command = coalescope();
    command.current_dir(captures.path());
    command.args(["replay", "WIRE.pcap", "--profile", "linux-gro"]);
    is_as_its_schema_says("replay", &document(&mut command));
}

#[test]
fn of_rules() {
    for arguments in [&["list"][..], &["show", "ipvs-director-gro"]] {
        let mut command = coalescope();
        let document = document(command.arg("rules").args(arguments));
        is_as_its_schema_says("rules-list", &document);
    }
    let tested = document(coalescope().args(["rules", "test"]));
    assert!(tested["rules"].as_u64() > Some(10));
    is_as_its_schema_says("rules-test", &tested);
}

#[test]
#[cfg(target_os = "linux")]
fn of_this_host() {
    let output = coalescope().arg("collect").output().unwrap();
    is_as_its_schema_says("host", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn of_files_that_people_write() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for (folder, name) in [("rules", "rules"), ("incidents", "incident")] {
        for file in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            // What findings of a trace mean, and recipes for remedies, are other files.
            let is_yaml = path
                .extension()
                .is_some_and(|extension| extension == "yaml");
            if !is_yaml
                || path.ends_with("rules/trace.yaml")
                || path.ends_with("rules/recipes.yaml")
            {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let document: Value = serde_saphyr::from_str(&text).unwrap();
            is_as_its_schema_says(name, &document);
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen}");
}

#[test]
fn what_is_not_as_described_is_noticed() {
    let captures = Captures::of("healthy-gro");
    let mut command = coalescope();
    command
        .current_dir(captures.path())
        .args(["trace", "WIRE.pcap"]);
    let good = document(&mut command);
    let mut more = good.clone();
    more["points"][0]["surprise"] = 1.into();
    let mut less = good.clone();
    less["points"][0].as_object_mut().unwrap().remove("frames");
    let mut wrong = good;
    wrong["verdict"]["merging"] = "perhaps".into();
    for document in [more, less, wrong] {
        let noticed = std::panic::catch_unwind(|| is_as_its_schema_says("trace", &document));
        assert!(noticed.is_err());
    }
}
