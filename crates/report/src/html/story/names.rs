//! Names of points above a story's picture: inside the picture, and apart from each other.

use maud::{Markup, html};

use crate::html::svg::px;

/// The size of their letters in the style sheet.
const SIZE: f64 = 13.0;
/// The least distance between two names.
const APART: f64 = 8.0;

/// A name above the place of its point, in a picture of this width with so many points. Where the name would leave the picture,
/// it stands further inward.
pub(super) fn above(x: f64, name: &str, width: f64, points: usize) -> Markup {
    let name = fitting(name, width / points.max(1) as f64 - APART);
    let half = (width_of(&name) / 2.0).min(width / 2.0);
    let x = x.clamp(half, width - half);
    html! { text.name x=(px(x)) y="15" text-anchor="middle" { (name) } }
}

/// The beginning of a name that is too long for the room.
fn fitting(name: &str, room: f64) -> String {
    if width_of(name) <= room {
        return name.to_owned();
    }
    let mut left = room - SIZE;
    let begin = name.chars().take_while(|letter| {
        left -= letter_width(*letter);
        left >= 0.0
    });
    format!("{}\u{2026}", begin.collect::<String>().trim_end())
}

fn width_of(name: &str) -> f64 {
    name.chars().map(letter_width).sum()
}

/// About as wide as in DejaVu Sans Bold, the widest of the fonts that browsers take for a page's text.
fn letter_width(letter: char) -> f64 {
    SIZE * match letter {
        'i' | 'j' | 'l' | 'I' | 'J' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' => 0.4,
        '-' | 'f' | 'r' | 't' | '(' | ')' | '/' => 0.5,
        'M' | 'W' | 'm' | 'w' | '@' | '%' | '\u{1100}'.. => 1.1,
        'A'..='Z' | '<' | '>' | '=' | '+' | '&' | '#' => 0.84,
        _ => 0.72,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(name: &str, x: f64) -> (f64, String) {
        let drawn = above(x, name, 340.0, 2).into_string();
        let at = drawn.split('"').nth(3).expect("a place");
        let text = drawn.split(['>', '<']).nth(2).expect("a text");
        (at.parse().expect("a number"), text.to_owned())
    }

    #[test]
    fn names_stay_inside_and_apart() {
        assert_eq!(place_of("UPLINK", 46.0), (46.0, "UPLINK".to_owned()));
        for name in [
            "WWWWWWWWWWWWWWWWWWWW",
            "llllllllllllllllllllllllllllllllllll",
            "\u{540d}\u{524d}\u{540d}\u{524d}\u{540d}\u{524d}\u{540d}\u{524d}\u{540d}\u{524d}\u{540d}\u{524d}\u{540d}\u{524d}",
        ] {
            let ((left, short), (right, _)) = (place_of(name, 46.0), place_of(name, 294.0));
            let half = width_of(&short) / 2.0;
            // Places are written in tenths.
            assert!(left - half > -0.1 && right + half < 340.1, "{name}");
            assert!(left + half < right - half, "{name}");
            assert!(short.ends_with('\u{2026}'), "{name}: {short}");
        }
        assert_eq!(place_of("", 46.0), (46.0, String::new()));
    }
}
