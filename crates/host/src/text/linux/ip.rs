//! Saved output of iproute2, busybox's ip and bridge.

mod beneath;
mod bridge;
mod brief;
mod details;
mod facts;
mod json;
mod link;
mod route;
mod stats;

pub(super) use bridge::{JSON as PORTS_JSON, TEXT as PORTS};
pub(super) use brief::BRIEF;
pub(super) use details::bonding;
pub(super) use json::LINK as LINKS_JSON;
pub(super) use link::LINK as LINKS;
pub(super) use route::{JSON as ROUTES_JSON, OLD as ROUTES_OLD, TEXT as ROUTES};
