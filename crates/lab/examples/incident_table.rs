//! Prints what built-in incidents do live: for the table of docs/incidents.md. Names or files as
//! arguments, or all.

use coalescope_incident::{Build, Error as FileError, Incident};
use coalescope_lab::incident::{Live, Measured};
use coalescope_lab::path::Error;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        wanted.extend(Incident::names().map(str::to_owned));
    }
    for name in wanted {
        print(&named(&name)?)?;
    }
    Ok(())
}

fn named(name: &str) -> Result<Incident, FileError> {
    match name.ends_with(".yaml") {
        true => Incident::read(name.as_ref()),
        false => Incident::named(name),
    }
}

fn print(incident: &Incident) -> Result<(), Error> {
    println!("{}", incident.name);
    let live = Live::start(incident, Build::AsIs)?;
    let slow = live.measure()?;
    line("as it was", slow, &live);
    live.set(&incident.remedy)?;
    let fast = live.measure()?;
    line("with the remedy", fast, &live);
    println!("  {:.1} times faster", fast.bps() / slow.bps());
    drop(live);
    for control in &incident.controls {
        let live = Live::start(incident, Build::Control(control))?;
        line(&control.name, live.measure()?, &live);
    }
    Ok(())
}

fn line(what: &str, measured: Measured, live: &Live) {
    println!(
        "  {what:20} {:10.2} Mbit/s {:8.2} segments a round trip, {} bytes, {} merged frames dropped by elements",
        measured.bps() / 1e6,
        measured.effective_window_segments,
        measured.bytes,
        live.dropped_merged()
    );
}
