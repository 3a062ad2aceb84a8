//! Pictures of connections on a page, from simulated captures to what is drawn.

use std::io::Cursor;

use coalescope_capture::file::Source;
use coalescope_capture::series::{Chosen, Fate, Series, series};
use coalescope_capture::{Options, PointInput, facts::Trace, trace};
use coalescope_knowledge::{judge, shown};
use coalescope_report::{Document, Made, Report};
use coalescope_simulate::{Outcome, run, stories, story};

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
    drawn_of(name, None, limit)
}

/// The same of one of its points.
fn drawn_of(name: &str, only: Option<usize>, limit: usize) -> (Trace, Vec<Series>) {
    let mut outcome = run(&story(name).expect("a story"));
    if let Some(only) = only {
        outcome.points = vec![outcome.points.swap_remove(only)];
    }
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
    report
        .write_html(&Made::default(), &mut page)
        .expect("a Vec takes all");
    String::from_utf8(page).expect("HTML is text")
}

fn page_of(name: &str) -> String {
    page_of_points(name, None)
}

/// The page of all of a story's points, or of one.
fn page_of_points(name: &str, only: Option<usize>) -> String {
    let (trace, series) = drawn_of(name, only, 20_000);
    page(trace, Ok(series))
}

/// Without its elements.
fn plain(markup: &str) -> String {
    let pieces = markup
        .split('<')
        .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect()
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

/// The verdict with its figure, then the picture of one frame, its story and filters for each point; only then the path.
#[test]
fn what_a_reader_sees_first_is_one_frame_that_vanishes() {
    let page = page_of("openstack-gro");
    let verdict = between(&page, "<section id=\"verdict\"", "</section>");
    let order = ["class=\"impact\"", "id=\"story-drawing\"", "Proof level"];
    let places = order.map(|one| verdict.find(one).expect(one));
    assert!(places.is_sorted(), "{places:?}");
    let impact = between(verdict, "<p class=\"impact\">", "</p>");
    assert!(
        impact.contains("bit/s where the path carries more: "),
        "{impact}"
    );
    assert!(
        impact.contains(" merged frames vanish between "),
        "{impact}"
    );
    let story = plain(between(verdict, "<p class=\"told\">", "</p>"));
    for words in [
        "holds",
        "segments and leaves",
        "It never reaches",
        " later the same bytes go alone as ",
        "and arrive (",
    ] {
        assert!(story.contains(words), "{words}: {story}");
    }
    let filters: Vec<&str> = verdict.split("data-copy=\"").skip(1).collect();
    assert!(filters.len() >= 2, "a filter for each point");
    assert!(
        filters
            .iter()
            .all(|filter| filter.contains("<code>frame.number == "))
    );
}

/// The frames of the story are those of the captures: what is told was lost, and what came alone arrived.
#[test]
fn the_story_is_of_frames_that_are_there() {
    let (trace, series) = drawn("openstack-gro", 20_000);
    let number = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit())
            .find(|part| !part.is_empty())
            .and_then(|part| part.parse::<u64>().ok())
    };
    let lanes = series[0].lanes.clone();
    let page = page(trace, Ok(series));
    let story = plain(between(&page, "<p class=\"told\">", "</p>"));
    let lost = number(&story).expect("a frame");
    let again = number(story.split(" alone as ").nth(1).expect("again")).expect("a frame");
    let here = lanes
        .iter()
        .find(|lane| story.contains(&format!("leaves {}", lane.point)))
        .expect("a point");
    let frame = |number| {
        here.frames
            .iter()
            .find(|frame| frame.number == number)
            .expect("a frame of it")
    };
    assert!(frame(lost).is_lost() && frame(lost).segments > 1);
    assert!(frame(again).segments == 1 && !frame(again).is_lost());
    assert!(frame(again).start <= frame(lost).start && frame(lost).start < frame(again).end());
}

/// From one point alone, and where frames are overtaken, or lost before the first point: something is shown as well.
#[test]
fn every_sort_of_trouble_has_its_picture() {
    for (name, only, words) in [
        ("hyperv-rsc-jumbo", Some(1), "Nobody acknowledges it"),
        ("reorder", None, "overtaken"),
        ("policer", None, "never reaches"),
        ("random-loss", None, "never reaches"),
    ] {
        let page = page_of_points(name, only);
        let story = plain(between(&page, "<p class=\"told\">", "</p>"));
        assert!(story.contains(words), "{name}: {story}");
    }
    assert!(!page_of("healthy-gro").contains("story-drawing"));
}

