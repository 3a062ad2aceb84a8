//! What is different of an incident in user-mode Linux, whose kernel has what many a machine's lacks:
//! bonding, IPVS, netem.

use crate::{Control, Expect, Incident, Part, Setting, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What takes the place of fields of the incident.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnUml {
    /// Instead of the incident's.
    pub path: Vec<Part>,
    /// Instead of the incident's, in microseconds.
    #[serde(default)]
    pub rtt_us: Option<u64>,
    /// Instead of the incident's, in payload bytes.
    #[serde(default)]
    pub segment_bytes: Option<u32>,
    /// Instead of the incident's.
    #[serde(default)]
    pub workload: Option<Workload>,
    /// Instead of the incident's.
    #[serde(default)]
    pub remedy: Option<Setting>,
    /// Instead of the incident's.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// Instead of the incident's.
    #[serde(default)]
    pub points: Option<Vec<String>>,
    /// Instead of the incident's.
    #[serde(default)]
    pub controls: Option<Vec<Control>>,
}

impl Incident {
    /// The incident as it is run in user-mode Linux: with what its file says of that, otherwise as it is.
    #[must_use]
    pub fn on_uml(&self) -> Self {
        let mut incident = self.clone();
        let Some(uml) = incident.uml.take() else {
            return incident;
        };
        incident.path = uml.path;
        replace(&mut incident.rtt_us, uml.rtt_us);
        replace(&mut incident.segment_bytes, uml.segment_bytes);
        replace(&mut incident.workload, uml.workload);
        replace(&mut incident.remedy, uml.remedy);
        replace(&mut incident.expect, uml.expect);
        replace(&mut incident.points, uml.points);
        replace(&mut incident.controls, uml.controls);
        incident
    }
}

fn replace<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
