//! All incidents on the virtual clock: the truth of the files.

use coalescope_incident::{Build, Incident, Kind, Nearer, simulate, simulate_build};

#[test]
fn every_incident_is_what_its_file_expects() {
    for name in Incident::names() {
        let incident = Incident::named(name).expect(name);
        let run = simulate(&incident);
        let (ratio, window) = (run.ratio(), run.effective_window_segments());
        let expect = &incident.expect;
        assert!(
            expect.ratio_at_least.is_none_or(|least| ratio >= least),
            "{name}: {ratio}"
        );
        assert!(
            expect.ratio_at_most.is_none_or(|most| ratio <= most),
            "{name}: {ratio}"
        );
        let within = |[least, most]: [f64; 2]| (least..=most).contains(&window);
        assert!(expect.window.is_none_or(within), "{name}: {window}");
        let harms = incident.kind == Kind::Harm;
        assert_eq!(run.slow.merged_lost() > 0, harms, "{name}");
        assert_eq!(run.fast.merged_lost(), 0, "{name}");
        let points: Vec<_> = run
            .slow
            .captures
            .iter()
            .map(|one| one.point.clone())
            .collect();
        assert_eq!(points, incident.points, "{name}");
    }
}

#[test]
fn controls_are_nearer_to_what_they_are_said_to_be_like() {
    for name in Incident::names() {
        let incident = Incident::named(name).expect(name);
        let run = simulate(&incident);
        for control in &incident.controls {
            let measured = run.control(&control.name).expect("it was made");
            let nearer = Nearer::of(measured.bps, run.slow.bps, run.fast.bps);
            let words = format!("{name}, {}: {} bit/s", control.name, measured.bps);
            assert!(
                control.expect.is_none_or(|expected| nearer == expected),
                "{words}"
            );
        }
    }
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let incident = Incident::named("hyperv-rsc-jumbo").expect("E");
    let [one, two] = [(); 2].map(|()| simulate_build(&incident, Build::AsIs));
    assert_eq!(one.captures, two.captures);
    assert_eq!(one.bps.to_bits(), two.bps.to_bits());
    let mut other = incident.clone();
    other.seed += 1;
    assert_ne!(simulate_build(&other, Build::AsIs).captures, one.captures);
}

#[test]
fn captures_are_files_with_their_points_names() {
    let incident = Incident::named("ipvs-gro").expect("D");
    let run = simulate_build(&incident, Build::AsIs);
    assert_eq!(run.captures.len(), incident.points.len());
    for capture in run.captures {
        let reader = Box::new(std::io::Cursor::new(capture.bytes));
        let source = coalescope_capture::file::Source::from_reader("x", reader, None);
        let mut source = source.expect("pcapng");
        let mut frames = 0;
        while source.next().is_some() {
            frames += 1;
        }
        assert_eq!(source.warnings(), []);
        assert!(frames > 10, "{frames}");
        assert_eq!(
            source.interfaces()[0].name.as_deref(),
            Some(&*capture.point)
        );
    }
}

/// A hundred times what this machine carries, and a thousand connections.
#[test]
fn rates_and_numbers_past_any_machine_are_simulated() {
    let text = Incident::text_of("openstack-gro").expect("A");
    let text = text.replace("200000000", "100000000000");
    let text = text.replace("interval_us: 150", "interval_us: 20");
    let text = text.replace(
        "bytes: 4000000, trial_bytes: 150000, limit_s: 3",
        "bytes: 200000000, streams: 1000, limit_s: 1",
    );
    let incident = Incident::parse("large.yaml", &text).expect("sound");
    let [slow, fast] = [Build::AsIs, Build::Remedied].map(|build| simulate_build(&incident, build));
    assert_eq!(slow.truth.connections.len(), 1000);
    assert!(fast.bps > 1e9, "{}", fast.bps);
    assert!(fast.bps > 4.0 * slow.bps, "{} {}", fast.bps, slow.bps);
}

#[test]
fn what_the_simulators_tcp_lacks_is_named() {
    let incident = Incident::named("bond-rr-gro").expect("C");
    let row = incident.table.iter().find(|row| !row.set.is_empty());
    let run = simulate_build(&incident, Build::Row(row.expect("a row of tcp_reordering")));
    let said: Vec<_> = run.unsupported.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(
        said,
        ["max_reordering", "reordering"]
            .map(|name| format!("sender: the simulator's TCP has no net.ipv4.tcp_{name}"))
    );
}

#[test]
fn a_tunnel_is_said_not_to_be_simulated() {
    let incident = Incident::named("freebsd-bridge-lro").expect("B");
    let run = simulate_build(&incident.on_uml(), Build::AsIs);
    let said: Vec<_> = run.unsupported.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(said, ["the simulator has no ESP"]);
}
