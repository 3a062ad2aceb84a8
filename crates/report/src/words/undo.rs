//! Words for what was undone.

use coalescope_change::restore::Fate;

/// The message if there is no journal.
pub(crate) const NOTHING: &str = "There is nothing to undo.";

/// A journal, and the command that it is of.
pub(crate) fn head(journal: &str, command: &str) -> String {
    if command.is_empty() {
        journal.to_owned()
    } else {
        format!("{journal} (`{command}`)")
    }
}

/// A change that was taken back.
pub(crate) fn taken_back(change: &str) -> String {
    format!("taken back: {change}")
}

/// A journal that was removed without restoring.
pub(crate) fn forgotten(journal: &str) -> String {
    format!("{journal}: forgotten; nothing was restored from it")
}

/// Whether a journal ended well; none while the command that it is of goes on.
pub(crate) fn ended_well(fate: &Fate) -> Option<bool> {
    let goes_on = matches!(fate, Fate::Running { .. });
    (!goes_on).then(|| !fate.is_failure())
}

/// The fate of a journal in words.
pub(crate) fn fate(fate: &Fate) -> String {
    match fate {
        Fate::Restored { idle, .. } if !idle.is_empty() => {
            "restored: what was changed is as it was, and not all of it has an effect".to_owned()
        }
        Fate::Restored { .. } => "restored: all is as it was".to_owned(),
        Fate::Reset => "nothing to do: the machine has started anew since".to_owned(),
        Fate::Running { holder } => {
            format!("still running ({holder}): it restores when it ends")
        }
        Fate::Held { why, by_hand } => match by_hand {
            None => format!("NOT restored: {why}"),
            Some(command) => format!("NOT restored: {why}; run: {command}"),
        },
        Fate::Failed { .. } => "NOT restored, the journal stays".to_owned(),
        Fate::Unusable { problem } => format!("NOT restored: {problem}"),
    }
}
