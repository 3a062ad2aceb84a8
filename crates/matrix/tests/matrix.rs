//! A small matrix, with seeds that stay.

use coalescope_matrix::{
    Disturb, Mark, Plan, Table, families, run, run_by_archives, run_by_other_clocks,
};

/// Share that must be right: 99% are wanted, and of a hundred three may fall out otherwise by chance.
const RIGHT: f64 = 0.95;

/// All families, by clocks up to 1,000 s and 200 ppm off.
#[test]
fn clocks_change_no_finding() {
    let families = families();
    let plan = Plan {
        scenarios: families.len() as u64,
        families,
        seed: 1,
        threads: 2,
        disturb: Disturb::Drawn,
        keep: None,
    };
    let changed = run_by_other_clocks(&plan).expect("captures that the simulator wrote");
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// All families, whatever pieces their captures are cut into, and however many shards there are.
#[test]
fn an_archive_says_what_one_trace_says() {
    let families = families();
    let plan = Plan {
        scenarios: families.len() as u64,
        families,
        seed: 1,
        threads: 2,
        disturb: Disturb::Drawn,
        keep: None,
    };
    let changed = run_by_archives(&plan).expect("captures that the simulator wrote");
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

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
