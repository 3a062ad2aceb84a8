//! System calls of a program, traced by `strace`.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A completed system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The thread.
    pub pid: u32,
    /// The call's name.
    pub name: String,
    /// Its arguments, descriptors with their paths: `5</tmp/a>, "b"`.
    pub arguments: String,
    /// Whether it succeeded.
    pub has_succeeded: bool,
}

/// A traced program that has ended.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The requested calls, in order.
    pub calls: Vec<Call>,
    /// Whether the program exited with 0.
    pub has_succeeded: bool,
    /// The program's output.
    pub said: String,
}

/// Runs a program under `strace`, with its children, and returns its calls of these names. `inject`
/// makes a call fail, as in `openat2:error=ENOSYS`.
///
/// # Errors
///
/// If the program cannot be run or traced.
pub fn of(program: &mut Command, names: &str, inject: Option<&str>) -> io::Result<Traced> {
    let file = std::env::temp_dir().join(format!("calls-{}-{:?}", std::process::id(), thread()));
    let mut strace = Command::new("strace");
    // Whole paths, and no lines for signals and exits.
    strace.args(["-f", "-y", "-qq", "-s", "4096", "-e", "signal=none", "-o"]);
    strace.arg(&file).arg(format!("--trace={names}"));
    strace.args(inject.map(|how| format!("--inject={how}")));
    strace.arg(program.get_program()).args(program.get_args());
    if let Some(folder) = program.get_current_dir() {
        strace.current_dir(folder);
    }
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    let output = strace.stdin(Stdio::null()).output();
    let calls = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    let output = output?;
    let said = [output.stdout, output.stderr].concat();
    let traced = Traced {
        calls: parse(&calls?),
        has_succeeded: output.status.success(),
        said: String::from_utf8_lossy(&said).into_owned(),
    };
    match traced.calls.is_empty() && !traced.has_succeeded {
        true => Err(io::Error::other(traced.said)),
        false => Ok(traced),
    }
}

fn thread() -> std::thread::ThreadId {
    std::thread::current().id()
}

/// Parses lines such as `7 fsync(3</tmp>) = 0`. A call that another thread's line interrupts is joined again.
fn parse(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut begun: Vec<(u32, String)> = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else {
            continue;
        };
        let Ok(pid) = pid.parse() else { continue };
        let rest = rest.trim_start();
        if let Some(first) = rest.strip_suffix(" <unfinished ...>") {
            begun.push((pid, first.to_owned()));
        } else if let Some((_, last)) = rest.split_once(" resumed>") {
            let at = begun.iter().position(|(of, _)| *of == pid);
            let first = at.map(|at| begun.swap_remove(at).1);
            calls.extend(call(pid, &format!("{}{last}", first.unwrap_or_default())));
        } else {
            calls.extend(call(pid, rest));
        }
    }
    calls
}

fn call(pid: u32, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest
        .rsplit_once(')')
        .filter(|(_, after)| {
            // A return value may be followed by brackets: `-1 ENOENT (No such file)`.
            after.trim_start().starts_with('=')
        })
        .or_else(|| {
            rest.rsplit_once(") = ")
                .or_else(|| rest.rsplit_once(")  = "))
        })?;
    let result = result.trim_start_matches([' ', '=']);
    Some(Call {
        pid,
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        has_succeeded: !result.starts_with('-') && !result.starts_with('?'),
    })
}

impl Call {
    /// The path of the descriptor in the argument of this number.
    fn descriptor(&self, number: usize) -> Option<&str> {
        let argument = self.arguments.split(", ").nth(number)?;
        argument.split_once('<')?.1.strip_suffix('>')
    }

    /// The folder of a rename: that of the new name.
    fn folder(&self) -> Option<String> {
        if self.name == "rename" {
            let new = self.arguments.rsplit('"').nth(1)?;
            let folder = Path::new(new).parent()?;
            return Some(folder.to_str()?.to_owned());
        }
        self.descriptor(2).map(str::to_owned)
    }
}

/// Renames after which the thread did not sync the folder before its next rename, or before which
/// it did not sync a file in it; and the number of all renames.
#[must_use]
pub fn not_synced(calls: &[Call]) -> (Vec<Call>, usize) {
    let done: Vec<&Call> = calls.iter().filter(|call| call.has_succeeded).collect();
    let is_renaming = |call: &Call| call.name.starts_with("rename");
    let is_sync = |call: &Call| matches!(call.name.as_str(), "fsync" | "fdatasync");
    let mut bad = Vec::new();
    let renamings = done
        .iter()
        .enumerate()
        .filter(|(_, call)| is_renaming(call));
    let renamings: Vec<_> = renamings.collect();
    for (at, renaming) in &renamings {
        let folder = renaming.folder();
        let own = |call: &&&Call| call.pid == renaming.pid;
        let synced = |call: Option<&&Call>| {
            call.filter(|call| is_sync(call))?
                .descriptor(0)
                .map(str::to_owned)
        };
        let after = synced(done[at + 1..].iter().find(own));
        let before = synced(done[..*at].iter().rev().find(own));
        let is_in = |file: String| {
            Path::new(&file).parent().map(Path::to_owned) == folder.clone().map(Into::into)
        };
        if after != folder || folder.is_none() || !before.is_some_and(is_in) {
            bad.push((**renaming).clone());
        }
    }
    (bad, renamings.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_whole_or_in_two() {
        let text = "7 fsync(3</tmp/a>)                    = 0\n\
                    7  renameat(4</tmp>, \"a(\", 4</tmp>, \"b\") = 0\n\
                    8 fsync(5</etc> <unfinished ...>\n\
                    7 fsync(4</tmp>) = -1 EIO (Input/output error)\n\
                    8 <... fsync resumed>) = 0\n\
                    7 fsync(4</tmp>) = 0\n";
        let calls = parse(text);
        let succeeded: Vec<_> = calls.iter().map(|call| call.has_succeeded).collect();
        assert_eq!(succeeded, [true, true, false, true, true], "{calls:?}");
        assert_eq!(calls[1].arguments, "4</tmp>, \"a(\", 4</tmp>, \"b\"");
        assert_eq!(calls[3].descriptor(0), Some("/etc"));
        assert_eq!(not_synced(&calls), (Vec::new(), 1));
    }

    #[test]
    fn what_is_not_synced_is_found() {
        let file = "7 fsync(3</tmp/a>) = 0\n";
        let renamed = "7 renameat(4</tmp>, \"a\", 4</tmp>, \"b\") = 0\n";
        let old = "7 rename(\"/tmp/a\", \"/tmp/b\") = 0\n";
        let folder = "7 fsync(4</tmp>) = 0\n";
        let bad = |lines: &[&str]| not_synced(&parse(&lines.concat())).0.len();
        assert_eq!(bad(&[file, renamed, folder]), 0);
        assert_eq!(bad(&[file, old, folder]), 0);
        assert_eq!(bad(&[file, renamed]), 1);
        assert_eq!(bad(&[renamed, folder]), 1);
        assert_eq!(bad(&[file, renamed, "7 fsync(5</etc>) = 0\n"]), 1);
        assert_eq!(bad(&[file, renamed, "8 fsync(4</tmp>) = 0\n"]), 1);
    }
}
