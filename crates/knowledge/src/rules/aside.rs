//! Findings that are set aside: those that the user ignores, and those of an earlier check.

use std::collections::BTreeSet;

use coalescope_host::glob;
use coalescope_host::names::of_key;
use coalescope_host::safe::printable_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::HostFinding;
use super::load::Rules;
use crate::finding::Proof;
use crate::nearest::nearest;

/// Documents that a baseline may be.
const DOCUMENTS: [&str; 2] = ["coalescope/check/1", "coalescope/diagnose/1"];

/// A rule whose findings are to be ignored, at one place or everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    rule: String,
    place: Option<String>,
}

impl Ignore {
    /// Reads `RULE` or `RULE@PLACE`: an interface, a key or a virtual switch, in which `*` is any text.
    ///
    /// # Errors
    ///
    /// If there is no such rule: the error has the name that was probably meant.
    pub fn parse(text: &str, rules: &Rules) -> Result<Self, String> {
        let (rule, place) = match text.split_once('@') {
            Some((rule, place)) => (rule, Some(place)),
            None => (text, None),
        };
        if rules.get(rule).is_none() {
            return Err(unknown_rule(rule, rules));
        }
        Ok(Self {
            rule: rule.to_owned(),
            place: place.map(str::to_owned),
        })
    }

    fn covers(&self, finding: &HostFinding) -> bool {
        let at = |wanted: &String| {
            let place = finding.place();
            place.is_some_and(|key| glob::fits(wanted, key) || glob::fits(wanted, of_key(key).1))
        };
        self.rule == finding.id && self.place.as_ref().is_none_or(at)
    }
}

/// `there is no rule bridge-gor: did you mean bridge-gro? ...`
fn unknown_rule(rule: &str, rules: &Rules) -> String {
    let meant = nearest(rule, rules.iter().map(|rule| rule.id.as_str()));
    let meant = meant.map_or_else(String::new, |meant| format!("did you mean {meant}? "));
    format!(
        "there is no rule {}: {meant}`coalescope rules list` lists them",
        printable_line(rule)
    )
}

/// A finding in short.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FindingRef {
    /// The rule's id.
    pub id: String,
    /// The host.
    pub host: String,
    /// The interface, if it is about one.
    pub interface: Option<String>,
    /// The virtual switch, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// How sure.
    pub proof: Proof,
    /// In one line.
    pub title: String,
}

impl FindingRef {
    /// The reference to a finding.
    #[must_use]
    pub fn of(finding: &HostFinding) -> Self {
        Self {
            id: finding.id.clone(),
            host: finding.host.clone(),
            interface: finding.interface.clone(),
            switch: finding.switch.clone(),
            proof: finding.proof,
            title: finding.title.clone(),
        }
    }

    /// The interface or switch that the finding is about; `None` if that is the host itself.
    #[must_use]
    pub fn place(&self) -> Option<&str> {
        self.interface.as_deref().or(self.switch.as_deref())
    }

    /// Whether both are about the same place by the same rule, however sure.
    fn is_about(&self, finding: &HostFinding) -> bool {
        self.id == finding.id
            && self.host == finding.host
            && self.interface == finding.interface
            && self.switch == finding.switch
    }
}

/// An earlier check: only findings that are new since then are reported.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    schema: String,
    findings: Vec<FindingRef>,
    /// Findings that the earlier check took from a baseline of its own.
    #[serde(default)]
    known: Vec<FindingRef>,
}

impl Baseline {
    /// Reads the JSON output of `check` or `diagnose`.
    ///
    /// # Errors
    ///
    /// If it is another document.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let baseline: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match DOCUMENTS.contains(&baseline.schema.as_str()) {
            true => Ok(baseline),
            false => Err(format!("it is {}", printable_line(&baseline.schema))),
        }
    }

    fn all(&self) -> impl Iterator<Item = &FindingRef> {
        self.findings.iter().chain(&self.known)
    }

    /// Whether the baseline has a finding; a finding that is surer now is new.
    fn knows(&self, finding: &HostFinding) -> bool {
        let mut all = self.all();
        all.any(|known| known.is_about(finding) && known.proof >= finding.proof)
    }
}

/// Findings that were set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aside {
    /// Findings that the user ignores.
    pub ignored: Vec<FindingRef>,
    /// Findings that the baseline has too.
    pub known: Vec<FindingRef>,
    /// Findings that the baseline has, and that are gone from the hosts that were looked at.
    pub gone: Vec<FindingRef>,
}

