//! Findings of a trace, each with its evidence, meaning and remedies.

use coalescope_knowledge::rules::{Meaning, Remedy, RemedyKind, meaning};
use coalescope_knowledge::{Finding, Id};
use maud::{Markup, html};

use super::page::Page;
use super::verdict::Tone;
use crate::words::findings::{capitalised, is_marked, place, quote};

/// Adds the section.
pub(crate) fn section(page: &mut Page, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let body = html! { @for finding in findings { (article(finding)) } };
    page.section("findings", "Findings in the captures", body);
}

fn article(finding: &Finding) -> Markup {
    let (id, proof) = (finding.id.name(), finding.proof.name());
    html! {
        article.finding.(tone(finding).class()) {
            h3 { (capitalised(&finding.title)) }
            @if is_marked(finding) { (tags(&[id, proof, "note"])) } @else { (tags(&[id, proof])) }
            @if let Some(place) = place(finding) { p { (capitalised(&place)) } }
            ul { @for evidence in &finding.evidence { li { (quote(evidence)) } } }
            p { b { "Next: " } (finding.next) }
            @if let Some(meaning) = meaning(finding.id) { (meant(meaning)) }
        }
    }
}

fn tone(finding: &Finding) -> Tone {
    match finding.id {
        Id::MergedFramesLost | Id::MergedFramesRejected | Id::MergedDatagramsLost => Tone::Bad,
        Id::Healthy => Tone::Good,
        _ if finding.note => Tone::Plain,
        _ => Tone::Warn,
    }
}

fn meant(meaning: &Meaning) -> Markup {
    html! {
        p { b { "Why: " } (meaning.mechanism) }
        @if let Some(experiment) = &meaning.experiment { (prove(experiment.line())) }
        (remedies(&meaning.remedies))
        @if let Some(cost) = &meaning.cost { p { b { "Cost: " } (cost) } }
        (sources(&meaning.sources))
    }
}

/// Short words in boxes: an id, a proof level.
pub(crate) fn tags(words: &[&str]) -> Markup {
    html! { p.tags { @for word in words { span.tag { (word) } " " } } }
}

/// The experiment that would prove or clear the finding.
pub(crate) fn prove(experiment: &str) -> Markup {
    html! {
        p { b { "Prove it:" } }
        pre tabindex="0" { code { (experiment) } }
    }
}

/// Remedies: commands to copy, folded, since there are many.
pub(crate) fn remedies(remedies: &[Remedy]) -> Markup {
    html! {
        @if !remedies.is_empty() {
            details {
                summary { "How to mend it" }
                @for remedy in remedies {
                    p { (kind(remedy.kind)) " (" (remedy.platform) "):" }
                    pre tabindex="0" { code { (remedy.command) } }
                }
            }
        }
    }
}

fn kind(kind: RemedyKind) -> &'static str {
    match kind {
        RemedyKind::Runtime => "Fix now",
        RemedyKind::Persistent => "Fix for good",
        RemedyKind::Undo => "Undo",
    }
}

/// Sources. Only web addresses become links.
pub(crate) fn sources(sources: &[String]) -> Markup {
    html! {
        @if !sources.is_empty() {
            details {
                summary { "Sources" }
                ul { @for source in sources { li { (source_or_link(source)) } } }
            }
        }
    }
}

fn source_or_link(source: &str) -> Markup {
    let is_address = source.starts_with("https://") && !source.contains(char::is_whitespace);
    html! {
        @if is_address { a href=(source) rel="noreferrer" { (source) } }
        @else { (source) }
    }
}
