//! A program that changes settings is killed at random instants: alone, with its process group, its guardian
//! alone, or both with `undo` afterwards. The settings are as they were every time, while another process keeps changing
//! other keys of the same interfaces: none of its changes is lost. The same where changes were kept, and weeks go by.
//!
//! 32 times, or as often as KILLS says (KILLS=3000), at the instants of KILL_SEED. Prints its counts.

// Without the harness clippy takes tests for a program.
#![allow(clippy::unwrap_used, clippy::panic)]

mod other;
mod weeks;

use coalescope_change::guardian::{Guard, Options, serve_if_asked};
use coalescope_change::journal::Store;
use coalescope_change::restore::{self, Undone};
use coalescope_change::settings::{Error, Setting};
use coalescope_needs as needs;
use coalescope_netlink::ethtool::{Ethtool, Feature};
use coalescope_netlink::namespace::Namespace;
use coalescope_netlink::route::{Limits, NewLink, Route};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use other::{FEATURES, Other};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio, exit};
use std::sync::mpsc;
use std::thread::{sleep, spawn};
use std::time::Duration;
use std::{env, fs};

const SETTINGS: [&str; 16] = [
    "a:tx=off",
    "a:tx=on",
    "a:tso=off",
    "a:gro=on",
    "a:gro=off",
    "a:gso=off",
    "a:sg=off",
    "a:mtu=1400",
    "a:mtu=9000",
    "b:mtu=1300",
    "b:tx=off",
    "a:gro_flush_timeout=20000",
    "a:gso_max_size=1500",
    "b:gro_max_size=9000",
    "sysctl:net.ipv4.tcp_reordering=127",
    "sysctl:net.ipv4.tcp_rmem=4096 100000 200000",
];
/// Up to here after its start a program is killed: it takes about 15 ms to make its first change.
const LATEST_US: u64 = 90_000;
/// The same after its first journal.
const LATE_US: u64 = 8_000;

fn main() -> ExitCode {
    if let Some(code) = serve_if_asked() {
        return code;
    }
    let arguments: Vec<_> = env::args().collect();
    if let [_, role, store, seed] = &arguments[..]
        && role == "victim"
    {
        victim(Path::new(store), seed.parse().expect("a seed"));
    }
    if arguments.get(1).is_some_and(|role| role == "other") {
        other::main();
        return ExitCode::SUCCESS;
    }
    let has_ip = needs::programs("the kill test over VLAN and bridge", &["ip"]);
    if let Some(namespace) = needs::had("the kill test", Namespace::create()) {
        namespace.enter(|| all(has_ip)).expect("entered");
    }
    ExitCode::SUCCESS
}

/// Changes settings until it is killed.
fn victim(store: &Path, seed: u64) -> ! {
    let store = Store::at(store).expect("a store");
    let options = Options::new(store, vec!["victim".to_owned()]);
    let Ok(mut guard) = Guard::start(&options) else {
        // It was killed before it said a word.
        exit(0);
    };
    let mut random = Pcg64Mcg::new(u128::from(seed));
    loop {
        let at = random.next_u32() as usize % (SETTINGS.len() + 1);
        match SETTINGS.get(at) {
            Some(text) => {
                let done = guard.change(&text.parse::<Setting>().expect("a setting"));
                if let Err(Error::Guardian { .. }) = done {
                    let restored = guard.finish();
                    exit(i32::from(
                        !restored.is_ok_and(|report| report.is_complete()),
                    ));
                }
            }
            None => drop(guard.restore()),
        }
    }
}

#[derive(Debug, PartialEq)]
struct Snapshot {
    features: BTreeMap<String, BTreeMap<String, Feature>>,
    mtus: BTreeMap<String, (Option<u32>, Limits)>,
    texts: Vec<String>,
}

fn snapshot() -> Snapshot {
    let links = Route::open().unwrap().links().unwrap();
    let ethtool = Ethtool::open().unwrap();
    // But for those that somebody else changes.
    let features = |name: &String| {
        let all = ethtool.read_features(name).unwrap();
        let ours = all
            .iter()
            .filter(|(one, _)| !FEATURES.contains(&(name, one)));
        let ours = ours.map(|(one, is)| (one.to_owned(), is)).collect();
        (name.clone(), ours)
    };
    let texts = [
        "/proc/sys/net/ipv4/tcp_reordering",
        "/proc/sys/net/ipv4/tcp_rmem",
        "/sys/class/net/a/gro_flush_timeout",
    ];
    Snapshot {
        features: links.iter().map(|link| features(&link.name)).collect(),
        mtus: links
            .iter()
            .map(|link| (link.name.clone(), (link.mtu, link.limits)))
            .collect(),
        texts: texts
            .iter()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect(),
    }
}

