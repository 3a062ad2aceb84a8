//! Rooms of our own: what is in one is in no other, and errors say what to do.

use coalescope_lab::packet::{Buffers, PacketSocket};
use coalescope_lab::{Error, Link, Namespace, Veth, Vxlan};
use std::fs;
use std::time::Duration;

fn namespace(test: &str) -> Option<Namespace> {
    coalescope_needs::had(test, Namespace::new())
}

#[test]
fn links_are_seen_only_inside() {
    let Some(namespace) = namespace("links_are_seen_only_inside") else {
        return;
    };
    let names = |namespace: &Namespace| {
        let list = || {
            fs::read_dir("/sys/class/net")
                .expect("a list")
                .flatten()
                .map(|entry| entry.file_name())
                .collect()
        };
        let mut names: Vec<_> = namespace.enter(list).expect("entered");
        names.sort();
        names
    };
    assert_eq!(names(&namespace), ["lo"]);
    namespace
        .enter(|| Veth::new("lab-a", "lab-b", 1500))
        .unwrap()
        .unwrap();
    assert_eq!(names(&namespace), ["lab-a", "lab-b", "lo"]);
    assert!(
        Link::named("lab-a").is_err(),
        "the thread that made the namespace is not in it"
    );
    assert!(!fs::exists("/sys/class/net/lab-a").unwrap());
}

#[test]
fn a_link_moves_to_another_namespace() {
    let test = "a_link_moves_to_another_namespace";
    let (Some(one), Some(two)) = (namespace(test), namespace(test)) else {
        return;
    };
    let pair = one.enter(|| Veth::new("a", "b", 1500)).unwrap().unwrap();
    one.enter(|| pair.right.move_to(&two)).unwrap().unwrap();
    assert!(one.enter(|| Link::named("b")).unwrap().is_err());
    assert!(
        two.enter(|| Link::named("b").and_then(|link| link.set_up()))
            .unwrap()
            .is_ok()
    );
}

#[test]
fn errors_say_what_and_where_and_what_to_do() {
    let Some(namespace) = namespace("errors_say_what_and_where_and_what_to_do") else {
        return;
    };
    let said = |work: fn() -> Result<(), Error>| {
        namespace
            .enter(work)
            .expect("entered")
            .map_or_else(|error| error.to_string(), |()| "no error".to_owned())
    };
    assert_eq!(
        said(|| Link::named("nothere").map(drop)),
        "cannot find the interface nothere: No such device; no such interface in this namespace"
    );
    let twice = said(|| {
        Veth::new("x", "y", 1500)
            .and_then(|_| Veth::new("x", "z", 1500))
            .map(drop)
    });
    assert!(
        twice.contains("veth pair x - z") && twice.contains("the name is in use"),
        "{twice}"
    );
    let unknown = said(|| Link::named("x")?.set_features(&[("tx-flying", true)]));
    assert!(
        unknown.starts_with("cannot set offloads of x through ethtool:"),
        "{unknown}"
    );
    let stays = said(|| Link::named("x")?.set_features(&[("rx-fcs", true)]));
    assert_eq!(
        stays,
        "x: rx-fcs stays off; the driver does not support the change"
    );
}

#[test]
fn offloads_are_set_and_read_back() {
    let Some(namespace) = namespace("offloads_are_set_and_read_back") else {
        return;
    };
    let work = || {
        let pair = Veth::new("a", "b", Veth::MAX_MTU)?;
        pair.left.disable_tso()?;
        pair.left.disable_tso()?;
        pair.right.set_features(&[("rx-gro", true)])?;
        pair.right.disable_receive_merging()?;
        Vxlan::new("vxlan0", 4789).map(drop)
    };
    namespace.enter(work).unwrap().unwrap();
}

#[test]
fn a_panic_inside_is_a_panic_outside() {
    let Some(namespace) = namespace("a_panic_inside_is_a_panic_outside") else {
        return;
    };
    let caught = std::panic::catch_unwind(|| namespace.enter(|| assert_eq!(1, 2)));
    assert!(caught.is_err());
}

/// Until the kernel's work queue has made a new pair active, frames through its qdisc are dropped without an error.
#[test]
fn the_first_frame_of_a_new_pair_arrives() {
    let Some(namespace) = namespace("the_first_frame_of_a_new_pair_arrives") else {
        return;
    };
    let arrives = |number: usize| {
        let pair = Veth::new(&format!("a{number}"), &format!("b{number}"), 1500).expect("a pair");
        let receiver = PacketSocket::promiscuous(&pair.right).expect("a receiver");
        receiver
            .set_timeout(Duration::from_secs(1))
            .expect("a time-out");
        let frame = [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1, 0x88, 0xb5], &[7; 50]].concat();
        let sender = PacketSocket::queued_sender(&pair.left).expect("a sender");
        sender.send(&[&frame]).expect("a frame is sent");
        let mut buffers = Buffers::new(8);
        (0..8).any(|_| {
            receiver.receive(&mut buffers).expect("frames come");
            buffers.frames().any(|got| got.bytes == frame)
        })
    };
    let lost = || (0..20).filter(|number| !arrives(*number)).count();
    assert_eq!(namespace.enter(lost).expect("a thread"), 0);
}
