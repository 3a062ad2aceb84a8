//! Bundles: what `collect.sh` and `collect.ps1` print. The format is in docs/bundle.md.
//!
//! A line of output always begins with `|`, so that no output can look like a header. A section
//! says how many lines it has and the end says how many sections there are, so that a bundle which
//! was cut or changed is told from a whole one: of a section that is not whole nothing is used.

/// How a bundle begins; the version follows.
const HEADER: &str = "# coalescope bundle ";

/// The version read here.
const VERSION: &str = "1";

/// How many lines may stand before a bundle, such as a greeting of ssh.
const BEFORE: usize = 50;

/// Exit codes that say that a command was stopped, so that its output may lack the end.
const STOPPED: &[&str] = &["124", "137", "143"];

/// The output of one command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub(super) number: &'a str,
    pub(super) command: &'a str,
    rc: &'a str,
    lines: usize,
    pub(super) body: String,
    /// What it said on stderr.
    said: String,
    counted: usize,
}

/// One bundle.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bundle<'a> {
    /// Whole sections.
    pub(super) sections: Vec<Section<'a>>,
    /// What the collector could not do, and what is damaged: what, why.
    pub(super) lacks: Vec<(String, String)>,
    ended: bool,
    strange: usize,
}

/// Whether there is a bundle in a text.
pub(super) fn is_bundle(text: &str) -> bool {
    text.lines()
        .take(BEFORE)
        .any(|line| line.starts_with(HEADER))
}

/// Reads all bundles of a text, one after the other.
pub(super) fn parse(text: &str) -> Vec<Bundle<'_>> {
    let mut bundles: Vec<Bundle<'_>> = Vec::new();
    let mut open = None;
    for line in text.split_inclusive('\n') {
        if let Some(version) = line.strip_prefix(HEADER) {
            finish(&mut bundles, &mut open);
            bundles.push(begin(version.trim()));
        } else if let Some(bundle) = bundles.last_mut() {
            bundle.line(line, &mut open);
        }
    }
    finish(&mut bundles, &mut open);
    bundles
}

fn begin(version: &str) -> Bundle<'static> {
    let mut bundle = Bundle::default();
    if version != VERSION {
        bundle.ended = true;
        bundle.lack(
            format!("bundle of version {version:?}"),
            "only version 1 is known: use the coalescope that belongs to the collector",
        );
    }
    bundle
}

/// Ends the last bundle.
fn finish<'a>(bundles: &mut [Bundle<'a>], open: &mut Option<Section<'a>>) {
    let Some(bundle) = bundles.last_mut() else {
        return;
    };
    bundle.close(open);
    if !bundle.ended {
        bundle.lack(
            "end of the bundle",
            "it is cut: collect it again, or copy it as a whole",
        );
    }
    if bundle.strange > 0 {
        bundle.lack(
            format!("{} lines of the bundle", bundle.strange),
            "no collector writes such lines: was it changed?",
        );
    }
}

impl<'a> Bundle<'a> {
    fn lack(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.lacks.push((what.into(), why.into()));
    }

    fn line(&mut self, line: &'a str, open: &mut Option<Section<'a>>) {
        if let Some(header) = line.strip_prefix("#= ") {
            self.close(open);
            *open = self.header(header);
            return;
        }
        let taken = open.as_mut().is_some_and(|section| section.add(line));
        self.strange += usize::from(!taken && !line.trim().is_empty());
    }

