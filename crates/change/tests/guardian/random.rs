//! Schedules by chance: a program sets keys, somebody else sets the same ones in between, and in the end each key has
//! the value that a simple account of both says, and nothing else is named.

use super::{change, guard, value};
use coalescope_change::guardian::Guard;
use coalescope_change::journal::Store;
use coalescope_change::restore;
use coalescope_change::settings::{Change, Error};
use coalescope_netlink::ethtool::Ethtool;
use coalescope_netlink::route::Route;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::env;
use std::fs;

/// Keys with values that they may have.
const KEYS: [(&str, [&str; 4]); 9] = [
    ("a:mtu", ["1500", "1400", "1450", "9000"]),
    ("b:mtu", ["1500", "1300", "8000", "9000"]),
    ("a:tx-nocache-copy", ["on", "off", "on", "off"]),
    ("b:rx-gro", ["on", "off", "on", "off"]),
    ("a:gro_flush_timeout", ["0", "20000", "30000", "40000"]),
    ("b:napi_defer_hard_irqs", ["0", "1", "2", "3"]),
    ("a:gso_max_size", ["65536", "1500", "3000", "9000"]),
    ("sysctl:net.ipv4.tcp_reordering", ["3", "9", "50", "127"]),
    (
        "sysctl:net.ipv4.tcp_rmem",
        [
            "4096 131072 6291456",
            "4096 65536 99999",
            "4096 70000 99999",
            "4096 80000 99999",
        ],
    ),
];
/// Schedules, and operations of each.
const SCHEDULES: u64 = 30;
const MOST: u32 = 14;

/// What is known of a key by whoever looks at all that is done.
#[derive(Clone, Default)]
struct Account {
    now: String,
    was: String,
    set: Option<String>,
}

impl Account {
    fn is_theirs(&self) -> bool {
        let set = self.set.as_ref();
        set.is_some_and(|set| *set != self.now && self.was != self.now)
    }

    /// Whether the program may set it; it ends rather than set over what somebody else has set.
    fn set(&mut self, to: &str) -> bool {
        if self.is_theirs() {
            return false;
        }
        if self.set.is_none() {
            self.was.clone_from(&self.now);
        }
        to.clone_into(&mut self.now);
        self.set = Some(to.to_owned());
        true
    }

    /// What it is to be in the end.
    fn last(&self) -> &str {
        match &self.set {
            Some(_) if !self.is_theirs() => &self.was,
            _ => &self.now,
        }
    }
}

pub(super) fn schedules(store: &Store) {
    let seed = env::var("SCHEDULES_SEED").map_or(7, |seed| seed.parse().unwrap());
    for schedule in 0..SCHEDULES {
        one(
            &mut Pcg64Mcg::new(u128::from(seed + schedule)),
            store,
            schedule,
        );
    }
}

fn one(random: &mut Pcg64Mcg, store: &Store, schedule: u64) {
    let mut accounts = KEYS.map(|(key, _)| Account {
        now: spaced(&value(key)),
        ..Account::default()
    });
    let mut guard = guard(store);
    let mut story = Vec::new();
    for _ in 0..random.next_u32() % MOST {
        let at = random.next_u32() as usize % KEYS.len();
        let (key, values) = KEYS[at];
        let to = values[random.next_u32() as usize % values.len()];
        let is_ours = random.next_u32().is_multiple_of(2);
        story.push(format!(
            "{} {key}={to}",
            if is_ours { "ours" } else { "theirs" }
        ));
        match is_ours {
            true => ours(&mut guard, &mut accounts[at], (key, to), &story),
            false => {
                theirs(key, to);
                to.clone_into(&mut accounts[at].now);
            }
        }
    }
    conclude(guard, store, random.next_u32() % 3);
    let left = accounts.iter().filter(|one| one.is_theirs()).count();
    for ((key, _), account) in KEYS.iter().zip(&accounts) {
        assert_eq!(
            spaced(&value(key)),
            account.last(),
            "schedule {schedule}, {key}: {story:#?}"
        );
    }
    forget(store, left, &story);
    KEYS.iter().for_each(|(key, values)| theirs(key, values[0]));
}

/// It ends, is killed and undone, or stays and is undone later.
fn conclude(mut guard: Guard, store: &Store, way: u32) {
    match way {
        0 => drop(guard.finish().unwrap()),
        1 => drop(guard.restore().and_then(|_| guard.finish()).unwrap()),
        _ if store.list().unwrap().is_empty() => drop(guard.finish().unwrap()),
        _ => {
            guard.keep().unwrap();
            restore::undo(store).unwrap();
        }
    }
}

fn ours(guard: &mut Guard, account: &mut Account, (key, to): (&str, &str), story: &[String]) {
    let done = change(guard, &format!("{key}={to}"));
    minded(account, to, &done, story);
}

