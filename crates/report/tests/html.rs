//! Pages: every section is there, names that are markup come out as letters, drawings have
//! descriptions.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod html_made;
mod html_reports;

use std::io::{self, Write};
use std::path::Path;

use coalescope_report::{Document, Made};
use html_made::made;
use html_reports::{check, diagnosis, lab, replay, trace, watch};
#[cfg(target_os = "linux")]
use html_reports::{fix, undo};
use proptest::prelude::*;

fn page(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// All kinds of pages that are full of a name.
fn pages(name: &str) -> Vec<String> {
    let mut pages = drawn(name);
    #[cfg(target_os = "linux")]
    pages.extend([
        page(|out| fix(name).write_html(&made(name), out)),
        page(|out| undo(name).write_html(&made(name), out)),
    ]);
    pages
}

/// The kinds of pages that have drawings.
fn drawn(name: &str) -> Vec<String> {
    vec![
        page(|out| trace(name, 3).write_html(&made(name), out)),
        page(|out| check(name).write_html(&made(name), out)),
        page(|out| diagnosis(name).write_html(&made(name), out)),
        page(|out| lab(name).write_html(&made(name), out)),
        page(|out| replay(name).write_html(&made(name), out)),
        page(|out| watch(name).write_html(&made(name), out)),
    ]
}

fn sections(page: &str) -> Vec<&str> {
    let sections = page.split("<section id=\"").skip(1);
    sections.filter_map(|rest| rest.split('"').next()).collect()
}

/// Without styles and scripts, which are files of their own; a line for each element that begins.
fn structure(page: &str) -> String {
    let (head, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, _) = rest.rsplit_once("<script>").unwrap();
    let version = env!("CARGO_PKG_VERSION");
    format!("{head}{body}")
        .replace(version, "VERSION")
        .replace('<', "\n<")
        .replace("\n</", "</")
}

#[test]
fn the_page_of_a_trace() {
    insta::assert_snapshot!(structure(&page(
        |out| trace("eth0", 2).write_html(&made("eth0"), out)
    )));
}

#[test]
fn the_page_of_a_check() {
    insta::assert_snapshot!(structure(&page(
        |out| check("eth0").write_html(&made("eth0"), out)
    )));
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_of_a_fix() {
    insta::assert_snapshot!(structure(&page(
        |out| fix("eth0").write_html(&made("eth0"), out)
    )));
}

/// What still runs is neither good nor bad.
#[cfg(target_os = "linux")]
#[test]
fn the_page_of_an_undo() {
    insta::assert_snapshot!(structure(&page(
        |out| undo("eth0").write_html(&made("eth0"), out)
    )));
}

#[test]
fn the_page_of_a_watch() {
    insta::assert_snapshot!(structure(&page(
        |out| watch("eth0").write_html(&made("eth0"), out)
    )));
}

/// Of the flows whose merged frames died, single ones have a lane of their own.
#[test]
fn merged_frames_that_died_stand_beside_single_ones_that_passed() {
    let page = page(|out| watch("eth0").write_html(&made("eth0"), out));
    let lanes: Vec<&str> = page.split("<div class=\"lane\">").skip(1).collect();
    assert_eq!(lanes.len(), 2);
    assert!(lanes[0].contains("1 passed (0.69%)") && lanes[0].contains("144 dropped (99.3%)"));
    assert!(lanes[1].contains("158 passed (100%)") && !lanes[1].contains("class=\"gone\""));
}

#[test]
fn every_section_is_there() {
    let of_trace = [
        "verdict",
        "path",
        "findings",
        "connections",
        "notes",
        "made",
    ];
    let of_check = [
        "verdict",
        "settings",
        "graph",
        "drift",
        "left-alone",
        "interfaces",
        "made",
    ];
    let pages = pages("eth0");
    assert_eq!(sections(&pages[0]), of_trace);
    assert_eq!(sections(&pages[1]), of_check);
    for id in of_trace.iter().chain(&of_check) {
        assert!(sections(&pages[2]).contains(id), "{id}");
    }
    assert_eq!(
        sections(&pages[3]),
        ["verdict", "measured", "chain", "incidents", "made"]
    );
    let of_replay = [
        "verdict",
        "frames-drawn",
        "reasons",
        "connections",
        "notes",
        "made",
    ];
    assert_eq!(sections(&pages[4]), of_replay);
    let of_watch = [
        "verdict",
        "findings",
        "dropped",
        "watched",
        "connections",
        "notes",
        "made",
    ];
    assert_eq!(sections(&pages[5]), of_watch);
    #[cfg(target_os = "linux")]
    {
        assert_eq!(sections(&pages[6]), ["verdict", "fixes", "done", "made"]);
        assert_eq!(sections(&pages[7]), ["verdict", "journals", "made"]);
    }
}

#[test]
fn every_drawing_says_what_it_shows() {
    for page in drawn("eth0") {
        let drawings = page.split("<svg ").skip(1);
        let drawings = drawings.filter_map(|rest| rest.split("</svg>").next());
        let mut count = 0;
        for drawing in drawings {
            count += 1;
            assert!(!drawing.contains("></title><desc"), "{drawing}");
            assert!(!drawing.contains("></desc>"), "{drawing}");
            let letters = ["NaN", "inf"].map(|word| drawing.contains(&format!("\"{word}")));
            assert_eq!(letters, [false, false], "{drawing}");
        }
        assert!(count > 0);
    }
}

/// Who doubts a page wants to look at the same file, and to know what of it was not read.
#[test]
fn a_page_says_of_which_files_it_was_made_and_how() {
    let page = page(|out| trace("eth0", 2).write_html(&made("eth0"), out));
    for words in [
        "<code>coalescope trace eth0</code>",
        "2026-11-25 02:58 UTC",
        "142 KB (142,292 bytes)",
        &"0f".repeat(32),
        "2026-11-25 02:58:11.250 UTC to 2026-11-25 02:58:14.000 UTC",
        "96 bytes; 471 frames cut to fewer bytes",
        "<dt>unreadable</dt><dd>12 bytes</dd>",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

/// A sort of which all is lost looks so, beside a sort of which there is more.
#[test]
fn each_sort_of_frames_has_a_lane_with_shares_of_its_own() {
    let page = page(|out| trace("eth0", 2).write_html(&made("eth0"), out));
    let path = page.split("<section id=\"path\"").nth(1).unwrap();
    let lanes: Vec<&str> = path.split("<div class=\"lane\">").skip(1).collect();
    assert_eq!(lanes.len(), 2);
    assert!(lanes[0].contains("<b>merged</b>") && lanes[0].contains("31 lost (100%)"));
    assert!(lanes[1].contains("346 arrived (99.7%)") && lanes[1].contains("1 lost (0.29%)"));
    let ribbon = "class=\"ribbon lost\" d=\"M0 0h150v26h-150z\"";
    assert!(lanes[0].contains(ribbon), "{}", lanes[0]);
}

#[test]
fn rows_beyond_the_first_are_data_for_the_script() {
    let page = page(|out| trace("eth0", 250).write_html(&Made::default(), out));
    let rows = page.matches("<tr><th scope=\"row\">#").count();
    assert_eq!(rows, 2 * 100);
    let data = page.split("<script id=\"connections-1-rows\" type=\"application/json\">");
    let data = data.last().unwrap().split("</script>").next().unwrap();
    let rows: Vec<Vec<String>> = serde_json::from_str(data).unwrap();
    assert_eq!(rows.len(), 150);
    assert!(page.contains("150 more rows are shown if scripts may run."));
}

/// Whatever could end a text, an attribute, a comment or a script early.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "&lt;script&gt;&#60;b&#62;",
    "</title></svg><iframe src=javascript:alert(1)>",
];

/// The elements of a page that a name must not add to, and their attributes' number.
fn skeleton(page: &str) -> (usize, Vec<usize>) {
    let elements = [
        "<script", "</script", "<img", "<iframe", "<svg", "<!--", "<b>", "<style",
    ];
    let counts = elements.map(|element| page.matches(element).count());
    (page.matches("=\"").count(), counts.to_vec())
}

#[test]
fn hostile_names_come_out_as_letters() {
    let harmless = pages("eth0");
    for name in HOSTILE {
        for (page, harmless) in pages(name).iter().zip(&harmless) {
            // An apostrophe may stay: attributes stand in quotation marks.
            assert!(name.starts_with('\'') || !page.contains(name), "{name}");
            assert_eq!(skeleton(page), skeleton(harmless), "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_name_is_the_page_keeps_its_elements(
        parts in proptest::collection::vec(
            prop_oneof![proptest::sample::select(&HOSTILE[..]), Just("<"), Just(">"), Just("\""), Just("&"), Just("\u{0}"), Just("\u{2028}")],
            1..6,
        ),
        rest in "\\PC{0,20}",
    ) {
        let name = format!("{}{rest}", parts.concat());
        for (page, harmless) in pages(&name).iter().zip(&pages("eth0")) {
            let (_, elements) = skeleton(page);
            prop_assert_eq!(elements, skeleton(harmless).1);
        }
    }
}

/// Unescaped text has one door.
#[test]
fn only_one_module_lets_text_out_unescaped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/html");
    let mut looked_at = 0;
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                looked_at += 1;
                let is_door = path.file_name().is_some_and(|name| name == "embed.rs");
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(
                    is_door || !text.contains("PreEscaped"),
                    "{}",
                    path.display()
                );
            }
        }
    }
    assert!(looked_at > 20);
}

#[test]
fn of_a_file_that_has_gone_the_page_says_why() {
    let mut open = || Err(std::io::Error::other("it was removed"));
    let described = coalescope_capture::provenance::describe("a.pcap", &mut open, &false.into());
    let is = coalescope_report::Is::capture(described);
    let said = format!("{is:?}");
    assert!(
        said.contains("a.pcap") && said.contains("it was removed"),
        "{said}"
    );
}
