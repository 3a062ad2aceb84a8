//! The first section: the verdict in words, its proof level, and what would raise it.

use coalescope_knowledge::Proof;
use maud::{Markup, html};

use super::page::Page;

/// The colour of the verdict, which only repeats the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Neither good nor bad.
    Plain,
    /// Nothing wrong.
    Good,
    /// Something was found, other than that merging harms.
    Warn,
    /// Merging harms.
    Bad,
}

impl Tone {
    /// The class of the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// The proof level of the gravest finding, and how to raise it.
pub(crate) struct Sure {
    /// The level of proof.
    pub(crate) proof: Proof,
    /// What to do next, in words; the command of an experiment, if there is one.
    pub(crate) next: Option<String>,
    /// Whether `next` is a command.
    pub(crate) is_command: bool,
}

/// The contents of the first section.
pub(crate) struct Headline<'a> {
    /// The impact, in a line.
    pub(crate) impact: Option<&'a str>,
    /// The findings, in sentences.
    pub(crate) text: &'a str,
    /// The colour.
    pub(crate) tone: Tone,
    /// The proof level.
    pub(crate) sure: Option<&'a Sure>,
    /// A picture of the fault.
    pub(crate) picture: Option<Markup>,
}

/// Adds the section.
pub(crate) fn section(page: &mut Page, said: &Headline<'_>) {
    let body = html! {
        div.verdict.(said.tone.class()) {
            @if let Some(impact) = said.impact { p.impact { (impact) } }
            p { (said.text) }
        }
        @if let Some(picture) = &said.picture { (picture) }
        @if let Some(sure) = said.sure { (levels(sure)) }
    };
    page.section("verdict", "Verdict", body);
}

fn levels(sure: &Sure) -> Markup {
    html! {
        p { "Proof level:" }
        (scale(sure.proof))
        @match &sure.next {
            Some(command) if sure.is_command => {
                p { "What would raise it:" }
                pre tabindex="0" { code { (command) } }
            }
            Some(next) => p { "What would raise it, or what to do next: " (next) }
            None => {}
        }
    }
}

/// The levels of proof, with the one that is reached.
pub(crate) fn scale(proof: Proof) -> Markup {
    html! {
        ol.proof aria-label="Levels of proof" {
            @for level in [Proof::Suspected, Proof::Observed, Proof::Proven] {
                @if level == proof { li aria-current="step" { (level.name()) } }
                @else { li { (level.name()) } }
            }
        }
    }
}
