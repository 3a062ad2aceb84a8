//! What was recorded elsewhere, or before.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, anyhow};
use coalescope_analysis::inputs;
use coalescope_report::WatchReport;
use coalescope_watch::facts::Watched;
use coalescope_watch::record::{Looks, RecordError};

use crate::cli::WatchArgs;
use crate::confine::{self, Needs};
use crate::speech;
use crate::system::memory;

/// A record that is open.
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

    /// The last look, which has all that was counted until then. `passed` is told of the others.
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

/// The last look, which has all that was counted until then; the others are told as they come.
pub(super) fn last(path: &Path, args: &WatchArgs) -> anyhow::Result<Watched> {
    memory::bound(args.memory);
    let record = Record::open(path)?;
    confine::enter(&Needs::default());
    let mut look = record.last(&mut |before| speech::tell(&WatchReport::line(before)))?;
    look.keep_interfaces(&args.interfaces);
    Ok(look)
}

/// What was read before the damage is reported.
fn damaged(last: Option<Watched>, error: &RecordError, name: &str) -> anyhow::Result<Watched> {
    let look = last.ok_or_else(|| anyhow!("{name}: {error}"))?;
    speech::tell(&format!(
        "warning: {name}: {error}: this is what was recorded until then"
    ));
    Ok(look)
}
