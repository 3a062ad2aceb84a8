//! What an engine brings out, as bytes. The fuzz target `merge` takes this file as well.

use gro::{About, Outgoing, Part};

/// A frame that came out.
#[derive(Clone, Debug)]
pub(crate) struct Brought {
    pub(crate) about: About,
    pub(crate) bytes: Vec<u8>,
    pub(crate) parts: Vec<Part<usize>>,
}

impl Brought {
    /// A frame, which has the bytes of those that went in.
    pub(crate) fn of<'f>(outgoing: Outgoing<'_, usize>, frame: impl Fn(usize) -> &'f [u8]) -> Self {
        match outgoing {
            Outgoing::Unchanged { token, about } => Self {
                about,
                bytes: frame(token).to_vec(),
                parts: vec![Part {
                    token,
                    payload: 0..0,
                }],
            },
            Outgoing::Merged {
                header,
                parts,
                about,
            } => {
                let mut bytes = header.to_vec();
                let parts: Vec<_> = parts.collect();
                for part in &parts {
                    let range = part.payload.start as usize..part.payload.end as usize;
                    bytes.extend(&frame(part.token)[range]);
                }
                Self {
                    about,
                    bytes,
                    parts,
                }
            }
        }
    }
}
