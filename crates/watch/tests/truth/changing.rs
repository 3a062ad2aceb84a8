//! What changes while it is watched.

use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};
use std::{fs, thread};

use coalescope_needs as needs;

use crate::room::{Room, frames, run};

const PATIENCE: Duration = Duration::from_secs(2);
/// Names are read again at most so often (`live`).
const AGAIN: Duration = Duration::from_millis(1100);
/// Namespaces that are made until one has the number of one that is gone.
const TRIES: usize = 100;
/// Pairs of interfaces: twice as many interfaces as there are slots where there are few.
const PAIRS: usize = 1024;

#[test]
fn what_was_counted_stays_when_the_namespace_goes_away() {
    let test = "a namespace that goes away";
    let Some(room) = Room::new(test) else { return };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    assert_eq!(room.send(1 << 20, "10.9.2.2", PATIENCE), 1 << 20);
    let before = watcher.look().unwrap();
    let received = frames(&before, "left").received;
    assert!(received.merged_frames > 10, "{received:?}");
    assert_eq!(before.unseen, [], "it is there");
    let name = room.at("middle");
    drop(room);
    for _ in 0..3 {
        thread::sleep(AGAIN);
        let now = watcher.look().unwrap();
        assert!(frames(&now, "left").received.frames >= received.frames);
        assert_eq!(now.host, before.host);
        assert!(now.took_s > before.took_s);
        let [gone] = now.unseen.as_slice() else {
            panic!("{:?}", now.unseen)
        };
        assert!(gone.what.contains(&name), "{gone:?}");
    }
}

/// The kernel gives the number of a namespace that is gone to one of the next.
#[test]
fn what_another_namespace_of_its_number_counts_is_not_of_the_one_that_went() {
    let test = "a namespace's number";
    let Some(room) = Room::alone(test) else {
        return;
    };
    let Some(mut watcher) = room.watch_of("left", test) else {
        return;
    };
    let number = |name: &str| fs::metadata(format!("/run/netns/{name}")).unwrap().ino();
    let gone = number(&room.at("left"));
    let talk = |side: &str| {
        room.enter(side, || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            for _ in 0..100 {
                let _ = socket.send_to(&[7], "127.0.0.1:9");
            }
        });
    };
    talk("left");
    let before = frames(&watcher.look().unwrap(), "lo");
    run(&format!("ip netns del {}", room.at("left"))).unwrap();
    for n in 0..TRIES {
        let side = format!("next{n}");
        let next = room.at(&side);
        run(&format!("ip netns add {next}")).unwrap();
        let is_it = number(&next) == gone;
        if is_it {
            room.set(&side, "ip link set lo up");
            talk(&side);
            thread::sleep(AGAIN);
            let now = watcher.look().unwrap();
            assert_eq!(frames(&now, "lo"), before, "{now:#?}");
        }
        run(&format!("ip netns del {next}")).unwrap();
        if is_it {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    needs::skipped(test, "others took the number");
}

#[test]
fn an_interface_that_is_renamed_has_its_new_name_when_another_one_comes() {
    let test = "an interface that is renamed";
    let Some(room) = Room::new(test) else { return };
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    room.send(1 << 20, "10.9.2.2", PATIENCE);
    let before = frames(&watcher.look().unwrap(), "right");
    assert!(before.queued.frames > 10, "{before:?}");
    for line in [
        "ip link set right down",
        "ip link set right name wan",
        "ip link set wan up",
        "ip link add new type veth peer name newer",
        "ip link set new up",
        "ip link set newer up",
        "ip addr add 10.9.3.1/24 dev new",
    ] {
        room.set("middle", line);
    }
    thread::sleep(AGAIN);
    let _ = room.run("middle", "ping -c 1 -W 1 10.9.3.2");
    let now = watcher.look().unwrap();
    let names: Vec<_> = now.interfaces.iter().map(|one| &one.name).collect();
    assert!(names.iter().any(|name| *name == "new"), "{names:?}");
    assert!(names.iter().all(|name| *name != "right"), "{names:?}");
    assert!(frames(&now, "wan").queued.frames >= before.queued.frames);
}

/// Each of them sends something when it comes up: a report that it listens to multicast.
#[test]
fn thousands_of_interfaces_are_counted_each_by_itself() {
    let test = "many interfaces";
    let Some(room) = Room::new(test) else { return };
    let batch = std::env::temp_dir().join(format!("{}.batch", room.at("many")));
    let lines = |line: &dyn Fn(usize) -> String| (0..PAIRS).map(line).collect::<String>();
    let path = batch.display();
    fs::write(
        &batch,
        lines(&|n| format!("link add a{n} type veth peer name b{n}\n")),
    )
    .unwrap();
    room.set("middle", &format!("ip -batch {path}"));
    let Some(mut watcher) = room.watch(test) else {
        return;
    };
    fs::write(
        &batch,
        lines(&|n| format!("link set a{n} up\nlink set b{n} up\n")),
    )
    .unwrap();
    room.set("middle", &format!("ip -batch {path}"));
    let _ = fs::remove_file(&batch);
    let begun = Instant::now();
    loop {
        thread::sleep(AGAIN);
        let look = watcher.look().unwrap();
        let seen = look.interfaces.iter().filter(|one| {
            let frames = one.frames.unwrap();
            one.name.starts_with(['a', 'b']) && frames.queued.frames > 0
        });
        let seen = seen.count();
        assert_eq!(look.lost, Default::default());
        if seen == 2 * PAIRS {
            return;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            panic!("only {seen} of them are seen");
        }
    }
}
