//! `ethtool --json -c`, `-g` and `-l`.

use serde_json::Value;

use crate::model::{Interface, Setting, Snapshot};
use crate::text::linux::json::{for_each, has_keys, text_of};
use crate::text::linux::out::Out;
use crate::text::{Reader, Text};

/// `ethtool --json -c`.
pub(in crate::text::linux) const COALESCING: Reader = Reader {
    name: "ethtool --json -c",
    recognises: |text| {
        let any = |key: &&str| has_keys(text, &["ifname", key]);
        ["adaptive-rx", "rx-usecs", "tx-usecs", "rx-frames"]
            .iter()
            .any(any)
    },
    read: |text, snapshot| read(text, snapshot, COALESCING.name, coalescing),
};

/// `ethtool --json -g`.
pub(in crate::text::linux) const RINGS: Reader = Reader {
    name: "ethtool --json -g",
    recognises: |text| has_keys(text, &["ifname", "rx"]) && !is_channels(text) && !is_link(text),
    read: |text, snapshot| read(text, snapshot, RINGS.name, ring),
};

/// `ethtool --json -l`.
pub(in crate::text::linux) const CHANNELS: Reader = Reader {
    name: "ethtool --json -l",
    recognises: is_channels,
    read: |text, snapshot| read(text, snapshot, CHANNELS.name, channel),
};

/// A link of ip(8), which has an index.
fn is_link(text: &Text<'_>) -> bool {
    has_keys(text, &["ifindex"])
}

fn is_channels(text: &Text<'_>) -> bool {
    ["combined", "combined-max", "other-max"]
        .iter()
        .any(|key| has_keys(text, &["ifname", key]))
}

type Put = fn(&mut Interface, &str, &Value) -> Option<()>;

fn read(text: &Text<'_>, snapshot: &mut Snapshot, name: &'static str, put: Put) {
    let mut out = Out::linux(text, name, snapshot);
    for_each(text, &mut out, |out, object| {
        let mut block = Interface::default();
        for (key, value) in object.iter().filter(|(key, _)| *key != "ifname") {
            if !value.is_null() && put(&mut block, key, value).is_none() {
                out.unknown(&format!("\"{key}\": {value}"));
            }
        }
        out.interface(text_of(object, "ifname").unwrap_or_default(), block);
    });
    out.finish();
}

fn coalescing(block: &mut Interface, key: &str, value: &Value) -> Option<()> {
    let value = match value {
        Value::Bool(flag) => Setting::Flag(*flag),
        _ => Setting::Number(value.as_i64()?),
    };
    block.coalescing.insert(key.to_owned(), value);
    Some(())
}

fn ring(block: &mut Interface, key: &str, value: &Value) -> Option<()> {
    if let Some(flag) = flag(value) {
        let value = Setting::Flag(flag);
        block.properties.insert(key.to_owned(), value);
    } else {
        block.rings.insert(key.to_owned(), value.as_u64()?);
    }
    Some(())
}

/// `tcp-data-split` is a word, its neighbours are true or false.
fn flag(value: &Value) -> Option<bool> {
    match value.as_str() {
        Some("on") => Some(true),
        Some("off") => Some(false),
        Some(_) => None,
        None => value.as_bool(),
    }
}

fn channel(block: &mut Interface, key: &str, value: &Value) -> Option<()> {
    block.channels.insert(key.to_owned(), value.as_u64()?);
    Some(())
}
