//! The lab's path: the incidents' faults between real TCP ends.

use crate::place;
use coalescope_lab::path::{
    Bulk, Director, DropReason, Element, Error, HyperV2019, Lane, Link, Nic, Path, Plan, Point,
    Queue, Side, Switch, Transfer, Wire, clean,
};
use coalescope_lab::{Link as Interface, Namespace, packet};
use coalescope_needs as needs;
use gro::Profile;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Payload of a segment of 1500 bytes with timestamps.
const MSS: u32 = 1448;
const FAR: [u8; 4] = [10, 0, 0, 1];
const BOX: [u8; 4] = [10, 0, 0, 2];
const VM: [u8; 4] = [10, 0, 0, 3];
const VIRTUAL: [u8; 4] = [10, 0, 0, 100];

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// The path, or the test is skipped.
pub(crate) fn start(test: &str, plan: Plan) -> Option<Path> {
    match plan.start() {
        Err(Error::Unavailable(reason)) => {
            needs::skipped(test, reason);
            None
        }
        started => Some(started.expect(test)),
    }
}

fn download(path: &Path, client: &str, server: &str, address: [u8; 4], seconds: u64) -> Transfer {
    let bulk = Bulk::download((address, 5001), Duration::from_secs(seconds));
    let rooms = [client, server].map(|room| path.room(room).expect("a room"));
    bulk.run(rooms[0], rooms[1]).expect("a transfer")
}

/// Changes a room's interface, and waits until the elements obey.
fn change(path: &Path, room: &str, work: impl FnOnce() + Send) {
    path.room(room)
        .expect("a room")
        .enter(work)
        .expect("entered");
    thread::sleep(milliseconds(200));
}

/// Sets the GRO of an interface as `ethtool -K` does.
fn set_gro(path: &Path, room: &str, name: &str, on: bool) {
    change(path, room, || {
        let interface = Interface::named(name).expect("an interface");
        interface.set_features(&[("rx-gro", on)]).expect("GRO set");
    });
}

fn dropped(path: &Path, element: &str, toward: Side, why: DropReason) -> u64 {
    let counts = path.counters_of(element).expect("an element");
    counts.toward[toward.index()].dropped_for(why)
}

fn merged(path: &Path, element: &str, toward: Side) -> u64 {
    path.counters_of(element).expect("an element").toward[toward.index()].merged
}

/// A long way: the delay varies by some of it, as it does where others send too. With none at all
/// the sender's frames would come to keep distances at which no card merges.
fn long_way(rate_bps: u64, round_trip: Duration, loss: f64) -> Link {
    let lane = Lane::new(rate_bps, round_trip / 2);
    let there = lane.clone().jittering(round_trip / 10).losing(loss);
    Link::new("wan", [there, lane.jittering(round_trip / 5)])
}

/// Story A: a VM behind the bridge of a box, a far server behind 10 ms at 200 Mbit/s.
fn openstack(round_trip: Duration) -> Plan {
    let nic = Nic::new("nic", Side::Client, Profile::linux_gro()).losing_segment_size();
    let wire = Wire::new(("box", "uplink"), ("far", "eth0"));
    let mut plan = Plan::new();
    plan.wire(wire.with(nic).with(long_way(200_000_000, round_trip, 0.0)));
    plan.veth(("box", "vnet0"), ("vm", "eth0"), 1500)
        .bridge("box", "br0", &["uplink", "vnet0"])
        .address("far", "eth0", FAR, 24)
        .address("box", "br0", BOX, 24)
        .address("vm", "eth0", VM, 24);
    plan
}

/// Says what was measured; asserts that one of two is at least 20 times the other, and that the
/// slow one is a few segments a round trip.
fn assert_collapse(test: &str, slow: Transfer, fast: Transfer, round_trip: Duration) {
    let windows = [slow, fast].map(|transfer| transfer.effective_window(round_trip, MSS));
    let rates = [slow, fast].map(|transfer| transfer.bps() / 1e6);
    eprintln!("{test}: {rates:.2?} Mbit/s, {windows:.2?} segments a round trip");
    assert!(windows[0] <= 4.0, "{windows:?}");
    assert!(rates[1] >= 20.0 * rates[0], "{rates:?}");
}

