//! Counts of `watch`, beside settings.

use coalescope_knowledge::join_watched;
use coalescope_knowledge::rules::Checked;
use coalescope_watch::facts::Watched;

use super::recorded::Record;
use crate::cli::{LiveArgs, WatchedArgs};
use crate::system::watch::for_a_time;

/// Counts of this host, and opened records of others.
pub(crate) struct Counted {
    here: Option<Watched>,
    records: Vec<Record>,
}

impl Counted {
    /// Counts on this host, and opens records.
    pub(crate) fn begin(args: &WatchedArgs, live: &LiveArgs) -> anyhow::Result<Self> {
        let here = args.watch.map(|time| for_a_time(time, live)).transpose()?;
        let records = args.watched.iter().map(|path| Record::open(path));
        Ok(Self {
            here,
            records: records.collect::<Result<_, _>>()?,
        })
    }

    /// Reads the records, and adds all counts to the hosts' settings.
    pub(crate) fn join(self, hosts: &mut [(String, Checked)]) -> anyhow::Result<Vec<Watched>> {
        let mut all: Vec<Watched> = self.here.into_iter().collect();
        for record in self.records {
            all.push(record.last(&mut |_| {})?);
        }
        join_watched(hosts, &all);
        Ok(all)
    }
}
