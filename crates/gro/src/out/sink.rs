//! Sinks for the frames that come out.

use crate::out::outgoing::{Outgoing, OutgoingBytes};

/// Takes the frames that come out of a [`crate::Coalescer`] whose tokens are `T`.
///
/// Implemented by whatever sends frames on: a queue of buffers, an `AF_PACKET` ring. The frame is lent: bytes that are
/// to be kept are copied or moved out before [`Self::take`] returns. There is no error to return, since an engine in
/// the midst of a batch could not act on it: a sink keeps its first error, or counts what it could not send, and its
/// owner checks after the call.
///
/// ```
/// use gro::{Coalescer, Outgoing, Profile, Settings, Sink};
///
/// /// Counts frames, and pieces of them as `writev` would take them.
/// #[derive(Default)]
/// struct Count {
///     frames: usize,
///     pieces: usize,
/// }
///
/// impl Sink<usize> for Count {
///     fn take(&mut self, frame: Outgoing<'_, usize>) {
///         self.frames += 1;
///         self.pieces += match frame {
///             Outgoing::Unchanged { .. } => 1,
///             Outgoing::Merged { parts, .. } => 1 + parts.len(),
///         };
///     }
/// }
///
/// let mut coalescer = Coalescer::new(&Profile::linux_gro(), Settings::default());
/// let mut count = Count::default();
/// coalescer.push(&[0; 60], 7, 0, &mut count); // not IP, so that it passes
/// assert_eq!((count.frames, count.pieces), (1, 1));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take frames of a `Coalescer<{T}>`",
    note = "a closure becomes a sink by `Outgoing::each(|frame| ...)`"
)]
pub trait Sink<T> {
    /// Takes a frame.
    fn take(&mut self, frame: Outgoing<'_, T>);
}

/// Takes the frames that come out of a [`crate::CopyingCoalescer`] or [`crate::BatchCoalescer`]: each whole, in
/// contiguous memory. The rules of [`Sink`] hold here too.
///
/// ```
/// use std::io::{self, Write};
///
/// use gro::{BatchCoalescer, ByteSink, OutgoingBytes, Profile, Settings};
///
/// /// Writes frames, up to the first error.
/// struct Writer<W> {
///     to: W,
///     written: io::Result<()>,
/// }
///
/// impl<W: Write> ByteSink for Writer<W> {
///     fn take(&mut self, frame: OutgoingBytes<'_>) {
///         if self.written.is_ok() {
///             self.written = self.to.write_all(frame.bytes);
///         }
///     }
/// }
///
/// let mut coalescer = BatchCoalescer::new(&Profile::linux_gro(), Settings::default());
/// let mut writer = Writer { to: Vec::new(), written: Ok(()) };
/// coalescer.run(&[&[0; 60]], &mut writer);
/// writer.written?;
/// assert_eq!(writer.to.len(), 60);
/// # Ok::<_, io::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not take frames of a `CopyingCoalescer` or `BatchCoalescer`",
    note = "a closure becomes a sink by `OutgoingBytes::each(|frame| ...)`"
)]
pub trait ByteSink {
    /// Takes a frame.
    fn take(&mut self, frame: OutgoingBytes<'_>);
}

/// A closure as a sink; made by [`Outgoing::each`] and [`OutgoingBytes::each`].
#[derive(Clone, Copy, Debug)]
pub struct Each<F>(F);

impl<T> Outgoing<'_, T> {
    /// A closure as a [`Sink`]: it is called with each frame. Passed here directly, the closure's argument types are
    /// inferred, which is not so for a closure in a variable of its own.
    ///
    /// ```
    /// use gro::{Coalescer, Outgoing, Profile, Settings};
    ///
    /// let mut coalescer = Coalescer::new(&Profile::linux_gro(), Settings::default());
    /// let mut tokens = Vec::new();
    /// let mut up = Outgoing::each(|frame| match frame {
    ///     Outgoing::Unchanged { token, .. } => tokens.push(token),
    ///     Outgoing::Merged { parts, .. } => tokens.extend(parts.map(|part| part.token)),
    /// });
    /// coalescer.push(&[0; 60], "first", 0, &mut up);
    /// coalescer.flush(&mut up);
    /// assert_eq!(tokens, ["first"]);
    /// ```
    #[inline]
    pub fn each<F: FnMut(Outgoing<'_, T>)>(call: F) -> Each<F> {
        Each(call)
    }
}

impl OutgoingBytes<'_> {
    /// A closure as a [`ByteSink`]: it is called with each frame; see [`Outgoing::each`].
    #[inline]
    pub fn each<F: FnMut(OutgoingBytes<'_>)>(call: F) -> Each<F> {
        Each(call)
    }
}

impl<T, F: FnMut(Outgoing<'_, T>)> Sink<T> for Each<F> {
    #[inline(always)]
    fn take(&mut self, frame: Outgoing<'_, T>) {
        (self.0)(frame);
    }
}

impl<F: FnMut(OutgoingBytes<'_>)> ByteSink for Each<F> {
    #[inline(always)]
    fn take(&mut self, frame: OutgoingBytes<'_>) {
        (self.0)(frame);
    }
}
