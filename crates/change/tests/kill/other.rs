//! Somebody else, who keeps changing other keys of the same interfaces all the while, and looks before each change
//! whether the last one is still there.

use coalescope_netlink::ethtool::Ethtool;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use std::env;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// Features that the program under test does not set, of interfaces that it sets others of.
pub(crate) const FEATURES: [(&str, &str); 2] = [("a", "tx-nocache-copy"), ("b", "rx-gro")];
/// The same of files: the values that each may have.
const FILES: [(&str, u64, u64); 4] = [
    ("/sys/class/net/a/napi_defer_hard_irqs", 0, 9),
    ("/sys/class/net/a/tx_queue_len", 500, 1500),
    ("/sys/class/net/b/gro_flush_timeout", 0, 50_000),
    ("/proc/sys/net/ipv4/tcp_retries2", 5, 15),
];
/// At most so long between two changes.
const PAUSE_US: u64 = 1500;

/// One key, and what it was set to last.
struct Key {
    number: usize,
    last: u64,
}

impl Key {
    fn read(&self) -> u64 {
        match FEATURES.get(self.number) {
            Some((interface, name)) => {
                let all = Ethtool::open().unwrap().read_features(interface).unwrap();
                all.get(name).is_some_and(|feature| feature.wanted).into()
            }
            None => {
                let (path, ..) = FILES[self.number - FEATURES.len()];
                fs::read_to_string(path).unwrap().trim().parse().unwrap()
            }
        }
    }

    fn set(&mut self, random: &mut Pcg64Mcg) {
        match FEATURES.get(self.number) {
            Some((interface, name)) => {
                self.last = 1 - self.last;
                let wanted = [(*name, self.last == 1)];
                Ethtool::open()
                    .unwrap()
                    .set_features(interface, &wanted)
                    .unwrap();
            }
            None => {
                let (path, least, most) = FILES[self.number - FEATURES.len()];
                self.last = least + random.next_u64() % (most - least + 1);
                fs::write(path, self.last.to_string()).unwrap();
            }
        }
    }
}

/// Changes keys until standard input ends; prints how often, and which changes were lost.
pub(crate) fn main() {
    let is_over = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&is_over);
    spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stopped.store(true, Ordering::Relaxed);
    });
    let mut keys: Vec<Key> = (0..FEATURES.len() + FILES.len())
        .map(|number| Key { number, last: 0 })
        .collect();
    keys.iter_mut().for_each(|key| key.last = key.read());
    let (mut random, mut changes, mut lost) = (Pcg64Mcg::new(11), 0_u64, Vec::new());
    while !is_over.load(Ordering::Relaxed) {
        let at = random.next_u32() as usize % keys.len();
        mind(&keys[at], &mut lost);
        keys[at].set(&mut random);
        changes += 1;
        sleep(Duration::from_micros(random.next_u64() % PAUSE_US));
    }
    keys.iter().for_each(|key| mind(key, &mut lost));
    println!("{changes} {lost:?}");
}

fn mind(key: &Key, lost: &mut Vec<String>) {
    let is = key.read();
    if is != key.last {
        lost.push(format!("{} is {is}, was set to {}", key.number, key.last));
    }
}

/// That process, from outside.
pub(crate) struct Other(Child);

impl Other {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .arg("other")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// How many changes it has made, none of which was lost.
    pub(crate) fn end(mut self) -> u64 {
        drop(self.0.stdin.take());
        let output = self.0.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let (changes, lost) = said.trim().split_once(' ').unwrap();
        assert_eq!(lost, "[]", "changes of another process were lost");
        changes.parse().unwrap()
    }
}