/// What a plot shows at first: the first loss and its repair, in a part of a long transfer.
#[test]
fn a_plot_opens_where_it_happens() {
    let (trace, series) = drawn("openstack-gro", 20_000);
    let lost = |frame: &&coalescope_capture::series::Frame| frame.is_lost();
    let frames = series[0].lanes.iter().flat_map(|lane| &lane.frames);
    let first = frames
        .filter(lost)
        .map(|frame| frame.at_ns)
        .min()
        .expect("a loss");
    let page = page(trace, Ok(series));
    let data = between(
        &page,
        "<script id=\"sequence-0-to-client-data\" type=\"application/json\">",
        "</script>",
    );
    let field = |name: &str| {
        let rest = data.split(&format!("\"{name}\":")).nth(1).expect(name);
        let numbers = rest.split(|c: char| !c.is_ascii_digit());
        numbers
            .filter(|part| !part.is_empty())
            .map(|part| part.parse::<i64>().expect("a number"))
            .next()
            .expect(name)
    };
    let view = between(data, "\"view_ns\":[", "]");
    let view: Vec<i64> = view["\"view_ns\":[".len()..view.len() - 1]
        .split(',')
        .map(|part| part.parse().expect("a number"))
        .collect();
    assert!(view[0] <= first && first < view[1], "{view:?} {first}");
    assert!(10 * (view[1] - view[0]) < field("end_ns"), "{view:?}");
    assert!(
        page.contains("<svg id=\"sequence-0-to-client-whole\""),
        "all of it, without scripts"
    );
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

/// Whatever a caption says of a repair holds in the captures: for each simulated story, seen at all points and at each alone.
#[test]
fn what_is_told_of_a_repair_is_true() {
    let mut told = 0;
    for one in stories() {
        let points = run(&story(one.name).expect("a story")).points.len();
        for only in std::iter::once(None).chain((0..points).map(Some)) {
            let (trace, series) = drawn_of(one.name, only, 20_000);
            let kept = series.clone();
            let page = page(trace, Ok(series));
            if page.contains("<p class=\"told\">Frame <b>") && page.contains("</b> later ") {
                let story = plain(between(&page, "<p class=\"told\">", "</p>"));
                let is_true = kept.iter().any(|series| holds(series, &story));
                assert!(is_true, "{} {only:?}: {story}", one.name);
                told += 1;
            }
        }
    }
    assert!(told > 10, "{told}");
}

/// Whether what a caption says holds of a connection.
fn holds(series: &Series, story: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        let all = text.split(|c: char| !c.is_ascii_digit());
        all.filter_map(|part| part.parse().ok()).collect()
    };
    let here = series
        .lanes
        .iter()
        .find(|lane| story.contains(&format!("leaves {}.", lane.point)));
    let Some(here) = here else { return false };
    let find = |lane: &coalescope_capture::series::Lane, number: u64| {
        let mut frames = lane.frames.iter();
        frames.find(|frame| frame.number == number).cloned()
    };
    let lost = numbers(story)
        .first()
        .and_then(|number| find(here, *number));
    let Some(lost) = lost else { return false };
    let (_, rest) = story.split_once(" later ").expect("a repair");
    let (_, rest) = rest.split_once(" as ").expect("frames");
    let (again, ending) = rest.split_once(", and a").unwrap_or((rest, ""));
    let Some(again): Option<Vec<_>> = numbers(again).into_iter().map(|n| find(here, n)).collect()
    else {
        return false;
    };
    let first_ns = again.iter().map(|frame| frame.at_ns).min().unwrap_or(0);
    let is_after = again
        .iter()
        .all(|frame| frame.at_ns > lost.at_ns && frame.fate != Some(Fate::Lost));
    let arrived = ending
        .split_once(" (")
        .map(|(_, rest)| rest.split_once(')').expect("its end").0);
    let arrived = arrived.map_or(Vec::new(), |text| {
        numbers(text.split(" at ").next().unwrap_or(""))
    });
    let place = series
        .lanes
        .iter()
        .find(|lane| ending.contains(&format!(" at {})", lane.point)));
    let comes = place.unwrap_or(here);
    let Some(comes): Option<Vec<_>> = arrived.into_iter().map(|n| find(comes, n)).collect() else {
        return false;
    };
    is_after && comes.iter().all(|frame| frame.at_ns >= first_ns)
}

/// Numbers begin anew with each file of a point: a filter is for one file, and says for which.
#[test]
fn filters_of_a_point_with_several_files_name_the_file() {
    let (trace, mut series) = drawn("openstack-gro", 20_000);
    for lane in &mut series[0].lanes {
        lane.files = vec!["in/up-0.pcap".to_owned(), "in/up-1.pcap".to_owned()];
        lane.frames.iter_mut().for_each(|frame| frame.file = 1);
    }
    let page = page(trace, Ok(series));
    let verdict = between(&page, "<section id=\"verdict\"", "</section>");
    let story = plain(between(verdict, "<p class=\"told\">", "</p>"));
    assert!(story.contains(" of up-1.pcap holds "), "{story}");
    assert!(!story.contains(" of up-1.pcap and "), "{story}");
    let mut copied = verdict.split("data-copy=\"").skip(1);
    assert!(copied.all(|filter| {
        filter
            .split('"')
            .next()
            .is_some_and(|name| name.ends_with(", up-1.pcap"))
    }));
}
