//! Recordings of a terminal: a line of JSON for the recording, and one for each piece of output (asciicast, versions 2 and 3;
//! docs.asciinema.org).

use serde_json::Value;

/// What the terminal showed, if this is a recording.
pub(super) fn shown(text: String) -> String {
    let mut lines = text.lines();
    let head = lines.next().filter(|line| line.starts_with("{\"version\""));
    let head: Option<Value> = head.and_then(|line| serde_json::from_str(line).ok());
    let is_cast = head.is_some_and(|head| matches!(head["version"].as_u64(), Some(2 | 3)));
    if !is_cast {
        return text;
    }
    lines.filter_map(output).collect()
}

/// `[0.5, "o", "root@gw1:~# "]`; what was typed is shown as output as well.
fn output(line: &str) -> Option<String> {
    let (_, kind, data): (f64, String, String) = serde_json::from_str(line).ok()?;
    (kind == "o").then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_a_recording_is_joined() {
        let head = "{\"version\": 2, \"width\": 80, \"height\": 24}\n";
        let text = format!(
            "{head}[0.1, \"o\", \"root@gw\"]\n[0.2, \"i\", \"x\"]\n[0.3, \"o\", \"1:~# \\r\\n\"]\n"
        );
        assert_eq!(shown(text), "root@gw1:~# \r\n");
        for other in ["{\"version\": 1}\n[0.1, \"o\", \"a\"]\n", "[]\n", ""] {
            assert_eq!(shown(other.to_owned()), other);
        }
    }
}
