//! Warnings: what was left out or looked odd.

use maud::html;

use super::page::Page;

/// Adds the section, if there are warnings.
pub(crate) fn section(page: &mut Page, notes: &[String]) {
    if !notes.is_empty() {
        let body = html! { ul { @for note in notes { li { (note) } } } };
        page.section("notes", "Notes", body);
    }
}
