//! The outcomes of the frames of a hop over time, as one line.

use coalescope_capture::facts::{Hop, Slot};

use super::page::{Page, Tone};
use crate::words::hops::{FEW, lost};
use crate::words::units::seconds;

/// Least and most columns.
const COLUMNS: std::ops::RangeInclusive<usize> = 20..=60;
/// Width besides the columns: the indent, two bars, and the duration.
const BESIDE: usize = 40;

/// Signs for the outcomes in a column's time, the gravest first. In the first two, half or more of
/// the merged frames were lost.
const SIGNS: [(char, &str); 5] = [
    ('X', "merged frames lost, single ones arrived"),
    ('M', "merged ones lost, no single ones came"),
    ('x', "another loss"),
    ('#', "merged frames arrived"),
    ('-', "only single ones"),
];
const NOTHING: char = ' ';

/// Draws a hop with losses, or with more than a handful of merged frames.
pub(super) fn show(page: &mut Page, hop: &Hop) {
    let many = hop.merged.seen + hop.tso.seen >= FEW;
    if hop.strip.slots.is_empty() || (lost(hop) == 0 && !many) {
        return;
    }
    let room = page.width().saturating_sub(BESIDE);
    let (signs, column_s) = signs(hop, room.clamp(*COLUMNS.start(), *COLUMNS.end()));
    let spanned_s = column_s * signs.len() as f64;
    let length = format!("| {}, {} a column", seconds(spanned_s), seconds(column_s));
    let runs = signs.chunk_by(|one, next| tone(*one) == tone(*next));
    let runs: Vec<(String, Tone)> = runs
        .map(|run| (run.iter().collect(), tone(run[0])))
        .collect();
    let begin = std::iter::once(("    |", Tone::Plain));
    let drawn = runs.iter().map(|(text, tone)| (text.as_str(), *tone));
    page.pieces(begin.chain(drawn).chain([(length.as_str(), Tone::Plain)]));
    page.paragraph("     ", "     ", &key(&signs), Tone::Plain);
}

/// A sign for each column, and the seconds per column.
fn signs(hop: &Hop, most: usize) -> (Vec<char>, f64) {
    let slots = &hop.strip.slots;
    let together = slots.len().div_ceil(most);
    let columns = slots.chunks(together).map(|slots| {
        let mut all = Slot::default();
        slots.iter().for_each(|slot| all.add(slot));
        sign(&all)
    });
    (columns.collect(), hop.strip.slot_s * together as f64)
}

fn sign(slot: &Slot) -> char {
    let [accusing, all_merged, other_loss, merged, single] = SIGNS.map(|(sign, _)| sign);
    let mostly_lost = slot.merged_lost > 0 && slot.merged_lost >= slot.merged_arrived;
    if *slot == Slot::default() {
        NOTHING
    } else if mostly_lost && slot.single_arrived > 0 {
        accusing
    } else if mostly_lost {
        all_merged
    } else if slot.merged_lost > 0 || slot.other_lost > 0 {
        other_loss
    } else if slot.merged_arrived > 0 {
        merged
    } else {
        single
    }
}

/// Only signs that accuse merging are coloured.
fn tone(sign: char) -> Tone {
    if [SIGNS[0].0, SIGNS[1].0].contains(&sign) {
        Tone::Bad
    } else {
        Tone::Plain
    }
}

/// The meaning of the signs that occur.
fn key(signs: &[char]) -> String {
    let occur = SIGNS.iter().filter(|(sign, _)| signs.contains(sign));
    let meanings: Vec<String> = occur
        .map(|(sign, meaning)| format!("{sign} {meaning}"))
        .collect();
    meanings.join("; ")
}
