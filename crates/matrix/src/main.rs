//! Prints how often the verdict is right over scenarios drawn by seed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Result, bail};
use clap::Parser;
use coalescope_matrix::{Family, Mark, Plan, Table, families, run};

/// How often the verdict is right, over simulated scenarios of many families.
#[derive(Parser)]
struct Args {
    /// How many scenarios; the families take turns.
    #[arg(long, default_value_t = 1000)]
    scenarios: u64,
    /// The first scenario's seed; each further one's is one more.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only these families.
    #[arg(long)]
    family: Vec<String>,
    /// Lists the families.
    #[arg(long)]
    list: bool,
    /// Prints a line for each scenario that was judged wrongly.
    #[arg(long)]
    failures: bool,
    /// Prints a line for every scenario.
    #[arg(long)]
    all: bool,
    /// Writes the captures of the failures into directories below this one.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Threads; all cores if not given.
    #[arg(long)]
    threads: Option<usize>,
    /// Fails if less than this share is right, or if merging is falsely accused once.
    #[arg(long)]
    at_least: Option<f64>,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let chosen = chosen(&args.family)?;
    if args.list {
        for family in chosen {
            println!("{:20} {}", family.name, family.title);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan {
        families: chosen,
        scenarios: args.scenarios,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(cores),
        keep: args.keep,
    };
    let judged = run(&plan)?;
    let table = Table::of(&judged);
    println!("{table}");
    println!("{:.2}% right", 100.0 * table.right());
    let missed = args.at_least.is_some_and(|least| misses(&table, least));
    if args.all || args.failures || missed {
        for one in judged.iter().filter(|one| args.all || !one.mark.is_right()) {
            println!(
                "--family {} --seed {}: {}: {}",
                one.family,
                one.seed,
                one.mark.name(),
                one.words
            );
        }
    }
    Ok(if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn misses(table: &Table, least: f64) -> bool {
    table.right() < least || table.count(Mark::FalselyAccused) > 0
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Family>> {
    let all = families();
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for name in names {
        let Some(family) = all.iter().find(|family| family.name == name) else {
            bail!("no family is called {name}: --list names all");
        };
        chosen.push(*family);
    }
    Ok(chosen)
}
