//! Starting a command at its vantage.

use super::group::Group;
use super::{Error, Vantage};
use crate::settings::Space;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Starts a command in a process group of its own, without input.
pub(super) fn start(
    mut command: Command,
    program: &str,
    vantage: &Vantage,
) -> Result<Group, Error> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let started = match vantage {
        Vantage::Here | Vantage::Ssh(_) => spawn(&mut command),
        // The child inherits the namespaces of the thread that forks it.
        Vantage::Namespace(name) => Space::open(Some(name))?.run(|| Ok(spawn(&mut command)))?,
    };
    let (child, at) = started.map_err(|problem| Error::Program {
        program: program.to_owned(),
        vantage: vantage.to_string(),
        problem,
    })?;
    Ok(Group::new(child, at))
}

/// The time is taken before the fork, after the namespace was entered.
fn spawn(command: &mut Command) -> std::io::Result<(std::process::Child, Instant)> {
    let at = Instant::now();
    Ok((command.spawn()?, at))
}
