//! What a watcher that is killed leaves in the kernel: nothing.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use coalescope_needs as needs;
use coalescope_watch::facts::Level;
use coalescope_watch::live::{Options, Watcher};

const CHILD: &str = "COALESCOPE_WATCH_CHILD";
/// The kernel takes programs away some time after their last user: 0.3 s when it has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// Numbers of all programs in the kernel.
fn programs() -> BTreeSet<u32> {
    let all = aya::programs::loaded_programs();
    all.flatten().map(|program| program.id()).collect()
}

#[test]
fn nothing_stays_after_sigkill() {
    let test = "what SIGKILL leaves";
    if env::var_os(CHILD).is_some() {
        return watch_for_ever();
    }
    for _ in 0..3 {
        let before = programs();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "nothing_stays_after_sigkill", "--nocapture"])
            .env(CHILD, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = lines
            .map_while(Result::ok)
            .find(|line| line.starts_with("level "));
        let with: BTreeSet<u32> = programs().difference(&before).copied().collect();
        child.kill().unwrap();
        child.wait().unwrap();
        if said.as_deref() != Some("level bpf") {
            return needs::skipped(test, "BPF programs may not be loaded");
        }
        assert!(with.len() >= 4, "{with:?}");
        let begun = Instant::now();
        while !programs().is_disjoint(&with) {
            assert!(begun.elapsed() < PATIENCE, "{with:?} are still there");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn watch_for_ever() {
    let mut watcher = Watcher::begin(Options::default()).unwrap();
    println!();
    println!("level {}", watcher.level().name());
    while watcher.level() == Level::Bpf {
        watcher.look().unwrap();
    }
}
