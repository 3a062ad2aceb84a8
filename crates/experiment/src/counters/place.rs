//! The counter files of a place, as texts.

use super::Error;
use coalescope_change::settings::Space;
use coalescope_change::workload::{Vantage, capture};
use nix::unistd::{SysconfVar, sysconf};
use std::collections::BTreeMap;
use std::fs;

/// Files that are read, by their short names. `/proc/net` is that of the process, and a thread may
/// be in another namespace: hence `thread-self`.
const FILES: [(&str, &str); 6] = [
    ("stat", "/proc/stat"),
    ("snmp", "/proc/thread-self/net/snmp"),
    ("netstat", "/proc/thread-self/net/netstat"),
    // Missing in a kernel without IPv6.
    ("snmp6", "/proc/thread-self/net/snmp6"),
    ("softnet_stat", "/proc/thread-self/net/softnet_stat"),
    ("dev", "/proc/thread-self/net/dev"),
];
/// The line before each file in another host's answer.
const HEAD: &str = "==> ";
/// `USER_HZ`, the unit of /proc/stat: 100 on every architecture but Alpha and IA-64 (proc(5)).
const USER_HZ: f64 = 100.0;

/// The texts of a place, at one time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Texts {
    files: BTreeMap<String, String>,
    /// Ticks of /proc/stat in a second.
    pub(super) ticks_per_s: f64,
}

impl Texts {
    pub(super) fn read(vantage: &Vantage) -> Result<Self, Error> {
        match vantage {
            Vantage::Here => Ok(here()),
            Vantage::Namespace(name) => Ok(Space::open(Some(name))?.run(|| Ok(here()))?),
            Vantage::Ssh(_) => {
                let answer = capture(vantage, &["sh", "-c", &script()])?;
                Ok(Self::of_answer(&String::from_utf8_lossy(&answer)))
            }
        }
    }

    /// Splits the answer of [`script`] into files.
    pub(super) fn of_answer(answer: &str) -> Self {
        let mut files = BTreeMap::new();
        let mut name = None;
        for line in answer.lines() {
            if let Some(next) = line.strip_prefix(HEAD) {
                name = Some(next.to_owned());
            } else if let Some(name) = &name {
                let file: &mut String = files.entry(name.clone()).or_default();
                file.push_str(line);
                file.push('\n');
            }
        }
        let ticks = files
            .get("ticks")
            .and_then(|ticks| ticks.trim().parse().ok());
        let ticks = ticks.filter(|ticks: &f64| ticks.is_finite() && *ticks >= 1.0);
        Self {
            files,
            ticks_per_s: ticks.unwrap_or(USER_HZ),
        }
    }

    /// A file's text; empty if there is none.
    pub(super) fn file(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }
}

/// The files of the calling thread's namespace. A file that cannot be read is left out; whoever
/// needs it reports that.
fn here() -> Texts {
    let read = |(name, path): (&str, &str)| {
        let text = fs::read_to_string(path).ok()?;
        Some((name.to_owned(), text))
    };
    let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten();
    let ticks = ticks.and_then(|ticks| u32::try_from(ticks).ok());
    Texts {
        files: FILES.into_iter().filter_map(read).collect(),
        ticks_per_s: ticks.map_or(USER_HZ, f64::from),
    }
}

/// The command for another host: all files are read at about the same time, with one login.
fn script() -> String {
    let mut script = format!("echo '{HEAD}ticks'; getconf CLK_TCK 2>/dev/null; ");
    for (name, path) in FILES {
        // Linux before 3.17 has no thread-self.
        let path = path.replace("thread-self", "self");
        script.push_str(&format!("echo '{HEAD}{name}'; cat {path} 2>/dev/null; "));
    }
    script.push_str("exit 0");
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_apart() {
        let texts = Texts::of_answer("motd\n==> ticks\n250\n==> stat\ncpu 1\ncpu0 1\n==> snmp6\n");
        assert_eq!(texts.file("stat"), "cpu 1\ncpu0 1\n");
        assert_eq!(texts.file("snmp6"), "");
        assert!((texts.ticks_per_s - 250.0).abs() < 1e-9);
        for odd in ["", "==> ticks\n0\n", "==> ticks\nnan\n", "==> ticks\n"] {
            assert!((Texts::of_answer(odd).ticks_per_s - USER_HZ).abs() < 1e-9);
        }
    }

    /// What another host is asked is what is read here.
    #[test]
    fn the_script_gives_all_files() {
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &script()]).output().expect("a shell");
        let texts = Texts::of_answer(&String::from_utf8_lossy(&output.stdout));
        let here = here();
        assert_eq!(
            texts
                .files
                .keys()
                .filter(|name| *name != "ticks")
                .collect::<Vec<_>>(),
            here.files.keys().collect::<Vec<_>>()
        );
        assert!((texts.ticks_per_s - here.ticks_per_s).abs() < 1e-9);
    }
}
