//! Which values of two texts about the same thing may differ, and which mean the same.

use std::collections::BTreeSet;

use serde_json::Value;

/// Where a value is in a snapshot.
pub(super) type Path<'a> = [&'a str];

/// Whether a value changes by itself, so that two texts may tell different ones.
pub(super) fn is_volatile(path: &Path<'_>) -> bool {
    match path {
        ["softnet" | "log", ..] => true,
        ["stack", rest @ ..] | ["namespaces", _, rest @ ..] => is_volatile_of_stack(rest),
        ["interfaces", _, rest @ ..] => is_volatile_of_interface(rest),
        _ => false,
    }
}

fn is_volatile_of_stack(path: &Path<'_>) -> bool {
    match path {
        [
            "counters" | "packet_sockets" | "routes" | "length_rules" | "redirects" | "passages",
            ..,
        ] => true,
        ["sysctls", name] => is_volatile_sysctl(name),
        _ => false,
    }
}

/// Not all that sysctl prints is a setting.
fn is_volatile_sysctl(name: &str) -> bool {
    let settings = ["net.", "hw.", "dev."];
    let counts = ["stats", "_stat", "count", ".queue", "curr", "random"];
    let is_setting = settings.iter().any(|begin| name.starts_with(begin));
    !is_setting || counts.iter().any(|word| name.contains(word))
}

fn is_volatile_of_interface(path: &Path<'_>) -> bool {
    matches!(
        path,
        [
            "statistics" | "counters" | "addresses" | "carrier" | "speed_bps",
            ..
        ] | ["bridge_port", "state"]
            | ["tun", "owners", ..]
    )
}

/// Whether two different values of this field mean the same.
pub(super) fn is_same(path: &Path<'_>, a: &Value, b: &Value) -> bool {
    if a == b || is_empty(a) || is_empty(b) {
        return true;
    }
    match (path, a, b) {
        (["name"], Value::String(a), Value::String(b)) => is_same_host(a, b),
        (["kernel"], Value::String(a), Value::String(b)) => is_same_kernel(a, b),
        // Files that name the distribution differ in how they say it.
        (["distribution", "name" | "version"], ..) => true,
        (["distribution", "id"], ..) => false,
        (_, Value::String(a), Value::String(b)) => a.split_whitespace().eq(b.split_whitespace()),
        (_, Value::Array(a), Value::Array(b)) => holds_all(a, b) || holds_all(b, a),
        _ => false,
    }
}

/// A name that a reader could not know.
pub(super) fn is_empty(value: &Value) -> bool {
    value.as_str() == Some("")
}

/// With or without the domain, in upper or lower case.
pub(super) fn is_same_host(a: &str, b: &str) -> bool {
    host_key(a) == host_key(b)
}

/// What names of one host have in common. An address, which has dots as well, stays whole.
pub(crate) fn host_key(name: &str) -> String {
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if name.bytes().all(is_digit) {
        return format!("address {name}");
    }
    name.split('.').next().unwrap_or(name).to_lowercase()
}

/// Some texts tell less of it: `10.0.17763` for `10.0.17763.1999`.
pub(super) fn is_same_kernel(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-', '+', ' ']))
}

fn holds_all(all: &[Value], some: &[Value]) -> bool {
    let all = set(all);
    some.iter().all(|value| all.contains(&value.to_string()))
}

/// The values of a list, to look them up.
pub(super) fn set(values: &[Value]) -> BTreeSet<String> {
    values.iter().map(Value::to_string).collect()
}
