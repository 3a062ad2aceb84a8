//! Files of incidents, and their runs on a virtual clock.

mod files;
mod simulated;
