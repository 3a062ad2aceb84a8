//! The program's own commands, run on the lab's hosts.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::speech;

/// This program, even if its file was replaced meanwhile.
const SELF: &str = "/proc/self/exe";

/// Runs this program's commands in a folder, with their state in it.
pub(super) struct Commands<'a> {
    folder: &'a Path,
}

impl<'a> Commands<'a> {
    /// State is kept in a folder inside of this one.
    pub(super) fn new(folder: &'a Path) -> Self {
        Self { folder }
    }

    /// The JSON output of a command. The exit code for findings is no error.
    pub(super) fn json(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        self.json_of(arguments, &[0, 1])
    }

    /// The JSON output of a command that may exit with one of these codes.
    pub(super) fn json_of(&self, arguments: &[&str], codes: &[i32]) -> anyhow::Result<Value> {
        let output = self.output(arguments)?;
        if output
            .status
            .code()
            .is_none_or(|code| !codes.contains(&code))
        {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or_default();
            bail!("coalescope {}: {last}", arguments.join(" "));
        }
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("coalescope {} prints no JSON", arguments[0]))
    }

    fn output(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        // The command runs in the folder, where a relative path would mean another file.
        let state = std::path::absolute(self.folder.join("state"))
            .context("cannot tell where the lab's folder is: give --keep an absolute path")?;
        speech::detail(|| format!("$ coalescope {}", arguments.join(" ")));
        Command::new(SELF)
            .args(arguments)
            .current_dir(self.folder)
            .env("COALESCOPE_STATE", state)
            // No ssh session goes over the lab's interfaces.
            .env_remove("SSH_CONNECTION")
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run coalescope {}", arguments[0]))
    }
}

/// The entries of a list in a command's output; none if it is no list.
pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
