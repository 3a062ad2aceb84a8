//! Forms of output, and what there is a schema of.

use clap::ValueEnum;

/// A form that more than one command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
    Csv,
}

/// Makes the values of `--format` of each command, with what its help says of each form.
macro_rules! formats {
    ($($about:literal $name:ident { $($form:ident: $help:literal,)* })*) => { $(
        #[doc = $about]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
        pub enum $name {
            /// For people
            #[default]
            Text,
            $(#[doc = $help] $form,)*
        }

        impl From<$name> for Form {
            fn from(format: $name) -> Self {
                match format {
                    $name::Text => Self::Text,
                    $($name::$form => Self::$form,)*
                }
            }
        }
    )* };
}

formats! {
    "A form of output of `coalescope trace`."
    Format {
        Json: "One JSON document, coalescope/trace/1",
        Csv: "A row for each connection at each point",
    }
    "A form of output of `coalescope replay`."
    ReplayFormat {
        Json: "One JSON document, coalescope/replay/1",
        Csv: "A row for each direction of each connection",
    }
    "A form of output of `coalescope watch`."
    WatchFormat {
        Json: "One JSON document, coalescope/watch/1",
        Csv: "A row for each interface",
    }
    "A form of output of `coalescope ab`."
    AbFormat {
        Json: "One JSON document, coalescope/ab/1",
        Csv: "A line for each run",
    }
    "A form of output of `coalescope lab run`."
    LabFormat {
        Json: "One JSON document, coalescope/lab/1",
        Csv: "A row for each incident",
    }
    "A form of output of `coalescope lab wire`."
    WireFormat {
        Json: "One JSON document, coalescope/lab-wire/1",
    }
    "A form of output of the other commands about hosts."
    HostFormat {
        Json: "One JSON document",
    }
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

impl CheckFormat {
    /// The form, if other commands have it too.
    pub(crate) fn form(self) -> Option<Form> {
        match self {
            Self::Text => Some(Form::Text),
            Self::Json => Some(Form::Json),
            Self::Csv => Some(Form::Csv),
            Self::Junit | Self::Sarif | Self::Openmetrics => None,
        }
    }
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
    /// What `watch` prints: coalescope/watch/1
    Watch,
    /// A line of what `watch --record` writes: coalescope/watch-record/1
    WatchRecord,
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
