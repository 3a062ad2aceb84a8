//! Arguments of what is made from the arguments: completions and manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

const COMPLETIONS_NOTES: &str = "\
Where shells look for them:
  bash        coalescope completions bash > ~/.local/share/bash-completion/completions/coalescope
  zsh         coalescope completions zsh > DIR/_coalescope, DIR being in $fpath
  fish        coalescope completions fish > ~/.config/fish/completions/coalescope.fish
  powershell  coalescope completions powershell >> $PROFILE";

const MAN_NOTES: &str = "\
Examples:
  coalescope man | man -l -
  coalescope man --out ~/.local/share/man/man1";

/// Arguments of `coalescope completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_NOTES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `coalescope man`.
#[derive(Debug, Args)]
#[command(after_help = MAN_NOTES)]
pub struct ManArgs {
    /// Write a page for each command into this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}
