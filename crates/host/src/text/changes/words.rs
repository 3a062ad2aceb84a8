//! A command line in its commands and words, as a shell takes them apart.

/// The commands of a line, one behind the other; of a loop over words, those for each word.
pub(super) fn commands(line: &str) -> Vec<String> {
    let looped = looped(line);
    let lines = looped.unwrap_or_else(|| vec![line.to_owned()]);
    let parts = lines.iter().flat_map(|line| line.split([';', '&']));
    // What stands behind `||` runs where the first command failed.
    let parts = parts.map(|part| part.split("||").next().unwrap_or(part));
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The longest loop that is written out.
const WORDS: usize = 64;

/// The variable, the words and the rest of `for i in eth0 eth1; do ethtool -K $i lro off; done`.
pub(crate) fn loop_of(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.trim().strip_prefix("for ")?.split_once(" in ")?;
    let (list, rest) = rest.split_once(';')?;
    Some((name, list, rest))
}

/// A loop over words, written out.
fn looped(line: &str) -> Option<Vec<String>> {
    let (name, list, rest) = loop_of(line)?;
    let body = rest.trim_start().strip_prefix("do ")?;
    let body = body
        .rsplit_once("done")
        .map_or(body, |(body, _)| body)
        .trim();
    let list = list.split_whitespace().take(WORDS);
    let uses = [
        format!("\"${name}\""),
        format!("\"${{{name}}}\""),
        format!("${{{name}}}"),
        format!("${name}"),
    ];
    let bodies = list.map(|word| {
        let all = uses.iter();
        all.fold(body.to_owned(), |body, used| body.replace(used, word))
    });
    Some(bodies.collect())
}

/// The words of a command, without their quotation marks.
pub(super) fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in command.chars() {
        match quote {
            Some(end) if letter == end => quote = None,
            None if matches!(letter, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_written_out() {
        let line = "for i in eth0 eth1; do ethtool -K \"$i\" lro off; ip link set ${i} up; done";
        let expected = [
            "ethtool -K eth0 lro off",
            "ip link set eth0 up",
            "ethtool -K eth1 lro off",
            "ip link set eth1 up",
        ];
        assert_eq!(commands(line), expected);
        assert_eq!(commands("a && b; c || d"), ["a", "b", "c"]);
    }

    #[test]
    fn quotation_marks_hold_words_together() {
        let line = "Disable-NetAdapterRsc -Name \"Ethernet 2\" -IPv4 ''";
        let expected = ["Disable-NetAdapterRsc", "-Name", "Ethernet 2", "-IPv4", ""];
        assert_eq!(words(line), expected);
    }
}
