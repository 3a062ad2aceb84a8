//! Interfaces that come and go, many of them, and names that are odd.

use crate::room::{must, namespace, run};
use coalescope_host::live::{Options, collect};
use coalescope_needs as needs;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn interfaces_that_disappear_meanwhile_do_no_harm() {
    let test = "interfaces_that_disappear_meanwhile_do_no_harm";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip"]) {
        return;
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let churn = scope.spawn(|| {
            let work = || {
                while !done.load(Ordering::Relaxed) {
                    let _ = run("ip link add fleeting type veth peer name other");
                    let _ = run("ip link del fleeting");
                }
            };
            namespace.enter(work).expect("entered");
        });
        let look = || {
            for _ in 0..30 {
                let snapshot = collect(&Options::default());
                assert!(snapshot.interfaces.contains_key("lo"));
            }
        };
        namespace.enter(look).expect("entered");
        done.store(true, Ordering::Relaxed);
        churn.join().expect("no panic");
    });
}

#[test]
fn hundreds_of_interfaces_are_all_there() {
    let test = "hundreds_of_interfaces_are_all_there";
    let Some(namespace) = namespace(test) else {
        return;
    };
    if !needs::programs(test, &["ip"]) {
        return;
    }
    let work = || {
        let lines = (0..200).map(|n| format!("link add many{n} type veth peer name other{n}\n"));
        let file = std::env::temp_dir().join(format!("coalescope-many-{}", std::process::id()));
        std::fs::write(&file, lines.collect::<String>()).expect("written");
        must(&format!("ip -batch {}", file.display()));
        let _ = std::fs::remove_file(file);
        let start = std::time::Instant::now();
        let snapshot = collect(&Options::default());
        println!("401 interfaces in {:?}", start.elapsed());
        snapshot
    };
    let snapshot = namespace.enter(work).expect("entered");
    assert_eq!(snapshot.interfaces.len(), 401);
    let named = |name: &str| {
        snapshot.interfaces[name]
            .features
            .contains_key("generic-receive-offload")
    };
    assert!(named("many199") && named("other0"));
}
