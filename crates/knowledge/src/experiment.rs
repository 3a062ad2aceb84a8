//! The switches of an experiment, and the settings of a remedy, as data. Rules and reports have both as text, which is
//! parsed once, where it comes in.

use std::fmt;
use std::str::FromStr;

use coalescope_host::names::owner_end;
use serde::{Deserialize, Serialize};

/// Stands for the interface where a trace does not know it.
const UNKNOWN_INTERFACE: &str = "IFACE";
/// Settings that merge received frames, by ethtool's short names. A trace shows that merging harms, not which of these
/// settings merged.
const MERGING: [&str; 3] = ["gro", "lro", "rx-gro-hw"];

/// A setting with its value, as `coalescope ab` and `fix` take it: `eth0:gro=off`. In JSON it is that text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SetTo {
    /// What has the setting: an interface's key (`eth0`, `ns/blue/eth0`), or `sysctl`.
    pub subject: String,
    /// The setting's name: `gro`.
    pub name: String,
    /// Its value: `off`.
    pub value: String,
}

impl SetTo {
    /// A switch of an interface.
    #[must_use]
    pub fn switch(interface: &str, name: &str, is_on: bool) -> Self {
        Self {
            subject: interface.to_owned(),
            name: name.to_owned(),
            value: if is_on { "on" } else { "off" }.to_owned(),
        }
    }

    /// Whether a setting that was made is this one. Where the interface is not known, any setting that merges matches.
    pub(crate) fn is_made_by(&self, made: &Self) -> bool {
        if self.subject != UNKNOWN_INTERFACE {
            return self == made;
        }
        let merges = |level: &Self| MERGING.contains(&level.name.as_str());
        let is_same = self.name == made.name || merges(self) && merges(made);
        is_same && self.value == made.value
    }
}

impl fmt::Display for SetTo {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}={}", self.subject, self.name, self.value)
    }
}

impl FromStr for SetTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (subject, rest) = text.split_at(owner_end(text));
        let parts = rest.strip_prefix(':').and_then(|rest| rest.split_once('='));
        let (name, value) =
            parts.ok_or_else(|| format!("{text} is no setting such as eth0:gro=off"))?;
        Ok(Self {
            subject: subject.to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

impl TryFrom<String> for SetTo {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SetTo> for String {
    fn from(level: SetTo) -> Self {
        level.to_string()
    }
}

/// The command that would settle a finding. In JSON it is its command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Experiment {
    line: String,
    /// The settings that the command makes (`--set`).
    levels: Vec<SetTo>,
    /// The commands that switch (`--do`), without their names.
    commands: Vec<String>,
}

impl Experiment {
    /// An experiment that switches these settings.
    #[must_use]
    pub fn with(levels: Vec<SetTo>) -> Self {
        let sets = levels.iter().map(|level| format!(" --set {level}"));
        Self {
            line: format!("coalescope ab{} -- COMMAND", sets.collect::<String>()),
            levels,
            commands: Vec::new(),
        }
    }

    /// The command line.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Whether the experiment would make exactly this level.
    pub(crate) fn makes(&self, made: &Switch) -> bool {
        match made {
            Switch::Setting(made) => self.levels.iter().any(|level| level.is_made_by(made)),
            Switch::Command(made) => self.commands.contains(made),
        }
    }
}

impl fmt::Display for Experiment {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.line)
    }
}

impl From<String> for Experiment {
    fn from(line: String) -> Self {
        // A line that a shell would not parse switches nothing.
        let words = shlex::split(&line).unwrap_or_default();
        let after = |option: &'static str| {
            let pairs = words.windows(2).filter(move |pair| pair[0] == option);
            pairs.map(|pair| pair[1].as_str())
        };
        let levels = after("--set").filter_map(|text| text.parse().ok());
        let commands = after("--do").filter_map(|text| text.split_once(": "));
        Self {
            levels: levels.collect(),
            commands: commands.map(|(_, command)| command.to_owned()).collect(),
            line,
        }
    }
}

impl From<Experiment> for String {
    fn from(experiment: Experiment) -> Self {
        experiment.line
    }
}

/// What made a level of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Switch {
    /// A setting, with short names of features.
    Setting(SetTo),
    /// A user's command.
    Command(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_text_that_it_was() {
        for text in [
            "eth0:gro=off",
            "ns/a=b:c/up=1:gro=off",
            "sysctl:net.ipv4.tcp_rmem=4096 = 1",
        ] {
            let level: SetTo = text.parse().expect("a setting");
            assert_eq!(level.to_string(), text);
        }
        let level: SetTo = "ns/a=b:c/up=1:gro=off".parse().expect("a setting");
        assert_eq!(level, SetTo::switch("ns/a=b:c/up=1", "gro", false));
        for text in ["", "eth0", "eth0:gro", "eth0=1:gro"] {
            assert!(text.parse::<SetTo>().is_err(), "{text}");
        }
    }

    #[test]
    fn quotes_keep_words_together() {
        let line = r"coalescope ab --do 'on: ssh '\''a b'\'' x' --set 'ns/a b/up':gro=off  # each";
        let experiment = Experiment::from(line.to_owned());
        assert_eq!(experiment.commands, ["ssh 'a b' x"]);
        assert_eq!(
            experiment.levels,
            [SetTo::switch("ns/a b/up", "gro", false)]
        );
        assert_eq!(experiment.line(), line);
    }
}
