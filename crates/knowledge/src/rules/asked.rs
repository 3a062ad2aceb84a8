//! Which counters of a network stack rules use: hardly any of the 300 that a kernel has for each namespace.

use std::collections::BTreeSet;

use super::load::Rules;

/// The field of a stack's counters, and of an interface's, in rules.
const COUNTERS: &str = ".counters";
/// Quotes around a name in brackets; `\` is JSON's escape.
const QUOTES: [char; 3] = ['\'', '"', '\\'];

impl Rules {
    /// Names of all counters that rules may use; `None` if one of them may use any.
    #[must_use]
    pub fn counters(&self) -> Option<BTreeSet<String>> {
        let texts = self.iter().map(serde_json::to_string);
        let texts: Vec<String> = texts.collect::<Result<_, _>>().ok()?;
        let mentions = texts.iter().flat_map(|text| {
            let places = text.match_indices(COUNTERS);
            places.map(|(at, found)| (&text[..at], &text[at + found.len()..]))
        });
        mentions
            .map(|(before, after)| named_behind(after).or_else(|| named_before(before)))
            .collect()
    }
}

/// The name in `.NAME`, or `['NAME']`.
fn named_behind(after: &str) -> Option<String> {
    let start = after.strip_prefix('.').or_else(|| {
        let inside = after.strip_prefix('[')?;
        inside.starts_with(QUOTES).then_some(inside)
    })?;
    let start = start.trim_start_matches(QUOTES);
    let end = start.find(|c: char| !is_of_name(c)).unwrap_or(start.len());
    let (name, rest) = start.split_at(end);
    // A macro of CEL goes through all counters.
    (!name.is_empty() && !rest.starts_with('(')).then(|| name.to_owned())
}

/// The name in `'NAME' in interface.stack`.
fn named_before(before: &str) -> Option<String> {
    let path = before.trim_end_matches(|c: char| is_of_name(c) || c == '.');
    let quoted = path.trim_end().strip_suffix(" in")?.trim_end();
    let quoted = quoted.strip_suffix(QUOTES)?.trim_end_matches(QUOTES);
    let name = quoted.rsplit(QUOTES).next()?;
    name.chars().all(is_of_name).then(|| name.to_owned())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_names_one_counter_or_may_be_of_any() {
        for (before, after) in [
            ("interface.stack", ".TcpExtX > 0"),
            ("interface.stack", "['TcpExtX'] > 0"),
            ("host", "[\\\"TcpExtX\\\"]"),
            ("{{ 1 if 'TcpExtX' in interface.stack", " else 2 }}"),
            ("\\\"TcpExtX\\\" in host", ""),
        ] {
            let name = named_behind(after).or_else(|| named_before(before));
            assert_eq!(name.as_deref(), Some("TcpExtX"), "{before}{after}");
        }
        for (before, after) in [
            ("interface.stack", ".exists(k, k.startsWith('Tcp'))"),
            ("host", "|items"),
            ("for k in interface.stack", ""),
            ("host", "[name]"),
        ] {
            let name = named_behind(after).or_else(|| named_before(before));
            assert_eq!(name, None, "{before}{after}");
        }
    }

    #[test]
    fn own_rules_ask_for_few() {
        let names = Rules::built_in().unwrap().counters().unwrap();
        assert!(names.contains("UdpInCsumErrors"), "{names:?}");
        assert!(names.len() < 30, "{names:?}");
    }
}
