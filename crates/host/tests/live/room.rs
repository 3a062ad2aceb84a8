//! A namespace to work in, and commands run inside of it.

use coalescope_netlink::namespace::Namespace;
use std::process::Command;

/// An empty namespace, or a printed reason why the test is skipped.
pub(crate) fn namespace(test: &str) -> Option<Namespace> {
    Namespace::create()
        .inspect_err(|reason| eprintln!("SKIPPED, {test}: {reason}"))
        .ok()
}

/// Whether programs are there that a test compares with.
pub(crate) fn have(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().filter(|program| {
        let found = Command::new(program).arg("--version").output();
        found.is_err()
    });
    let missing: Vec<_> = missing.copied().collect();
    if !missing.is_empty() {
        eprintln!("SKIPPED, {test}: {} not installed", missing.join(", "));
    }
    missing.is_empty()
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
