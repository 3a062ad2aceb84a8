//! Which scenarios are to be judged.

use std::path::Path;
use std::{fs, io};

use crate::case::Played;
use crate::disturb::Disturb;
use crate::family::Family;

/// What to judge.
pub struct Plan {
    /// The families, which take turns.
    pub families: Vec<&'static Family>,
    /// How many scenarios.
    pub scenarios: u64,
    /// The first one's seed; each further one's is one more.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Disturbances to add to the families.
    pub disturb: Disturb,
    /// Where captures go that were judged wrongly.
    pub keep: Option<std::path::PathBuf>,
}

impl Plan {
    pub(crate) fn family(&self, number: u64) -> &'static Family {
        self.families[(number % self.families.len() as u64) as usize]
    }

    pub(crate) fn seed(&self, number: u64) -> u64 {
        self.seed.wrapping_add(number)
    }

    /// Writes captures into a folder of this name, if they are to be kept.
    pub(crate) fn keep(&self, name: &str, played: &Played, words: &str) -> io::Result<()> {
        let folder = self.keep.as_ref().map(|folder| folder.join(name));
        folder.map_or(Ok(()), |folder| keep(&folder, played, words))
    }

    /// The arguments that make a scenario again.
    pub(crate) fn which(&self, number: u64) -> String {
        let seed = self.seed(number);
        format!("--family {} --seed {seed}", self.family(number).name)
    }
}

fn keep(folder: &Path, played: &Played, words: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in &played.captures {
        fs::write(folder.join(format!("{name}.pcap")), bytes)?;
    }
    fs::write(folder.join("label.txt"), format!("{words}\n"))
}
