//! Engines in programs of their own, in C or Go. They are told by lines what to do, one at a time,
//! so that all engines take turns:
//!
//! - they say `ready VERSION` when they have started;
//! - `load FLOWS RUN PACKETS HOLD`: make the frames; they answer `ok`;
//! - `pass LOOPS`: merge them so many times; they answer `NANOSECONDS OUTPUTS`.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::engine::{Engine, Rule, Sample};
use crate::frames::{IP_AND_TCP, Load, PAYLOAD};
use crate::id::Id;
use crate::ours::held_table;

/// A peer's program.
pub(crate) struct Peer {
    id: Id,
    pub(crate) version: String,
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// Starts a peer with room for so many packets.
    pub(crate) fn new(id: Id, program: &str, most: usize) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(id.argument())
            .arg(most.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut peer = Self {
            id,
            version: String::new(),
            child,
            commands: Some(commands),
            answers: BufReader::new(answers),
        };
        peer.version = match peer.answer()?.strip_prefix("ready ") {
            Some(version) => version.to_owned(),
            None => return Err(peer.broken()),
        };
        Ok(peer)
    }

    fn ask(&mut self, command: &str) -> io::Result<String> {
        if let Some(commands) = &mut self.commands {
            writeln!(commands, "{command}")?;
        }
        self.answer()
    }

    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn broken(&self) -> io::Error {
        io::Error::other(format!("{}: no sensible answer", self.id.title()))
    }

    /// Packets between flushes.
    fn hold(&self, load: &Load) -> usize {
        match self.id {
            Id::DpdkBurst => 64,
            Id::DpdkTable => held_table(load),
            _ => 128,
        }
    }

    /// Segments in a merged frame at most.
    fn segments(&self) -> usize {
        let by_size = (65_535 - IP_AND_TCP) / PAYLOAD;
        match self.id {
            Id::DpdkBurst | Id::DpdkTable => by_size.min(dpdk_segments(&self.version).into()),
            _ => by_size,
        }
    }
}

/// DPDK 23.07 began to count segments; before, only the length was limited.
pub(crate) fn dpdk_segments(version: &str) -> u16 {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let mut numbers = version.trim_start_matches("DPDK ").split('.');
    let release = (number(numbers.next()), number(numbers.next()));
    match release < (Some(23), Some(7)) {
        true => u16::MAX,
        false => gro::Profile::dpdk_gro().limits.segments,
    }
}

impl Engine for Peer {
    fn id(&self) -> Id {
        self.id
    }

    fn load(&mut self, load: &Load) -> io::Result<()> {
        let (flows, run, packets) = (load.flows, load.run, load.packets);
        let hold = self.hold(load);
        match self
            .ask(&format!("load {flows} {run} {packets} {hold}"))?
            .as_str()
        {
            "ok" => Ok(()),
            _ => Err(self.broken()),
        }
    }

    fn pass(&mut self, loops: u32) -> io::Result<Sample> {
        let line = self.ask(&format!("pass {loops}"))?;
        let (ns, out) = line.split_once(' ').ok_or_else(|| self.broken())?;
        match (ns.parse(), out.parse()) {
            (Ok(ns), Ok(out)) => Ok(Sample { ns, out }),
            _ => Err(self.broken()),
        }
    }

    fn rule(&self, load: &Load) -> Option<Rule> {
        // gVisor has eight buckets of eight, and chooses them by a sum of addresses and ports.
        (self.id != Id::Gvisor).then(|| Rule {
            hold: self.hold(load),
            segments: self.segments(),
        })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.commands = None;
        let _ = self.child.wait();
    }
}
