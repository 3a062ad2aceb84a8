//! A request, checked against this host before anything is changed.

use super::Error;
use crate::figures::Source;
use crate::record::{Asked, NamedCommand, Vary};
use coalescope_change::settings::{Factor, Setting, Subject, read, shared};
use coalescope_change::workload::{Vantage, Workload};
use std::time::Duration;

/// A checked request.
#[derive(Debug)]
pub struct Checked {
    /// For each factor, the settings, commands or vantages of its levels.
    pub(super) switches: Vec<Switch>,
    pub(super) workload: Workload,
    pub(super) sources: Vec<Source>,
    pub(super) place: Vantage,
    pub(super) peer: Option<Vantage>,
}

/// The settings, commands or vantages of one factor's levels.
#[derive(Clone, Debug)]
pub(super) enum Switch {
    Settings(Vec<Setting>),
    Commands(Vec<NamedCommand>),
    Vantages(Vec<Vantage>),
}

impl Checked {
    /// Parses a request. Nothing is looked up on the host yet.
    ///
    /// # Errors
    ///
    /// If a setting, a vantage or a metric cannot be parsed.
    pub fn new(asked: &Asked) -> Result<Self, Error> {
        let switches: Result<_, Error> = asked.factors.iter().map(Switch::new).collect();
        let sources: Result<_, _> = asked.metrics.iter().map(|text| text.parse()).collect();
        Ok(Self {
            switches: switches?,
            sources: sources?,
            workload: Workload {
                command: asked.command.clone(),
                timeout: asked.timeout_s.map(Duration::from_secs_f64),
            },
            place: match &asked.place {
                Some(place) => place.parse()?,
                None => Vantage::Here,
            },
            peer: asked.peer.as_deref().map(str::parse).transpose()?,
        })
    }

    /// All settings that will be made.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let of = |switch: &Switch| match switch {
            Switch::Settings(settings) => settings.clone(),
            Switch::Commands(_) | Switch::Vantages(_) => Vec::new(),
        };
        self.switches.iter().flat_map(of).collect()
    }

    /// Refuses factors that change the same feature under two names: a run would be of the level that was set last.
    ///
    /// # Errors
    ///
    /// [`Error::OneSetting`], and if an interface cannot be read.
    pub(super) fn mind_aliases(&self) -> Result<(), Error> {
        let of = |switch: &Switch| match switch {
            Switch::Settings(settings) => settings.first().map(|one| one.subject.clone()),
            Switch::Commands(_) | Switch::Vantages(_) => None,
        };
        let all: Vec<Subject> = self.switches.iter().filter_map(of).collect();
        for (number, one) in all.iter().enumerate() {
            for other in &all[number + 1..] {
                let shared = shared(one, other)?;
                if !shared.is_empty() {
                    return Err(Error::OneSetting {
                        one: one.to_string(),
                        other: other.to_string(),
                        features: shared.join(", "),
                    });
                }
            }
        }
        Ok(())
    }

    /// The named network namespaces of settings and workload.
    #[must_use]
    pub fn namespaces(&self) -> Vec<String> {
        let settings = self.settings().into_iter();
        let mut names: Vec<String> = settings
            .filter_map(|setting| setting.subject.namespace)
            .collect();
        let vantages = self.switches.iter().flat_map(|switch| match switch {
            Switch::Vantages(vantages) => vantages.clone(),
            Switch::Settings(_) | Switch::Commands(_) => Vec::new(),
        });
        let fixed = self.peer.iter().chain([&self.place]).cloned();
        names.extend(vantages.chain(fixed).filter_map(|vantage| match vantage {
            Vantage::Namespace(name) => Some(name),
            Vantage::Here | Vantage::Ssh(_) => None,
        }));
        names.sort();
        names.dedup();
        names
    }
}

impl Switch {
    fn new(vary: &Vary) -> Result<Self, Error> {
        Ok(match vary {
            Vary::Setting { subject, levels } => {
                let settings: Result<_, _> = levels
                    .iter()
                    .map(|level| format!("{subject}={level}").parse())
                    .collect();
                Self::Settings(settings?)
            }
            Vary::Commands { levels } => Self::Commands(levels.clone()),
            Vary::Vantage { levels } => {
                let vantages: Result<_, _> = levels.iter().map(|level| level.parse()).collect();
                Self::Vantages(vantages?)
            }
        })
    }
}

impl From<&Factor> for Vary {
    fn from(factor: &Factor) -> Self {
        Self::Setting {
            subject: factor.subject.to_string(),
            levels: factor.levels.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Varies a setting between its present value and this one.
///
/// # Errors
///
/// If the present value cannot be read, or is this one already.
pub fn now(setting: &Setting) -> Result<Vary, Error> {
    let subject: &Subject = &setting.subject;
    let is = read(subject)?;
    if is == setting.value {
        return Err(Error::NothingToCompare {
            subject: subject.to_string(),
            value: is.to_string(),
        });
    }
    Ok(Vary::Setting {
        subject: subject.to_string(),
        levels: vec![is.to_string(), setting.value.to_string()],
    })
}
