//! Prints what all built-in incidents do when simulated: for the table of docs/incidents.md. Names or
//! files as arguments, or all.

use coalescope_incident::{Error, Incident, Run, simulate};
use std::time::Instant;

fn main() -> Result<(), Error> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted.extend(Incident::names().map(str::to_owned));
    }
    for name in wanted {
        let incident = match name.ends_with(".yaml") {
            true => Incident::read(name.as_ref())?,
            false => Incident::named(&name)?,
        };
        let begun = Instant::now();
        let run = simulate(&incident);
        let took = begun.elapsed().as_secs_f64();
        println!(
            "{name}: {:.1} times faster with the remedy ({took:.1} s to simulate)",
            run.ratio()
        );
        line("as it was", &run.slow);
        line("with the remedy", &run.fast);
        for control in &run.controls {
            line(&control.name, &control.run);
        }
    }
    Ok(())
}

fn line(what: &str, run: &Run) {
    println!(
        "  {what:20} {:10.2} Mbit/s {:8.2} segments a round trip, {} merged frames lost between points",
        run.bps / 1e6,
        run.effective_window_segments,
        run.merged_lost()
    );
    for unsupported in &run.unsupported {
        println!("    {}", unsupported.0);
    }
}
