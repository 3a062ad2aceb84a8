//! The pages of `docs/findings` are what the rules say, one for each file of rules. To write them anew after a change of
//! `rules/*.yaml`:
//!
//! ```sh
//! SNAPSHOTS=overwrite cargo test -p coalescope-knowledge --test findings_page
//! ```

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use coalescope_knowledge::rules::{
    Checked, Meaning, Remedy, RemedyKind, RemedyRule, Rule, Rules, check, meanings,
};

/// What stands in the index before the list of pages.
const INDEX: &str = "\
# All findings

One page for each family. They are made of `rules/*.yaml` by `crates/knowledge/tests/findings_page.rs`, which also fails if they
are not what the rules say; `SNAPSHOTS=overwrite cargo test -p coalescope-knowledge --test findings_page` writes them anew.

Whom a finding blames: *harms* - merging, or a relative of it; *missed* - merging is off, or kept from working, and should be
on; *ask* - most such hosts are well, and the finding names the test that tells; *bad-remedy* - something that people do against
merging; *innocent* - often blamed, to be left alone.
How sure one is: *suspected* from settings alone, *observed* in packets or counters, *proven* by an experiment that switches
the setting and nothing else: `coalescope ab --set IFACE:SETTING -- COMMAND` with the remedy's setting, or `--do` with its commands.

Interfaces, kernels and values on the pages are those of each rule's own example. `coalescope check`, for the host in question, and
`coalescope rules show ID` print the whole reason, what it takes for a rule to apply, what the remedy costs, and the commands that make a
change last or take it back. A distribution may have put a later kernel's fix into an older one. [rules.md](../rules.md) says how to add your own.
";

/// Before the findings of traces.
const TRACE: &str = "\
When each is found, with thresholds: [trace.md](../trace.md#findings); how, and when that is wrong:
[inference.md](../inference.md). IFACE, SWITCH and COMMAND are for the reader to fill in.
";

/// A file of rules, what its page is called, and what is on it.
type Family = (&'static str, &'static str, &'static str);

const FAMILIES: &[Family] = &[
    ("trace", "In captures: what trace finds", TRACE),
    (
        "linux-gro",
        "Linux: GRO and GSO",
        "Where Linux passes packets on (hypervisor, bridge, router, load balancer, bond), and where it does not.\n",
    ),
    (
        "linux-lro",
        "Linux: LRO",
        "LRO where the packet is not for this host.\n",
    ),
    (
        "linux-overlay",
        "Linux: overlays",
        "VXLAN and Geneve of containers and virtual machines; checksums and offloads of tunnels.\n",
    ),
    (
        "linux-virtual",
        "Linux: virtual interfaces",
        "virtio, veth, XDP, and merging of UDP.\n",
    ),
    (
        "linux-vpn",
        "Linux: VPNs",
        "Tailscale and other users of TUN devices, WireGuard, IPsec.\n",
    ),
    (
        "linux-drivers",
        "Linux: drivers, latency, observation",
        "Faults of single network cards, GRO that holds packets, and programs that read frames.\n",
    ),
    (
        "linux-filters",
        "Linux: packet filters and policers",
        "Rules that ask for a packet's length, which of a merged frame is that of all its segments.\n",
    ),
    (
        "freebsd",
        "FreeBSD, OPNsense, pfSense, OpenBSD",
        "LRO and TSO where packets are bridged or routed, TrueNAS CORE included.\n",
    ),
    (
        "windows",
        "Hyper-V",
        "Hosts (Windows), and what a Linux or Windows guest can see of them.\n",
    ),
    (
        "esxi",
        "VMware ESXi",
        "Hosts; their guests have findings of their own (vmxnet3).\n",
    ),
];

#[test]
fn the_pages_are_what_the_rules_say() {
    let rules = Rules::with_fixtures().unwrap();
    let meanings = meanings().unwrap();
    let mut index = format!("{INDEX}\n| page | findings |\n|---|---|\n");
    for (name, title, about) in FAMILIES {
        let examples = examples(name, &rules);
        let sections: Vec<Section<'_>> = match *name {
            "trace" => meanings.iter().map(of_meaning).collect(),
            _ => examples
                .iter()
                .map(|(rule, example)| of_rule(rule, example, only_platform(&examples)))
                .collect(),
        };
        let text: String = sections.iter().map(Section::text).collect();
        let page = format!("# {title}\n\n{about}\n{text}")
            .trim_end()
            .to_owned()
            + "\n";
        snapbox::assert_data_eq!(page, snapbox::Data::read_from(&page_of(name), None).raw());
        index += &row(name, title, &sections);
    }
    snapbox::assert_data_eq!(
        index,
        snapbox::Data::read_from(&page_of("index"), None).raw()
    );
}

#[test]
fn every_file_of_rules_has_a_page() {
    let files = std::fs::read_dir(rules_folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name != "recipes.yaml") {
        let stem = name.strip_suffix(".yaml").unwrap();
        assert!(
            FAMILIES.iter().any(|(family, ..)| *family == stem),
            "{name}"
        );
    }
}

fn rules_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rules")
}

fn page_of(family: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings");
    folder.join(format!("{family}.md"))
}

/// The rules of a file, in its order, each with what it says of the host that is its example.
fn examples<'a>(family: &str, rules: &'a Rules) -> Vec<(&'a Rule, Checked)> {
    let text = std::fs::read_to_string(rules_folder().join(format!("{family}.yaml"))).unwrap();
    let ids = text.lines().filter_map(|line| line.strip_prefix("- id: "));
    ids.filter_map(|id| rules.get(id))
        .map(|rule| (rule, check(rules, &rule.fixtures.as_ref().unwrap().fires)))
        .collect()
}

