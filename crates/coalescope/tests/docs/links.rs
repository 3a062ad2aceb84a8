//! Every page can be found, and every link of a page leads to a file, and to a heading in it if it names one.

use crate::{read, root};

/// Pages outside of docs/ that people read.
const OTHERS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/gro/README.md",
    "crates/wire/README.md",
];

/// All pages of docs/, by their paths in the repository.
pub(crate) fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Where the links of a document lead, those in blocks of code left out.
fn targets(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code
    });
    lines
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let documents = OTHERS.map(str::to_owned).into_iter().chain(pages());
    let mut lost = Vec::new();
    for document in documents {
        let text = read(&document);
        let wrong = targets(&text)
            .into_iter()
            .filter(|target| !leads_somewhere(&document, target));
        lost.extend(wrong.map(|target| format!("{document}: {target}")));
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// Whether a link of a document is to another site, or to a file, and a heading of it if it names one.
fn leads_somewhere(document: &str, target: &str) -> bool {
    if target.contains("://") {
        return true;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let document = root().join(document);
    let file = match file {
        "" => document,
        _ => document.parent().unwrap().join(file),
    };
    if heading.is_empty() {
        return file.exists();
    }
    let text = std::fs::read_to_string(file).unwrap_or_default();
    anchors(&text).iter().any(|anchor| anchor == heading)
}

/// What the headings of a page are called in links.
fn anchors(text: &str) -> Vec<String> {
    let mut is_code = false;
    let headings = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    });
    headings.map(anchor).collect()
}

/// How a heading is called in links, as GitHub does it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim();
    let letters = text.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ => letter
            .is_alphanumeric()
            .then(|| letter.to_ascii_lowercase()),
    });
    letters.collect()
}

#[test]
fn a_link_that_leads_nowhere_is_noticed() {
    for (target, leads) in [
        ("safety.md", true),
        ("safety.md#files", true),
        ("findings/index.md", true),
        ("../README.md#how-sure-it-is", true),
        ("https://example.org/nothing", true),
        ("no-such-page.md", false),
        ("safety.md#no-such-heading", false),
    ] {
        assert_eq!(leads_somewhere("docs/README.md", target), leads, "{target}");
    }
    assert_eq!(
        anchors("# A\n```sh\n# no heading\n```\n## B, c\n"),
        ["a", "b-c"]
    );
    assert_eq!(
        targets("[a](b)\n```\n[c](d)\n```\n[e](f) [g](h)"),
        ["b", "f", "h"]
    );
}

/// The index for who reads the files, and the summary of the book.
#[test]
fn the_index_and_the_book_have_every_page() {
    for (list, but) in [("docs/README.md", "README.md"), ("docs/SUMMARY.md", "")] {
        let text = read(list);
        let linked: Vec<&str> = targets(&text)
            .into_iter()
            .map(|target| target.split('#').next().unwrap())
            .collect();
        for page in pages() {
            let name = page.strip_prefix("docs/").unwrap();
            let is_list = page == "docs/SUMMARY.md" || name == but;
            let in_family = list == "docs/README.md"
                && name.starts_with("findings/")
                && name != "findings/index.md";
            assert!(
                is_list || in_family || linked.contains(&name),
                "{page} is not in {list}"
            );
        }
    }
}

/// In the book a page stands once, and a chapter that is not there is none.
#[test]
fn the_book_has_each_page_once() {
    let summary = read("docs/SUMMARY.md");
    let mut linked = targets(&summary);
    let all = linked.len();
    linked.sort_unstable();
    linked.dedup();
    assert_eq!(linked.len(), all);
}

/// What is outside of docs/ is not in the book: pages name it, without a link. Nor is a README, which the book calls index.
#[test]
fn no_page_leads_out_of_the_book() {
    for page in pages() {
        let text = read(&page);
        let out = targets(&text)
            .into_iter()
            .find(|target| leads_out(&page, target));
        assert_eq!(out, None, "{page}");
    }
    assert!(leads_out("docs/safety.md", "../ARCHITECTURE.md"));
    assert!(!leads_out("docs/tutorials/a.md", "../safety.md"));
}

fn leads_out(page: &str, target: &str) -> bool {
    let is_readme = target.split('#').next().unwrap().ends_with("README.md");
    let climbs = target.split('/').take_while(|part| *part == "..").count();
    // `docs` and the page itself are not folders to climb out of.
    climbs > page.split('/').count() - 2 || (is_readme && page != "docs/SUMMARY.md")
}
