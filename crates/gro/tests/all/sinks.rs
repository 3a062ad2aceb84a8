//! What may take frames: types, closures in variables, either of them behind a pointer; and what tokens may be.

use crate::build::{Streams, data};
use gro::{
    BatchCoalescer, ByteSink, Coalescer, CopyingCoalescer, Outgoing, OutgoingBytes, Profile,
    Settings, Sink,
};

/// Three segments that merge.
fn segments() -> Vec<Vec<u8>> {
    let mut streams = Streams::default();
    (0..3).map(|_| streams.build(&data(100)).bytes).collect()
}

/// All of what comes out that can be seen from outside, in words.
pub(crate) fn text(outgoing: Outgoing<'_, usize>) -> String {
    match outgoing {
        Outgoing::Unchanged { token, about } => format!("{token} {about:?}"),
        Outgoing::Merged {
            header,
            parts,
            about,
        } => format!("{header:?} {:?} {about:?}", parts.collect::<Vec<_>>()),
    }
}

#[derive(Default)]
struct Lengths(Vec<usize>);

impl ByteSink for Lengths {
    fn take(&mut self, frame: OutgoingBytes<'_>) {
        self.0.push(frame.bytes.len());
    }
}

/// Tokens that borrow the frames themselves: payload is read through them.
impl Sink<&[u8]> for Lengths {
    fn take(&mut self, frame: Outgoing<'_, &[u8]>) {
        self.0.push(match frame {
            Outgoing::Unchanged { token, .. } => token.len(),
            Outgoing::Merged { header, parts, .. } => {
                let payload = parts.map(|part| {
                    let range = part.payload.start as usize..part.payload.end as usize;
                    part.token[range].len()
                });
                header.len() + payload.sum::<usize>()
            }
        });
    }
}

const MERGED: usize = 14 + 20 + 20 + 300;

#[test]
fn one_type_takes_frames_of_all_three() {
    let (segments, mut lengths) = (segments(), Lengths::default());
    let frames: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
    let (profile, settings) = (Profile::linux_gro(), Settings::default());
    BatchCoalescer::new(&profile, settings).run(&frames, &mut lengths);
    let mut copying = CopyingCoalescer::new(&profile, settings);
    let mut tokens = Coalescer::new(&profile, settings);
    for &frame in &frames {
        copying.push(frame, 0, &mut lengths);
        tokens.push(frame, frame, 0, &mut lengths);
    }
    copying.flush(&mut lengths);
    tokens.flush(&mut lengths);
    assert_eq!(lengths.0, [MERGED; 3]);
}

#[test]
fn a_sink_may_be_known_when_it_runs_and_not_before() {
    let segments = segments();
    let frames: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
    let (mut bytes, mut merged) = (0, 0);
    let closure = OutgoingBytes::each(|frame| bytes += frame.bytes.len());
    let mut sink: Box<dyn ByteSink + '_> = Box::new(closure);
    BatchCoalescer::new(&Profile::linux_gro(), Settings::default()).run(&frames, &mut *sink);
    drop(sink);

    let closure = Outgoing::each(|frame: Outgoing<'_, u32>| {
        merged += usize::from(matches!(frame, Outgoing::Merged { .. }));
    });
    let mut sink: Box<dyn Sink<u32> + '_> = Box::new(closure);
    let mut coalescer = Coalescer::new(&Profile::linux_gro(), Settings::default());
    coalescer.push_batch(frames.into_iter().zip(0..), 0, &mut *sink);
    coalescer.flush(&mut *sink);
    drop(sink);
    assert_eq!((bytes, merged), (MERGED, 1));
}
