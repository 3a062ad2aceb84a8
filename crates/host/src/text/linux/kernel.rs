//! The kernel's log and its modules.

use super::files::{module, module_and_users};
use super::out::Out;
use crate::model::Snapshot;
use crate::signatures::{KEPT, is_known};
use crate::text::notes::{first_line, first_lines};
use crate::text::{Reader, Text};

/// `dmesg`.
pub(super) const LOG: Reader = Reader {
    name: "dmesg",
    recognises: |text| is_log_line(first_line(text)),
    read: log,
};

/// `lsmod`.
pub(super) const LSMOD: Reader = Reader {
    name: "lsmod",
    recognises: |text| {
        first_line(text)
            .split_whitespace()
            .eq(["Module", "Size", "Used", "by"])
    },
    read: |text, snapshot| modules(text, snapshot, LSMOD.name, module_and_users),
};

/// `/proc/modules`.
pub(super) const MODULES: Reader = Reader {
    name: "/proc/modules",
    recognises: |text| module(first_line(text)).is_some(),
    read: |text, snapshot| modules(text, snapshot, MODULES.name, module),
};

/// Characters of a line that are kept.
const LENGTH: usize = 400;

/// `[   12.345678] ...`, `<6>[...`, `[Mon Nov 22 10:00:00 2026] ...`, or the same after `kernel: `.
fn is_log_line(line: &str) -> bool {
    let line = line.split_once(" kernel: ").map_or(line, |(_, rest)| rest);
    let plain = line.split_once('>').filter(|(level, _)| {
        let level = level.strip_prefix('<').unwrap_or_default();
        !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit())
    });
    let line = plain.map_or(line, |(_, rest)| rest);
    let time = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    time.is_some_and(|(time, _)| is_seconds(time.trim()) || is_date(time))
}

fn is_seconds(time: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = time.split_once('.');
    parts.is_some_and(|(whole, rest)| digits(whole) && rest.len() == 6 && digits(rest))
}

fn is_date(time: &str) -> bool {
    let words: Vec<&str> = time.split_whitespace().collect();
    matches!(words.as_slice(), [_, _, _, clock, year] if clock.split(':').count() == 3 && year.len() == 4)
}

fn log(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, LOG.name, snapshot);
    for line in out.lines() {
        if !is_known(line) {
            continue;
        }
        if out.snapshot.log.len() < KEPT {
            let line: String = line.chars().take(LENGTH).collect();
            out.snapshot.log.push(line);
        } else {
            out.not_read("more lines that rules know", "there are too many");
        }
    }
    out.finish();
}

fn modules(
    text: &Text<'_>,
    snapshot: &mut Snapshot,
    name: &'static str,
    module: fn(&str) -> Option<&str>,
) {
    let mut out = Out::linux(text, name, snapshot);
    let titles = usize::from(
        first_lines(text)
            .next()
            .is_some_and(|line| line.starts_with("Module ")),
    );
    let mut found = Vec::new();
    for line in out.lines().filter(|line| !line.is_empty()).skip(titles) {
        match module(line) {
            Some(name) => found.push(name.to_owned()),
            None => out.unknown(line),
        }
    }
    out.snapshot.modules = Some(found);
    out.finish();
}