    /// A header without its line feed is cut.
    fn header(&mut self, header: &'a str) -> Option<Section<'a>> {
        let header = header.strip_suffix('\n')?;
        let (word, rest) = header.split_once(' ')?;
        match word {
            "section" => self.section(rest),
            "lacks" => {
                let (what, why) = rest.split_once(": ").unwrap_or((rest, "not told"));
                self.lack(what, why);
                None
            }
            "end" => {
                self.end(rest);
                None
            }
            // "by" and what may come.
            _ => None,
        }
    }

    fn section(&mut self, header: &'a str) -> Option<Section<'a>> {
        let section = Section::parse(header);
        if section.is_none() || self.ended {
            self.strange += 1;
        }
        section.filter(|_| !self.ended)
    }

    fn end(&mut self, rest: &str) {
        self.ended = true;
        let announced = rest.strip_prefix("sections=").unwrap_or_default();
        let seen = self.sections.len() + self.lacks.iter().filter(|lack| is_section(lack)).count();
        if announced.trim().parse() != Ok(seen) {
            self.lack(
                "sections of the bundle",
                format!("{seen} of {announced} are there: copy it as a whole"),
            );
        }
    }

    /// Takes a section if it is whole.
    fn close(&mut self, open: &mut Option<Section<'a>>) {
        let Some(section) = open.take() else {
            return;
        };
        let what = format!("section {} ({})", section.number, section.command);
        if let Some(why) = section.fault() {
            return self.lack(what, why);
        }
        if let Some(why) = section.complaint() {
            self.lack(section.command, why);
        }
        self.sections.push(section);
    }
}

/// Whether this is about a section that was there, but not whole.
fn is_section((what, _): &(String, String)) -> bool {
    what.starts_with("section ")
}

impl<'a> Section<'a> {
    /// `N rc=R lines=L COMMAND`
    fn parse(header: &'a str) -> Option<Section<'a>> {
        let mut words = header.splitn(4, ' ');
        let number = words.next()?;
        let rc = words.next()?.strip_prefix("rc=")?;
        let lines = words.next()?.strip_prefix("lines=")?.parse().ok()?;
        let command = words.next()?;
        Some(Section {
            number,
            command,
            rc,
            lines,
            ..Section::default()
        })
    }

    /// Takes a line of output; false if it is none.
    fn add(&mut self, line: &str) -> bool {
        let to = match line.as_bytes().first() {
            Some(b'|') => &mut self.body,
            Some(b'!') => &mut self.said,
            _ => return false,
        };
        to.push_str(&line[1..]);
        if line.starts_with('|') {
            // A line that is cut is not counted.
            self.counted += usize::from(line.ends_with('\n'));
        }
        true
    }

    /// Why it is not whole.
    fn fault(&self) -> Option<String> {
        if STOPPED.contains(&self.rc) {
            return Some("it was stopped, because it took too long: not used".to_owned());
        }
        let (counted, lines) = (self.counted, self.lines);
        (counted != lines).then(|| format!("{counted} of {lines} lines are there: not used"))
    }

    /// What the command complained about, where that means that something was not read. That an
    /// interface does not have a function is no lack.
    fn complaint(&self) -> Option<String> {
        let lacks_function = ["not supported", "no stats available", "no data available"];
        let said = self.said.trim().to_lowercase();
        let harmless = lacks_function.iter().any(|words| said.contains(words));
        let fails =
            self.rc != "0" && !harmless && (self.body.trim().is_empty() || !said.is_empty());
        let said = self.said.trim().replace('\n', "; ");
        fails.then(|| match said.as_str() {
            "" => format!("it ended with code {} and printed nothing", self.rc),
            _ => format!("it ended with code {}: {said}", self.rc),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "Welcome!\n# coalescope bundle 1\n#= by collect.sh\n\
        #= section 1 rc=0 lines=2 ip link\n|1: lo\n|#= section 9 rc=0 lines=0 forged\n\
        #= lacks ethtool: not installed\n#= section 2 rc=1 lines=0 sysctl -a\n!no rights\n\
        #= section 3 rc=95 lines=0 ethtool -c lo\n!Operation not supported\n#= end sections=3\n";

    fn lacks(text: &str) -> Vec<String> {
        let bundles = parse(text);
        let lacks = bundles.into_iter().flat_map(|bundle| bundle.lacks);
        lacks.map(|(what, why)| format!("{what}: {why}")).collect()
    }

    #[test]
    fn a_whole_bundle() {
        assert!(is_bundle(WHOLE));
        let bundles = parse(WHOLE);
        assert_eq!(bundles.len(), 1);
        let sections = &bundles[0].sections;
        assert_eq!(sections.len(), 3);
        assert_eq!(
            sections[0].body,
            "1: lo\n#= section 9 rc=0 lines=0 forged\n"
        );
        assert_eq!((sections[0].number, sections[0].command), ("1", "ip link"));
        let expected = [
            "ethtool: not installed",
            "sysctl -a: it ended with code 1: no rights",
        ];
        assert_eq!(lacks(WHOLE), expected);
    }

    #[test]
    fn a_cut_is_named_and_the_cut_section_not_used() {
        for end in 0..WHOLE.len() - 1 {
            let cut = &WHOLE[..end];
            for bundle in parse(cut) {
                assert!(!bundle.lacks.is_empty(), "{cut}");
                assert!(
                    bundle
                        .sections
                        .iter()
                        .all(|section| section.counted == section.lines)
                );
            }
        }
        let lost = WHOLE.replace("|1: lo\n", "");
        assert_eq!(
            lacks(&lost)[0],
            "section 1 (ip link): 1 of 2 lines are there: not used"
        );
        let lost = WHOLE.replace(
            "#= section 3 rc=95 lines=0 ethtool -c lo\n!Operation not supported\n",
            "",
        );
        assert!(lacks(&lost)[2].contains("2 of 3"), "{:?}", lacks(&lost));
    }

    #[test]
    fn stopped_commands_other_versions_and_several() {
        let stopped =
            "# coalescope bundle 1\n#= section 1 rc=124 lines=1 x\n|y\n#= end sections=1\n";
        assert_eq!(parse(stopped)[0].sections, []);
        assert!(lacks(stopped)[0].contains("too long"));
        let other = stopped.replace("bundle 1", "bundle 2");
        assert!(lacks(&other)[0].contains("only version 1"));
        assert_eq!(parse(&WHOLE.repeat(2)).len(), 2);
    }
}