#[test]
fn story_a_the_kernels_bridge_loses_what_a_card_merged() {
    let (test, _place) = ("story_a_the_kernels_bridge", place());
    let round_trip = milliseconds(10);
    let Some(path) = start(test, openstack(round_trip)) else {
        return;
    };
    let endpoint = download(&path, "box", "far", FAR, 2);
    let merged_for_box = merged(&path, "nic", Side::Client);
    let slow = download(&path, "vm", "far", FAR, 4);
    set_gro(&path, "box", "uplink", false);
    let merged_in_all = merged(&path, "nic", Side::Client);
    let fast = download(&path, "vm", "far", FAR, 2);
    assert_collapse(test, slow, fast, round_trip);
    assert!(endpoint.bps() > 20.0 * slow.bps(), "{endpoint:?}");
    assert!(merged_for_box > 0 && merged_in_all > merged_for_box);
    assert_eq!(merged(&path, "nic", Side::Client), merged_in_all);
    assert_eq!(dropped(&path, "wan", Side::Client, DropReason::Loss), 0);
    path.stop().expect("a sound end");
}

#[test]
fn a_card_that_keeps_the_segment_size_is_innocent() {
    let (test, _place) = ("a_card_that_keeps_the_segment_size_is_innocent", place());
    let nic = Nic::new("nic", Side::Client, Profile::linux_gro());
    let wire = Wire::new(("box", "uplink"), ("far", "eth0")).with(nic);
    let mut plan = Plan::new();
    plan.wire(wire.with(long_way(200_000_000, milliseconds(10), 0.0)));
    plan.veth(("box", "vnet0"), ("vm", "eth0"), 1500)
        .bridge("box", "br0", &["uplink", "vnet0"])
        .address("far", "eth0", FAR, 24)
        .address("vm", "eth0", VM, 24);
    let Some(path) = start(test, plan) else {
        return;
    };
    let transfer = download(&path, "vm", "far", FAR, 2);
    assert!(merged(&path, "nic", Side::Client) > 100);
    let window = transfer.effective_window(milliseconds(10), MSS);
    assert!(window > 20.0, "{window} segments a round trip");
}

/// Story B: a host with LRO, its jail on a bridge behind.
fn freebsd() -> Plan {
    let lro = Nic::new("lro", Side::Client, Profile::freebsd_lro())
        .losing_segment_size()
        .polling(Duration::from_micros(400), 64);
    let wire = Wire::new(("host", "ix0"), ("far", "eth0")).with(lro);
    let mut plan = Plan::new();
    plan.wire(wire.with(long_way(100_000_000, milliseconds(8), 0.001)))
        .wire(
            Wire::new(("jail", "epair0"), ("host", "epair1"))
                .with(Switch::freebsd_bridge("if_bridge", 1500))
                .mtu(1500, 65_000),
        )
        .bridge("host", "bridge0", &["ix0", "epair1"])
        .address("far", "eth0", FAR, 24)
        .address("host", "bridge0", BOX, 24)
        .address("jail", "epair0", VM, 24);
    plan
}

#[test]
fn story_b_a_jail_behind_freebsds_bridge() {
    let (test, _place) = ("story_b_a_jail_behind_freebsds_bridge", place());
    let Some(path) = start(test, freebsd()) else {
        return;
    };
    let jail = download(&path, "jail", "far", FAR, 4);
    let too_long = dropped(&path, "if_bridge", Side::Client, DropReason::TooLong);
    let host = download(&path, "host", "far", FAR, 3);
    eprintln!(
        "{test}: jail {:.2}, host {:.2} Mbit/s",
        jail.bps() / 1e6,
        host.bps() / 1e6
    );
    let window = jail.effective_window(milliseconds(8), MSS);
    assert!(window <= 4.0, "{window}");
    assert!(host.bps() >= 20.0 * jail.bps(), "{host:?} {jail:?}");
    assert!(too_long > 0 && dropped(&path, "wan", Side::Client, DropReason::Loss) > 0);
}

