//! What the page asks for.

use std::io::{BufReader, Read};
use std::sync::Arc;

use coalescope_capture::PointInput;
use coalescope_capture::file::{OpenError, Source};
use coalescope_report::with_causes;
use serde::Deserialize;

use crate::slices::Slices;

/// Bytes that are copied out of JavaScript at once: they stay in the second-level cache until they are looked at, and
/// each piece of a slice begins at a whole word.
const PIECE: usize = 256 * 1024;

/// Captures, in the order of their points.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// The points.
    pub(crate) points: Vec<AskedPoint>,
    /// Saved output of hosts, a file each.
    #[serde(default)]
    pub(crate) hosts: Vec<AskedFile>,
    /// Folders of it, as they were dropped.
    #[serde(default)]
    pub(crate) folders: Vec<AskedFolder>,
    /// Whether they show two transfers to set side by side.
    pub(crate) compare: bool,
    /// Whether each interface of the one capture is a point.
    #[serde(default)]
    pub(crate) by_interface: bool,
    /// When, in seconds since 1970.
    pub(crate) now_unix_s: f64,
}

/// A point.
#[derive(Debug, Deserialize)]
pub(crate) struct AskedPoint {
    /// Its name.
    pub(crate) name: String,
    /// Its files, in order of time.
    pub(crate) files: Vec<AskedFile>,
}

/// A folder: of its files each has its path from there on as its name.
#[derive(Debug, Deserialize)]
pub(crate) struct AskedFolder {
    /// Its name.
    pub(crate) name: String,
    /// Its files, captures left out.
    pub(crate) files: Vec<AskedFile>,
}

/// A file.
#[derive(Debug, Deserialize)]
pub(crate) struct AskedFile {
    /// Its number on the page.
    pub(crate) number: u32,
    /// Its name.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) size: f64,
}

impl AskedFile {
    /// All of it, of one that is no capture: as much as is read of a host.
    pub(crate) fn bytes(&self, most: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = self.reader().take(most).read_to_end(&mut bytes);
        read.map_err(|error| format!("{}: {error}", self.name))?;
        Ok(bytes)
    }

    /// From its first byte. By way of a buffer, whose place is as good as that of shared memory: into the middle of words
    /// JavaScript copies byte after byte.
    pub(crate) fn reader(&self) -> BufReader<Slices> {
        reader_of(self.number, self.size as u64)
    }

    /// The same, without a buffer of its own: folders have thousands of files, and most are small.
    pub(crate) fn slices(&self) -> Slices {
        Slices::new(self.number, self.size as u64)
    }

    fn source(&self) -> Result<Source, OpenError> {
        let (number, size) = (self.number, self.size as u64);
        let again = move || Ok(Box::new(reader_of(number, size)) as Box<dyn Read + Send>);
        let source = Source::from_reader(&self.name, Box::new(self.reader()), Some(size))?;
        Ok(source.with_again(Some(Arc::new(again))))
    }
}

/// A file from its first byte, as [`AskedFile::reader`] reads it.
fn reader_of(number: u32, size: u64) -> BufReader<Slices> {
    BufReader::with_capacity(PIECE, Slices::new(number, size))
}

impl Asked {
    /// The names of files and folders with what hosts printed.
    pub(crate) fn host_names(&self) -> impl Iterator<Item = &str> {
        let files = self.hosts.iter().map(|file| file.name.as_str());
        files.chain(self.folders.iter().map(|folder| folder.name.as_str()))
    }

    /// Whether there are as many captures as their kind takes.
    pub(crate) fn count(&self) -> Result<(), String> {
        let given = self.points.len();
        if self.compare && given != 2 {
            return Err(format!(
                "two transfers are set side by side, {given} given: give two captures, or choose points of one path"
            ));
        }
        if self.by_interface && given != 1 {
            return Err(format!(
                "each interface of one file is a point, {given} files given: give one file, or choose points of one path"
            ));
        }
        Ok(())
    }

    /// All of them opened; if some are of no use, all that is wrong, a line each.
    pub(crate) fn inputs(&self) -> Result<Vec<PointInput>, String> {
        let mut refused = Vec::new();
        let mut inputs = Vec::new();
        for point in &self.points {
            let mut sources = Vec::new();
            for file in &point.files {
                match file.source() {
                    Ok(source) => sources.push((file.name.clone(), source)),
                    Err(error) => refused.push(with_causes(&error)),
                }
            }
            let name = point.name.clone();
            inputs.push(PointInput { name, sources });
        }
        if refused.is_empty() {
            Ok(inputs)
        } else {
            Err(refused.join("\n"))
        }
    }
}
