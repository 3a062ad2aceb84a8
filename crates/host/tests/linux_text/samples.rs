//! Samples of Linux output, all written for these tests.

mod ethtool;
mod files;
mod hosts;
mod links;
mod tables;

/// A text as it may be saved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Name of the sample and of its snapshot.
    pub(crate) name: &'static str,
    /// What names the text.
    pub(crate) command: Option<&'static str>,
    /// What was printed.
    pub(crate) body: &'static str,
}

/// A sample that no command names.
const fn plain(name: &'static str, body: &'static str) -> Sample {
    Sample {
        name,
        command: None,
        body,
    }
}

/// A sample that a command names.
const fn named(name: &'static str, command: &'static str, body: &'static str) -> Sample {
    Sample {
        name,
        command: Some(command),
        body,
    }
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = Sample> {
    let all = [
        ethtool::SAMPLES,
        links::SAMPLES,
        tables::SAMPLES,
        files::SAMPLES,
        hosts::SAMPLES,
    ];
    all.into_iter().flatten().copied()
}
