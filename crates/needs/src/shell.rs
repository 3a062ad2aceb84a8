//! Shells that check or run commands which are printed for copying.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

/// Whether a shell accepts a text as commands.
#[must_use]
pub fn reads(text: &str) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-n", "-c", text]).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

/// Runs a text in a folder, by a shell whose PATH is one other folder.
///
/// # Errors
///
/// If there is no shell.
pub fn run(text: &str, folder: &Path, programs: &Path) -> io::Result<Output> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", text]).current_dir(folder);
    shell.env_clear().env("PATH", programs);
    shell.stdin(Stdio::null()).output()
}

/// Runs `work`, which may write in one folder and nowhere else, with its children: even a shell
/// that finds no program can write over any file of the machine. `None` if this kernel has no
/// Landlock; then `work` is not run.
/// # Panics
///
/// If `work` panics.
pub fn confined<T: Send>(folder: &Path, work: impl FnOnce() -> T + Send) -> Option<T> {
    let worker = || confine(folder).then(work);
    let done = thread::scope(|scope| scope.spawn(worker).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Restricts this thread to writing in one folder.
#[cfg(target_os = "linux")]
fn confine(folder: &Path) -> bool {
    use landlock::{
        ABI, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
        path_beneath_rules,
    };
    let writing = AccessFs::from_write(ABI::V3);
    let confined = || -> Result<RulesetStatus, RulesetError> {
        let ruleset = Ruleset::default().handle_access(writing)?.create()?;
        let ruleset = ruleset.add_rules(path_beneath_rules([folder], writing))?;
        let silence = path_beneath_rules(["/dev/null"], AccessFs::WriteFile);
        Ok(ruleset.add_rules(silence)?.restrict_self()?.ruleset)
    };
    confined().is_ok_and(|status| status != RulesetStatus::NotEnforced)
}

#[cfg(not(target_os = "linux"))]
fn confine(_folder: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_confined_writes_in_its_folder_alone() {
        let root = std::env::temp_dir().join(format!("confined-{}", std::process::id()));
        let folder = root.join("folder");
        fs::create_dir_all(&folder).expect("a folder");
        let outside = root.join("outside");
        let text = format!(": > inside\n: > '{}'", outside.display());
        let nothing = Path::new("/nonexistent");
        let done = confined(&folder, || run(&text, &folder, nothing).expect("a shell"));
        match done {
            Some(_) => assert!(folder.join("inside").exists() && !outside.exists()),
            None => crate::skipped("what is confined", "a kernel with Landlock"),
        }
        fs::remove_dir_all(&root).expect("it is there");
    }
}
