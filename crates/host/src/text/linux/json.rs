//! JSON of ip, bridge and ethtool: one list of objects.

use serde_json::{Deserializer, Map, Value};

use super::out::Out;
use crate::text::Text;
use crate::text::notes::first_lines;

/// Bytes that are looked at to recognise a text.
const HEAD: usize = 4096;

/// Keys near the beginning of a list of objects, each with how deep it is: 1 is an object's own.
fn keys<'a>(text: &Text<'a>) -> Vec<(usize, &'a str)> {
    let body = text.body.trim_start();
    let list = body.strip_prefix('[').map(str::trim_start);
    let Some(list) = list.filter(|list| list.starts_with('{')) else {
        return Vec::new();
    };
    let mut end = list.len().min(HEAD);
    while !list.is_char_boundary(end) {
        end -= 1;
    }
    keys_of(list.get(..end).unwrap_or_default())
}

fn keys_of(start: &str) -> Vec<(usize, &str)> {
    let mut keys = Vec::new();
    let mut depth = 0_usize;
    let mut parts = start.split('"').peekable();
    // Quotes part what is within strings from what is not; an escaped one ends the search.
    while let Some(outside) = parts.next() {
        depth += outside.matches('{').count();
        depth = depth.saturating_sub(outside.matches('}').count());
        let Some(inside) = parts.next().filter(|inside| !inside.ends_with('\\')) else {
            break;
        };
        if parts
            .peek()
            .is_some_and(|next| next.trim_start().starts_with(':'))
        {
            keys.push((depth, inside));
        }
    }
    keys
}

/// Whether the objects have all of these keys.
pub(super) fn has_keys(text: &Text<'_>, wanted: &[&str]) -> bool {
    let keys = keys(text);
    wanted.iter().all(|key| keys.contains(&(1, key)))
}

/// Whether objects within the objects have this key.
pub(super) fn has_inner_key(text: &Text<'_>, key: &str) -> bool {
    keys(text).contains(&(2, key))
}

/// Hands over the objects that are whole; notes if there is more that is not.
pub(super) fn for_each<'t>(
    text: &Text<'_>,
    out: &mut Out<'t>,
    mut take: impl FnMut(&mut Out<'t>, &Map<String, Value>),
) {
    let mut rest = text.body.trim_start();
    rest = rest.strip_prefix('[').unwrap_or(rest);
    while let Some((object, after)) = object(rest) {
        take(out, &object);
        rest = after.trim_start();
        let Some(next) = rest.strip_prefix(',') else {
            break;
        };
        rest = next;
    }
    match rest.trim_start().strip_prefix(']').map(str::trim) {
        Some("") => {}
        Some(more) => out.unknown(more),
        None => out.cut(),
    }
}

fn object(text: &str) -> Option<(Map<String, Value>, &str)> {
    let mut values = Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let object = values.next()?.ok()?;
    let rest = text.get(values.byte_offset()..)?;
    Some((object, rest))
}

/// A text of an object.
pub(super) fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

/// A number of an object.
pub(super) fn number_of(object: &Map<String, Value>, key: &str) -> Option<u64> {
    object.get(key)?.as_u64()
}

/// Whether a text begins with an object.
pub(super) fn is_object(text: &Text<'_>) -> bool {
    first_lines(text)
        .next()
        .is_some_and(|line| line.trim_start().starts_with('{'))
}
