//! The incidents of the files, live: what they are must be so with the kernel's TCP.

use crate::{Places, alone, place};
use coalescope_incident::{Build, Control, Incident, Kind, Nearer, Setting, simulate};
use coalescope_lab::incident::{Live, Measured};
use coalescope_lab::path::Error;
use coalescope_needs as needs;

/// The incident at work, or the test is skipped.
fn start(test: &str, incident: &Incident, build: Build<'_>) -> Option<Live> {
    match Live::start(incident, build) {
        Err(Error::Unavailable(reason)) => {
            needs::skipped(test, reason);
            None
        }
        started => Some(started.expect(test)),
    }
}

/// As it was, and after the remedy on the same path.
fn both(test: &str, incident: &Incident) -> Option<[Measured; 2]> {
    let live = start(test, incident, Build::AsIs)?;
    let slow = live.measure().expect("a measurement");
    let lost = live.dropped_merged();
    live.set(&incident.remedy).expect("the remedy");
    let fast = live.measure().expect("a measurement");
    if incident.kind != Kind::Harm {
        assert_eq!(lost, 0, "{}: merged frames lost", incident.name);
    }
    live.stop().expect("a sound end");
    Some([slow, fast])
}

/// How often a path is measured whose first pair is not as expected.
const PAIRS: usize = 3;

/// As it was, and after the remedy: measured once if that is as the file and the simulator say, else the median of each
/// of three. What else the machine does may fall upon one measurement of two.
fn measured_pair(test: &str, incident: &Incident) -> Option<[Measured; 2]> {
    let first = both(test, incident)?;
    let Err(words) = compare(incident, &first) else {
        return Some(first);
    };
    eprintln!("{words}; measured again");
    let [mut slow, mut fast] = first.map(|one| vec![one]);
    while slow.len() < PAIRS {
        let [another, after] = both(test, incident)?;
        slow.push(another);
        fast.push(after);
    }
    Some([slow, fast].map(median))
}

fn median(mut measured: Vec<Measured>) -> Measured {
    measured.sort_by(|one, other| one.bps().total_cmp(&other.bps()));
    measured.swap_remove(measured.len() / 2)
}

fn ratio([slow, fast]: &[Measured; 2]) -> f64 {
    fast.bps() / slow.bps()
}

/// Prints the row of docs/incidents.md, and says whether all of it is as the file and the simulator say.
fn compare(incident: &Incident, pair: &[Measured; 2]) -> Result<(), String> {
    let ([slow, fast], run) = (pair, simulate(incident));
    let ratios = [ratio(pair), run.ratio()];
    let windows = [
        slow.effective_window_segments,
        run.effective_window_segments(),
    ];
    let name = &incident.name;
    eprintln!(
        "| {name} | {:.2} | {:.2} | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} | {:.2} |",
        slow.bps() / 1e6,
        fast.bps() / 1e6,
        ratios[0],
        windows[0],
        run.slow.bps / 1e6,
        run.fast.bps / 1e6,
        ratios[1],
        windows[1],
    );
    let (alike, expect) = (
        |[one, two]: [f64; 2]| (0.5..=2.0).contains(&(one / two)),
        &incident.expect,
    );
    let within = |[least, most]: [f64; 2]| (least..=most).contains(&windows[0]);
    let held = [
        ("ratios live and simulated", alike(ratios)),
        ("windows live and simulated", alike(windows)),
        (
            "ratio_at_least",
            expect.ratio_at_least.is_none_or(|least| ratios[0] >= least),
        ),
        (
            "ratio_at_most",
            expect.ratio_at_most.is_none_or(|most| ratios[0] <= most),
        ),
        ("window", expect.window.is_none_or(within)),
    ];
    match held.iter().find(|(_, held)| !held) {
        Some((what, _)) => Err(format!(
            "{name}: {what}: ratios {ratios:?}, windows {windows:?}"
        )),
        None => Ok(()),
    }
}

/// The incidents of a kind, and those of their controls of which the file says what they are like: each path is
/// measured once.
fn all_of(test: &str, _places: Places, of: Kind) {
    for name in Incident::names() {
        let incident = Incident::named(name).expect(name);
        if incident.kind != of {
            continue;
        }
        let Some(pair) = measured_pair(test, &incident) else {
            return;
        };
        let rates = pair.each_ref().map(Measured::bps);
        compare(&incident, &pair).expect(name);
        for control in &incident.controls {
            judge(test, &incident, control, rates);
        }
    }
}

/// A control is nearer to what its file says.
fn judge(test: &str, incident: &Incident, control: &Control, [slow, fast]: [f64; 2]) {
    let Some(expect) = control.expect else { return };
    let Some(measured) = measure(test, incident, control) else {
        return;
    };
    let (name, bps) = (&control.name, measured.bps());
    let words = format!("{}, {name}: {:.2} Mbit/s", incident.name, bps / 1e6);
    eprintln!("{words}");
    assert_eq!(Nearer::of(bps, slow, fast), expect, "{words}");
}

fn measure(test: &str, incident: &Incident, control: &Control) -> Option<Measured> {
    match Live::start(incident, Build::Control(control)) {
        Ok(live) => Some(live.measure().expect("a measurement")),
        // Which congestion controls there are depends on the kernel.
        Err(error) => {
            needs::skipped(&format!("{test}, {}", control.name), error);
            None
        }
    }
}

