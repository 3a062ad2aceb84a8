//! A path without root: a user namespace gives all rights that it needs, names included.

use coalescope_lab::path::{Bulk, Error, Nic, Path, Plan, Side, Wire, hide_run};
use coalescope_lab::{become_namespace_root, become_nobody};
use coalescope_needs as needs;
use std::fs;
use std::time::Duration;

fn main() {
    needs::open_record().expect("the record of skips");
    become_nobody().expect("no rights");
    let test = "a path without root";
    if needs::had(test, become_namespace_root()).is_none() || needs::had(test, hide_run()).is_none()
    {
        return;
    }
    match path() {
        // In many containers nobody may open /dev/net/tun.
        Err(reason @ Error::Tap { .. }) => needs::skipped(test, reason),
        started => works(started.expect("a path")),
    }
}

fn path() -> Result<Path, Error> {
    let nic = Nic::new("nic", Side::Client, gro::Profile::linux_gro());
    let mut plan = Plan::new();
    plan.wire(Wire::new(("a", "eth0"), ("b", "eth0")).with(nic))
        .address("a", "eth0", [10, 0, 0, 1], 24)
        .address("b", "eth0", [10, 0, 0, 2], 24)
        .named();
    plan.start()
}

fn works(path: Path) {
    let bulk = Bulk::download(([10, 0, 0, 2], 5001), Duration::from_secs(20)).bytes(4 << 20);
    let [a, b] = ["a", "b"].map(|room| path.room(room).expect("a room"));
    assert_eq!(bulk.run(a, b).expect("a transfer").bytes, 4 << 20);
    let named = || fs::read_dir("/run/netns").expect("a folder").count();
    assert_eq!(named(), 2);
    path.stop().expect("a sound end");
    assert_eq!(named(), 0);
    println!("a path works without root");
}