#[test]
fn story_d_a_director_that_cannot_forward_what_gro_merged() {
    let (test, _place) = ("story_d_a_director", place());
    let round_trip = milliseconds(20);
    let nic = Nic::new("nic", Side::Client, Profile::linux_gro_2_6())
        .waiting(Duration::from_micros(500), 64);
    let near = Lane::new(1_000_000_000, Duration::from_micros(50));
    let mut plan = Plan::new();
    plan.wire(
        Wire::new(("client", "eth0"), ("real", "eth0"))
            .with(long_way(1_000_000_000, round_trip, 0.0))
            .with(Director::ipvs_2632("ipvs", VIRTUAL, FAR, 1500))
            .with(nic)
            .with(Link::both("lan", near)),
    )
    .address("client", "eth0", VM, 24)
    .address("real", "eth0", FAR, 24);
    let Some(path) = start(test, plan) else {
        return;
    };
    let slow = download_through(&path, VIRTUAL, 4);
    set_gro(&path, "client", "eth0", false);
    let fast = download_through(&path, VIRTUAL, 3);
    assert_collapse(test, slow, fast, round_trip);
    assert!(dropped(&path, "ipvs", Side::Client, DropReason::TooLong) > 0);
}

/// The server listens on the real address, and the client connects to the virtual one.
fn download_through(path: &Path, address: [u8; 4], seconds: u64) -> Transfer {
    let bulk = Bulk::download((address, 5001), Duration::from_secs(seconds)).listening_anywhere();
    let rooms = ["client", "real"].map(|room| path.room(room).expect("a room"));
    bulk.run(rooms[0], rooms[1]).expect("a transfer")
}