#[test]
fn every_harm_is_live_what_its_file_expects() {
    let test = "every_harm_is_live_what_its_file_expects";
    all_of(test, place(), Kind::Harm);
}

#[test]
fn every_look_alike_is_live_what_its_file_expects() {
    let test = "every_look_alike_is_live_what_its_file_expects";
    all_of(test, place(), Kind::Innocent);
}

#[test]
fn every_cure_is_live_what_its_file_expects() {
    let test = "every_cure_is_live_what_its_file_expects";
    all_of(test, alone(), Kind::Cure);
}

/// Story C: today's TCP does not need GRO against reordering; that every combination carries a third
/// of what its lines can shows that nothing collapses.
#[test]
fn a_bond_carries_traffic_with_and_without_merging() {
    let (test, _place) = ("a_bond_carries_traffic_with_and_without_merging", alone());
    let incident = Incident::named("bond-rr-gro").expect("C");
    assert!(incident.table.len() >= 8);
    for row in &incident.table {
        let Some(live) = start(test, &incident, Build::Row(row)) else {
            return;
        };
        let rates = rates(&live);
        let nic = live.path().counters_of("nic").expect("a card");
        let levels = &row.levels;
        eprintln!("{levels:?}: {rates:?} bit/s");
        assert_eq!(
            nic.toward[0].merged > 0,
            levels["GRO"] == "on",
            "{levels:?}"
        );
        assert!(
            rates.iter().any(|bps| *bps > CARRIED),
            "{levels:?}: {rates:?}"
        );
    }
}

/// A third of what three lines of 100 Mbit/s carry, in bit/s.
const CARRIED: f64 = 100e6;

/// Rates of one transfer after the other, until one carries enough: a machine that is busy with something else makes
/// any of these slow, but not each time.
fn rates(live: &Live) -> Vec<f64> {
    let mut rates = Vec::new();
    while rates.len() < 4 && rates.last().is_none_or(|bps| *bps <= CARRIED) {
        rates.push(live.measure().expect("a measurement").bps());
    }
    rates
}

#[test]
fn captures_are_of_the_points_in_their_order() {
    let (test, _place) = ("captures_are_of_the_points_in_their_order", place());
    let mut incident = Incident::named("openstack-gro").expect("A");
    incident.workload.limit_s = 0.5;
    let Some(live) = start(test, &incident, Build::AsIs) else {
        return;
    };
    let folder = std::env::temp_dir().join(format!("coalescope-incident-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    live.capture(&folder).expect("captures");
    live.measure().expect("a measurement");
    let captured = live.end_capture(&folder).expect("complete");
    let points: Vec<_> = captured.iter().map(|one| one.point.as_str()).collect();
    assert_eq!(points, ["VM", "UPLINK", "WIRE"]);
    for one in &captured {
        let length = std::fs::metadata(&one.file).expect("a file").len();
        assert!(one.frames > 10 && length > 1000, "{one:?}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

#[test]
fn rooms_settings_and_addresses_are_told_as_others_need_them() {
    let (test, _place) = ("rooms_settings_and_addresses", place());
    let incident = Incident::named("ipvs-gro").expect("D");
    let Some(live) = start(test, &incident, Build::AsIs) else {
        return;
    };
    assert_eq!((live.client(), live.server()), ("client", "real"));
    assert_eq!(live.url(92_160), "http://10.77.0.100/92160");
    let name = live.room_name("director").expect("a name").to_owned();
    assert!(std::path::Path::new("/run/netns").join(&name).exists());
    let setting = live.setting(&incident.remedy).expect("a setting");
    assert_eq!(setting, format!("ns/{name}/lossy0:gro=off"));
    let said = live.room_name("attic").expect_err("none").to_string();
    assert_eq!(
        said,
        "the path has no room attic; its rooms are: client, director, real"
    );
    let wrong: Setting = "client/eth7:gro=off".parse().expect("a setting");
    let said = live.set(&wrong).expect_err("no such interface").to_string();
    assert!(said.contains("in room client: "), "{said}");
    drop(live);
    assert!(!std::path::Path::new("/run/netns").join(&name).exists());
}

#[test]
fn routers_and_address_translation_are_on_the_way() {
    let (test, _place) = ("routers_and_address_translation_are_on_the_way", place());
    let text = Incident::text_of("gro-forwarding").expect("an incident");
    let between = "  - wire: {}\n  - room: {name: nat, does: nat}\n  - veth: {mtu_bytes: 1500}\n";
    let second = "  - room: {name: router";
    let text = text.replacen(
        second,
        &format!(
            "{}{second}",
            &format!("  - room: {{name: inner, does: bridge}}\n{between}")
        ),
        1,
    );
    let incident = Incident::parse("nat.yaml", &text).expect("sound");
    let Some(live) = start(test, &incident, Build::AsIs) else {
        return;
    };
    let measured = live.measure().expect("a measurement");
    assert!(measured.bytes > 1_000_000, "{measured:?}");
    assert_eq!(live.url(1), "http://10.77.2.5/1");
}

#[test]
fn an_upload_goes_the_other_way() {
    let (test, _place) = ("an_upload_goes_the_other_way", place());
    let mut incident = Incident::named("gro-forwarding").expect("an incident");
    incident.workload.upload = true;
    incident.workload.streams = 2;
    incident.workload.bytes = 1_000_000;
    let Some(live) = start(test, &incident, Build::AsIs) else {
        return;
    };
    let measured = live.measure().expect("a measurement");
    assert_eq!(measured.bytes, 1_000_000);
}
