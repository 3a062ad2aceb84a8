//! What a test needs of the machine that not every machine has: a program, or a right.
//!
//! If the machine lacks it, the test is skipped. The skip is reported on standard error, bypassing
//! the test harness, and as a line of the file named by `COALESCOPE_SKIPPED`, if set: what is
//! missing, the test, the harness's name of that test, its folder and its program, separated by
//! tabs. `scripts/skipped` sums that file up, and repeats these tests where nothing is missing.
//!
//! Every Debian has a shell and coreutils (`Essential: yes`), and the program under test runs `sh`
//! itself: tests use these without asking. Signals are sent with a system call: `kill` is a program
//! of procps, which is not essential.

pub mod calls;
#[cfg(unix)]
pub mod shell;

use std::env;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The variable that names the file of skipped tests.
const RECORD: &str = "COALESCOPE_SKIPPED";

/// Whether the machine has all of these programs; if not, the test is reported as skipped.
#[must_use]
pub fn programs(test: &str, names: &[&str]) -> bool {
    let missing: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| find(name).is_none())
        .collect();
    if !missing.is_empty() {
        skipped(test, missing.join(", "));
    }
    missing.is_empty()
}

/// The result of a request to the machine, or `None` if the machine refuses: the test is reported as skipped.
pub fn had<T, E: Display>(test: &str, asked: Result<T, E>) -> Option<T> {
    asked.map_err(|reason| skipped(test, reason)).ok()
}

/// Reports a test as skipped, with what is missing.
pub fn skipped(test: &str, lacking: impl Display) {
    let lacking = lacking.to_string().replace(['\n', '\t'], " ");
    // Not `eprintln!`: the harness shows its output only for failed tests.
    let _ = writeln!(io::stderr(), "SKIPPED, {test}: {lacking}");
    if let Some(file) = env::var_os(RECORD) {
        let line = format!("{lacking}\t{test}\t{}\n", again());
        let written = opened(Path::new(&file)).and_then(|file| record(&file, &line));
        assert!(
            written.is_ok(),
            "cannot write {}: {written:?}",
            file.display()
        );
    }
}

/// Opens the file of skipped tests. A test that gives up its rights calls this before: without
/// them, the file of the user who started the tests can no longer be opened.
///
/// # Errors
///
/// If the file cannot be opened.
pub fn open_record() -> io::Result<()> {
    env::var_os(RECORD).map_or(Ok(()), |file| opened(Path::new(&file)).map(drop))
}

/// The file, opened once per process.
fn opened(path: &Path) -> io::Result<Arc<File>> {
    static FILE: Mutex<Option<Arc<File>>> = Mutex::new(None);
    let mut kept = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &*kept {
        return Ok(Arc::clone(file));
    }
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    Ok(Arc::clone(kept.insert(Arc::new(file))))
}

/// How to run the test again. The harness names a test's thread after the test, or `main` without a
/// harness. Threads that a test has started have no name.
fn again() -> String {
    let program = env::current_exe().unwrap_or_default();
    let folder = env::current_dir().unwrap_or_default();
    let thread = thread::current();
    let name = thread.name().unwrap_or("-");
    format!("{name}\t{}\t{}", folder.display(), program.display())
}

/// Writes a line with one system call, so that lines of concurrent programs do not mix.
fn record(mut file: &File, line: &str) -> io::Result<()> {
    file.write_all(line.as_bytes())
}

/// The path of a program, found as by a shell.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.with_extension("exe").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        assert!(find("sh").is_some());
        assert!(find("no-such-program").is_none());
        assert!(find("..").is_none());
    }

    #[test]
    fn what_the_machine_refuses_is_no_value() {
        assert_eq!(had::<u8, &str>("unused", Ok(7)), Some(7));
    }

    /// Programs that tests run without asking: a shell and coreutils.
    const GIVEN: [&str; 3] = ["sh", "/bin/sh", "sleep"];

    #[test]
    fn tests_ask_for_every_program_that_they_start() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        for entry in fs::read_dir(crates).unwrap().flatten() {
            sources(&entry.path().join("tests"), &mut files);
        }
        assert!(files.len() > 50, "{}", files.len());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let started = text.split("Command::new(\"").skip(1);
            for name in started.filter_map(|rest| rest.split('"').next()) {
                assert!(
                    asks(&text, name) || GIVEN.contains(&name),
                    "{}: {name} is started, and not asked for with needs::programs",
                    file.display()
                );
            }
        }
    }

    /// Whether a list in a call of `programs`, or in a table of such lists, has the name.
    fn asks(text: &str, name: &str) -> bool {
        let lists = ["needs::programs(", "programs: &["];
        let lists = lists.iter().flat_map(|begin| text.split(begin).skip(1));
        let mut lists = lists.filter_map(|rest| rest.split(']').next());
        lists.any(|list| list.contains(&format!("\"{name}\"")))
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = path.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path);
            }
        }
    }
}
