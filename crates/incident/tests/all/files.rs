//! Files: all that are built in are sound, and wrong ones are told with line and reason.

use coalescope_incident::{Build, Does, Element, Error, Incident, Kind, Merging, Nearer, Side};

const PLAIN: &str = include_str!("../../incidents/openstack-gro.yaml");
const BOND: &str = include_str!("../../incidents/bond-rr-gro.yaml");
const TUNNEL: &str = include_str!("../../incidents/freebsd-bridge-lro.yaml");
const DIRECTOR: &str = include_str!("../../incidents/ipvs-gro.yaml");

#[test]
fn every_file_of_the_folder_is_built_in_and_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../incidents");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let mut found: Vec<_> = files
        .map(|path| {
            let incident = Incident::read(&path).expect("a sound file");
            assert_eq!(
                path.file_stem().and_then(|stem| stem.to_str()),
                Some(&*incident.name)
            );
            incident.name
        })
        .collect();
    let mut known: Vec<_> = Incident::names().map(str::to_owned).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known);
}

#[test]
fn the_five_stories_and_five_innocent_ones_are_there() {
    let all: Vec<_> = Incident::names()
        .map(|name| Incident::named(name).expect(name))
        .collect();
    let mut stories: Vec<_> = all.iter().filter_map(|one| one.story).collect();
    stories.sort_by_key(|story| format!("{story:?}"));
    assert_eq!(format!("{stories:?}"), "[A, B, C, D, E]");
    let innocent = all.iter().filter(|one| one.kind == Kind::Innocent);
    assert!(innocent.count() >= 5);
    for one in &all {
        let agrees = match one.kind {
            Kind::Harm => one.expect.merging == Merging::Harms,
            Kind::Cure => one.expect.merging == Merging::Helps,
            Kind::Innocent => one.expect.merging == Merging::Innocent,
        };
        assert!(agrees, "{}", one.name);
    }
}

/// The rule file of the lab knows cards that lose by the names of their interfaces.
#[test]
fn no_innocent_card_has_the_name_of_a_faulty_one() {
    for name in Incident::names() {
        let incident = Incident::named(name).expect(name);
        let rooms = 0..incident.rooms().count();
        let faulty = rooms
            .flat_map(|room| {
                [Side::Client, Side::Server].map(|side| incident.interface(room, side))
            })
            .flatten()
            .any(|interface| {
                ["lossy", "hv", "bare"]
                    .iter()
                    .any(|name| interface.starts_with(name))
            });
        assert_eq!(faulty, incident.kind == Kind::Harm, "{name}");
    }
}

#[test]
fn an_incident_is_written_as_it_is_read() {
    for name in Incident::names() {
        let incident = Incident::named(name).expect(name);
        let json = serde_json::to_string(&incident).expect("JSON");
        // JSON is YAML.
        let again = Incident::parse("again", &json).expect("sound");
        assert_eq!(again, incident);
    }
}

#[test]
fn an_unknown_name_lists_those_that_there_are() {
    let said = Incident::named("nothing").expect_err("none").to_string();
    assert!(said.contains("openstack-gro, freebsd-bridge-lro"), "{said}");
    assert!(Incident::text_of("jumbo").is_some() && Incident::text_of("nothing").is_none());
}

/// What is said when one piece of a sound file is replaced, and in which line that piece is.
fn said(piece: &str, replacement: &str) -> (String, usize) {
    assert!(PLAIN.contains(piece), "{piece}");
    let before = PLAIN.split(piece).next().expect("text");
    let text = PLAIN.replacen(piece, replacement, 1);
    let error = Incident::parse("mine.yaml", &text).expect_err(replacement);
    (error.to_string(), before.lines().count().max(1))
}

