//! Findings and experiments: an experiment that switched what a finding accuses proves it, or
//! clears it.
//!
//! A finding names the experiment that would settle it (`coalescope ab --set eth0:gro=off`): the level that is set
//! there is expected to be better. The finding is proven when the level is better, and cleared when it makes no
//! difference, or is worse.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::{Experiment, Switch};
use crate::finding::Proof;
use crate::rules::{Blame, HostFinding};

/// The result of an experiment for one level of a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Switched {
    /// What makes the level.
    pub made: Switch,
    /// The change of the speed, against the level that it was compared with.
    pub went: Went,
    /// The change of the CPU time for the same bytes, if that was measured.
    pub cost_went: Option<Went>,
    /// The verdict in words.
    pub words: String,
}

/// Direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Went {
    /// Faster, or cheaper, by more than is negligible.
    Better,
    /// Slower, or dearer, by more than is negligible.
    Worse,
    /// No difference beyond the negligible.
    Alike,
    /// The data supports no claim.
    Unclear,
}

/// A finding that an experiment could settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// The finding's id.
    pub id: String,
    /// The interface or point, if it is about one.
    pub place: Option<String>,
    /// The finding's title, one line.
    pub title: String,
    /// Who is to blame, by the finding.
    pub blame: Blame,
    /// How sure it was.
    pub proof: Proof,
    /// The experiment that would settle it.
    pub experiment: Experiment,
}

/// A finding, as reports print it.
#[derive(Deserialize)]
struct InJson {
    id: String,
    title: String,
    proof: Proof,
    blame: Blame,
    experiment: Option<Experiment>,
    interface: Option<String>,
    switch: Option<String>,
    hop: Option<ToldHop>,
}

#[derive(Deserialize)]
struct ToldHop {
    from: String,
    to: String,
}

/// A finding after the experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Settled {
    /// The finding's id.
    pub id: String,
    /// The interface or point, if it is about one.
    pub place: Option<String>,
    /// In one line.
    pub title: String,
    /// How sure it was before.
    pub was: Proof,
    /// What it is now.
    pub now: Standing,
    /// Why.
    pub why: String,
}

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Switching the setting, and nothing else, switched the harm.
    Proven,
    /// Switching it made no difference, or a worse one.
    Cleared,
    /// As before: the answer is not clear.
    Open,
}

impl Standing {
    /// Its name, as printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Cleared => "cleared",
            Self::Open => "open",
        }
    }
}

impl Suspicion {
    /// A finding about a host's settings, if an experiment could settle it.
    #[must_use]
    pub fn of_host(finding: &HostFinding) -> Option<Self> {
        Some(Self {
            id: finding.id.clone(),
            place: finding.interface.clone().or_else(|| finding.switch.clone()),
            title: finding.title.clone(),
            blame: finding.blame,
            proof: finding.proof,
            experiment: finding.experiment.clone()?,
        })
    }

    /// The findings of a report as `check`, `trace` or `diagnose` print it in JSON, as far as an
    /// experiment could settle them.
    #[must_use]
    pub fn of_report(report: &serde_json::Value) -> Vec<Self> {
        let lists = [
            report.pointer("/findings"),
            report.pointer("/trace/findings"),
        ];
        let findings = lists
            .into_iter()
            .flatten()
            .filter_map(|list| list.as_array());
        findings.flatten().filter_map(Self::from_json).collect()
    }

    fn from_json(finding: &serde_json::Value) -> Option<Self> {
        let finding = InJson::deserialize(finding).ok()?;
        let hop = finding.hop.map(|hop| format!("{} -> {}", hop.from, hop.to));
        Some(Self {
            id: finding.id,
            place: finding.interface.or(finding.switch).or(hop),
            title: finding.title,
            blame: finding.blame,
            proof: finding.proof,
            experiment: finding.experiment?,
        })
    }

    /// The result for the finding; `None` if the experiment was about something else.
    fn settled(&self, switched: &[Switched]) -> Option<Settled> {
        let about: Vec<_> = switched.iter().filter_map(|one| self.answer(one)).collect();
        let strongest = |standing| about.iter().find(move |(now, _)| *now == standing);
        let (now, switched) = strongest(Standing::Proven)
            .or_else(|| strongest(Standing::Cleared))
            .or_else(|| about.first())?;
        Some(Settled {
            id: self.id.clone(),
            place: self.place.clone(),
            title: self.title.clone(),
            was: self.proof,
            now: *now,
            why: switched.words.clone(),
        })
    }

