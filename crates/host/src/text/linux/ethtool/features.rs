//! `ethtool -k`: which offloads are on.

use serde_json::{Map, Value};

use crate::model::{Feature, Interface, Snapshot};
use crate::text::linux::json::{for_each, has_inner_key, has_keys, text_of};
use crate::text::linux::out::{Out, is_name, on_off};
use crate::text::notes::first_line;
use crate::text::{Reader, Text};

/// `ethtool -k`.
pub(in crate::text::linux) const TEXT: Reader = Reader {
    name: "ethtool -k",
    recognises: |text| {
        header(first_line(text)).is_some() || is_grepped(text) || changed(text).is_some()
    },
    read: read_text,
};

/// `ethtool -k eth0 | grep offload`: without the heading, whose interface the command names.
fn is_grepped(text: &Text<'_>) -> bool {
    let mut words = text.command.unwrap_or_default().split_whitespace();
    let asks = words.any(|word| word.ends_with("ethtool"))
        && words.any(|word| matches!(word, "-k" | "--show-features" | "--show-offload"));
    asks && feature(first_line(text)).is_some()
}

/// What `ethtool -K eth0 lro off` prints where more or something else was changed than was asked for.
pub(crate) const CHANGES: &str = "Actual changes:";

/// The interface of a command that changed features, and printed which.
fn changed<'a>(text: &Text<'a>) -> Option<&'a str> {
    let mut words = text.command.unwrap_or_default().split_whitespace();
    words.find(|word| word.ends_with("ethtool"))?;
    words.find(|word| matches!(*word, "-K" | "--features" | "--offload"))?;
    let name = words.next().filter(|name| is_name(name))?;
    (first_line(text).trim_end() == CHANGES).then_some(name)
}

/// `ethtool --json -k`.
pub(in crate::text::linux) const JSON: Reader = Reader {
    name: "ethtool --json -k",
    recognises: |text| has_keys(text, &["ifname"]) && has_inner_key(text, "active"),
    read: read_json,
};

/// Names with spaces, as ethtool before 2.6.38 printed them.
const SPACED: [&str; 5] = [
    "tcp segmentation offload",
    "udp fragmentation offload",
    "generic segmentation offload",
    "generic receive offload",
    "large receive offload",
];

/// Sums of several switches of the kernel: of these ethtool does not tell whether they are fixed.
const SUMS: [&str; 3] = [
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
];

/// The interface of `Features for eth0:`, or of `Offload parameters for eth0:` before ethtool 3.3.
fn header(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("Features for ");
    let rest = rest.or_else(|| line.strip_prefix("Offload parameters for "))?;
    rest.strip_suffix(':').filter(|name| is_name(name))
}

fn read_text(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, TEXT.name, snapshot);
    let mut current: Option<(&str, Interface)> = None;
    if is_grepped(text) {
        let name = out.interface_of_command();
        current = name.map(|name| (name, Interface::default()));
    }
    if let Some(name) = changed(text) {
        current = Some((name, Interface::default()));
    }
    for line in out.lines().filter(|line| line.trim_end() != CHANGES) {
        if let Some(name) = header(line) {
            finish(&mut out, current.replace((name, Interface::default())));
        } else if !line.is_empty() {
            add(&mut out, current.as_mut().map(|(_, block)| block), line);
        }
    }
    finish(&mut out, current);
    out.finish();
}

fn add(out: &mut Out<'_>, block: Option<&mut Interface>, line: &str) {
    match (block, feature(line)) {
        (Some(block), Some((name, feature))) => {
            if let Some(known) = block.features.get(&name) {
                if *known != feature {
                    out.twice(&name);
                }
            } else {
                block.features.insert(name, feature);
            }
        }
        _ => out.unknown(line),
    }
}

fn finish(out: &mut Out<'_>, block: Option<(&str, Interface)>) {
    if let Some((name, mut block)) = block {
        complete(&mut block);
        out.interface(name, block);
    }
}

/// Only where some switch is marked as fixed did the kernel tell of all.
fn complete(block: &mut Interface) {
    let is_whole = |feature: &Feature| feature.fixed.is_some() || feature.wanted.is_some();
    if !block.features.values().any(is_whole) {
        return;
    }
    for (name, feature) in &mut block.features {
        if feature.fixed.is_none() && !SUMS.contains(&name.as_str()) {
            feature.fixed = Some(false);
            feature.wanted = feature.wanted.or(Some(feature.active));
        }
    }
}

fn feature(line: &str) -> Option<(String, Feature)> {
    let (name, value) = unmarked(line).split_once(':')?;
    let name = name_of(name)?;
    let mut words = value.trim().splitn(2, ' ');
    let active = on_off(words.next()?.trim_matches(MARKS))?;
    let (wanted, fixed) = match words.next().map_or("", str::trim) {
        "" => (None, None),
        "[fixed]" => (None, Some(true)),
        "[requested on]" => (Some(true), None),
        "[requested off]" | "[not requested]" => (Some(false), None),
        _ => return None,
    };
    let feature = Feature {
        active,
        wanted,
        fixed,
    };
    Some((name, feature))
}

/// A line without the marks by which its author points at it: `**lro: on**`, `[b]lro: on[/b]`, `lro: on [fixed]  <--- here`.
fn unmarked(line: &str) -> &str {
    const ARROWS: [&str; 5] = [" <-", " <=", " <<", " \u{2190}", " # "];
    let mut ends = ARROWS.iter().filter_map(|arrow| line.find(arrow));
    let line = ends.next().map_or(line, |end| &line[..end]).trim();
    let line = line.strip_prefix("[b]").unwrap_or(line);
    let line = line.strip_suffix("[/b]").unwrap_or(line);
    let line = line.trim_matches(MARKS).trim();
    // `12:large-receive-offload: on` of `grep -n`.
    let number = line.split_once(':');
    let number = number.filter(|(number, _)| number.parse::<u32>().is_ok());
    number.map_or(line, |(_, rest)| rest)
}

/// Marks of Markdown around what its author points at.
const MARKS: [char; 2] = ['*', '`'];

/// The name that today's ethtool prints.
fn name_of(name: &str) -> Option<String> {
    if SPACED.contains(&name) {
        return Some(name.replace(' ', "-"));
    }
    let letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    (!name.is_empty() && name.chars().all(letter)).then(|| name.to_owned())
}

fn read_json(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, JSON.name, snapshot);
    for_each(text, &mut out, |out, object| {
        let block = from_json(out, object);
        let name = text_of(object, "ifname").unwrap_or_default();
        out.interface(name, block);
    });
    out.finish();
}

fn from_json(out: &mut Out<'_>, object: &Map<String, Value>) -> Interface {
    let mut block = Interface::default();
    for (name, value) in object.iter().filter(|(name, _)| *name != "ifname") {
        let Some(active) = value.get("active").and_then(Value::as_bool) else {
            out.unknown(name);
            continue;
        };
        let feature = Feature {
            active,
            wanted: value.get("requested").and_then(Value::as_bool),
            fixed: value.get("fixed").and_then(Value::as_bool),
        };
        block.features.insert(name.clone(), feature);
    }
    block
}
