//! A CEL value that is used in many places and stored once: an interface, in the list of all and as the variable of
//! each loop over them; the counters of a stack, at each of its interfaces.

use std::sync::Arc;

use cel::common::traits::{Container, Indexer, Iterable, Sizer, Zeroer};
use cel::common::types::{DYN_TYPE, Type};
use cel::common::value::{BuiltinRef, Val};

/// A shared value, which behaves like the value itself.
#[derive(Clone, Debug)]
pub(super) struct Shared<'v>(Arc<dyn Val + 'v>);

impl<'v> Shared<'v> {
    pub(super) fn of(value: impl Val + 'v) -> Self {
        Self(Arc::new(value))
    }
}

impl Val for Shared<'_> {
    fn get_type(&self) -> &Type {
        self.0.get_type()
    }

    /// Only functions that take exactly this type would use it, and there is none.
    fn cel_type() -> &'static Type {
        &DYN_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        self.0.as_container()
    }

    fn as_indexer<'b, 'w>(&'b self) -> Option<&'b (dyn Indexer + 'w)>
    where
        Self: 'w,
    {
        self.0.as_indexer()
    }

    fn into_indexer<'w>(self: Box<Self>) -> Option<Box<dyn Indexer + 'w>>
    where
        Self: 'w,
    {
        self.0.clone_as_boxed().into_indexer()
    }

    fn as_iterable<'b, 'w>(&'b self) -> Option<&'b (dyn Iterable + 'w)>
    where
        Self: 'w,
    {
        self.0.as_iterable()
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        self.0.as_sizer()
    }

    fn as_zeroer(&self) -> Option<&dyn Zeroer> {
        self.0.as_zeroer()
    }

    fn equals(&self, other: &dyn Val) -> bool {
        self.0.equals(other)
    }

    fn clone_as_boxed<'w>(&self) -> Box<dyn Val + 'w>
    where
        Self: 'w,
    {
        #[cfg(test)]
        super::steps::count(1);
        Box::new(self.clone())
    }

    fn as_builtin<'b, 'w>(&'b self) -> BuiltinRef<'b, 'w>
    where
        Self: 'w,
    {
        self.0.as_builtin()
    }
}
