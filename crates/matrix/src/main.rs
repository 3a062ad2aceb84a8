//! Prints how often the verdict is right over scenarios drawn by seed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use anyhow::{Result, bail};
use clap::Parser;
use coalescope_matrix::{
    DISTURBANCES, Disturb, Disturbance, Family, Judged, Mark, PUSHES, Plan, Table, families, run,
    run_by_archives, run_by_other_clocks,
};

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
    /// What comes on top of the families: a name, or "none"; drawn if not given.
    #[arg(long)]
    disturb: Option<String>,
    /// Lists the families, and what may come on top of them.
    #[arg(long)]
    list: bool,
    /// Judges each scenario twice, by right clocks and by others, up to 1,000 s and 200 ppm off, and prints those of which
    /// something else is found.
    #[arg(long)]
    clocks: bool,
    /// Cuts the captures of each scenario into up to 64 files and 64 shards at random, and prints those of which an archive
    /// says something else than one trace.
    #[arg(long, conflicts_with = "clocks")]
    archives: bool,
    /// Prints the table as Markdown, families that were judged alike in one row.
    #[arg(long)]
    table: bool,
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
        list(&chosen);
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan {
        families: chosen,
        scenarios: args.scenarios,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(cores),
        disturb: disturb(args.disturb.as_deref())?,
        keep: args.keep.clone(),
    };
    if args.clocks {
        return Ok(differing(&plan, &run_by_other_clocks(&plan)?));
    }
    if args.archives {
        return Ok(differing(&plan, &run_by_archives(&plan)?));
    }
    let judged = run(&plan)?;
    let table = Table::of(&judged);
    if args.table {
        print!("{}", table.markdown());
    } else {
        println!("{table}");
    }
    println!("{:.2}% right", 100.0 * table.right());
    let missed = args.at_least.is_some_and(|least| misses(&table, least));
    if args.all || args.failures || missed {
        print_each(&judged, &args);
    }
    Ok(if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn differing(plan: &Plan, changes: &[String]) -> ExitCode {
    changes.iter().for_each(|change| println!("{change}"));
    println!("{} of {} differ", changes.len(), plan.scenarios);
    if changes.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn list(families: &[&Family]) {
    for family in families {
        println!("{:22} {}", family.name, family.title);
    }
    println!("\non top of them:");
    for disturbance in all_disturbances() {
        println!("{:22} {}", disturbance.name, disturbance.title);
    }
}

fn all_disturbances() -> impl Iterator<Item = &'static Disturbance> {
    DISTURBANCES.iter().chain([&PUSHES])
}

fn print_each(judged: &[Judged], args: &Args) {
    let disturb = args.disturb.as_ref();
    let disturb = disturb
        .map(|name| format!(" --disturb {name}"))
        .unwrap_or_default();
    for one in judged.iter().filter(|one| args.all || !one.mark.is_right()) {
        println!(
            "--family {} --seed {}{disturb}: {}: {}",
            one.family,
            one.seed,
            one.mark.name(),
            one.words
        );
    }
}

fn disturb(name: Option<&str>) -> Result<Disturb> {
    match name {
        None => Ok(Disturb::Drawn),
        Some("none") => Ok(Disturb::Not),
        Some(name) => match all_disturbances().find(|one| one.name == name) {
            Some(one) => Ok(Disturb::By(one)),
            None => bail!("nothing that may come on top is called {name}: --list names all"),
        },
    }
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
