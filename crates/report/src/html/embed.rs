//! The only place where text is put on a page without being escaped: the program's own styles and
//! scripts, and data. All other text goes through `maud::html!`, which escapes it.

use std::io;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

/// Our own styles, in full.
pub(crate) fn style(css: &'static str) -> Markup {
    html! { style { (PreEscaped(css)) } }
}

/// One of our own scripts, in full.
pub(crate) fn script(js: &'static str) -> Markup {
    html! { script { (PreEscaped(js)) } }
}

/// Data for scripts as JSON, read by its element's id: `JSON.parse(document.getElementById(id).textContent)`.
///
/// # Errors
///
/// If the data cannot be written as JSON.
pub(crate) fn data<T: Serialize + ?Sized>(id: &str, data: &T) -> io::Result<Markup> {
    let json = serde_json::to_string(data)?;
    // Only "<" can end a script element or begin a comment in one; in JSON it occurs only in strings.
    let json = json.replace('<', "\\u003c");
    Ok(html! { script id=(id) type="application/json" { (PreEscaped(json)) } })
}
