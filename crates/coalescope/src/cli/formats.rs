//! Forms of output, and what there is a schema of.

use clap::ValueEnum;

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON document, coalescope/trace/1
    Json,
    /// A row for each connection at each point
    Csv,
}

/// A form of output of `coalescope replay`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReplayFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document, coalescope/replay/1
    Json,
    /// A row for each direction of each connection
    Csv,
}

/// A form of output of `coalescope check`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document, coalescope/check/1
    Json,
    /// A row for each finding
    Csv,
    /// JUnit's XML for CI servers: a case for each interface
    Junit,
    /// SARIF 2.1.0: a result for each finding
    Sarif,
    /// Metrics for node_exporter's textfile collector
    Openmetrics,
}

/// A form of output of the other commands about hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum HostFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document
    Json,
}

/// A form of output of `coalescope lab wire`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WireFormat {
    /// For people
    #[default]
    Text,
    /// One JSON document, coalescope/lab-wire/1
    Json,
}

/// What there is a JSON Schema of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// What `trace` prints, also with --compare: coalescope/trace/1
    Trace,
    /// What `check` prints: coalescope/check/1
    Check,
    /// What `diagnose` prints: coalescope/diagnose/1
    Diagnose,
    /// What `ab` prints, and the record that it keeps: coalescope/ab/1
    Ab,
    /// What `fix` prints: coalescope/fix/1
    Fix,
    /// What `undo` prints: coalescope/undo/1
    Undo,
    /// What `replay` prints: coalescope/replay/1
    Replay,
    /// What `collect` prints, and fixtures of rules are made of: coalescope/host/1
    Host,
    /// What `lab run` prints, and `demo` if it runs live: coalescope/lab/1
    Lab,
    /// What `lab wire` prints: coalescope/lab-wire/1
    LabWire,
    /// What `rules list` and `rules show` print: coalescope/rules/1
    RulesList,
    /// What `rules test` prints: coalescope/rules-test/1
    RulesTest,
    /// A file of rules, as `--rules` reads them
    Rules,
    /// A file with an incident, as `lab run` reads them
    Incident,
    /// What `ab` and `fix` write down before they change anything: coalescope/journal/1
    Journal,
}
