//! A capture's bytes once more, from the first one.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

/// Begins to read the bytes of a capture once more, while a [`super::Source`] reads them.
pub type Again = Arc<dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync>;

/// A file once more. `None` on systems where whoever reads at a place of a file moves the place at which others read it.
#[cfg(not(unix))]
#[must_use]
pub fn file_again(_: &Arc<File>) -> Option<Again> {
    None
}

/// A file once more. `None` on systems where whoever reads at a place of a file moves the place at which others read it.
#[cfg(unix)]
#[must_use]
pub fn file_again(file: &Arc<File>) -> Option<Again> {
    let file = Arc::clone(file);
    Some(Arc::new(move || {
        let file = Arc::clone(&file);
        Ok(Box::new(Apart { file, at: 0 }))
    }))
}

/// A file that is read at places of its own.
#[cfg(unix)]
struct Apart {
    file: Arc<File>,
    at: u64,
}

#[cfg(unix)]
impl Read for Apart {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
