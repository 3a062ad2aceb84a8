//! The JSON of `curl -w '%{json}'`.

use super::json::{self, at};
use super::{Figure, FigureError};
use serde_json::Value;

/// Members that [`fetch_command`] requests one by one: `%{json}` needs curl 7.70, and RHEL 7 has 7.29.
const WRITE_OUT: &str = "{\"speed_download\":%{speed_download},\
    \"size_download\":%{size_download},\"time_starttransfer\":%{time_starttransfer},\
    \"time_total\":%{time_total}}\\n";

/// Fetches `url` and discards the body. Redirections are followed, since the page at their end is
/// to be measured. A page that is not found is a failure (exit code 22). Brackets in the URL are
/// not expanded.
#[must_use]
pub fn fetch_command(url: &str) -> Vec<String> {
    // In some locales curl would print a comma as the decimal point, which is not JSON.
    let words = [
        "env",
        "LC_ALL=C",
        "curl",
        "-sSgL",
        "--fail",
        "-o",
        "/dev/null",
        "-w",
        WRITE_OUT,
        "--url",
        url,
    ];
    words.map(str::to_owned).to_vec()
}

/// The figures of curl's JSON; empty if there is none.
pub(super) fn figures(text: &str) -> Result<Vec<Figure>, FigureError> {
    let documents = json::documents(text);
    let Some(report) = documents.iter().find(|json| is_report(json)) else {
        return Ok(Vec::new());
    };
    failure(report)?;
    let times = ["time_starttransfer", "time_total"].map(|name| {
        let seconds = at(report, &[name])?;
        Some(Figure::time(&format!("{name}_s"), seconds))
    });
    let [first_byte, total] = times;
    let figures = [throughput(report), total, first_byte];
    Ok(figures.into_iter().flatten().collect())
}

/// The error of a failed transfer, whose exit code is not 0.
fn failure(report: &Value) -> Result<(), FigureError> {
    let code = at(report, &["exitcode"]).unwrap_or(0.0);
    if code == 0.0 {
        return Ok(());
    }
    let words = report.get("errormsg").and_then(Value::as_str);
    Err(FigureError::Program {
        program: "curl",
        words: words.map_or_else(|| format!("exit code {code}"), super::error::shown),
    })
}

fn is_report(json: &Value) -> bool {
    at(json, &["speed_download"]).is_some() && at(json, &["time_total"]).is_some()
}

/// The throughput of the direction with more bytes; none without any bytes.
fn throughput(report: &Value) -> Option<Figure> {
    let size = |way: &str| at(report, &[&format!("size_{way}")]);
    let (down, up) = (size("download"), size("upload").unwrap_or(0.0));
    let way = match down {
        Some(down) if down < up => "upload",
        Some(0.0) => return None,
        _ => "download",
    };
    let bytes = at(report, &[&format!("speed_{way}")])?;
    Some(Figure::throughput(bytes * 8.0))
}