#[test]
fn story_e_a_virtual_switch_and_a_guest_with_jumbo_frames() {
    let (test, _place) = ("story_e_a_virtual_switch", place());
    let round_trip = milliseconds(10);
    let folder = std::env::temp_dir().join(format!("coalescope-path-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let [inner, mirror] = ["VM-01", "CAP-02"].map(|name| folder.join(format!("{name}.pcapng")));
    let points = [Point::new("VM-01").own(Side::Client), Point::new("CAP-02")];
    let recorders = points.each_ref().map(Point::recorder);
    let [at_guest, at_mirror] = points;
    let wire = Wire::new(("guest", "eth0"), ("far", "eth0"))
        .with(at_guest)
        .with(HyperV2019::new("vswitch", Side::Client))
        .with(at_mirror)
        .with(HyperV2019::rsc("rsc", Side::Client))
        .with(long_way(500_000_000, round_trip, 0.0))
        .mtu(9000, 1500);
    let mut plan = Plan::new();
    plan.wire(wire)
        .address("guest", "eth0", VM, 24)
        .address("far", "eth0", FAR, 24);
    let Some(path) = start(test, plan) else {
        return;
    };
    recorders[0].begin(&inner, 96).expect("a capture");
    recorders[1].begin(&mirror, 96).expect("a capture");
    let slow = download(&path, "guest", "far", FAR, 4);
    assert!(recorders[0].end().expect("complete") > 0);
    let lost = dropped(&path, "vswitch", Side::Client, DropReason::Merged);
    assert_eq!(
        lost,
        merged(&path, "rsc", Side::Client),
        "all that was merged is lost"
    );
    change(&path, "guest", || {
        let route = coalescope_netlink::route::Route::open().expect("a socket");
        let index = Interface::named("eth0").expect("eth0").index();
        route.set_mtu("eth0", index, 1500).expect("an MTU");
    });
    let fast = download(&path, "guest", "far", FAR, 2);
    assert!(merged(&path, "rsc", Side::Client) > lost, "it still merges");
    assert_collapse(test, slow, fast, round_trip);
    path.stop().expect("captures are complete");
    assert_captures(&inner, &mirror);
    fs::remove_dir_all(&folder).expect("the folder goes");
}

/// Frames of a capture: whether inbound, and their length.
fn read(file: &std::path::Path) -> Vec<(coalescope_capture::file::Direction, u32)> {
    let reader = Box::new(fs::File::open(file).expect("a capture"));
    let mut source =
        coalescope_capture::file::Source::from_reader("x", reader, None).expect("pcapng");
    let mut frames = Vec::new();
    while let Some(frame) = source.next() {
        frames.push((frame.direction, frame.original_len));
    }
    assert_eq!(source.warnings(), []);
    let name = file.file_stem().and_then(|name| name.to_str());
    assert_eq!(source.interfaces()[0].name.as_deref(), name);
    frames
}

fn assert_captures(inner: &std::path::Path, mirror: &std::path::Path) {
    use coalescope_capture::file::Direction;
    let [inner, mirror] = [read(inner), read(mirror)];
    let long = |frames: &[(Direction, u32)]| frames.iter().filter(|(_, len)| *len > 1514).count();
    assert!(
        long(&mirror) > long(&inner),
        "the mirror sees what the guest does not"
    );
    let inbound = |way| {
        inner
            .iter()
            .filter(|(direction, _)| *direction == way)
            .count()
    };
    assert!(inbound(Direction::Inbound) > 0 && inbound(Direction::Outbound) > 0);
    assert_eq!(inbound(Direction::Unknown), 0);
    assert!(
        mirror
            .iter()
            .all(|(direction, _)| *direction == Direction::Unknown)
    );
}

#[test]
fn a_router_with_nat_and_a_tunnel_behind_it() {
    let (test, _place) = ("a_router_with_nat_and_a_tunnel_behind_it", place());
    let mut plan = Plan::new();
    plan.veth(("inside", "eth0"), ("router", "lan"), 1500)
        .wire(Wire::new(("router", "wan"), ("outside", "eth0")))
        .address("inside", "eth0", [192, 0, 2, 2], 24)
        .address("router", "lan", [192, 0, 2, 1], 24)
        .address("router", "wan", [198, 51, 100, 1], 24)
        .address("outside", "eth0", [198, 51, 100, 2], 24)
        .route("inside", ([0; 4], 0), [192, 0, 2, 1])
        .forwarding("router")
        .masquerade("router", "wan")
        .vxlan("router", "vx0", 7, [198, 51, 100, 1], [198, 51, 100, 2])
        .vxlan("outside", "vx0", 7, [198, 51, 100, 2], [198, 51, 100, 1])
        .address("router", "vx0", [203, 0, 113, 1], 24)
        .address("outside", "vx0", [203, 0, 113, 2], 24);
    let Some(path) = start(test, plan) else {
        return;
    };
    // Outside has no route back to inside: an answer is proof of the translation.
    let through_nat = Bulk::download(([198, 51, 100, 2], 5001), milliseconds(5000)).bytes(1 << 20);
    let outside = path.room("outside").expect("a room");
    let arrived = through_nat.run(path.room("inside").expect("a room"), outside);
    assert_eq!(arrived.expect("a transfer").bytes, 1 << 20);
    let tunnelled = Bulk::download(([203, 0, 113, 2], 5002), milliseconds(5000)).bytes(1 << 20);
    let arrived = tunnelled.run(path.room("router").expect("a room"), outside);
    assert_eq!(arrived.expect("a transfer").bytes, 1 << 20);
}

/// Sends frames into one room's interface, past its TCP/IP, and gives back how many of them come
/// out of the other's.
fn send(path: &Path, frames: &[Vec<u8>]) -> usize {
    let receive = |namespace: &Namespace| {
        let open = || {
            let link = Interface::named("eth0")?;
            packet::PacketSocket::promiscuous(&link)
        };
        namespace.enter(open).expect("entered").expect("a receiver")
    };
    let receiver = receive(path.room("b").expect("a room"));
    receiver.set_timeout(milliseconds(500)).expect("a time-out");
    let send = || {
        let link = Interface::named("eth0").expect("eth0");
        let sender = packet::PacketSocket::sender(&link).expect("a sender");
        sender.send(frames).expect("frames are sent");
    };
    path.room("a")
        .expect("a room")
        .enter(send)
        .expect("entered");
    let mut buffers = packet::Buffers::new(64);
    let mut got = 0;
    while got < frames.len() {
        match receiver.receive(&mut buffers).expect("frames") {
            0 => break,
            more => got += more,
        }
    }
    got
}

/// A path of one wire with one element, and what became of so many frames of 1,000 bytes.
fn through(test: &str, element: impl Element + 'static, frames: usize) -> Option<(usize, Path)> {
    let mut plan = Plan::new();
    plan.wire(Wire::new(("a", "eth0"), ("b", "eth0")).with(element));
    let path = start(test, plan)?;
    let frame = [&[2; 12][..], &[0x88, 0xb5], &[7; 986]].concat();
    Some((send(&path, &vec![frame; frames]), path))
}

#[test]
fn a_link_loses_and_queues_as_told() {
    let (test, _place) = ("a_link_loses_and_queues_as_told", place());
    let mut lane = Lane::delayed(milliseconds(1));
    lane.loss = 0.2;
    let Some((got, path)) = through(test, Link::both("link", lane), 200) else {
        return;
    };
    let lost = dropped(&path, "link", Side::Server, DropReason::Loss);
    assert_eq!(got as u64 + lost, 200);
    assert!(
        (20..=60).contains(&lost),
        "{lost} of 200 at a probability of 0.2"
    );
    // Nearly no rate: the frames that do not wait are lost, and only the first has left in time.
    let mut lane = Lane::new(10_000, Duration::ZERO);
    lane.queue = Queue::Frames(10);
    let (_, path) = through(test, Link::both("link", lane), 100).expect("it worked before");
    assert_eq!(dropped(&path, "link", Side::Server, DropReason::Queue), 89);
}

#[test]
fn a_switch_drops_what_is_longer_than_its_mtu() {
    let (test, _place) = ("a_switch_drops_what_is_longer_than_its_mtu", place());
    for (mtu, passes) in [(986, 20), (985, 0)] {
        let Some((got, path)) = through(test, Switch::new("switch", mtu), 20) else {
            return;
        };
        assert_eq!(got, passes);
        let lost = dropped(&path, "switch", Side::Server, DropReason::TooLong);
        assert_eq!(lost, 20 - passes as u64);
    }
}

#[test]
fn mistakes_in_a_plan_are_told() {
    let test = "mistakes_in_a_plan_are_told";
    let mut plan = Plan::new();
    plan.veth(("a", "x"), ("b", "x"), 1500);
    plan.address("c", "x", FAR, 24);
    let said = |plan: Plan| plan.start().map(drop).expect_err("a mistake").to_string();
    let words = said(plan);
    if words.contains("namespace") && !words.contains("no room") {
        return needs::skipped(test, words);
    }
    assert_eq!(words, "the path has no room c; its rooms are: a, b");
    let lane = Lane::delayed(Duration::ZERO).losing(1.5);
    let mut plan = Plan::new();
    plan.wire(Wire::new(("a", "x"), ("b", "x")).with(Link::both("wan", lane)));
    assert_eq!(said(plan), "wan: a probability is 1.5; it has to be 0 to 1");
    let mut plan = Plan::new();
    plan.veth(("a", "x"), ("b", "x"), 1500)
        .setting("a", "kernel/hostname", "x");
    let words = said(plan);
    assert!(
        words.starts_with("in room a: cannot set kernel/hostname"),
        "{words}"
    );
}

fn named() -> Plan {
    let mut plan = Plan::new();
    plan.wire(Wire::new(("a", "eth0"), ("b", "eth0")))
        .address("a", "eth0", FAR, 24)
        .named();
    plan
}

#[test]
fn others_enter_rooms_by_name_and_names_go() {
    let (test, _place) = ("others_enter_rooms_by_name_and_names_go", place());
    let Some(path) = start(test, named()) else {
        return;
    };
    let again = named().start().expect("another one beside it");
    let files =
        [&path, &again].map(|path| format!("/run/netns/{}", path.name("a").expect("named")));
    assert_ne!(files[0], files[1]);
    let inside = coalescope_netlink::namespace::Namespace::open(files[0].as_ref()).expect("a room");
    inside
        .enter(|| Interface::named("eth0").expect("its interface"))
        .expect("entered");
    drop(inside);
    assert_eq!(clean().expect("nothing to clean"), [""; 0]);
    drop((path, again));
    for file in files {
        assert!(!fs::exists(file).expect("no error"));
    }
}

/// Started by the test below as a program of its own, which is then killed.
#[test]
#[ignore = "a part of another test"]
fn a_lab_that_will_be_killed() {
    let path = named().start().expect("a path");
    println!("\nname {}", path.name("a").expect("named"));
    thread::sleep(Duration::from_secs(60));
}

#[test]
fn what_a_killed_lab_left_is_cleaned() {
    let (test, _place) = ("what_a_killed_lab_left_is_cleaned", place());
    if start(test, named()).is_none() {
        return;
    }
    let mut lab = Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "path::a_lab_that_will_be_killed",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let output = BufReader::new(lab.stdout.take().expect("a pipe"));
    let lines = output.lines().map_while(Result::ok);
    let name = lines
        .filter_map(|line| line.strip_prefix("name ").map(str::to_owned))
        .next()
        .expect("its name");
    lab.kill().expect("killed");
    lab.wait().expect("gone");
    let file = format!("/run/netns/{name}");
    assert!(
        fs::exists(&file).expect("no error"),
        "a name outlives its process"
    );
    assert!(clean().expect("cleaned").contains(&name));
    assert!(!fs::exists(&file).expect("no error"));
}