fn all(has_ip: bool) {
    make_links(has_ip);
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::at(&folder.path().join("state")).expect("a store");
    let before = snapshot();
    let number = |name, usual| env::var(name).map_or(usual, |it| it.parse().expect("a number"));
    let rounds = number("KILLS", 32);
    let mut random = Pcg64Mcg::new(number("KILL_SEED", 5).into());
    let other = Other::start();
    let mut counts = [0; 5];
    for round in 0..rounds {
        let was_begun = one(round, &store, &mut random);
        counts[usize::try_from(round % 4).unwrap()] += 1;
        counts[4] += u32::from(was_begun);
        let left = store.list().unwrap();
        assert!(
            left.is_empty(),
            "round {round}: journals are left: {left:?}"
        );
        let now = snapshot();
        assert!(now == before, "round {round}: {before:#?}\nis now {now:#?}");
    }
    let [alone, group, both, guardian, begun] = counts;
    println!(
        "{rounds} of {rounds} restored: {alone} killed alone, {group} with their group, {both} with \
         their guardian and then undone, {guardian} guardians alone; {begun} had something to restore"
    );
    assert!(begun > 0, "the instants are not those of changes");
    let meddled = (0..rounds).filter(|round| weeks::one(*round, &store, &mut random));
    let meddled = meddled.count();
    println!(
        "{rounds} of {rounds} kept and undone weeks later, {meddled} of them after somebody else had set one of \
         their keys, which was left until that was forced"
    );
    println!(
        "another process changed other keys of the same interfaces {} times meanwhile, and lost none of it",
        other.end()
    );
}

/// A pair, not in its first state, with a VLAN and a bridge whose MTUs follow the pair's.
fn make_links(has_ip: bool) {
    let end = |name, last| NewLink {
        name,
        mac: Some([2, 0, 0, 0, 0, last]),
        mtu: 8000,
    };
    let route = Route::open().unwrap();
    route.add_veth(&end("a", 1), &end("b", 2)).unwrap();
    let ip = |words: &str| {
        let mut command = Command::new("ip");
        let status = command
            .args(words.split(' '))
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if has_ip && !ip("link add link a name a.7 type vlan id 7") {
        needs::skipped("the kill test over a VLAN", "the kernel has no VLAN");
    }
    if has_ip && !(ip("link add br0 type bridge") && ip("link set dev b master br0")) {
        needs::skipped("the kill test over a bridge", "the kernel has no bridge");
    }
    for link in route.links().unwrap() {
        route.set_up(&link.name, link.index, true).unwrap();
    }
    let odd = [("tx-sctp-segmentation", false), ("rx-gro", true)];
    Ethtool::open().unwrap().set_features("a", &odd).unwrap();
    // Duplicate address detection and the like are over.
    sleep(Duration::from_millis(200));
}

/// Starts a program and kills it; whether it had begun a journal.
fn one(round: u32, store: &Store, random: &mut Pcg64Mcg) -> bool {
    let mut victim = start(store, round);
    let (pid, gone) = (pid_of(&victim), watch(&mut victim));
    wait(random, store);
    let guardian = child_of(pid);
    let mut was_begun = !store.list().unwrap().is_empty();
    match (round % 4, guardian) {
        (1, _) => killpg(pid, Signal::SIGKILL).unwrap(),
        (2, Some(guardian)) => kill_both(pid, guardian, random),
        // The program restores, says so, and ends.
        (3, Some(guardian)) => kill(guardian, Signal::SIGKILL).unwrap(),
        _ => kill(pid, Signal::SIGKILL).unwrap(),
    }
    victim.wait().unwrap();
    let ended = gone.recv_timeout(Duration::from_secs(30));
    let said = ended.unwrap_or_else(|_| panic!("round {round}: the guardian does not end"));
    assert!(!said.contains("NOT"), "round {round}: {said}");
    if round % 4 == 2 {
        let undone = undo(store);
        was_begun = !undone.is_empty();
        assert_eq!(restore::exit_code(&undone), 0, "round {round}: {undone:?}");
    }
    was_begun
}

/// Some time after its start, every other time after its first journal.
fn wait(random: &mut Pcg64Mcg, store: &Store) {
    if random.next_u32().is_multiple_of(2) {
        for _ in 0..5000 {
            if !store.list().unwrap().is_empty() {
                break;
            }
            sleep(Duration::from_micros(200));
        }
        sleep(Duration::from_micros(random.next_u64() % LATE_US));
    } else {
        sleep(Duration::from_micros(random.next_u64() % LATEST_US));
    }
}

/// The kernel closes standard error of a process that was killed a moment before its locks.
fn undo(store: &Store) -> Vec<Undone> {
    for _ in 0..1000 {
        let undone = restore::undo(store).unwrap();
        let runs = |one: &Undone| one.fate.may_pass();
        if !undone.iter().any(runs) {
            return undone;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("the locks stay")
}

/// One after the other, in either order: the second may notice meanwhile.
fn kill_both(victim: Pid, guardian: Pid, random: &mut Pcg64Mcg) {
    let mut both = [victim, guardian];
    if random.next_u32().is_multiple_of(2) {
        both.reverse();
    }
    let _ = kill(both[0], Signal::SIGKILL);
    sleep(Duration::from_micros(random.next_u64() % 4000));
    // It may have ended by itself. Its number is not given anew within so short a time.
    let _ = kill(both[1], Signal::SIGKILL);
}

fn start(store: &Store, round: u32) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .arg("victim")
        .arg(store.path())
        .arg(round.to_string());
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.stderr(Stdio::piped()).spawn().unwrap()
}

/// Tells when all that have the program's standard error are gone: itself, and its guardian.
fn watch(victim: &mut Child) -> mpsc::Receiver<String> {
    let (tell, gone) = mpsc::channel();
    let mut errors = victim.stderr.take().unwrap();
    spawn(move || {
        let mut said = String::new();
        let _ = errors.read_to_string(&mut said);
        let _ = tell.send(said);
    });
    gone
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().try_into().unwrap())
}

/// The guardian, if it was started yet.
fn child_of(pid: Pid) -> Option<Pid> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let first = list.split_whitespace().next()?;
    first.parse().ok().map(Pid::from_raw)
}
