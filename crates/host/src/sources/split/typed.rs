//! Commands that were typed at a prompt, and whose output they print.

use super::{Lines, Style, begins, command, prompt};

/// The commands of a text, each with where its line begins.
pub(in crate::sources) struct Typed<'a>(Vec<(usize, &'a str)>);

impl<'a> Typed<'a> {
    /// Those at prompts that are certain.
    pub(in crate::sources) fn of(text: &'a str) -> Self {
        let all = Lines::of(text).filter_map(|line| {
            let found = prompt::read(line.text).filter(|found| found.style == Style::Certain)?;
            Some((line.start, found.command))
        });
        Self(all.collect())
    }

    /// Whether a line is a comment of a file of settings that was printed at a prompt: words in it name no other host.
    pub(in crate::sources) fn is_comment(&self, at: usize, text: &str) -> bool {
        let (line, below) = text[at..].split_once('\n').unwrap_or_default();
        let setting = below.lines().find(|line| !line.trim().is_empty());
        let is_above = setting.is_some_and(|line| begins::print(line.trim_end()) == Some("sysctl"));
        line.starts_with('#') && is_above && self.is_own(at)
    }

    /// Whether what stands there was printed by a command that is about the host it was typed at.
    fn is_own(&self, at: usize) -> bool {
        let above = self.0.partition_point(|(start, _)| *start < at);
        let last = above.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|(_, line)| command::is_known(line) && !prints_others(line))
    }
}

/// What goes to other hosts, or over several.
const OVER: [&str; 4] = ["ssh ", "for ", "while ", "xargs "];

/// Files of a host's settings, and what shows them.
const OWN: [&str; 3] = ["/etc/", "/usr/", "/proc/"];

/// Whether a command may print output of other hosts: by a loop, or of a file that is none of the system's.
fn prints_others(line: &str) -> bool {
    let prints = ["cat", "head", "tail", "grep"];
    let is_of_file = line
        .split_whitespace()
        .take(3)
        .any(|word| prints.contains(&word));
    let is_own = line
        .split_whitespace()
        .any(|word| OWN.iter().any(|root| word.starts_with(root)));
    OVER.iter().any(|word| line.contains(word)) || is_of_file && !is_own
}
