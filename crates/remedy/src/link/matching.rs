//! Whether a `[Match]` of a .link file fits an interface when the interface appears at the next start.
//!
//! Source: systemd.link(5), net_match_config() and config_parse_match_strv() of systemd. All keys have to fit, and one
//! value of each; lines of one key are one list, and an empty value empties that list.

use crate::device::Device;
use crate::ini::{self, Dialect};
use crate::tree::Tree;
use coalescope_host::glob;
use std::collections::BTreeMap;

/// Whether a file fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The file fits.
    Yes,
    /// The file does not fit.
    No,
    /// That depends on a key that cannot be judged from here.
    Depends(String),
}

/// What is known of the interface for a key.
enum Fact<'a> {
    Is(&'a str),
    /// The interface has this name now, and the kernel gave another one.
    Renamed(&'a str),
    /// The interface has none.
    None,
    Unknown,
}

/// The values of each key; `None` for those with quotes or a line that goes on.
type Keys<'a> = BTreeMap<&'a str, Option<Vec<String>>>;

pub(super) fn fit(text: &str, tree: &Tree, device: &Device) -> Fit {
    let keys = keys(text);
    let mut depends = None;
    for (key, values) in &keys {
        let fits = values.as_ref();
        match fits.and_then(|values| fits_key(key, values, tree, device)) {
            Some(false) => return Fit::No,
            Some(true) => {}
            None => depends = depends.or(Some((*key).to_owned())),
        }
    }
    match depends {
        Some(key) => Fit::Depends(key),
        // link_load_one() ignores a file without a valid setting in [Match].
        None if keys.is_empty() => Fit::No,
        None => Fit::Yes,
    }
}

/// Whether a file can fit one interface alone, which is this one: a key has the single value that it has.
pub(super) fn pins(text: &str, tree: &Tree, device: &Device) -> bool {
    let keys = keys(text);
    let single = |key: &str| match keys.get(key)?.as_deref()? {
        [one] if !one.starts_with('!') => Some(one.as_str()),
        _ => None,
    };
    let is_own = |own: Option<&String>, key| own.is_some_and(|own| single(key) == Some(own));
    // Two interfaces never have one name of the kernel's at once.
    if is_own(device.original_name.as_ref(), "OriginalName") {
        return true;
    }
    let mac = device.permanent_mac.as_deref();
    let mut macs = ["MACAddress", "PermanentMACAddress"].into_iter();
    let is_by_mac = macs.any(|key| {
        let pair = single(key).zip(mac);
        pair.is_some_and(|(value, mac)| is_mac(value, mac))
    });
    // A VLAN has its card's address, and ports of a card may share their place.
    let fits_none = || {
        device
            .others(tree)
            .iter()
            .all(|other| fit(text, tree, other) == Fit::No)
    };
    (is_by_mac || is_own(device.slot.as_ref(), "Path")) && fits_none()
}

fn keys(text: &str) -> Keys<'_> {
    let mut keys = Keys::new();
    for (key, value) in ini::keys(text, Dialect::Systemd, "Match") {
        let values = keys.entry(key).or_insert_with(|| Some(Vec::new()));
        match values {
            _ if value.is_empty() => *values = Some(Vec::new()),
            Some(values) if !value.contains(['"', '\'', '\\']) => values.extend(words(value)),
            _ => *values = None,
        }
    }
    keys.retain(|_, values| values.as_ref().is_none_or(|values| !values.is_empty()));
    keys
}

/// The words of a value; a `!` before the first is of all.
fn words(value: &str) -> impl Iterator<Item = String> {
    let (mark, rest) = match value.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => ("", value),
    };
    rest.split_whitespace()
        .map(move |word| format!("{mark}{word}"))
}

fn fits_key(key: &str, values: &[String], tree: &Tree, device: &Device) -> Option<bool> {
    let has = |mac: &str| values.iter().any(|value| is_mac(value, mac));
    match key {
        "MACAddress" => device.starts_with_mac(tree, &has),
        "PermanentMACAddress" if !device.is_physical => Some(false),
        "PermanentMACAddress" => device.permanent_mac.as_deref().map(has),
        key => fits(values, &fact(key, device)),
    }
}

fn fact<'a>(key: &str, device: &'a Device) -> Fact<'a> {
    match key {
        "OriginalName" => match &device.original_name {
            Some(name) => Fact::Is(name),
            None => Fact::Renamed(&device.name),
        },
        "Driver" => known(device.driver.as_ref()),
        "Type" => known(device.udev_type.as_ref()),
        "Path" if device.is_in_udev && device.slot.is_none() => Fact::None,
        "Path" => known(device.slot.as_ref()),
        "Kind" => match device.kind() {
            Some(kind) => Fact::Is(kind),
            None if device.is_hardware() => Fact::None,
            None => Fact::Unknown,
        },
        _ => Fact::Unknown,
    }
}

fn known(own: Option<&String>) -> Fact<'_> {
    own.map_or(Fact::Unknown, |own| Fact::Is(own))
}

/// net_condition_test_strv() of systemd.
fn fits(values: &[String], fact: &Fact<'_>) -> Option<bool> {
    let (not, of): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.starts_with('!'));
    let is_among = |own: &str, list: &[&String]| {
        let mut patterns = list.iter().map(|one| one.trim_start_matches('!'));
        patterns.any(|pattern| glob::fits(pattern, own))
    };
    match fact {
        Fact::Is(own) => Some(!is_among(own, &not) && (of.is_empty() || is_among(own, &of))),
        Fact::None => Some(of.is_empty()),
        _ if !not.is_empty() => None,
        _ if of.iter().any(|one| *one == "*") => Some(true),
        // udev alone gives such names (systemd.net-naming-scheme(7)), and no other than this one: the first time it sees the
        // interface, or in the initrd before.
        Fact::Renamed(now) if of.iter().all(|one| one.starts_with("en")) => {
            (!is_among(now, &of)).then_some(false)
        }
        Fact::Renamed(_) | Fact::Unknown => None,
    }
}

/// Addresses may be written with colons, hyphens or dots.
fn is_mac(value: &str, mac: &str) -> bool {
    let digits = |text: &str| {
        let digits = text.chars().filter(|letter| !":-.".contains(*letter));
        digits
            .map(|letter| letter.to_ascii_lowercase())
            .collect::<String>()
    };
    digits(value) == digits(mac)
}
