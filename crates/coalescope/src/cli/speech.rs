//! Options of every command: how much is said, and in which colours.

use clap::{Args, ValueEnum};

/// Options of every command.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct SpeechArgs {
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true)]
    #[arg(hide_possible_values = true, help_heading = GLOBAL)]
    pub color: ColorArg,

    /// Print only the result: no warnings, no progress
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL)]
    pub quiet: bool,

    /// Say as well what is read, from where, and how long it takes
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub verbose: bool,
}

const GLOBAL: &str = "Options of every command";

/// When there are colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
