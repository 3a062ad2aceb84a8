//! `--format csv`: its columns are fields of the JSON, and its rows what that lists.

use std::path::Path;

use serde_json::Value;

use crate::check::{check, director};
use crate::common::{Captures, coalescope, stderr, stdout};

/// The header and the rows, by column.
struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().iter().map(str::to_owned);
        let header = header.collect();
        let rows = reader.records().map(|row| {
            let row = row.unwrap();
            row.iter().map(str::to_owned).collect()
        });
        Self {
            header,
            rows: rows.collect(),
        }
    }

    fn cell(&self, row: usize, column: &str) -> &str {
        let place = self.header.iter().position(|name| name == column);
        &self.rows[row][place.unwrap()]
    }
}

/// Both forms of one report.
fn both(folder: &Path, arguments: &[&str]) -> (Table, Value) {
    let run = |format: &str| {
        let mut command = coalescope();
        command.current_dir(folder).args(arguments);
        let output = command.args(["--format", format]).output().unwrap();
        assert!(output.status.code() < Some(2), "{}", stderr(&output));
        stdout(&output)
    };
    let table = Table::of(&run("csv"));
    (table, serde_json::from_str(&run("json")).unwrap())
}

#[test]
fn a_trace_has_a_row_for_each_connection_at_each_point() {
    let captures = Captures::of("hyperv-rsc-jumbo");
    let files = ["trace", "CAP-01.pcap", "CAP-02.pcap", "VM-01.pcap"];
    let (table, document) = both(captures.path(), &files);
    insta::assert_snapshot!(table.header.join("\n"));
    let points = document["points"].as_array().unwrap();
    let connections = |point: &Value| point["connections"].as_array().unwrap().len();
    assert_eq!(
        table.rows.len(),
        points.iter().map(connections).sum::<usize>()
    );
    let connection = &points[1]["connections"][0];
    assert_eq!(table.cell(1, "point"), "CAP-02");
    assert_eq!(
        table.cell(1, "client_address"),
        connection["client"]["address"]
    );
    let merged = &connection["to_client"]["merged_frames"];
    assert_eq!(table.cell(1, "to_client_merged_frames"), merged.to_string());
    assert_eq!(
        table.cell(1, "phases_connect_s"),
        connection["phases"]["connect_s"].to_string()
    );
    let limits: Vec<_> = (0..3).map(|row| table.cell(row, "limit_limit")).collect();
    assert!(limits.contains(&"merged-loss"), "{limits:?}");
}

#[test]
fn a_check_has_a_row_for_each_finding() {
    let (one, two) = (
        director("lvs1", ["off", "off"]),
        director("lvs2", ["on", "on"]),
    );
    let output = check(&[one.path(), two.path()], &["--format", "csv"]);
    assert_eq!(output.status.code(), Some(1));
    let table = Table::of(&stdout(&output));
    insta::assert_snapshot!(table.header.join("\n"));
    let output = check(&[one.path(), two.path()], &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(table.rows.len(), findings.len());
    for (row, finding) in findings.iter().enumerate() {
        for column in ["host", "interface", "id", "proof", "title"] {
            assert_eq!(table.cell(row, column), finding[column]);
        }
    }
}

#[test]
fn nothing_found_is_a_header() {
    let host = director("lvs1", ["off", "off"]);
    let output = check(&[host.path()], &["--format", "csv"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output).lines().count(), 1);
}

#[test]
fn a_replay_has_a_row_for_each_direction() {
    let captures = Captures::of("healthy-gro");
    let arguments = ["replay", "WIRE.pcap", "--profile", "linux-gro"];
    let (table, document) = both(captures.path(), &arguments);
    insta::assert_snapshot!(table.header.join("\n"));
    let directions = document["connections"].as_array().unwrap();
    assert_eq!(table.rows.len(), directions.len());
    for (row, direction) in directions.iter().enumerate() {
        assert_eq!(
            table.cell(row, "frames_in"),
            direction["frames_in"].to_string()
        );
        assert_eq!(
            table.cell(row, "source_address"),
            direction["source"]["address"]
        );
    }
}

#[test]
fn a_run_of_the_lab_has_a_row_for_each_incident() {
    let arguments = [
        "lab",
        "run",
        "hyperv-rsc-jumbo",
        "slow-server",
        "--simulated",
    ];
    let (table, document) = both(Path::new("."), &arguments);
    insta::assert_snapshot!(table.header.join("\n"));
    let incidents = document["incidents"].as_array().unwrap();
    assert_eq!(table.rows.len(), incidents.len());
    for (row, incident) in incidents.iter().enumerate() {
        assert_eq!(table.cell(row, "name"), incident["name"]);
        assert_eq!(
            table.cell(row, "slow_bps"),
            incident["slow_bps"].to_string()
        );
        assert_eq!(table.cell(row, "why"), "");
    }
}
