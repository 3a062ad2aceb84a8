//! Sets of hosts that printed the same, as ClusterShell and dshbak fold them: `gw[1-3,7],lb (5)`.

use std::borrow::Cow;

/// Hosts of a set at most.
const MOST: usize = 1000;

/// Brackets of a set at most: racks, nodes and interfaces are three.
const BRACKETS: usize = 64;

/// Each host of a set; a single name is one, and so is a set of more than that.
pub(super) fn hosts(set: &str) -> Vec<Cow<'_, str>> {
    let bare = set.split(" (").next().unwrap_or(set);
    if !bare.contains(['[', ',']) || bare.matches('[').count() > BRACKETS {
        return vec![Cow::Borrowed(set)];
    }
    let each = parts(bare).flat_map(numbered).map(Cow::Owned);
    let all: Vec<Cow<'_, str>> = each.take(MOST + 1).collect();
    // What names nobody (`gw[3-1]`) is a name itself, or what stands below would be nobody's.
    if all.is_empty() || all.len() > MOST {
        vec![Cow::Borrowed(set)]
    } else {
        all
    }
}

/// Splits at the commas that are not within brackets.
fn parts(set: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    set.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// `gw1`, `gw2` and `gw7` of `gw[1-2,7]`; zeros in front stay.
fn numbered(part: &str) -> Vec<String> {
    let Some((begin, rest)) = part.split_once('[') else {
        return vec![part.to_owned()];
    };
    let (inside, end) = rest.split_once(']').unwrap_or((rest, ""));
    let numbers = inside.split(',').flat_map(range);
    let ends = numbered(end);
    let each = numbers
        .take(MOST + 1)
        .flat_map(|number| ends.iter().map(move |end| format!("{begin}{number}{end}")));
    each.take(MOST + 1).collect()
}

fn range(numbers: &str) -> Vec<String> {
    let ends = numbers.split_once('-').and_then(|(first, last)| {
        let (from, to) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        Some((first.len(), from, to))
    });
    match ends {
        Some((width, from, to)) => (from..=to)
            .take(MOST + 1)
            .map(|number| format!("{number:0width$}"))
            .collect(),
        None => vec![numbers.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_unfolded() {
        for (set, expected) in [
            ("gw", vec!["gw"]),
            ("gw[1,3] (2)", vec!["gw1", "gw3"]),
            ("gw[09-11],lb (4)", vec!["gw09", "gw10", "gw11", "lb"]),
            ("r[1-2]n[1-2]", vec!["r1n1", "r1n2", "r2n1", "r2n2"]),
            ("gw[1-2", vec!["gw1", "gw2"]),
            ("a[3-1]", vec!["a[3-1]"]),
        ] {
            assert_eq!(hosts(set), expected, "{set}");
        }
        assert_eq!(hosts("gw[1-1000]").len(), MOST);
        assert_eq!(hosts("gw[1-4000000000]"), ["gw[1-4000000000]"]);
        let hostile = [
            "a[1-999]".repeat(40),
            format!("{}a[3-1]", "a[1-999]".repeat(40)),
            "a[1-9".repeat(100_000),
            "a[".repeat(100_000),
            ",".repeat(100_000),
            "a[1-999],".repeat(100_000),
        ];
        for set in &hostile {
            assert!(hosts(set).len() <= MOST, "{}", set.len());
        }
    }
}