impl Aside {
    /// Removes from the findings the ignored ones, then those of the baseline. No finding of a host that was not looked
    /// at counts as gone.
    #[must_use]
    pub fn take(
        findings: &mut [&mut Vec<HostFinding>],
        hosts: &BTreeSet<&str>,
        ignore: &[Ignore],
        baseline: Option<&Baseline>,
    ) -> Self {
        let mut aside = Self::default();
        let all = baseline.into_iter().flat_map(Baseline::all);
        let looked = all.filter(|known| hosts.contains(known.host.as_str()));
        let still = |known: &&FindingRef| {
            let mut now = findings.iter().flat_map(|findings| findings.iter());
            now.any(|finding| known.is_about(finding))
        };
        aside.gone = looked.filter(|known| !still(known)).cloned().collect();
        for findings in findings {
            findings.retain(|finding| {
                let to = if ignore.iter().any(|ignore| ignore.covers(finding)) {
                    &mut aside.ignored
                } else if baseline.is_some_and(|baseline| baseline.knows(finding)) {
                    &mut aside.known
                } else {
                    return true;
                };
                to.push(FindingRef::of(finding));
                false
            });
        }
        aside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Blame;

    fn finding(id: &str, interface: &str, proof: Proof) -> HostFinding {
        HostFinding {
            id: id.to_owned(),
            proof,
            blame: Blame::Harms,
            host: "lb1".to_owned(),
            interface: Some(interface.to_owned()),
            switch: None,
            title: format!("{id} at {interface}"),
            mechanism: String::new(),
            evidence: Vec::new(),
            experiment: None,
            remedies: Vec::new(),
            cost: None,
            sources: Vec::new(),
            explains: Vec::new(),
            dropped_as: Vec::new(),
            holding: Vec::new(),
        }
    }

    fn ignore(rule: &str, place: Option<&str>) -> Ignore {
        Ignore {
            rule: rule.to_owned(),
            place: place.map(str::to_owned),
        }
    }

    fn baseline(findings: &[HostFinding]) -> Baseline {
        let findings: Vec<_> = findings.iter().map(FindingRef::of).collect();
        let document =
            serde_json::json!({ "schema": DOCUMENTS[0], "findings": findings, "hosts": [] });
        Baseline::parse(document.to_string().as_bytes()).expect("a baseline")
    }

    fn taken(
        mut findings: Vec<HostFinding>,
        ignore: &[Ignore],
        baseline: Option<&Baseline>,
    ) -> (usize, Aside) {
        let hosts = BTreeSet::from(["lb1"]);
        let aside = Aside::take(&mut [&mut findings], &hosts, ignore, baseline);
        (findings.len(), aside)
    }

    #[test]
    fn a_rule_is_ignored_everywhere_or_at_a_place() {
        let two = || {
            vec![
                finding("lro", "eth0", Proof::Suspected),
                finding("lro", "ns/vm/veth7", Proof::Suspected),
            ]
        };
        assert_eq!(taken(two(), &[ignore("lro", None)], None).0, 0);
        assert_eq!(taken(two(), &[ignore("lro", Some("eth0"))], None).0, 1);
        assert_eq!(taken(two(), &[ignore("lro", Some("veth*"))], None).0, 1);
        assert_eq!(
            taken(two(), &[ignore("lro", Some("ns/vm/veth7"))], None).0,
            1
        );
        assert_eq!(taken(two(), &[ignore("lro", Some("e"))], None).0, 2);
        assert_eq!(taken(two(), &[ignore("gro", None)], None).0, 2);
        assert_eq!(
            taken(two(), &[ignore("lro", None)], None).1.ignored.len(),
            2
        );
    }

    #[test]
    fn only_what_is_new_is_left_and_what_is_gone_is_listed() {
        let before = baseline(&[
            finding("lro", "eth0", Proof::Suspected),
            finding("lro", "eth1", Proof::Suspected),
            finding("lro", "eth2", Proof::Suspected),
        ]);
        let now = vec![
            finding("lro", "eth0", Proof::Suspected),
            // More is known than then.
            finding("lro", "eth1", Proof::Observed),
            finding("gro", "eth0", Proof::Suspected),
        ];
        let (left, aside) = taken(now, &[], Some(&before));
        assert_eq!(left, 2);
        assert_eq!(aside.known.len(), 1);
        let gone: Vec<_> = aside.gone.iter().map(|gone| gone.title.as_str()).collect();
        assert_eq!(gone, ["lro at eth2"]);
    }

    #[test]
    fn of_a_host_that_was_not_looked_at_nothing_is_gone() {
        let mut other = finding("lro", "eth0", Proof::Suspected);
        other.host = "lb2".to_owned();
        let (_, aside) = taken(Vec::new(), &[], Some(&baseline(&[other])));
        assert!(aside.gone.is_empty());
    }

    #[test]
    fn a_baseline_is_what_a_check_printed() {
        assert!(Baseline::parse(b"").is_err());
        assert!(
            Baseline::parse(b"{\"schema\": \"coalescope/trace/1\", \"findings\": []}").is_err()
        );
        let own = b"{\"schema\": \"coalescope/check/1\", \"findings\": [], \"known\": []}";
        assert!(Baseline::parse(own).is_ok());
    }
}
