//! Counters at one time.

use super::Error;
use super::moved::{CpuMoved, InterfaceMoved, Moved, SoftnetMoved};
use super::place::Texts;
use coalescope_change::workload::Vantage;
use coalescope_host::tables;
use std::collections::BTreeMap;

/// The counters of a place at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Ticks by the columns of the first line of /proc/stat.
    cpu: BTreeMap<&'static str, u64>,
    ticks_per_s: f64,
    /// By the names of nstat(8).
    protocols: BTreeMap<String, u64>,
    softnet: BTreeMap<String, u64>,
    interfaces: BTreeMap<String, BTreeMap<String, u64>>,
}

/// The columns of /proc/stat's first line, proc(5). Guests' time is within `user` and `nice`.
const CPU: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];
/// Protocol values that are no counters but present numbers.
const GAUGES: [&str; 2] = ["CurrEstab", "MaxConn"];

/// Reads the counters of a place: here, in a namespace, or with one command over ssh. There,
/// `getconf CLK_TCK` gives the length of a tick, or else 10 ms.
///
/// # Errors
///
/// If the place cannot be reached, or /proc there has no CPU line or no TCP counters.
pub fn read(vantage: &Vantage) -> Result<Counters, Error> {
    let texts = Texts::read(vantage)?;
    Counters::of(&texts).map_err(|(file, problem)| Error::File {
        file,
        place: vantage.to_string(),
        problem,
    })
}

impl Counters {
    /// Parses the texts of files, one after the other, each below a line `==> NAME`: `stat`,
    /// `snmp`, `netstat`, `snmp6`, `softnet_stat`, `dev`, and `ticks`, the ticks of `stat` in a
    /// second.
    ///
    /// # Errors
    ///
    /// If there is no CPU line or no TCP counters.
    pub fn parse(texts: &str) -> Result<Self, Error> {
        Self::of(&Texts::of_answer(texts)).map_err(|(file, problem)| Error::File {
            file,
            place: "the text given".to_owned(),
            problem,
        })
    }

    fn of(texts: &Texts) -> Result<Self, (&'static str, String)> {
        let cpu = cpu(texts.file("stat")).ok_or_else(|| {
            let problem = "it has no line of CPU times; counters are read on Linux only";
            ("/proc/stat", problem.to_owned())
        })?;
        let protocols = protocols(texts);
        if !protocols.contains_key("TcpOutSegs") {
            let problem = "it has no TCP counters; is /proc mounted?".to_owned();
            return Err(("/proc/net/snmp", problem));
        }
        Ok(Self {
            cpu,
            ticks_per_s: texts.ticks_per_s,
            protocols,
            softnet: tables::softnet(texts.file("softnet_stat")).unwrap_or_default(),
            interfaces: interfaces(texts.file("dev")),
        })
    }

    /// The differences since an earlier time at the same place.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Moved {
        let mut left_out = Vec::new();
        let protocols = moved(&earlier.protocols, &self.protocols, &mut left_out);
        let interfaces = self.interfaces_since(earlier, &mut left_out);
        Moved {
            cpu: self.cpu_since(earlier),
            protocols,
            softnet: self.softnet_since(earlier),
            interfaces,
            left_out,
        }
    }

    fn cpu_since(&self, earlier: &Self) -> CpuMoved {
        let ticks = |name: &str| difference(&earlier.cpu, &self.cpu, name);
        // A run of a century has fewer ticks than a float has digits.
        let seconds = |ticks: u64| ticks as f64 / self.ticks_per_s;
        let both =
            |one: &str, other: &str| Some(seconds(ticks(one)?.saturating_add(ticks(other)?)));
        CpuMoved {
            user_s: both("user", "nice"),
            system_s: ticks("system").map(seconds),
            irq_s: ticks("irq").map(seconds),
            softirq_s: ticks("softirq").map(seconds),
            steal_s: ticks("steal").map(seconds),
            idle_s: both("idle", "iowait"),
        }
    }

    fn softnet_since(&self, earlier: &Self) -> SoftnetMoved {
        let moved = |name: &str| difference(&earlier.softnet, &self.softnet, name);
        SoftnetMoved {
            processed: moved("processed"),
            dropped: moved("dropped"),
            time_squeeze: moved("time_squeeze"),
        }
    }

    fn interfaces_since(
        &self,
        earlier: &Self,
        left_out: &mut Vec<String>,
    ) -> BTreeMap<String, InterfaceMoved> {
        let mut all = BTreeMap::new();
        for (name, before) in &earlier.interfaces {
            let now = self.interfaces.get(name);
            match now.and_then(|after| InterfaceMoved::between(before, after)) {
                Some(moved) if moved == InterfaceMoved::default() => {}
                Some(moved) => {
                    all.insert(name.clone(), moved);
                }
                None => left_out.push(name.clone()),
            }
        }
        let new = self.interfaces.keys();
        let new = new.filter(|name| !earlier.interfaces.contains_key(*name));
        left_out.extend(new.cloned());
        all
    }
}

/// The difference of one counter; `None` if it is missing at either time, or went backwards.
fn difference<K: Ord + std::borrow::Borrow<str>>(
    before: &BTreeMap<K, u64>,
    after: &BTreeMap<K, u64>,
    name: &str,
) -> Option<u64> {
    after.get(name)?.checked_sub(*before.get(name)?)
}

/// The differences that are not zero; names of counters that went backwards are added to `left_out`.
fn moved(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
    left_out: &mut Vec<String>,
) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for name in before.keys().filter(|name| after.contains_key(*name)) {
        match difference(before, after, name) {
            Some(0) => {}
            Some(moved) => {
                all.insert(name.clone(), moved);
            }
            None => left_out.push(name.clone()),
        }
    }
    all
}

impl InterfaceMoved {
    /// `None` if a counter went backwards: the interface was made anew, and the other differences mean nothing.
    fn between(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Option<Self> {
        let moved = |name: &str| difference(before, after, name);
        Some(Self {
            rx_bytes: moved("rx_bytes")?,
            rx_packets: moved("rx_packets")?,
            rx_errors: moved("rx_errors")?,
            rx_dropped: moved("rx_dropped+rx_missed_errors")?,
            tx_bytes: moved("tx_bytes")?,
            tx_packets: moved("tx_packets")?,
            tx_errors: moved("tx_errors")?,
            tx_dropped: moved("tx_dropped")?,
        })
    }
}

/// Linux before 2.6.11 has fewer columns; those are missing then.
fn cpu(stat: &str) -> Option<BTreeMap<&'static str, u64>> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks = line.split_whitespace().map_while(|word| word.parse().ok());
    let cpu: BTreeMap<_, _> = CPU.into_iter().zip(ticks).collect();
    cpu.contains_key("softirq").then_some(cpu)
}

fn protocols(texts: &Texts) -> BTreeMap<String, u64> {
    let paired = ["snmp", "netstat"].map(|file| tables::paired_counters(texts.file(file)));
    let mut all: BTreeMap<_, _> = paired.into_iter().flatten().flatten().collect();
    let listed = tables::listed_counters(texts.file("snmp6")).flatten();
    all.extend(listed.map(|(name, value)| (name.to_owned(), value)));
    all.retain(|name, _| !GAUGES.iter().any(|gauge| name.ends_with(gauge)));
    all
}

fn interfaces(dev: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let known = tables::interface_counters(dev).flatten();
    known.map(|(name, all)| (name.to_owned(), all)).collect()
}
