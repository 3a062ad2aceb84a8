//! Differences between two states of one interface.

use super::InterfaceState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// One thing that is compared.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A feature is on.
    Active(String),
    /// A feature is asked for.
    Wanted(String),
    /// The MTU.
    Mtu,
    /// The MTU that IPv6 uses.
    Ipv6Mtu,
    /// A coalescing setting.
    Coalescing(String),
    /// `gro_flush_timeout`.
    GroFlushTimeout,
    /// `napi_defer_hard_irqs`.
    NapiDeferHardIrqs,
    /// `gso_max_size`.
    GsoMaxSize,
    /// `gro_max_size`.
    GroMaxSize,
    /// A sysctl by its path.
    Sysctl(String),
}

impl Item {
    /// The item as written after an interface's name and a colon.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Wanted(name) => name.clone(),
            Self::Ipv6Mtu => "ipv6-mtu".to_owned(),
            item => item.to_string(),
        }
    }
}

impl Display for Item {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active(name) | Self::Coalescing(name) => to.write_str(name),
            Self::Wanted(name) => write!(to, "{name} (as asked for)"),
            Self::Mtu => to.write_str("mtu"),
            Self::Ipv6Mtu => to.write_str("mtu of IPv6"),
            Self::GroFlushTimeout => to.write_str("gro_flush_timeout"),
            Self::NapiDeferHardIrqs => to.write_str("napi_defer_hard_irqs"),
            Self::GsoMaxSize => to.write_str("gso_max_size"),
            Self::GroMaxSize => to.write_str("gro_max_size"),
            Self::Sysctl(path) => to.write_str(&super::parse::dotted(path)),
        }
    }
}

/// One item that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// Which item.
    pub item: Item,
    /// The value before.
    pub from: String,
    /// The value afterwards.
    pub to: String,
}

/// All items that differ, in a stable order.
pub(crate) fn differences(was: &InterfaceState, is: &InterfaceState) -> Vec<Difference> {
    let mut all = Vec::new();
    switches(&mut all, &was.active, &is.active, Item::Active);
    switches(&mut all, &was.wanted, &is.wanted, Item::Wanted);
    let names: BTreeSet<_> = was.coalescing.keys().chain(is.coalescing.keys()).collect();
    for name in names {
        let (from, to) = (was.coalescing.get(name), is.coalescing.get(name));
        number(&mut all, from.copied(), to.copied(), || {
            Item::Coalescing(name.clone())
        });
    }
    number(&mut all, Some(was.mtu), Some(is.mtu), || Item::Mtu);
    number(&mut all, was.ipv6_mtu, is.ipv6_mtu, || Item::Ipv6Mtu);
    let (from, to) = (was.gro_flush_timeout, is.gro_flush_timeout);
    number(&mut all, from, to, || Item::GroFlushTimeout);
    let (from, to) = (was.napi_defer_hard_irqs, is.napi_defer_hard_irqs);
    number(&mut all, from, to, || Item::NapiDeferHardIrqs);
    let (from, to) = (was.gso_max_size, is.gso_max_size);
    number(&mut all, from, to, || Item::GsoMaxSize);
    let (from, to) = (was.gro_max_size, is.gro_max_size);
    number(&mut all, from, to, || Item::GroMaxSize);
    all
}

fn switches(
    all: &mut Vec<Difference>,
    was: &BTreeSet<String>,
    is: &BTreeSet<String>,
    item: fn(String) -> Item,
) {
    let word = |on| if on { "on" } else { "off" }.to_owned();
    all.extend(was.symmetric_difference(is).map(|name| Difference {
        item: item(name.clone()),
        from: word(was.contains(name)),
        to: word(is.contains(name)),
    }));
}

fn number(
    all: &mut Vec<Difference>,
    from: Option<u32>,
    to: Option<u32>,
    item: impl FnOnce() -> Item,
) {
    let word =
        |value: Option<u32>| value.map_or_else(|| "unreadable".to_owned(), |it| it.to_string());
    if from != to {
        all.push(Difference {
            item: item(),
            from: word(from),
            to: word(to),
        });
    }
}