/// The line of a family in the index.
fn row(name: &str, title: &str, sections: &[Section<'_>]) -> String {
    let mut row = format!("| [{title}]({name}.md) | ");
    for blame in ["harms", "ask", "missed", "bad-remedy", "innocent"] {
        let of_these = sections.iter().filter(|section| section.blame == blame);
        let links: Vec<String> = of_these
            .map(|one| format!("[{0}]({name}.md#{0})", one.id))
            .collect();
        if !links.is_empty() {
            write!(row, "*{blame}*: {}. ", links.join(", ")).unwrap();
        }
    }
    row.trim_end().to_owned() + " |\n"
}

/// One finding.
struct Section<'a> {
    id: &'a str,
    /// What it says, if that does not depend on packets.
    title: String,
    blame: &'static str,
    /// Systems, or where it says when.
    subject: String,
    /// The system that all of the page is about.
    known: String,
    mechanism: String,
    remedies: Vec<&'a Remedy>,
    sources: &'a [String],
}

fn of_meaning(meaning: &Meaning) -> Section<'_> {
    Section {
        id: meaning.id.name(),
        title: String::new(),
        blame: meaning.blame.name(),
        subject: format!("; [when](../trace.md#{})", meaning.id.name()),
        known: String::new(),
        mechanism: meaning.mechanism.clone(),
        remedies: meaning
            .remedies
            .iter()
            .filter(|one| one.kind == RemedyKind::Runtime)
            .collect(),
        sources: &meaning.sources,
    }
}

/// The platform that all rules of a page are about, if there is one: it need not stand with each.
fn only_platform<'a>(examples: &[(&'a Rule, Checked)]) -> Option<&'a str> {
    let all = examples.iter().flat_map(|(rule, _)| &rule.platforms);
    let all: BTreeSet<&str> = all.map(|one| one.name()).collect();
    all.first().copied().filter(|_| all.len() == 1)
}

/// A rule, with what it says of the host that is its example.
fn of_rule<'a>(rule: &'a Rule, example: &'a Checked, only: Option<&str>) -> Section<'a> {
    let finding = example.findings.iter().find(|one| one.id == rule.id);
    let alone = example.left_alone.iter().find(|one| one.id == rule.id);
    let title = finding
        .map(|one| &one.title)
        .or(alone.map(|one| &one.title));
    Section {
        id: &rule.id,
        title: title.unwrap().clone(),
        blame: rule.blame.name(),
        subject: match only {
            Some(_) => String::new(),
            None => format!("; {}", subject(rule)),
        },
        known: only.unwrap_or_default().to_lowercase(),
        mechanism: first_sentence(&one_line(&rule.mechanism)),
        remedies: finding.map_or_else(Vec::new, |one| own_remedies(rule, &one.remedies)),
        sources: &rule.sources,
    }
}

/// What to do now. Of what makes it last and takes it back only what a rule says of its own: the rest is the same for
/// every switch.
fn own_remedies<'a>(rule: &Rule, all: &'a [Remedy]) -> Vec<&'a Remedy> {
    let written = rule.remedies.iter().filter_map(|remedy| match remedy {
        RemedyRule::Command { platform, .. } => Some(platform),
        RemedyRule::Set { .. } => None,
    });
    let written: BTreeSet<&String> = written.collect();
    let now = |one: &&Remedy| one.kind == RemedyKind::Runtime;
    let own = |one: &&Remedy| one.kind == RemedyKind::Persistent && written.contains(&one.platform);
    all.iter().filter(|one| now(one) || own(one)).collect()
}

fn subject(rule: &Rule) -> String {
    let platforms: Vec<&str> = rule.platforms.iter().map(|one| one.name()).collect();
    platforms.join(", ")
}

impl Section<'_> {
    fn text(&self) -> String {
        let mut text = format!("## `{}`\n\n", self.id);
        if !self.title.is_empty() {
            writeln!(text, "**{}.**", self.title).unwrap();
        }
        let Self {
            blame,
            subject,
            mechanism,
            ..
        } = self;
        writeln!(text, "*{blame}*{subject}. {mechanism}\n").unwrap();
        for (kind, command) in self.remedies.iter().map(|one| fix(one, &self.known)) {
            text += &item(kind, &command);
        }
        let sources: Vec<String> = self.sources.iter().map(|one| source(one)).collect();
        text += &item("from", &sources.join("; "));
        text + "\n"
    }
}

fn item(what: &str, text: &str) -> String {
    format!("- {what}: {}\n", one_line(text))
}

/// A remedy, and what it is for.
fn fix(remedy: &Remedy, known: &str) -> (&'static str, String) {
    let kind = match remedy.kind {
        RemedyKind::Runtime => "now",
        RemedyKind::Persistent => "for good",
        RemedyKind::Undo => "back",
    };
    let lines = remedy
        .command
        .trim_end()
        .lines()
        .map(|line| format!("`{}`", line.trim()));
    let lines = lines.collect::<Vec<_>>().join(" ");
    let platform = remedy.platform.to_string();
    match platform == known {
        true => (kind, lines),
        false => (kind, format!("{lines} ({platform})")),
    }
}

/// A source, its address as a link.
fn source(text: &str) -> String {
    let words = text.split_whitespace().map(|word| match word {
        address if address.starts_with("https://") => format!("<{address}>"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A text up to the end of its first sentence: the rest is for who looks at a host.
fn first_sentence(text: &str) -> String {
    let ends = text.match_indices(". ").map(|(at, _)| at);
    let next = |at: &usize| text.get(at + 2..).and_then(|rest| rest.chars().next());
    let mut ends = ends.filter(|at| next(at).is_some_and(char::is_uppercase));
    ends.next().map_or(text, |at| &text[..=at]).to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