#[test]
fn values_that_make_no_sense_are_told_with_line_and_reason() {
    for (piece, replacement, reason) in [
        (
            "- point: {name: UPLINK}",
            "- director: {name: UPLINK, mtu_bytes: 10}",
            "68 to 65521",
        ),
        (
            "nic: {name: nic, profile: linux-gro",
            "director: {name: d, mtu_bytes: 1500}\n        - director: {name: e, mtu_bytes: 1500}\n        - nic: {name: nic, profile: linux-gro",
            "one director at most",
        ),
        (
            "name: openstack-gro",
            "name: Open Stack",
            "lower-case letters",
        ),
        (
            "does: bridge, ",
            "",
            "is on the way: it does bridge, route, nat or ipvs",
        ),
        ("{name: vm}", "{name: far}", "two rooms are called far"),
        ("{name: vm}", "{name: far/away}", "1 to 16 lower-case"),
        (
            "toward_client: tap0",
            "toward_client: lossy0",
            "both interfaces of a room",
        ),
        ("toward_client: tap0", "toward_client: br0", "not lo or br0"),
        ("interval_us: 150", "interval_us: 0", "interval_us is 0"),
        (
            "name: WIRE",
            "name: UPLINK",
            "two elements are called UPLINK",
        ),
        (
            "jitter_us: 500",
            "loss: 1.5",
            "a probability is 1.5; it has to be 0 to 1",
        ),
        ("rate_bps: 200000000\n", "rate_bps: 0\n", "rate_bps is 0"),
        ("rtt_us: 10000", "rtt_us: 90000", "the links' delays are"),
        (
            "segment_bytes: 1448",
            "segment_bytes: 9000",
            "less 52 for headers",
        ),
        ("bytes: 4000000,", "bytes: 0,", "1 to 1 GiB"),
        ("limit_s: 3}", "limit_s: 3000}", "0.1 to 600 seconds"),
        (
            "box/lossy0:gro=off",
            "box/lossy9:gro=off",
            "room box has no interface lossy9",
        ),
        (
            "box/lossy0:gro=off",
            "bo/lossy0:gro=off",
            "there is no room bo",
        ),
        (
            "box/lossy0:gro=off",
            "vm/sysctl:kernel.x=1",
            "begin with net.",
        ),
        (
            "[VM, UPLINK, WIRE]",
            "[UPLINK, VM]",
            "VM is no point of the path, or not in its order",
        ),
        ("from: box", "from: far", "no room far that could ask"),
        (
            "change:\n",
            "without: [nobody]\n    change:\n",
            "there is no element nobody",
        ),
        (
            "nic: {interval_us: 15}",
            "nic: {rate_bps: 15}",
            "nic has nothing of what is changed",
        ),
        (
            "nic: {interval_us: 15}",
            "nic: {interval_us: 0}",
            "interval_us is 0",
        ),
    ] {
        let (said, line) = said(piece, replacement);
        assert!(said.contains(reason), "{replacement}: {said}");
        // A name that is there twice may be found in its first line.
        let place = said.strip_prefix("mine.yaml, line ");
        let place = place.and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        assert!(
            place.is_some_and(|place| place <= line + 1),
            "{line}: {said}"
        );
    }
}

/// A word that is there twice is looked for where it is wrong: behind `uml:`, or from the beginning.
#[test]
fn values_of_tables_and_of_user_mode_linux_are_told_with_line_and_reason() {
    for (file, piece, replacement, reason) in [
        (
            DIRECTOR,
            "{name: director, does: ipvs,",
            "{name: director, does: nothing,",
            "in user-mode Linux: room director is on the way: it does bridge, route, nat or ipvs",
        ),
        (
            DIRECTOR,
            "\"6\"}}\n  # The",
            "\"6\"}, features: {eth7: {gro: true}}}\n  # The",
            "in user-mode Linux: room real has no interface eth7",
        ),
        (
            DIRECTOR,
            "      frames: [8, 32]",
            "      frames: [32, 8]",
            "in user-mode Linux: control picture-direct: frames: the least, and then the most",
        ),
        (
            DIRECTOR,
            "without: [director, nic]",
            "without: [client, nic]",
            "there is no element client",
        ),
        (
            TUNNEL,
            "{name: gateway, does: route}",
            "{name: gateway, does: bridge}",
            "in user-mode Linux: room gateway is a bridge; an ESP tunnel ends at a room that is none",
        ),
        (
            TUNNEL,
            "segment_bytes: 1394",
            "segment_bytes: 1448",
            "or what fits a tunnel, is 1446 bytes, less 52 for headers",
        ),
        (
            BOND,
            "  points: []",
            "  points: [WIRE]",
            "in user-mode Linux: points: WIRE is no point of the path",
        ),
        (
            BOND,
            "        packets_per_slave: 8",
            "        mtu_bytes: 10",
            "in user-mode Linux: an MTU of 10 bytes: 68 to 65521",
        ),
        (
            BOND,
            "packets_per_slave: 8",
            "packets_per_slave: 0",
            "in user-mode Linux: bond: packets_per_slave: 1 to 65535",
        ),
        (
            BOND,
            "slot_us: [500, 500]",
            "slot_us: [500, 100]",
            "in user-mode Linux: bond: slot_us: the least and the most",
        ),
        (
            BOND,
            "change: {bond: {packets_per_slave: 1}}",
            "change: {bond: {rate_bps: 1}}",
            "in user-mode Linux: control one-by-one: bond has nothing of what is changed",
        ),
        (
            BOND,
            "change: {bond: {packets_per_slave: 1}}",
            "change: {bond: {packets_per_slave: 0}}",
            "in user-mode Linux: bond: packets_per_slave: 1 to 65535",
        ),
        (
            BOND,
            "{MTU: \"1500\", GRO: \"off\", reordering: \"127\"}",
            "{MTU: \"1500\", GRO: \"off\", reordering: \"3\"}",
            "table: two rows are GRO off, MTU 1500, reordering 3",
        ),
        (
            BOND,
            "{MTU: \"1500\", GRO: \"on\", reordering: \"3\"}",
            "{MTU: \"1500\"}",
            "table: row MTU 1500 has other columns than the first",
        ),
        (
            BOND,
            "set: [receiver/bond0:gro=on]",
            "set: [receiver/bond7:gro=on]",
            "room receiver has no interface bond7",
        ),
        (
            BOND,
            "service_demand_us_per_kb: 1.211",
            "service_demand_us_per_kb: -1",
            "a published figure is not above 0",
        ),
    ] {
        assert!(file.contains(piece), "{piece}");
        let text = file.replacen(piece, replacement, 1);
        let said = Incident::parse("mine.yaml", &text)
            .expect_err(replacement)
            .to_string();
        assert!(said.contains(reason), "{replacement}: {said}");
        let place = said.strip_prefix("mine.yaml, line ");
        let place = place.and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
        assert!(place.is_some(), "{said}");
        let section = text.lines().position(|line| line == "uml:");
        let is_of_uml = said.contains("in user-mode Linux");
        assert_eq!(place > section.map(|line| line + 1), is_of_uml, "{said}");
    }
}

