//! Names of the kernel's functions by address, from /proc/kallsyms.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

use crate::facts::Unseen;

const FILE: &str = "/proc/kallsyms";

/// Names of the addresses so far. The whole list would take tens of megabytes.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    known: BTreeMap<u64, Option<String>>,
}

impl Symbols {
    /// Looks up those addresses that are new.
    pub(crate) fn find(&mut self, addresses: impl Iterator<Item = u64>) {
        let unknown = addresses.filter(|address| !self.known.contains_key(address));
        let mut best: BTreeMap<u64, (u64, String)> = unknown
            .map(|address| (address, (0, String::new())))
            .collect();
        if best.is_empty() {
            return;
        }
        if let Ok(file) = File::open(FILE) {
            nearest(BufReader::new(file), &mut best);
        }
        let found = best.into_iter();
        self.known.extend(found.map(|(address, (begin, name))| {
            let is_known = begin != 0;
            (address, is_known.then(|| plain(&name).to_owned()))
        }));
    }

    /// The function at an address; none where the kernel hides addresses (CAP_SYSLOG).
    pub(crate) fn name(&self, address: u64) -> Option<&str> {
        self.known.get(&address)?.as_deref()
    }

    /// That names are missing, and why.
    pub(crate) fn hidden() -> Unseen {
        Unseen {
            what: "functions of the kernel that drop frames".to_owned(),
            why: "/proc/kallsyms hides addresses: it takes CAP_SYSLOG".to_owned(),
        }
    }

    /// Whether one of the addresses has no name.
    pub(crate) fn lacks_any(&self) -> bool {
        self.known.values().any(Option::is_none)
    }
}

/// Keeps for each address the last function that begins before it.
fn nearest(list: impl BufRead, best: &mut BTreeMap<u64, (u64, String)>) {
    for line in list.lines().map_while(Result::ok) {
        let mut words = line.split_ascii_whitespace();
        let (Some(begin), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let Ok(begin) = u64::from_str_radix(begin, 16) else {
            continue;
        };
        if begin == 0 || !matches!(kind, "t" | "T" | "w" | "W") {
            continue;
        }
        // A return address follows a call, and is never the first address of a function.
        for (_, (known, text)) in best.range_mut(begin + 1..) {
            if begin > *known {
                (*known, *text) = (begin, name.to_owned());
            }
        }
    }
}

/// A name without the suffixes of compilers: `ip_forward.isra.0`.
fn plain(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_last_function_that_begins_before_it() {
        let list = "1000 T first\n3000 t third.isra.0\n2000 T second\n2800 d data\n4000 T fourth\n";
        let asked = [0x0fff, 0x1001, 0x2900, 0x3001, 0x3000];
        let mut best = asked.map(|address| (address, (0, String::new()))).into();
        nearest(list.as_bytes(), &mut best);
        let names: Vec<_> = best.values().map(|(_, name)| plain(name)).collect();
        assert_eq!(names, ["", "first", "second", "second", "third"]);
    }

    #[test]
    fn addresses_that_the_kernel_hides_have_no_names() {
        let mut best = [(0x1001, (0, String::new()))].into();
        nearest("0000000000000000 T first\n".as_bytes(), &mut best);
        assert_eq!(best[&0x1001].0, 0);
    }
}
