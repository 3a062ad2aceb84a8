//! The pictures of the README are of what the program prints today. The terminal is drawn here; of the page the text is kept
//! beside the picture, which a browser makes of it. `scripts/screenshots` makes both anew.

use std::path::Path;
use std::process::Output;

use anstyle::RgbColor;
use anstyle_svg::Term;
use tempfile::TempDir;

use crate::{coalescope, root};

/// What the picture of the terminal shows: from the command to the line over time.
const LAST_LINE: &str = "merged frames lost, single ones arrived";

/// Where the picture of the page ends.
const BELOW_THE_PICTURE: &str = "Findings in the captures";

/// The captures of story A, of which both pictures are.
fn captures() -> TempDir {
    let directory = TempDir::new().unwrap();
    run(
        directory.path(),
        &["lab", "run", "--simulated", "openstack-gro", "--keep", "."],
    );
    directory
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = coalescope();
    command
        .current_dir(directory)
        .env("COLUMNS", "90")
        .args(arguments);
    command.output().unwrap()
}

#[test]
fn the_terminal_in_the_readme_is_what_is_printed() {
    let directory = captures();
    let folder = directory.path().join("openstack-gro");
    let output = run(
        &folder,
        &["trace", "UPLINK.pcapng", "VM.pcapng", "--color", "always"],
    );
    let said = String::from_utf8(output.stdout).unwrap();
    let shown: Vec<&str> = said.split_inclusive('\n').collect();
    let last = shown
        .iter()
        .position(|line| line.contains(LAST_LINE))
        .unwrap();
    let text = format!(
        "$ coalescope trace UPLINK.pcapng VM.pcapng\n{}",
        shown[..=last].concat()
    );
    let picture = root().join("docs/images/terminal.svg");
    snapbox::assert_data_eq!(drawn(&text), snapbox::Data::read_from(&picture, None).raw());
}

/// A terminal with dark letters on white, which can be read on a page of either theme.
fn drawn(text: &str) -> String {
    let term = Term::new()
        .fg_color(RgbColor(31, 35, 40).into())
        .bg_color(RgbColor(250, 250, 250).into());
    term.render_svg(text)
}

#[test]
fn the_page_in_the_readme_is_what_is_written() {
    let directory = captures();
    let folder = directory.path().join("openstack-gro");
    run(
        &folder,
        &[
            "trace",
            "WIRE.pcapng",
            "UPLINK.pcapng",
            "VM.pcapng",
            "--report",
            "page.html",
        ],
    );
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    let text = text_of(&page);
    // The headings stand among the links of the page's head as well.
    let begin = text.rfind("\nVerdict\n").unwrap();
    let end = text.rfind(&format!("\n{BELOW_THE_PICTURE}\n")).unwrap();
    let kept = root().join("docs/images/report.txt");
    snapbox::assert_data_eq!(&text[begin..end], snapbox::Data::read_from(&kept, None));
}

/// The text of a page, a line for each piece between its tags.
fn text_of(page: &str) -> String {
    let mut text = "\n".to_owned();
    for piece in page.split('<').skip(1) {
        let (tag, said) = piece.split_once('>').unwrap_or((piece, ""));
        let is_code = tag.starts_with("style") || tag.starts_with("script");
        let said = said.trim();
        if !is_code && !said.is_empty() {
            text += said;
            text.push('\n');
        }
    }
    text
}
