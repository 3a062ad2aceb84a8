//! `ethtool -K` within lines of other files: found and changed word by word.

use crate::names;
use std::ops::Range;

/// A word that turns a feature on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    /// Where the word is.
    pub(crate) at: Range<usize>,
    /// What it says.
    pub(crate) on: bool,
}

/// Words between white space and what ends a command; the ends are words of their own. A backslash
/// alone, which goes on in the next line, is none.
pub(crate) fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        let is_end = matches!(letter, ';' | '&' | '|');
        if !is_end && !letter.is_whitespace() {
            start.get_or_insert(at);
            continue;
        }
        words.extend(start.take().map(|start| start..at));
        if is_end {
            words.push(at..at + 1);
        }
    }
    words.extend(start.map(|start| start..text.len()));
    words.retain(|range| &text[range.clone()] != "\\");
    words
}

/// All switches of a feature in commands `ethtool -K INTERFACE ...`; `variables` also name it.
pub(crate) fn switches(
    text: &str,
    interface: &str,
    variables: &[&str],
    feature: &str,
) -> Vec<Switch> {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |range| bare(&text[range.clone()]));
    let mut found = Vec::new();
    for at in 0..words.len() {
        let is_ours = |name: &str| name == interface || variables.contains(&name);
        if matches!(word(at), "-K" | "--features" | "--offload") && is_ours(word(at + 1)) {
            found.extend(pairs(text, &words[at + 2..], feature));
        }
    }
    found
}

fn pairs(text: &str, words: &[Range<usize>], feature: &str) -> Vec<Switch> {
    let pairs = of_command(text, words).chunks_exact(2);
    let ours = pairs.filter(|pair| names::is_ethtool(bare(&text[pair[0].clone()]), feature));
    ours.filter_map(|pair| {
        let on = switch(bare(&text[pair[1].clone()]))?;
        let at = pair[1].clone();
        Some(Switch { at, on })
    })
    .collect()
}

/// Whether words that a shell computes may make a command switch a feature of the interface the other way: a loop over
/// interfaces, or a feature by a variable. `own` are variables that name the interface, `others` those that name another.
pub(crate) fn may_switch(
    text: &str,
    interface: &str,
    own: &[&str],
    others: &[&str],
    feature: &str,
    on: bool,
) -> bool {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |range| bare(&text[range.clone()]));
    let at = (1..words.len()).filter(|&at| {
        let program = word(at - 1);
        let is_flag = matches!(word(at), "-K" | "--features" | "--offload");
        is_flag && (program.ends_with("ethtool") || is_computed(program))
    });
    let mut commands = at.map(|at| (word(at + 1), words.get(at + 2..).unwrap_or_default()));
    commands.any(|(name, rest)| {
        let is_known = name == interface || own.contains(&name);
        let is_open = is_computed(name) && !others.contains(&name);
        (is_known || is_open) && has_open_pair(text, rest, feature, on, is_known)
    })
}

fn has_open_pair(
    text: &str,
    words: &[Range<usize>],
    feature: &str,
    on: bool,
    is_known: bool,
) -> bool {
    let mut pairs = of_command(text, words).chunks_exact(2);
    pairs.any(|pair| {
        let [name, value] = [0, 1].map(|at| bare(&text[pair[at].clone()]));
        let is_as_wished = switch(value) == Some(on);
        let is_ours = names::is_ethtool(name, feature);
        // What is known to the last word is turned instead.
        let is_turned = is_known && is_ours && switch(value).is_some();
        (is_ours || is_computed(name)) && !is_as_wished && !is_turned
    })
}

fn is_computed(word: &str) -> bool {
    word.contains(['$', '`', '*', '?', '{'])
}

/// The words of a command, up to what ends it.
fn of_command<'a>(text: &str, words: &'a [Range<usize>]) -> &'a [Range<usize>] {
    let is_end = |range: &Range<usize>| matches!(&text[range.clone()], ";" | "&" | "|");
    let end = words.iter().position(is_end);
    &words[..end.unwrap_or(words.len())]
}

/// The end of the feature list of the last `ethtool -K INTERFACE`.
pub(crate) fn end_of_last(text: &str, interface: &str, variables: &[&str]) -> Option<usize> {
    let words = words(text);
    let word = |at: usize| words.get(at).map_or("", |range| bare(&text[range.clone()]));
    let is_ours = |name: &str| name == interface || variables.contains(&name);
    let mut starts = (0..words.len()).filter(|&at| {
        matches!(word(at), "-K" | "--features" | "--offload") && is_ours(word(at + 1))
    });
    let own = of_command(text, &words[starts.next_back()?..]);
    own.last().map(|range| range.end)
}

/// `on` or `off`.
pub(crate) fn switch(word: &str) -> Option<bool> {
    match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// The word for it.
pub(crate) fn word(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The text with switches turned; all other bytes stay, quotes as well.
pub(crate) fn turn(text: &str, switches: &[Switch], on: bool) -> String {
    let mut turned = text.to_owned();
    for switch in switches.iter().rev() {
        let now = &text[switch.at.clone()];
        let new = now.replace(word(switch.on), word(on));
        turned.replace_range(switch.at.clone(), &new);
    }
    turned
}

fn bare(word: &str) -> &str {
    word.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRO: &str = "generic-receive-offload";

    #[test]
    fn switches_are_found_by_any_name() {
        let text = "/sbin/ethtool -K $IFACE gro on tso off; ethtool --offload 'eth0' \
                    generic-receive-offload off && ethtool -K eth1 gro on || true";
        let found = switches(text, "eth0", &["$IFACE"], GRO);
        assert_eq!(
            found.iter().map(|one| one.on).collect::<Vec<_>>(),
            [true, false]
        );
        let turned = turn(text, &found, false);
        assert_eq!(turned, text.replacen("gro on", "gro off", 1));
        assert!(switches(text, "eth2", &[], GRO).is_empty());
        assert!(switches("ethtool -K eth0 gro", "eth0", &[], GRO).is_empty());
        assert!(switches("ethtool -k eth0 gro on", "eth0", &[], GRO).is_empty());
    }

    #[test]
    fn what_a_shell_computes_may_be_it() {
        let may = |text: &str| may_switch(text, "eth0", &["$IFACE"], &["$OTHER"], GRO, false);
        for text in [
            "up for i in eth0 eth1; do ethtool -K $i gro on; done",
            "up for f in gro lro; do ethtool -K eth0 $f on; done",
            "up /sbin/ethtool -K $IFACE gro $STATE",
            "up $ETHTOOL --offload ${i} tso off gro on",
            "up sh -c 'ethtool -K \"$1\" rx-gro on' x eth0",
        ] {
            assert!(may(text), "{text}");
        }
        for text in [
            "up for i in eth0 eth1; do ethtool -K $i gro off; done",
            "up for i in eth0 eth1; do ethtool -K $i tso on; done",
            "up ethtool -K eth0 gro on",
            "up ethtool -K $OTHER gro on",
            "up ethtool -K eth1 $f on",
            "up ethtool -k $i gro on",
            "up ethtool -K",
            "-K",
            "",
        ] {
            assert!(!may(text), "{text}");
        }
    }

    #[test]
    fn the_end_of_a_command_is_found() {
        let text = "-K eth0 gro on; -G eth0 rx 4096";
        let end = end_of_last(text, "eth0", &[]).unwrap();
        assert_eq!(&text[..end], "-K eth0 gro on");
        assert_eq!(end_of_last(text, "eth1", &[]), None);
    }
}
