//! Plots of a few connections, frame by frame: those that show the findings best.

mod histogram;
mod rates;
mod sequence;
mod ticks;

use std::io;

use coalescope_capture::facts::{Direction, Endpoint};
use coalescope_capture::series::{Lane, Series};
use maud::{Markup, html};

use super::page::Page;
use crate::Report;
use crate::words::units::{bytes, count, counted};
use sequence::Sequence;

const STYLE: &str = include_str!("assets/plot.css");
const SCRIPT: &str = include_str!("assets/plot.js");

/// A direction with at least this fraction of the other's bytes has its own plots.
const BOTH: u64 = 5;

/// Adds the section if a page was asked for: the plots, or why there are none.
pub(super) fn show(page: &mut Page, report: &Report) -> io::Result<()> {
    let body = match report.series() {
        None => return Ok(()),
        Some(Err(why)) => {
            html! { p.note { "There are no pictures of single connections: " (why) "." } }
        }
        Some(Ok([])) => {
            html! { p.note { "No connection carries data, so there is nothing to draw." } }
        }
        Some(Ok(series)) => {
            page.style(STYLE);
            page.script(SCRIPT);
            connections(series, report.trace.points.len())?
        }
    };
    page.section("connections-over-time", "Connections over time", body);
    Ok(())
}

fn connections(series: &[Series], points: usize) -> io::Result<Markup> {
    let mut bodies = Vec::new();
    for (i, one) in series.iter().enumerate() {
        bodies.push(connection(i, one)?);
    }
    Ok(html! {
        p { "Those that show best what was found, the worst first. Open one to see each of its frames." }
        @for (i, (body, one)) in bodies.iter().zip(series).enumerate() {
            details.connection id={ "connection-" (i) } open[i == 0] {
                summary { h3 { (heading(one, points)) } }
                (body)
            }
        }
    })
}

/// What a connection sent; of one that one of several points has seen, where: so is each of two transfers.
fn heading(series: &Series, points: usize) -> String {
    match &series.lanes[..] {
        [lane] if points > 1 => format!("{}: {}", lane.point, ends(series)),
        _ => ends(series),
    }
}

fn ends(series: &Series) -> String {
    let end = |end: &Endpoint| match end.address {
        address if address.is_ipv6() => format!("[{address}]:{}", end.port),
        address => format!("{address}:{}", end.port),
    };
    let sent = |to_client: bool| {
        let ways = series.lanes.iter().map(|lane| direction(lane, to_client));
        bytes(ways.map(|way| way.unique_bytes).max().unwrap_or(0))
    };
    let (client, server) = (end(&series.client), end(&series.server));
    format!(
        "{client} and {server}: {} to the client, {} to the server",
        sent(true),
        sent(false)
    )
}

fn connection(index: usize, series: &Series) -> io::Result<Markup> {
    let mut ways = Vec::new();
    for to_client in directions(series) {
        ways.push(way(index, series, to_client)?);
    }
    Ok(html! {
        (notes(series))
        @for way in ways { (way) }
    })
}

fn way(index: usize, series: &Series, to_client: bool) -> io::Result<Markup> {
    let name = if to_client { "to-client" } else { "to-server" };
    let id = |plot: &str| format!("{plot}-{index}-{name}");
    let sequence = Sequence::opening(&id("sequence"), series, to_client).markup()?;
    let close = Sequence::close_up(id("close"), series, to_client);
    let close = close.map(|close| close.markup()).transpose()?;
    Ok(html! {
        (sequence)
        @if let Some(close) = close { (close) }
        (rates::markup(&id("rates"), series, to_client))
        div.pair {
            (histogram::lengths(&id("lengths"), series, to_client))
            (histogram::segments(&id("segments"), series, to_client))
        }
        (histogram::acknowledgments(&id("acks"), series, to_client))
    })
}

/// The direction with most bytes, and the other one if it has many, too.
fn directions(series: &Series) -> Vec<bool> {
    let sent = |to_client| {
        let lanes = series.lanes.iter();
        let ways = lanes.map(|lane| direction(lane, to_client).unique_bytes);
        ways.max().unwrap_or(0)
    };
    let main = sent(true) >= sent(false);
    let mut directions = vec![main];
    if sent(!main) > 0 && sent(!main) * BOTH >= sent(main) {
        directions.push(!main);
    }
    directions
}

/// The facts of one direction.
fn direction(lane: &Lane, to_client: bool) -> &Direction {
    if to_client {
        &lane.connection.to_client
    } else {
        &lane.connection.to_server
    }
}

/// Limits of what the plots show.
fn notes(series: &Series) -> Markup {
    let lanes = || series.lanes.iter();
    html! {
        @for lane in lanes().filter(|lane| lane.left.all() > 0) {
            p.note {
                (lane.point) ": " (counted(lane.left.all(), "frame")) " of "
                (count(lane.left.all() + lane.frames.len() as u64)) " are not drawn, evenly chosen among "
                (left(lane)) ". Rates and histograms count all."
            }
        }
        @for lane in lanes().filter(|lane| !lane.is_aligned) {
            p.note {
                (lane.point) ": the difference of its clock is not known, so its first frame is drawn at the "
                "time of the first one elsewhere."
            }
        }
        @if lanes().any(|lane| lane.ways.iter().any(|way| way.window_scale.is_none())) {
            p.note { "No handshake was captured somewhere: there the scale of windows is not known, and none is drawn." }
        }
    }
}

fn left(lane: &Lane) -> &'static str {
    match lane.left {
        left if left.telling > 0 => {
            "all sorts of frames: there are too many that were lost or sent again"
        }
        left if left.merged > 0 => "merged frames that arrived, single ones that arrived, and ACKs",
        _ => "single frames that arrived, and ACKs",
    }
}

/// `12, 15, 19 and 20 more`.
fn names(numbers: &[u64], most: usize) -> String {
    let shown: Vec<String> = numbers.iter().take(most).map(ToString::to_string).collect();
    let shown = shown.join(", ");
    match numbers.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_counted() {
        assert_eq!(names(&[1, 2, 3], 3), "1, 2, 3");
        assert_eq!(names(&[1, 2, 3], 1), "1 and 2 more");
    }

    #[test]
    fn a_connection_of_one_of_several_points_says_which() {
        let lane = |point: &str| Lane {
            point: point.to_owned(),
            ..Lane::default()
        };
        let of = |lanes: &[&str], points| {
            let series = Series {
                lanes: lanes.iter().map(|point| lane(point)).collect(),
                ..Series::default()
            };
            heading(&series, points)
        };
        assert!(of(&["SLOW"], 2).starts_with("SLOW: "));
        assert!(!of(&["SLOW"], 1).contains("SLOW"));
        assert!(!of(&["A", "B"], 2).contains("A: "));
    }
}
