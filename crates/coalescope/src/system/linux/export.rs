//! `coalescope export`: the counts of `watch`, for Prometheus.

mod answer;

use std::time::{Duration, Instant};

use coalescope_report::{Exported, Form};
use coalescope_watch::facts::Level;
use coalescope_watch::live::Watcher;

use super::{host, watch};
use crate::cli::{ExportArgs, LiveArgs};
use crate::interrupt::stop_on_signal;
use crate::{Outcome, serve, speech};

/// Counts are read again only after this time: ten clients at once cost one read.
const FRESH: Duration = Duration::from_millis(500);
/// An interface without a name whose counts do not change is dropped after this time, which is
/// longer than the interval of any scrape.
const FORGOTTEN: Duration = Duration::from_mins(10);

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    host::refuse_unknown(&args.live)?;
    let stop = stop_on_signal()?;
    let listener = serve::listen(args.listen)?;
    let mut exporter = Exporter::begin(args)?;
    let address = listener.local_addr()?;
    speech::tell(&format!("listening: http://{address}/metrics"));
    serve::serve(listener, &stop, move |request| {
        answer::to(request, &mut exporter)
    })?;
    Ok(Outcome::Done)
}

/// A watcher and its present series.
struct Exporter {
    watcher: Watcher,
    live: LiveArgs,
    exported: Exported,
    looked: Option<Instant>,
}

impl Exporter {
    fn begin(args: &ExportArgs) -> anyhow::Result<Self> {
        let watcher = watch::begin_for(args, FORGOTTEN)?;
        match watcher.level() {
            Level::Bpf => {}
            Level::Perf => speech::tell(
                "warning: BPF programs are refused, so events of perf are counted: which dropped frames were merged is \
                 not known (coalescope_watch_perf 1)",
            ),
            Level::Counters => speech::tell(
                "warning: BPF programs and perf are refused, so nothing is known of merged frames (coalescope_watch_bpf 0)",
            ),
        }
        Ok(Self {
            watcher,
            live: args.live.clone(),
            exported: Exported::new(args.max_interfaces as usize),
            looked: None,
        })
    }

    /// All series with their present values.
    fn metrics(&mut self, form: Form) -> anyhow::Result<Vec<u8>> {
        if self.looked.is_none_or(|looked| looked.elapsed() >= FRESH) {
            self.exported
                .add(watch::seen(&mut self.watcher, &self.live)?);
            self.looked = Some(Instant::now());
        }
        let mut said = Vec::new();
        self.exported.write(form, &mut said)?;
        Ok(said)
    }
}
