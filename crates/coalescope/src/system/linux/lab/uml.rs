//! `coalescope lab run --kernel uml`: the same program with the same incidents, in user-mode Linux.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use coalescope_incident::Incident;
use coalescope_lab::uml::{End, Finished, Task, Uml};
use coalescope_report::{LabReport, Skipped};

use crate::cli::LabRunArgs;
use crate::interrupt::stop_on_signal;
use crate::lab::exit;
use crate::lab::list::chosen;
use crate::made::made;
use crate::page::PageFile;
use crate::scratch::Scratch;
use crate::{Outcome, output, speech};

/// Modules that the incidents' paths and masquerading need in the guest's kernel.
const MODULES: [&str; 19] = [
    "ipv6",
    "af_packet",
    "af_packet_diag",
    "tun",
    "veth",
    "bridge",
    "vxlan",
    "bonding",
    "sch_netem",
    "nf_conntrack",
    "ip_vs",
    "ip_vs_rr",
    "nf_tables",
    "nf_nat",
    "nft_nat",
    "nft_masq",
    "nft_chain_nat",
    "xfrm_user",
    "esp4",
];
/// An incident that takes longer hangs: the slowest takes two minutes.
const LIMIT: Duration = Duration::from_secs(900);
/// Lines of the guest's console that are shown if it fails.
const LAST_WORDS: usize = 10;

/// Runs the chain over each incident, in one guest.
pub(super) fn run(args: &LabRunArgs) -> anyhow::Result<Outcome> {
    let page = PageFile::check(&args.page)?;
    let incidents = chosen(args)?;
    let report = match Uml::find() {
        Ok(uml) => Guest::prepare(args, &incidents)?.run(&uml)?,
        Err(why) => skipped(&incidents, &why.to_string()),
    };
    output::print_with_page(&report, args.format, 0, &page, || made(Vec::new()))?;
    exit::outcome(&report)
}

fn skipped(incidents: &[Incident], why: &str) -> LabReport {
    let skipped = incidents.iter().map(|incident| Skipped {
        name: incident.name.clone(),
        why: why.to_owned(),
    });
    LabReport {
        incidents: Vec::new(),
        skipped: skipped.collect(),
        failed: Vec::new(),
    }
}

/// A guest's files on this machine.
struct Guest {
    /// The incidents' files and the report; removed with this value.
    folder: Scratch,
    files: Vec<PathBuf>,
    keep: Option<PathBuf>,
}

impl Guest {
    /// Writes the incidents in the form for user-mode Linux.
    fn prepare(args: &LabRunArgs, incidents: &[Incident]) -> anyhow::Result<Self> {
        let folder = Scratch::new()?;
        let write = |incident: &Incident| {
            let file = folder.path().join(format!("{}.yaml", incident.name));
            // JSON is valid YAML.
            fs::write(&file, serde_json::to_string(&incident.on_uml())?)
                .with_context(|| format!("cannot write {}", file.display()))?;
            Ok(file)
        };
        Ok(Self {
            files: incidents.iter().map(write).collect::<anyhow::Result<_>>()?,
            keep: args.keep.as_deref().map(kept).transpose()?,
            folder,
        })
    }

    fn run(&self, uml: &Uml) -> anyhow::Result<LabReport> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let stop = stop_on_signal().context("cannot listen for signals")?;
        let output = self.folder.path().join("report.json");
        let folders = [Some(self.folder.path()), self.keep.as_deref()];
        let folders: Vec<&Path> = folders.into_iter().flatten().collect();
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let incidents = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let limit = LIMIT.saturating_mul(incidents);
        let mut task = Task::new(&program, &arguments, self.folder.path(), limit);
        task.modules = &MODULES;
        task.writable = &folders;
        task.output = Some(&output);
        task.stop = Some(&stop);
        task.heard = Some(&speech::tell);
        speech::tell("user-mode Linux boots");
        let finished = uml.run(&task)?;
        report(&finished, &output)
    }

    fn arguments(&self) -> Vec<String> {
        let files = self.files.iter().map(|file| file.display().to_string());
        let mut arguments: Vec<String> =
            ["lab", "run", "--format", "json"].map(str::to_owned).into();
        if let Some(keep) = &self.keep {
            arguments.extend(["--keep".to_owned(), keep.display().to_string()]);
        }
        arguments.extend(files);
        arguments
    }
}

/// The folder's absolute path, under which the guest sees the folder too.
fn kept(folder: &Path) -> anyhow::Result<PathBuf> {
    let made = fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
    made.with_context(|| format!("cannot make the folder {}", folder.display()))
}

fn report(finished: &Finished, output: &Path) -> anyhow::Result<LabReport> {
    let last: Vec<&str> = finished.console.lines().rev().take(LAST_WORDS).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    let last = last.join("\n");
    match (finished.end, finished.status) {
        // Exit code 2 with a report: the guest could run no incident.
        (End::Own, Some(0..=2)) => {}
        (End::Own, Some(_)) => bail!("the run in user-mode Linux failed:\n{last}"),
        (End::Own, None) => bail!("user-mode Linux broke down; it said last:\n{last}"),
        (End::NotBooted, _) => bail!("user-mode Linux does not boot here; it said:\n{last}"),
        (End::Late, _) => bail!("the run in user-mode Linux took too long, and was ended:\n{last}"),
        (End::Stopped, _) => bail!("interrupted; user-mode Linux was ended"),
    }
    let text = fs::read_to_string(output)
        .with_context(|| format!("cannot read {}, the guest's report", output.display()))?;
    serde_json::from_str(&text)
        .with_context(|| format!("the run in user-mode Linux failed:\n{last}"))
}
