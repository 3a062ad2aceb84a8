//! The only place where text gets onto a page without being escaped: our own styles and scripts, and
//! data. Everything else goes through `maud::html!`, which escapes what it is given.

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

/// Data for scripts, as JSON, found by the id of its element:
/// `JSON.parse(document.getElementById(id).textContent)`.
///
/// # Errors
///
/// If it cannot be said in JSON.
pub(crate) fn data<T: Serialize + ?Sized>(id: &str, data: &T) -> io::Result<Markup> {
    let json = serde_json::to_string(data)?;
    // Only "<" can end a script element or begin a comment in one; outside of strings JSON has none.
    let json = json.replace('<', "\\u003c");
    Ok(html! { script id=(id) type="application/json" { (PreEscaped(json)) } })
}
