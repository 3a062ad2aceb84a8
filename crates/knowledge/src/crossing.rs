//! A hop with what the order of its frames shows. Many questions ask for that, for each connection anew, and the answer takes
//! milliseconds.

use std::cell::OnceCell;
use std::ops::Deref;

use coalescope_capture::facts::Hop;

use crate::bucket::{Ahead, Fit};

/// A hop, as it is judged.
#[derive(Debug)]
pub(crate) struct Crossing<'t> {
    hop: &'t Hop,
    fit: OnceCell<Option<Fit>>,
    later: OnceCell<Option<Fit>>,
}

impl<'t> Crossing<'t> {
    pub(crate) fn of(hop: &'t Hop) -> Self {
        Self {
            hop,
            fit: OnceCell::new(),
            later: OnceCell::new(),
        }
    }

    /// The likeliest bucket, if enough losses are known in the order of their frames.
    pub(crate) fn fit(&self) -> Option<&Fit> {
        self.fit.get_or_init(|| Fit::to_hop(self.hop)).as_ref()
    }

    /// The rate limit or the queue, if one explains what the hop lost.
    pub(crate) fn room(&self) -> Option<&Fit> {
        let whole = self.fit().filter(|fit| fit.explains());
        whole.or_else(|| self.later().filter(|fit| fit.explains()))
    }

    /// The window beyond which a firewall drops frames, if that explains what the hop lost.
    pub(crate) fn window(&self) -> Option<&Ahead> {
        let whole = self.fit().and_then(Fit::window);
        whole.or_else(|| self.later().and_then(Fit::window))
    }

    /// The same from shortly before the first loss on: what limits the hop may have come into the path then.
    fn later(&self) -> Option<&Fit> {
        let later = self.later.get_or_init(|| Fit::later_to_hop(self.hop));
        later.as_ref()
    }
}

impl Deref for Crossing<'_> {
    type Target = Hop;

    fn deref(&self) -> &Hop {
        self.hop
    }
}
