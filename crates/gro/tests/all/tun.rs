//! The example `tun`: real TCP through it, between two network namespaces.

#[path = "../../examples/tun/forward.rs"]
mod forward;
#[path = "../../examples/tun/stream.rs"]
mod stream;

use std::env;
use std::process::Command;

use coalescope_needs as needs;
use stream::{Done, available, transfer};

const BYTES: u64 = 20_000_000;
/// Set in the process that has a user namespace of its own.
const INSIDE: &str = "GRO_TEST_IN_USER_NAMESPACE";

/// A transfer, whose bytes `transfer` compares; or `None`, if it ran in a user namespace instead, or
/// cannot run at all: then the test is skipped.
fn sent(test: &str, merges: bool) -> Option<Done> {
    let available = available();
    let elsewhere = available.is_err() && env::var_os(INSIDE).is_none();
    if elsewhere && (!needs::programs(test, &["unshare"]) || passes_in_user_namespace(test)) {
        return None;
    }
    needs::had(test, available)?;
    let done = transfer(BYTES, merges).expect(test);
    println!("{test}: {:.2} Gbit/s, {:?}", done.gbps, done.counts);
    Some(done)
}

/// Runs one test of this program as root of a user namespace, which takes a process of its own: Linux
/// gives none to a process with threads. Whether there is such a thing here.
fn passes_in_user_namespace(test: &str) -> bool {
    let unshare = |program| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--net"])
            .arg(program);
        command
    };
    if !unshare("true".into())
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return false;
    }
    let mut this = unshare(env::current_exe().expect("this program"));
    let module = module_path!()
        .split_once("::")
        .map_or("", |(_, module)| module);
    this.arg(format!("{module}::{test}"));
    this.args(["--exact", "--nocapture"]).env(INSIDE, "1");
    let output = this.output().expect("unshare has just run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn what_is_written_is_merged_again() {
    let Some(Done { counts, .. }) = sent("what_is_written_is_merged_again", true) else {
        return;
    };
    // The kernel hands over a stream in large packets, and gets it in large ones.
    assert!(counts.read_merged * 2 > counts.read, "{counts:?}");
    assert!(counts.segments > 4 * counts.written, "{counts:?}");
    assert!(counts.written_merged * 2 > counts.written, "{counts:?}");
    assert_eq!(counts.lost, 0, "{counts:?}");
}

#[test]
fn without_merging_each_segment_is_a_packet() {
    let Some(Done { counts, .. }) = sent("without_merging_each_segment_is_a_packet", false) else {
        return;
    };
    assert_eq!(counts.written_merged, 0, "{counts:?}");
    assert_eq!(counts.written + counts.lost, counts.segments, "{counts:?}");
}
