//! From arguments to points: the files of each point.

mod opened;
mod order;

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use coalescope_host::safe::printable_line;

pub(crate) use opened::refuse;
pub use opened::{Input, Opened, Point, open, read_once, sources};
pub use order::in_order_of_time;
pub(crate) use order::words_of_order;

use crate::error::Error;

/// Name of standard input in messages and reports.
const STDIN: &str = "standard input";
/// Suffixes of captures that are not part of the point's name.
const SUFFIXES: [&str; 6] = ["gz", "zst", "zstd", "pcap", "pcapng", "cap"];

/// A point and the files to read for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// The point's name.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
}

/// Sorts arguments into points: `NAME=FILE`, or `FILE`.
///
/// # Errors
///
/// If a name or a file is missing, or standard input is given twice.
pub fn points(arguments: &[OsString]) -> Result<Vec<Named>, Error> {
    let mut points: Vec<Named> = Vec::new();
    let mut unnamed = Vec::new();
    for argument in arguments {
        let (name, file) = split(argument)?;
        let known = name.as_ref().and_then(|name| position(&points, name));
        if let Some(known) = known {
            points[known].files.push(file);
            continue;
        }
        if name.is_none() {
            unnamed.push(points.len());
        }
        let name = name.unwrap_or_default();
        let files = vec![file];
        points.push(Named { name, files });
    }
    refuse_second_stdin(&points)?;
    name_by_file(&mut points, &unnamed);
    Ok(points)
}

fn position(points: &[Named], name: &str) -> Option<usize> {
    points.iter().position(|point| point.name == name)
}

/// Splits `NAME=FILE`, unless there is a file of the whole name.
fn split(argument: &OsStr) -> Result<(Option<String>, PathBuf), Error> {
    let whole = PathBuf::from(argument);
    let text = argument.to_string_lossy();
    let Some((name, _)) = text.split_once('=') else {
        return Ok((None, whole));
    };
    // A path with a `/` before the `=` has no point's name.
    if name.contains('/') || whole.exists() {
        return Ok((None, whole));
    }
    let file = after_equals(argument);
    if name.is_empty() || file.as_os_str().is_empty() {
        return Err(Error::HalfNamed(printable_line(&text).into_owned()));
    }
    Ok((Some(name.to_owned()), file))
}

/// The bytes after the first `=`, which need not be UTF-8.
#[cfg(unix)]
fn after_equals(argument: &OsStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = argument.as_bytes();
    let start = bytes
        .iter()
        .position(|&byte| byte == b'=')
        .map_or(0, |at| at + 1);
    PathBuf::from(OsStr::from_bytes(&bytes[start..]))
}

#[cfg(not(unix))]
fn after_equals(argument: &OsStr) -> PathBuf {
    let text = argument.to_string_lossy();
    PathBuf::from(text.split_once('=').map_or("", |(_, file)| file))
}

fn refuse_second_stdin(points: &[Named]) -> Result<(), Error> {
    let files = points.iter().flat_map(|point| &point.files);
    if files.filter(|file| is_stdin(file)).count() > 1 {
        return Err(Error::StdinTwice);
    }
    Ok(())
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Gives unnamed points the name of their file, with a number if that name is taken.
fn name_by_file(points: &mut [Named], unnamed: &[usize]) {
    let mut taken: HashSet<String> = points.iter().map(|point| point.name.clone()).collect();
    for &index in unnamed {
        let stem = stem(&points[index].files[0]);
        let numbered = (2..).map(|n| format!("{stem}-{n}"));
        let free = std::iter::once(stem.clone())
            .chain(numbered)
            .find(|name| !taken.contains(name))
            .unwrap_or(stem);
        taken.insert(free.clone());
        points[index].name = free;
    }
}

fn stem(file: &Path) -> String {
    if is_stdin(file) {
        return "stdin".to_owned();
    }
    let mut stem = file.file_name().map(PathBuf::from).unwrap_or_default();
    while stem.extension().is_some_and(is_suffix) {
        stem.set_extension("");
    }
    stem.to_string_lossy().into_owned()
}

fn is_suffix(extension: &OsStr) -> bool {
    SUFFIXES
        .iter()
        .any(|suffix| extension.eq_ignore_ascii_case(suffix))
}

/// Name of a file in messages and reports.
#[must_use]
pub fn display(file: &Path) -> String {
    if is_stdin(file) {
        return STDIN.to_owned();
    }
    printable_line(&file.display().to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(arguments: &[&str]) -> Vec<(String, Vec<String>)> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let points = points(&arguments).unwrap();
        let text = |file: &PathBuf| file.display().to_string();
        let pair = |point: Named| (point.name, point.files.iter().map(text).collect());
        points.into_iter().map(pair).collect()
    }

    fn names(arguments: &[&str]) -> Vec<String> {
        named(arguments).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_come_from_files() {
        let files = [
            "a/CAP-01.pcapng.gz",
            "b.pcap.zst",
            "c.2.cap",
            "d",
            "-",
            ".pcap",
        ];
        assert_eq!(names(&files), ["CAP-01", "b", "c.2", "d", "stdin", ".pcap"]);
    }

    #[test]
    fn names_are_unique() {
        assert_eq!(
            names(&["x.pcap", "b/x.pcap", "c/x.pcap.gz"]),
            ["x", "x-2", "x-3"]
        );
        assert_eq!(names(&["x.pcap", "x=y.pcap", "x-2=z"]), ["x-3", "x", "x-2"]);
    }

    #[test]
    fn files_of_one_name_are_one_point() {
        let both = vec!["a.0".to_owned(), "a.1".to_owned()];
        let points = named(&["A=a.0", "B=b", "A=a.1"]);
        assert_eq!(points[0], ("A".to_owned(), both));
        assert_eq!(points.len(), 2);
    }

    #[test]
    fn an_equals_sign_in_a_directory_names_nothing() {
        assert_eq!(names(&["dir=1/x.pcap"]), ["dir"]);
        assert_eq!(names(&["./dir=1/x.pcap"]), ["x"]);
    }

    #[test]
    fn half_a_name_is_an_error() {
        for bad in ["=x", "x="] {
            assert!(points(&[OsString::from(bad)]).is_err(), "{bad}");
        }
    }

    #[test]
    fn standard_input_once() {
        let twice = ["-".into(), "X=-".into()];
        assert!(points(&twice).is_err());
    }
}
