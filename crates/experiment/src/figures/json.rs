//! JSON somewhere in a program's output.

use serde_json::Value;

/// Places tried from each end of the output: iperf3 prints a few lines before its JSON, curl's JSON
/// comes after a page that may be full of braces.
const PLACES: usize = 8;

/// JSON objects and arrays that begin at the start of a line, or that are everything from the last
/// `{` on; the last one first. A document within another is no document, and text after one is
/// skipped.
pub(super) fn documents(text: &str) -> Vec<Value> {
    let mut places = lines(text);
    places.extend(text.rfind('{'));
    if places.len() > 2 * PLACES {
        places.drain(PLACES..places.len() - PLACES);
    }
    let (mut found, mut end) = (Vec::new(), 0);
    for place in places {
        if let Some((value, length)) = document(text, place).filter(|_| place >= end) {
            end = place + length;
            found.push(value);
        }
    }
    found.reverse();
    found
}

/// Positions of lines that begin with a bracket.
fn lines(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let first = text.len() - text.trim_start().len();
    let starts = std::iter::once(first).chain(ends.filter(move |&at| at > first));
    let bracket = |&at: &usize| matches!(text.as_bytes().get(at), Some(b'{' | b'['));
    starts.filter(bracket).collect()
}

/// The document that begins at a place, and its length.
fn document(text: &str, place: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(place..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// The number at a path of member names.
pub(super) fn at(value: &Value, path: &[&str]) -> Option<f64> {
    let mut value = value;
    for member in path {
        value = value.get(member)?;
    }
    value.as_f64().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_found_after_other_text() {
        let of = |text| documents(text);
        assert_eq!(
            of("warning: {slow}\n{\"a\":\n{\"b\": 1}}\n")[0]["a"]["b"],
            1
        );
        assert_eq!(of("<html>{\"a\":1}")[0]["a"], 1);
        assert_eq!(of("[1, 2]\ndone\n")[0][1], 2);
        assert!(of("").is_empty() && of("{").is_empty() && of("1.5").is_empty());
        let two = of("{\"a\": 1}\n{\"a\": 2}\n");
        assert_eq!((&two[0]["a"], &two[1]["a"]), (&2.into(), &1.into()));
    }

    #[test]
    fn many_brackets_take_no_time() {
        let text = "{\"a\":[\n".repeat(200_000);
        assert!(documents(&text).is_empty());
    }
}
