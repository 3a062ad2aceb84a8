//! A check for tools that watch many hosts: test results, results of static analysis, metrics.

mod junit;
mod openmetrics;
mod sarif;

pub(crate) use junit::write as write_junit;
pub(crate) use openmetrics::write as write_openmetrics;
pub(crate) use sarif::write as write_sarif;

/// Name of the host itself among its interfaces and switches.
const HOST: &str = "host";
