//! What a watcher that is killed leaves in the kernel: nothing, at whatever moment.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use aya::maps::loaded_maps;
use aya::programs::{loaded_links, loaded_programs};
use coalescope_needs as needs;
use coalescope_watch::facts::Level;
use coalescope_watch::live::{Options, Watcher};
use rustix::process::{Pid, Signal, kill_process};

const CHILD: &str = "COALESCOPE_WATCH_CHILD";
const TEST: &str = "nothing_stays_after_sigkill";
/// The kernel takes programs away some time after their last user: 0.3 s when it has nothing else to do.
const PATIENCE: Duration = Duration::from_secs(20);

/// A thing in the kernel: what it is, and its number, which no other one gets while numbers are left.
type Thing = (&'static str, u32);
const PROGRAM: &str = "program";
const MAP: &str = "map";
const LINK: &str = "link";

/// All programs, maps and links in the kernel.
fn things() -> BTreeSet<Thing> {
    let programs = loaded_programs().flatten().map(|one| (PROGRAM, one.id()));
    let maps = loaded_maps().flatten().map(|one| (MAP, one.id()));
    let links = loaded_links().flatten().map(|one| (LINK, one.id()));
    programs.chain(maps).chain(links).collect()
}

/// Those that a process holds, as the kernel describes its descriptors: other processes have things as well.
fn things_of(child: &Child) -> BTreeSet<Thing> {
    let folder = format!("/proc/{}/fdinfo", child.id());
    let files = fs::read_dir(folder).unwrap().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    texts.flat_map(|text| described(&text)).collect()
}

fn described(text: &str) -> Vec<Thing> {
    let words = text.lines().filter_map(|line| {
        let (name, number) = line.split_once(':')?;
        let kinds = [("prog_id", PROGRAM), ("map_id", MAP), ("link_id", LINK)];
        let (_, kind) = kinds.into_iter().find(|(word, _)| *word == name)?;
        Some((kind, number.trim().parse().ok()?))
    });
    words.collect()
}

fn begin() -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a child counts; how it does so.
fn level(child: &mut Child) -> Option<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    lines.find_map(|line| line.strip_prefix("level ").map(str::to_owned))
}

/// What a child had when it was killed.
fn killed(mut child: Child) -> BTreeSet<Thing> {
    kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
    // A stopped process is not in the middle of a system call.
    let state = format!("/proc/{}/stat", child.id());
    while !fs::read_to_string(&state).unwrap().contains(") T ") {
        thread::sleep(Duration::from_millis(1));
    }
    let had = things_of(&child);
    assert!(
        had.is_subset(&things()),
        "they are listed while they are there"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    had
}

fn are_gone(had: &BTreeSet<Thing>) {
    let begun = Instant::now();
    while !things().is_disjoint(had) {
        assert!(begun.elapsed() < PATIENCE, "{had:?} are still there");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A child that has at least so many things by now. How long loading takes differs between two children on a busy
/// machine, so that the number says where on the way a child is, and a time does not.
fn holding(count: usize) -> Child {
    let child = begin();
    let begun = Instant::now();
    while things_of(&child).len() < count {
        assert!(begun.elapsed() < PATIENCE, "less than {count} things");
        thread::yield_now();
    }
    child
}

#[test]
fn nothing_stays_after_sigkill() {
    if env::var_os(CHILD).is_some() {
        return watch_for_ever();
    }
    let mut child = begin();
    let level = level(&mut child);
    let whole = killed(child);
    are_gone(&whole);
    if level.as_deref() != Some("bpf") {
        return needs::skipped("what SIGKILL leaves", "BPF programs may not be loaded");
    }
    for kind in [PROGRAM, MAP, LINK] {
        let count = whole.iter().filter(|(one, _)| *one == kind).count();
        assert!(count >= 4, "{kind}: {whole:?}");
    }
    let mut sizes = BTreeSet::new();
    for count in 0..=whole.len() {
        let had = killed(holding(count));
        are_gone(&had);
        sizes.insert(had.len());
    }
    assert!(
        sizes.len() >= 3,
        "from nothing to all, and between: {sizes:?}"
    );
}

fn watch_for_ever() {
    let mut watcher = Watcher::begin(Options::default()).unwrap();
    println!();
    println!("level {}", watcher.level().name());
    while watcher.level() == Level::Bpf {
        watcher.look().unwrap();
    }
}