#[test]
fn user_mode_linux_gets_what_its_part_of_the_file_says_and_the_rest_as_it_is() {
    let incident = Incident::named("ipvs-gro").expect("D");
    let uml = incident.on_uml();
    assert!(incident.built(Build::AsIs).director().is_some());
    assert!(uml.built(Build::AsIs).director().is_none());
    let does = |incident: &Incident| incident.rooms().nth(1).map(|room| room.does);
    assert_eq!(does(&incident), Some(Does::Bridge));
    assert_eq!(does(&uml), Some(Does::Ipvs));
    assert_eq!((incident.rtt_us, uml.rtt_us), (20_000, 60_000));
    assert_eq!(
        (&uml.remedy, &uml.sources),
        (&incident.remedy, &incident.sources)
    );
    assert!(uml.uml.is_none() && uml.on_uml() == uml);
    let direct = uml.control("direct").expect("a control");
    let direct = uml.built(Build::Control(direct)).incident;
    assert_eq!(does(&direct), Some(Does::Route));

    let mut plain = Incident::named("openstack-gro").expect("A");
    plain.expect.window = None;
    assert_eq!(plain.on_uml(), plain);
}

/// One processor that has its share of a busy machine: 0.49 segments a round trip beside compilers, where others had 0.59.
#[test]
fn user_mode_linux_is_not_asked_how_few_segments_a_round_trip_has() {
    for name in ["gso-size-guessed", "ipvs-gro"] {
        let incident = Incident::named(name).expect("an incident");
        let least = |incident: &Incident| incident.expect.window.expect("a window")[0];
        assert!(least(&incident) > 0.0, "{name}");
        assert!(least(&incident.on_uml()) <= 0.0, "{name}");
    }
}

#[test]
fn what_is_not_of_this_form_is_told_with_its_line() {
    for (piece, replacement, reason) in [
        ("kind: harm", "kind: bad", "bad"),
        ("kind: harm", "kind: harm\nsurprise: 1", "surprise"),
        ("rtt_us: 10000", "rtt_us: ten", "rtt_us"),
        ("box/lossy0:gro=off", "box lossy0", "is not a setting"),
        ("- nic:", "- dragon:", "dragon"),
        ("path:", "path", "line"),
    ] {
        let (said, _) = said(piece, replacement);
        assert!(
            said.contains("mine.yaml: ") && said.contains("line"),
            "{said}"
        );
        assert!(said.contains(reason), "{replacement}: {said}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let said = Incident::read("/nowhere/x.yaml".as_ref()).expect_err("none");
    assert!(matches!(said, Error::Unreadable { .. }), "{said}");
    assert!(
        said.to_string()
            .starts_with("cannot read /nowhere/x.yaml: ")
    );
}

#[test]
fn a_measurement_has_in_it_what_it_changes() {
    let incident = Incident::named("hyperv-rsc-jumbo").expect("E");
    let control = incident.control("mtu-2851").expect("a control");
    let built = incident.built(Build::Control(control));
    assert_eq!(built.incident.mtu_bytes(0, Side::Server), Some(2851));
    assert_eq!(built.incident.mtu_bytes(1, Side::Client), Some(1460));
    let remedied = incident.built(Build::Remedied);
    assert_eq!(remedied.feature(0, Side::Server, &["gro"]), Some(false));
    assert_eq!(incident.built(Build::AsIs).incident, incident);

    let incident = Incident::named("ipvs-gro").expect("D");
    assert!(incident.built(Build::AsIs).director().is_some());
    let direct = incident.control("direct").expect("a control");
    let direct = incident.built(Build::Control(direct));
    assert!(direct.director().is_none());
    assert!(
        !direct
            .incident
            .elements()
            .any(|one| matches!(one, Element::Director(_)))
    );

    let incident = Incident::named("openstack-gro").expect("A");
    let endpoint = incident.control("endpoint").expect("a control");
    assert_eq!(incident.built(Build::Control(endpoint)).client, 1);
    assert_eq!(
        incident.rooms().nth(1).map(|room| room.does),
        Some(Does::Bridge)
    );
}

#[test]
fn nearer_is_by_ratio() {
    assert_eq!(Nearer::of(9.0, 1.0, 100.0), Nearer::Slow);
    assert_eq!(Nearer::of(11.0, 1.0, 100.0), Nearer::Fast);
    assert_eq!(Nearer::of(11.0, 100.0, 1.0), Nearer::Slow);
}
