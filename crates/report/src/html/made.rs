//! How a page was made, and from which files.

use coalescope_capture::provenance::FileFacts;
use maud::{Markup, html};

use super::page::Page;
use crate::made::{Is, Made, Source};
use crate::words::units::{bytes, count, counted, date, instant};

/// Adds the section, if there is anything to list.
pub(crate) fn section(page: &mut Page, made: &Made) {
    if made.command.is_empty() && made.sources.is_empty() {
        return;
    }
    let body = html! {
        dl.facts {
            @if !made.command.is_empty() { dt { "command" } dd { code { (made.command) } } }
            dt { "program" } dd { "coalescope " (env!("CARGO_PKG_VERSION")) }
            dt { "made" } dd { (date(made.at_unix_s)) }
        }
        @for source in &made.sources { (file(source)) }
    };
    page.section("made", "What this was made from", body);
}

fn file(source: &Source) -> Markup {
    html! {
        article.source {
            h3 { @if let Some(about) = &source.about { (about) ": " } code { (source.name) } }
            @match &source.is {
                Is::Capture(facts) => { (capture(facts)) }
                Is::File { size_bytes, sha256 } => { dl.facts { (identity(*size_bytes, sha256)) } }
                Is::Other(why) => p { (why) }
            }
        }
    }
}

fn identity(size_bytes: u64, sha256: &str) -> Markup {
    html! {
        dt { "size" } dd { (bytes(size_bytes)) " (" (counted(size_bytes, "byte")) ")" }
        dt { "SHA-256" } dd { code { (sha256) } }
    }
}

fn capture(facts: &FileFacts) -> Markup {
    html! {
        dl.facts {
            (identity(facts.size_bytes, &facts.sha256))
            dt { "frames" } dd { (count(facts.frames)) }
            @if let Some((first, last)) = facts.times_ns {
                dt { "captured" } dd { (instant(first)) " to " (instant(last)) }
            }
            dt { "snap length" } dd { (snap_length(facts)) }
            dt { "unreadable" } dd { (unreadable(facts)) }
        }
    }
}

fn snap_length(facts: &FileFacts) -> String {
    let limit = |bytes: u32| match bytes {
        0 => "none".to_owned(),
        bytes => counted(u64::from(bytes), "byte"),
    };
    let limits = match facts.snap_len_bytes {
        None => "not known".to_owned(),
        Some((low, high)) if low == high => limit(low),
        Some((low, high)) => format!("{} to {}", limit(low), limit(high)),
    };
    match facts.cut_frames {
        0 => format!("{limits}; no frame was cut"),
        cut => format!("{limits}; {} cut to fewer bytes", counted(cut, "frame")),
    }
}

fn unreadable(facts: &FileFacts) -> String {
    match facts.unreadable_bytes {
        0 => "nothing".to_owned(),
        bytes => counted(bytes, "byte"),
    }
}
