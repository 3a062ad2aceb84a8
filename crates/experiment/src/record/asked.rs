//! The request of an experiment.

use crate::design::{Factor, FactorKind};
use crate::effects::{Rules, Sense};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was asked for: enough to go on, or to do it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The workload: one word is given to `sh -c`, several are executed as they are.
    pub command: Vec<String>,
    /// What is varied.
    pub factors: Vec<Vary>,
    /// Where the workload is run, unless that is varied: `ns/NAME`, `ssh:HOST`; none: here.
    pub place: Option<String>,
    /// What to read as figures: regular expressions and JSON pointers; none: what is known.
    pub metrics: Vec<String>,
    /// What more of the first of them means, if the user says so.
    pub sense: Option<Sense>,
    /// At most this many runs, warm-ups not counted.
    pub max_runs: usize,
    /// Decides the order of runs.
    pub seed: u64,
    /// Waited after each change, in seconds.
    pub settle_s: f64,
    /// A run that takes longer is ended, in seconds; none: it may take for ever.
    pub timeout_s: Option<f64>,
    /// All is restored this long after the start, in seconds, whatever happens.
    pub deadline_s: Option<f64>,
    /// Go on when a run fails.
    pub ignore_failure: bool,
    /// The interface whose bytes the CPU time is divided by, as `eth0` or `ns/NAME/eth0`; none: the
    /// one that is changed, else the busiest.
    pub interface: Option<String>,
    /// Where the other end is, to be counted as well: `ssh:HOST` or `ns/NAME`.
    pub peer: Option<String>,
    /// The error allowed and the difference that does not matter.
    pub rules: Rules,
}

/// One thing that is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "vary")]
pub enum Vary {
    /// A setting of this host.
    Setting {
        /// Which: `eth0:gro`, `ns/NAME/eth0:mtu`, `sysctl:net.ipv4.tcp_reordering`.
        subject: String,
        /// Its values.
        levels: Vec<String>,
    },
    /// Commands of the user's own.
    Commands {
        /// A name and a command for each level.
        levels: Vec<NamedCommand>,
    },
    /// From where the workload is run.
    Vantage {
        /// `here`, `ns/NAME`, `ssh:HOST`.
        levels: Vec<String>,
    },
}

/// A command that makes a level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCommand {
    /// The level's name.
    pub name: String,
    /// What makes it so, for `sh -c`.
    pub command: String,
}

impl Vary {
    /// This variation as a factor of the design.
    #[must_use]
    pub fn factor(&self) -> Factor {
        let (name, kind, levels) = match self {
            Self::Setting { subject, levels } => (subject.as_str(), FactorKind::Setting, levels),
            Self::Vantage { levels } => ("from", FactorKind::Vantage, levels),
            Self::Commands { levels } => {
                let names = levels.iter().map(|level| level.name.clone()).collect();
                return Factor {
                    name: "do".to_owned(),
                    kind: FactorKind::Setting,
                    levels: names,
                };
            }
        };
        Factor {
            name: name.to_owned(),
            kind,
            levels: levels.clone(),
        }
    }
}
