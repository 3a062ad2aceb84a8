//! What a page puts in place of characters, and around code: character references of HTML, single backquotes of Markdown.

use super::split::is_begin;

/// The text as its author saw it on the page; a line stays where it is.
pub(super) fn plain(text: String) -> String {
    without_spans(without_references(text))
}

/// Character references, and what they stand for. The one of `&` comes last: `&amp;lt;` is `&lt;`.
const REFERENCES: [(&str, &str); 7] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

/// The text of a page that was saved as its source. XML has references as well, beside elements.
fn without_references(text: String) -> String {
    let is_source = ["&lt;", "&gt;"].iter().any(|mark| text.contains(mark));
    if !is_source || text.contains('<') {
        return text;
    }
    let replaced = |text: String, (mark, character): &(&str, &str)| text.replace(mark, character);
    REFERENCES.iter().fold(text, replaced)
}

fn without_spans(text: String) -> String {
    if !text.contains('`') {
        return text;
    }
    let mut is_open = false;
    let lines = text.split_inclusive('\n');
    let bare = lines.flat_map(|line| {
        let whole = line.trim_end();
        let inner = bare(whole, &mut is_open);
        [inner, &line[whole.len()..]]
    });
    bare.collect()
}

/// A line without the backquotes around all of it, or around it and others: those begin like output.
fn bare<'a>(line: &'a str, is_open: &mut bool) -> &'a str {
    let marks = line.matches('`').count();
    let behind = line.strip_prefix('`');
    let whole = behind.and_then(|inner| inner.strip_suffix('`'));
    let opens = behind.filter(|inner| marks == 1 && is_begin(inner));
    let closes = line.strip_suffix('`').filter(|_| *is_open && marks == 1);
    let inner = whole.filter(|inner| marks == 2 && !inner.is_empty());
    *is_open = opens.is_some() || *is_open && closes.is_none() && marks == 0;
    inner.or(opens).or(closes).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: &str = "2: eth0: <UP> mtu 1500 qdisc mq\n    link/ether 02:00:00:00:00:02\n";

    #[test]
    fn references_of_a_page_are_the_characters() {
        let source = LINKS.replace('<', "&lt;").replace('>', "&gt;");
        assert_eq!(plain(source), LINKS);
        let quoted = "&gt; echo &quot;a&amp;lt;&#39;&#34;&nbsp;b&quot;\n";
        assert_eq!(plain(quoted.to_owned()), "> echo \"a&lt;'\" b\"\n");
        let xml = "<description>a &lt; b</description>\n";
        assert_eq!(plain(xml.to_owned()), xml);
    }

    #[test]
    fn backquotes_around_output_are_left_out() {
        let prompt = format!("root@gw1:~# ip link\n{LINKS}");
        for text in [LINKS, &prompt] {
            let spanned = format!("words:\n\n`{}`\n\nmore\n", text.trim_end());
            assert_eq!(plain(spanned), format!("words:\n\n{text}\nmore\n"));
            // Where the end is missing.
            assert_eq!(plain(format!("`{text}")), text);
        }
        let lines = "`ethtool -k eth0`\n`large-receive-offload: on`\n";
        let bare = "ethtool -k eth0\nlarge-receive-offload: on\n";
        assert_eq!(plain(lines.to_owned()), bare);
    }

    #[test]
    fn other_backquotes_stay() {
        for text in [
            "```\nethtool -k eth0\n```\n",
            "run `ethtool -k eth0` or `ip link`\n",
            "`a` and `b`\n",
            "`words that\ngo on`\n",
            "``\n`\n",
            "Set-VMSwitch -Name a `\n  -EnableSoftwareRsc $false\n",
        ] {
            assert_eq!(plain(text.to_owned()), text);
        }
    }
}
