//! Design, statistics and verdicts: against scipy, and against seeded experiments with known truth.

mod errors;
mod experiment;
mod power;
mod reference;
mod schedule;
mod verdicts;
