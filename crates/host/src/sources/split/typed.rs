//! Commands that were typed at a prompt, and whose output they print.

use super::{Lines, Style, command, prompt};

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

    /// Whether what stands there was printed by a command that is about the host it was typed at: a word in it is a comment of
    /// a file, say, and names no other host.
    pub(in crate::sources) fn prints_its_own(&self, at: usize) -> bool {
        let above = self.0.partition_point(|(start, _)| *start < at);
        let last = above.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|(_, line)| command::is_known(line) && !may_print_others(line))
    }
}

/// Whether a command prints a file that may hold output of other hosts.
fn may_print_others(line: &str) -> bool {
    let parsed = command::parse(line).line;
    let mut words = parsed.split_whitespace();
    let prints = matches!(words.next(), Some("cat" | "head" | "tail" | "grep"));
    let in_root = |word: &str| {
        ["/etc/", "/proc/", "/sys/", "/usr/", "/run/"]
            .iter()
            .any(|root| word.starts_with(root))
    };
    prints && !words.any(in_root)
}