    fn answer<'a>(&self, switched: &'a Switched) -> Option<(Standing, &'a Switched)> {
        let is_about = self.experiment.makes(&switched.made);
        is_about.then(|| (self.standing(switched), switched))
    }

    fn standing(&self, switched: &Switched) -> Standing {
        let cheaper = switched.cost_went == Some(Went::Better);
        match switched.went {
            Went::Better => Standing::Proven,
            // Merging saves CPU first, and improves speed only where CPU is short.
            Went::Alike | Went::Unclear if self.blame == Blame::Missed && cheaper => {
                Standing::Proven
            }
            Went::Alike | Went::Worse => Standing::Cleared,
            Went::Unclear => Standing::Open,
        }
    }
}

/// The results of an experiment for findings; those that it was not about are left out.
#[must_use]
pub fn settle(suspicions: &[Suspicion], switched: &[Switched]) -> Vec<Settled> {
    suspicions
        .iter()
        .filter_map(|suspicion| suspicion.settled(switched))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suspicion(experiment: &str, blame: Blame) -> Suspicion {
        Suspicion {
            id: "x".to_owned(),
            place: None,
            title: "x".to_owned(),
            blame,
            proof: Proof::Suspected,
            experiment: experiment.to_owned().into(),
        }
    }

    fn switched(made: &str, went: Went, cost_went: Option<Went>) -> Switched {
        let command = || Switch::Command(made.to_owned());
        Switched {
            made: made.parse().map_or_else(|_| command(), Switch::Setting),
            went,
            cost_went,
            words: String::new(),
        }
    }

    fn now(experiment: &str, blame: Blame, switched: Switched) -> Option<Standing> {
        let settled = settle(&[suspicion(experiment, blame)], &[switched]);
        settled.first().map(|settled| settled.now)
    }

    const OFF: &str = "coalescope ab --set ns/box/up:gro=off -- COMMAND";

    #[test]
    fn the_setting_and_nothing_else_settles_it() {
        let of = |set, went| now(OFF, Blame::Harms, switched(set, went, None));
        assert_eq!(
            of("ns/box/up:gro=off", Went::Better),
            Some(Standing::Proven)
        );
        assert_eq!(
            of("ns/box/up:gro=off", Went::Alike),
            Some(Standing::Cleared)
        );
        assert_eq!(
            of("ns/box/up:gro=off", Went::Worse),
            Some(Standing::Cleared)
        );
        assert_eq!(of("ns/box/up:gro=off", Went::Unclear), Some(Standing::Open));
        for other in ["ns/box/up:gro=on", "ns/box/up:lro=off", "up:gro=off", ""] {
            assert_eq!(of(other, Went::Better), None, "{other}");
        }
    }

    #[test]
    fn a_trace_knows_no_interface_and_not_which_offload_merged() {
        let line = "coalescope ab --set IFACE:gro=off -- COMMAND";
        let of = |set| now(line, Blame::Harms, switched(set, Went::Better, None));
        assert_eq!(of("eth0:gro=off"), Some(Standing::Proven));
        assert_eq!(of("ns/box/eth0:rx-gro-hw=off"), Some(Standing::Proven));
        assert_eq!(of("eth0:lro=on"), None);
        assert_eq!(of("eth0:tso=off"), None);
        assert_eq!(of("eth0:mtu=1500"), None);
    }

    #[test]
    fn merging_that_is_missed_may_save_cpu_alone() {
        let line = "coalescope ab --set eth0:gro=on -- COMMAND";
        let of = |blame, cost| now(line, blame, switched("eth0:gro=on", Went::Alike, cost));
        assert_eq!(
            of(Blame::Missed, Some(Went::Better)),
            Some(Standing::Proven)
        );
        assert_eq!(of(Blame::Missed, None), Some(Standing::Cleared));
        assert_eq!(
            of(Blame::Harms, Some(Went::Better)),
            Some(Standing::Cleared)
        );
    }

    #[test]
    fn commands_are_known_by_their_text() {
        let line = "coalescope ab --do 'on: ssh h ifconfig ix0 lro' --do 'off: ssh h ifconfig ix0 -lro' -- C";
        let made = switched("ssh h ifconfig ix0 -lro", Went::Better, None);
        assert_eq!(now(line, Blame::Harms, made), Some(Standing::Proven));
    }
}
