//! Pictures of connections on a page, from simulated captures to what is drawn.

use std::io::Cursor;

use coalescope_capture::file::Source;
use coalescope_capture::series::{Chosen, Series, series};
use coalescope_capture::{Options, PointInput, facts::Trace, trace};
use coalescope_knowledge::{judge, shown};
use coalescope_report::Report;
use coalescope_simulate::{Outcome, run, story};

fn inputs(outcome: &Outcome) -> Vec<PointInput> {
    let source = |bytes: &Vec<u8>| {
        Source::from_reader("simulated", Box::new(Cursor::new(bytes.clone())), None)
    };
    let points = outcome.points.iter();
    points
        .map(|point| PointInput {
            name: point.name.clone(),
            sources: vec![(point.name.clone(), source(&point.bytes).expect("a capture"))],
        })
        .collect()
}

/// A story's trace, and the series of what shows it best, of at most so many frames a lane.
fn drawn(name: &str, limit: usize) -> (Trace, Vec<Series>) {
    let outcome = run(&story(name).expect("a story"));
    let options = Options::default();
    let trace = trace(inputs(&outcome), &options, &mut |_| {}).expect("inputs are good");
    let chosen: Vec<Chosen> = shown(&trace, &judge(&trace), 8);
    let asked = (&trace, &chosen[..]);
    let series = series(inputs(&outcome), &options, asked, limit, &mut |_| {});
    (trace, series.expect("inputs are good"))
}

fn page(trace: Trace, series: Result<Vec<Series>, String>) -> String {
    let diagnosis = judge(&trace);
    let report = Report::new(trace, diagnosis).with_series(series);
    let mut page = Vec::new();
    report.write_html(&mut page).expect("a Vec takes all");
    String::from_utf8(page).expect("HTML is text")
}

fn page_of(name: &str) -> String {
    let (trace, series) = drawn(name, 20_000);
    page(trace, Ok(series))
}

/// What stands between the first of two texts and the next of the second, both included.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let start = page.find(from).expect(from);
    let end = page[start..].find(to).expect(to) + start + to.len();
    &page[start..end]
}

#[test]
fn how_a_frame_vanishes_is_drawn() {
    let page = page_of("ipvs-gro-vip");
    let close = between(&page, "<svg id=\"close-0-to-client\"", "</svg>");
    insta::assert_snapshot!(close.replace("><", ">\n<"));
}

#[test]
fn frames_that_vanished_are_named_on_the_page() {
    let (trace, series) = drawn("openstack-gro", 20_000);
    let hop = trace
        .hops
        .iter()
        .find(|hop| hop.merged.lost > 0)
        .expect("a hop that loses");
    let lost = hop.connections[0].merged_lost_frames.clone();
    let page = page(trace, Ok(series));
    let named = between(&page, "<p class=\"vanished\">", "</p>");
    assert!(lost.len() > 5);
    for number in lost {
        assert!(
            named.contains(&format!(" {number},")),
            "{number} in {named}"
        );
    }
    assert!(page.contains("How one frame vanishes: frame "));
}

#[test]
fn where_nothing_vanishes_no_picture_says_so() {
    let page = page_of("healthy-gro");
    assert!(page.contains("data-sequence"));
    assert!(!page.contains("class=\"vanished\"") && !page.contains("How one frame vanishes"));
}

#[test]
fn every_plot_is_there_and_says_what_it_shows() {
    let page = page_of("random-loss");
    for plot in ["sequence", "close", "rates", "lengths", "segments", "acks"] {
        let svg = between(&page, &format!("<svg id=\"{plot}-0-to-client\""), "</svg>");
        assert!(svg.contains("<title") && svg.contains("<desc"), "{plot}");
        assert!(svg.contains(" d=\"M"), "{plot} draws something");
    }
}

#[test]
fn both_directions_are_drawn_if_both_carry_much() {
    let upload = page_of("upload");
    assert!(upload.contains("sequence-0-to-server") && !upload.contains("sequence-0-to-client"));
}

#[test]
fn a_thinned_picture_says_so() {
    let (trace, series) = drawn("openstack-gro", 300);
    let page = page(trace, Ok(series));
    assert!(page.contains(" are not drawn, "), "thinned");
    assert!(!page_of("ipvs-gro-vip").contains(" are not drawn, "));
}

#[test]
fn without_a_second_reading_the_page_says_why() {
    let (trace, _) = drawn("ipvs-gro-vip", 10);
    let why = "standard input can be read only once <&>";
    let page = page(trace, Err(why.to_owned()));
    assert!(page.contains("standard input can be read only once &lt;&amp;&gt;"));
    assert!(!page.contains("data-sequence"));
}

/// What is drawn is what a browser can draw: no NaN, no infinity, nothing far outside.
#[test]
fn coordinates_are_numbers_near_the_picture() {
    for name in [
        "clock-offset",
        "zero-window",
        "reorder",
        "sniffer-drops",
        "tso-sender",
        "upload",
    ] {
        let page = page_of(name);
        let paths = page
            .split(" d=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        for path in paths {
            let numbers = path.split(|c: char| c.is_ascii_alphabetic() || c == ' ');
            for number in numbers.filter(|text| !text.is_empty()) {
                let value: f64 = number.parse().expect(path);
                assert!(value.abs() < 20_000.0, "{name}: {number}");
            }
        }
    }
}
