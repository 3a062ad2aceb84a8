//! A small matrix, with seeds that stay.

use coalescope_matrix::{Disturb, Mark, Plan, Table, families, run};

/// Share that must be right: 99% are wanted, and of a hundred three may fall out otherwise by chance.
const RIGHT: f64 = 0.95;

#[test]
fn a_hundred_scenarios() {
    let plan = Plan {
        families: families(),
        scenarios: 100,
        seed: 1,
        threads: 2,
        disturb: Disturb::Drawn,
        keep: None,
    };
    let judged = run(&plan).expect("captures that the simulator wrote");
    let table = Table::of(&judged);
    assert_eq!(table.total(), 100);
    assert!(table.right() >= RIGHT, "{table}");
    assert_eq!(table.count(Mark::FalselyAccused), 0, "{table}");
}
