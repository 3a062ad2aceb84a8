//! A check for programs that watch many hosts: test results, results of static analysis, metrics.

mod junit;
mod openmetrics;
mod sarif;

pub(crate) use junit::write as write_junit;
pub(crate) use openmetrics::write as write_openmetrics;
pub(crate) use sarif::write as write_sarif;

use coalescope_knowledge::rules::HostFinding;

/// What a finding is about, within its host.
fn place(finding: &HostFinding) -> &str {
    let place = finding.interface.as_deref().or(finding.switch.as_deref());
    place.unwrap_or(HOST)
}

/// Stands for the host itself among its interfaces and switches.
const HOST: &str = "host";
