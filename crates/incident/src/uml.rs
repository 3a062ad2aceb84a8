//! What is different of an incident in user-mode Linux, whose kernel has what many a machine's lacks:
//! bonding, IPVS, netem.

use crate::model::Incident;

impl Incident {
    /// The incident for user-mode Linux: with the replacements in its file, otherwise unchanged.
    #[must_use]
    pub fn on_uml(&self) -> Self {
        let mut incident = self.replaced_on_uml();
        if let Some([least, _]) = &mut incident.expect.window {
            // The guest's one processor has its share of a machine that may be busy: a round trip takes as long as that
            // makes it, and how few segments one has says nothing.
            *least = 0.0;
        }
        incident
    }

    fn replaced_on_uml(&self) -> Self {
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
