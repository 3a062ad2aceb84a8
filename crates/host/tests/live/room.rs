//! A namespace to work in, and commands run inside of it.

use coalescope_needs as needs;
use coalescope_netlink::namespace::Namespace;
use std::process::Command;

/// An empty namespace, or the test is skipped.
pub(crate) fn namespace(test: &str) -> Option<Namespace> {
    needs::had(test, Namespace::create())
}

/// Runs a command line (no quoting); what it printed, if it went well.
pub(crate) fn run(line: &str) -> Result<String, String> {
    let mut words = line.split_whitespace();
    let program = words.next().expect("a program");
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!(
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// Runs a command that has to go well.
pub(crate) fn must(line: &str) -> String {
    run(line).expect("it goes well")
}
