//! A list that nearly always has one entry, which then needs no memory of its own.

/// Entries in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Few<T> {
    first: Option<T>,
    #[expect(
        clippy::box_collection,
        reason = "8 bytes instead of 24, nearly always unused"
    )]
    rest: Option<Box<Vec<T>>>,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self {
            first: None,
            rest: None,
        }
    }
}

impl<T> Few<T> {
    pub(crate) fn push(&mut self, entry: T) {
        if self.first.is_none() {
            self.first = Some(entry);
        } else {
            self.rest.get_or_insert_default().push(entry);
        }
    }

    /// The very first entry.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<&mut T> {
        self.first.as_mut()
    }

    /// The same, to look at.
    pub(crate) fn peek(&self) -> Option<&T> {
        self.first.as_ref()
    }

    /// The first entry that is so.
    pub(crate) fn find(&mut self, mut is_so: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let rest = self.rest.iter_mut().flat_map(|rest| rest.iter_mut());
        let mut all = self.first.iter_mut().chain(rest);
        all.find(|entry| is_so(entry))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let rest = self.rest.iter().flat_map(|rest| rest.iter());
        self.first.iter().chain(rest)
    }

    /// The entry, if there is just one.
    pub(crate) fn only(&self) -> Option<&T> {
        self.first.as_ref().filter(|_| self.rest.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order() {
        let mut few = Few::default();
        assert_eq!((few.only(), few.iter().count()), (None, 0));
        few.push(1);
        assert_eq!(few.only(), Some(&1));
        (2..5).for_each(|n| few.push(n));
        assert_eq!(few.only(), None);
        *few.find(|n| *n > 2).unwrap() = 7;
        assert_eq!(few.iter().copied().collect::<Vec<_>>(), [1, 2, 7, 4]);
    }
}
