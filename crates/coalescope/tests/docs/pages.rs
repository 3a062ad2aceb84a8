//! What pages show is what happens: the commands of each page run, one after the other in a folder
//! of the page's own, and print what stands below them.
//!
//! In a block marked `console` a line after the prompt `$ ` is a command, with those after `> `
//! directly below it, and what follows, if anything does, is all that it prints, errors too: `...` on
//! a line by itself stands for any lines, `[..]` for anything within one. In a block marked `sh` each
//! line is a command. Only those of coalescope are run, so none with `sudo` is.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::thread;

use snapbox::{Assert, IntoData};
use tempfile::TempDir;

use crate::links::pages;
use crate::read;

/// How commands that are run begin.
const OWN: &str = "coalescope ";

/// A command of a page.
struct Shown {
    line: usize,
    command: String,
    /// What stands below it.
    output: String,
}

/// The commands of a page, in order.
fn commands(page: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut lines = page.lines().zip(1..);
    while let Some((fence, _)) = lines.next() {
        let Some(language) = fence.strip_prefix("```") else {
            continue;
        };
        let block = lines.by_ref().take_while(|(line, _)| *line != "```");
        match language {
            "console" => found.extend(of_console(block)),
            "sh" => found.extend(of_script(block)),
            _ => block.for_each(drop),
        }
    }
    found.retain(|shown| shown.command.starts_with(OWN));
    found
}

fn of_console<'a>(block: impl Iterator<Item = (&'a str, usize)>) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    for (text, line) in block {
        if let Some(command) = text.strip_prefix("$ ") {
            found.push(shown(command, line));
        } else if let Some(shown) = found.last_mut() {
            shown.add(text);
        }
    }
    found
}

fn of_script<'a>(block: impl Iterator<Item = (&'a str, usize)>) -> Vec<Shown> {
    block.map(|(command, line)| shown(command, line)).collect()
}

fn shown(command: &str, line: usize) -> Shown {
    Shown {
        line,
        command: command.to_owned(),
        output: String::new(),
    }
}

impl Shown {
    /// Adds a line that stands below.
    fn add(&mut self, text: &str) {
        match text.strip_prefix("> ") {
            Some(more) if self.output.is_empty() => {
                self.command.push('\n');
                self.command += more;
            }
            _ => {
                self.output += text;
                self.output.push('\n');
            }
        }
    }

    /// Whether it may end so: with or without findings, or refused where the page shows that.
    fn is_expected(&self, status: ExitStatus) -> bool {
        match status.code() {
            Some(2) => self.output.starts_with("error: "),
            code => matches!(code, Some(0 | 1)),
        }
    }

    /// Runs it, and says what is not as the page has it.
    fn problem(&self, folder: &Path) -> Option<String> {
        let output = run(&self.command, folder);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if !self.is_expected(output.status) {
            return Some(format!("{}\n{said}", output.status));
        }
        if self.output.is_empty() {
            return None;
        }
        let compared = Assert::new().try_eq(None, said.into_data(), (&self.output).into_data());
        compared.err().map(|error| error.to_string())
    }
}

/// Runs a line as a shell would that finds coalescope; errors are among what it prints.
fn run(line: &str, folder: &Path) -> Output {
    let program = PathBuf::from(assert_cmd::cargo::cargo_bin!("coalescope"));
    let own = program.parent().unwrap().display();
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{line}")])
        .current_dir(folder)
        .env("PATH", format!("{own}:{path}"))
        .env_remove("COALESCOPE_STATE")
        .output()
        .unwrap()
}

/// Runs a page; gives back what is not as it says.
fn problems(page: &str) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let commands = commands(&read(page));
    let problems = commands.iter().filter_map(|shown| {
        let problem = shown.problem(folder.path())?;
        Some(format!(
            "{page}:{}: {}\n{problem}",
            shown.line, shown.command
        ))
    });
    problems.collect()
}

#[test]
fn what_pages_show_is_what_happens() {
    let pages = pages();
    let found: Vec<String> = thread::scope(|scope| {
        let running: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(|| problems(page)))
            .collect();
        let ended = running.into_iter().map(|one| one.join().unwrap());
        ended.flatten().collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_tutorial_shows_what_is_printed() {
    let pages = pages().into_iter();
    let tutorials: Vec<String> = pages
        .filter(|page| page.starts_with("docs/tutorials/"))
        .collect();
    assert!(tutorials.len() >= 5, "{tutorials:?}");
    for tutorial in tutorials {
        let commands = commands(&read(&tutorial));
        let shown = commands.iter().filter(|one| !one.output.is_empty());
        assert!(shown.count() >= 2, "{tutorial}");
    }
}

#[test]
fn what_is_not_printed_is_noticed() {
    let folder = TempDir::new().unwrap();
    let page = |below: &str| format!("```console\n$ coalescope lab list | head -0\n{below}```\n");
    let problem = |below: &str| commands(&page(below))[0].problem(folder.path());
    assert_eq!(problem(""), None);
    assert!(problem("a line\n").is_some());
    let unknown = commands("```sh\ncoalescope unknown\nsudo coalescope unknown\n```\n");
    assert_eq!(unknown.len(), 1);
    assert!(unknown[0].problem(folder.path()).is_some());
}
