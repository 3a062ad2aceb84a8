//! Saved output of ethtool.

mod features;
mod json;
mod named;
mod release;
mod settings;
mod tables;

pub(crate) use features::CHANGES;
pub(super) use features::{JSON as FEATURES_JSON, TEXT as FEATURES};
pub(super) use json::{
    CHANNELS as CHANNELS_JSON, COALESCING as COALESCING_JSON, RINGS as RINGS_JSON,
};
pub(super) use named::{DRIVER, HASHING, STATISTICS};
pub(super) use settings::SETTINGS;
pub(super) use tables::{CHANNELS, COALESCING, RINGS};
