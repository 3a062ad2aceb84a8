//! What `fix --apply` has changed is taken back weeks later, by a clock that was set in between, after others have
//! made changes of their own.

use super::{SETTINGS, snapshot, undo};
use coalescope_change::guardian::{Guard, Options};
use coalescope_change::journal::{Journal, Store};
use coalescope_change::restore::{Fate, undo_forced};
use coalescope_change::settings::{Setting, Value, read};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::fs;

const WEEK_S: u64 = 7 * 86_400;
/// So many changes in one go, at most.
const MOST: u32 = 4;

/// Keeps changes once more, and takes them back; whether somebody else had one of the keys meanwhile.
pub(crate) fn one(round: u32, store: &Store, random: &mut Pcg64Mcg) -> bool {
    let before = snapshot();
    let settings = apply(store, random);
    let id = age(store, random.next_u64() % 60);
    let is_meddled = round.is_multiple_of(3) && meddle(&settings);
    if is_meddled {
        left_and_forced(store, &id, &settings[0]);
    }
    let undone = undo(store);
    let failed = undone.iter().find(|one| one.fate.is_failure());
    assert!(failed.is_none(), "round {round}: {failed:?}");
    assert!(store.list().unwrap().is_empty());
    let now = snapshot();
    assert!(
        now == before,
        "round {round}: {settings:?}: {before:#?}\nis now {now:#?}"
    );
    is_meddled
}

fn apply(store: &Store, random: &mut Pcg64Mcg) -> Vec<Setting> {
    let options = Options::new(store.clone(), vec!["fix".to_owned(), "--apply".to_owned()]);
    let mut guard = Guard::start(&options).unwrap();
    // The first is one that can be meddled with: nothing else moves it.
    let mut settings: Vec<Setting> = vec!["sysctl:net.ipv4.tcp_reordering=127".parse().unwrap()];
    for _ in 0..random.next_u32() % MOST {
        let at = random.next_u32() as usize % SETTINGS.len();
        settings.push(SETTINGS[at].parse().unwrap());
    }
    for setting in &settings {
        guard.change(setting).unwrap();
    }
    guard.keep().unwrap();
    settings
}

/// As if it had been begun so many weeks ago, or weeks from now where the clock was set back.
fn age(store: &Store, weeks: u64) -> String {
    let id = store.list().unwrap().remove(0);
    let mut journal = store.read(&id).unwrap();
    store.remove(&id).unwrap();
    let (time, process) = id.split_once('-').unwrap();
    let time: u64 = time.parse().unwrap();
    let shift = weeks * WEEK_S;
    let moved = match weeks.is_multiple_of(5) {
        true => time + shift * 1_000_000_000,
        false => time - shift * 1_000_000_000,
    };
    journal.id = format!("{moved:020}-{process}");
    journal.begun_unix_s = moved / 1_000_000_000;
    store.write(&journal).unwrap();
    let known: Journal = store.read(&journal.id).unwrap();
    known.id
}

/// Somebody sets a key that was set to a third value.
fn meddle(settings: &[Setting]) -> bool {
    let is = read(&settings[0].subject).unwrap();
    assert_eq!(is, Value::Text("127".to_owned()));
    fs::write("/proc/sys/net/ipv4/tcp_reordering", "50").unwrap();
    true
}

/// It is left, and named; everything else goes back. Asked to, it goes back as well.
fn left_and_forced(store: &Store, id: &str, theirs: &Setting) {
    let undone = undo(store).remove(0);
    let Fate::Failed { unrestored } = &undone.fate else {
        panic!("{undone:?}")
    };
    let names: Vec<_> = unrestored.iter().map(|one| one.what.clone()).collect();
    assert_eq!(names, [theirs.subject.to_string()]);
    assert_eq!(read(&theirs.subject).unwrap().to_string(), "50");
    let forced = undo_forced(store, id, &names).unwrap();
    assert!(!forced.fate.is_failure(), "{forced:?}");
}
