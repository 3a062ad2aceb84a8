//! Records of other hosts, or of earlier.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use coalescope_analysis::inputs;
use coalescope_report::WatchReport;
use coalescope_watch::facts::Watched;
use coalescope_watch::record::{Looks, RecordError};

use crate::cli::WatchArgs;
use crate::confine::{self, Needs};
use crate::page::PageFile;
use crate::speech;
use crate::suggest::unknown;
use crate::system::memory;

/// An opened record.
pub(crate) struct Record {
    name: String,
    source: Box<dyn BufRead>,
}

impl Record {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = inputs::display(path);
        let source: Box<dyn BufRead> = match path.as_os_str() == "-" {
            true => Box::new(BufReader::new(io::stdin())),
            false => Box::new(BufReader::new(
                File::open(path).with_context(|| name.clone())?,
            )),
        };
        Ok(Self { name, source })
    }

    /// The last look, which has all counts up to then. `passed` is called with the others.
    pub(crate) fn last(self, passed: &mut dyn FnMut(&Watched)) -> anyhow::Result<Watched> {
        let Self { name, source } = self;
        memory::reading(name.clone());
        let mut last = None;
        for look in Looks::new(source) {
            match look {
                Ok(look) => {
                    if let Some(before) = last.replace(look) {
                        passed(&before);
                    }
                }
                Err(error) => return damaged(last, &error, &name),
            }
        }
        last.ok_or_else(|| anyhow!("{name}: there is no look in it"))
    }
}

/// The last look, which has all counts up to then; earlier looks are printed as they are read.
pub(super) fn last(path: &Path, args: &WatchArgs, page: &PageFile) -> anyhow::Result<Watched> {
    memory::bound(args.memory);
    let record = Record::open(path)?;
    confine::enter(&Needs::of_page(page));
    let mut look = record.last(&mut |before| speech::tell(&WatchReport::line(before)))?;
    refuse_unknown(&look, &args.interfaces)?;
    look.keep_interfaces(&args.interfaces);
    Ok(look)
}

/// An interface without frames is in no record: nothing may be said of it, least of all that it is well.
fn refuse_unknown(look: &Watched, asked: &[String]) -> anyhow::Result<()> {
    let ends = look
        .drops
        .iter()
        .flat_map(|drop| drop.interface.iter().chain(&drop.from));
    let there = look.interfaces.iter().map(|one| &one.name).chain(ends);
    let there: BTreeSet<&str> = there.map(String::as_str).collect();
    match asked.iter().find(|name| !there.contains(name.as_str())) {
        Some(name) => bail!(unknown(
            "interface",
            name,
            there,
            "those without frames are not in a record"
        )),
        None => Ok(()),
    }
}

/// Reports the looks before a damaged line.
fn damaged(last: Option<Watched>, error: &RecordError, name: &str) -> anyhow::Result<Watched> {
    let look = last.ok_or_else(|| anyhow!("{name}: {error}"))?;
    speech::tell(&format!(
        "warning: {name}: {error}: this is what was recorded until then"
    ));
    Ok(look)
}
