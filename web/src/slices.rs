//! A file that was dropped on the page, read slice by slice: none of it is held.

use std::io::{self, Read};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./slices.js")]
extern "C" {
    /// Copies bytes of a file, and says how many.
    #[wasm_bindgen(catch, js_name = readSlice)]
    fn read_slice(file: u32, from: f64, into: &mut [u8]) -> Result<u32, JsValue>;
}

/// A file by its number on the page.
#[derive(Clone, Debug)]
pub(crate) struct Slices {
    file: u32,
    at: u64,
    size: u64,
}

impl Slices {
    /// From its first byte to the last that it had when it was dropped.
    pub(crate) fn new(file: u32, size: u64) -> Self {
        Self { file, at: 0, size }
    }
}

impl Read for Slices {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.size - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let read = read_slice(self.file, self.at as f64, &mut buffer[..wanted]);
        let read = read.map_err(|error| io::Error::other(words(&error)))?;
        self.at += u64::from(read);
        Ok(read as usize)
    }
}

/// What a browser says of a file that has changed or is gone is for programmers.
fn words(error: &JsValue) -> String {
    let said = error.as_string().unwrap_or_default();
    if said.is_empty() {
        return "the browser cannot read it any more: it was changed, moved or removed since it was chosen".to_owned();
    }
    said
}