/// It is set, unless that would be over what somebody else has set.
fn minded(account: &mut Account, to: &str, done: &Result<Change, Error>, story: &[String]) {
    if account.set(to) {
        assert!(done.is_ok(), "{story:#?}: {done:?}");
    } else {
        assert!(
            matches!(done, Err(Error::Meddled { .. })),
            "{story:#?}: {done:?}"
        );
    }
}

/// So many keys are named, and no more; then the journals are forgotten.
fn forget(store: &Store, left: usize, story: &[String]) {
    let journals = store.list().unwrap();
    assert!(left == 0 || journals.len() == 1, "{story:#?}");
    for id in journals {
        let unrestored = store.read(&id).unwrap().unrestored;
        assert_eq!(unrestored.len(), left, "{story:#?}: {unrestored:#?}");
        restore::forget(store, &id).unwrap();
    }
}

/// Set by another way than that of the crate under test.
fn theirs(key: &str, to: &str) {
    let number = || to.parse().unwrap();
    let (interface, knob) = key.split_once(':').unwrap();
    let index = || Route::open().unwrap().link(interface).unwrap().index;
    let route = Route::open().unwrap();
    match (interface, knob) {
        ("sysctl", name) => fs::write(format!("/proc/sys/{}", name.replace('.', "/")), to).unwrap(),
        (_, "mtu") => route.set_mtu(interface, index(), number()).unwrap(),
        (_, "gso_max_size") => route
            .set_gso_max_size(interface, index(), number())
            .unwrap(),
        (_, "gro_flush_timeout" | "napi_defer_hard_irqs") => {
            fs::write(format!("/sys/class/net/{interface}/{knob}"), to).unwrap();
        }
        (_, feature) => {
            let wanted = [(feature, to == "on")];
            drop(
                Ethtool::open()
                    .unwrap()
                    .set_features(interface, &wanted)
                    .unwrap(),
            );
        }
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Features of which one needs another: what is active follows from what is wished for.
const DEPENDENT: [&str; 7] = [
    "tx-checksum-ip-generic",
    "tx-scatter-gather",
    "tx-scatter-gather-fraglist",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// Each with whether it is wished for, and active.
fn features(interface: &str) -> Vec<(String, bool, bool)> {
    let all = Ethtool::open().unwrap().read_features(interface).unwrap();
    let known = all.iter().filter(|(name, _)| DEPENDENT.contains(name));
    known
        .map(|(name, is)| (name.to_owned(), is.wanted, is.active))
        .collect()
}

fn wish(interface: &str, wishes: &[(&str, bool)]) {
    drop(
        Ethtool::open()
            .unwrap()
            .set_features(interface, wishes)
            .unwrap(),
    );
}

/// Wishes are as both have left them, and what is active is what a new interface makes of these wishes.
pub(super) fn dependent(store: &Store) {
    let seed = env::var("SCHEDULES_SEED").map_or(7, |seed| seed.parse().unwrap());
    for schedule in 0..SCHEDULES {
        one_dependent(&mut Pcg64Mcg::new(u128::from(seed + schedule)), store);
    }
}

fn one_dependent(random: &mut Pcg64Mcg, store: &Store) {
    let mut accounts = DEPENDENT.map(|name| Account {
        now: features("a")
            .into_iter()
            .find(|one| one.0 == name)
            .unwrap()
            .1
            .to_string(),
        ..Account::default()
    });
    let (mut guard, mut story) = (guard(store), Vec::new());
    for _ in 0..random.next_u32() % MOST {
        let at = random.next_u32() as usize % DEPENDENT.len();
        let (name, on) = (DEPENDENT[at], random.next_u32().is_multiple_of(2));
        let is_ours = random.next_u32().is_multiple_of(2);
        story.push(format!(
            "{} {name} {on}",
            if is_ours { "ours" } else { "theirs" }
        ));
        if is_ours {
            let word = if on { "on" } else { "off" };
            let done = change(&mut guard, &format!("a:{name}={word}"));
            minded(&mut accounts[at], &on.to_string(), &done, &story);
        } else {
            wish("a", &[(name, on)]);
            accounts[at].now = on.to_string();
        }
    }
    conclude(guard, store, random.next_u32() % 3);
    let is = features("a");
    for (name, account) in DEPENDENT.iter().zip(&accounts) {
        let wished = is.iter().find(|one| one.0 == *name).unwrap().1;
        assert_eq!(wished.to_string(), account.last(), "{name}: {story:#?}");
    }
    forget(
        store,
        accounts.iter().filter(|one| one.is_theirs()).count(),
        &story,
    );
    let wishes: Vec<_> = is
        .iter()
        .map(|(name, wanted, _)| (name.as_str(), *wanted))
        .collect();
    wish("b", &wishes);
    assert_eq!(is, features("b"), "{story:#?}");
    let all = DEPENDENT.map(|name| (name, true));
    ["a", "b"]
        .iter()
        .for_each(|interface| wish(interface, &all));
}
