//! What stands in for Linux: what only Linux has is refused, and nothing is bounded, given up or left to take back.

pub(crate) mod changes {
    //! No setting is changed here.

    use std::process::ExitCode;

    use anyhow::bail;
    use schemars::Schema;

    use crate::cli::SchemaName;

    pub(crate) fn serve_if_asked() -> Option<ExitCode> {
        None
    }

    pub(crate) fn mention_left() {}

    pub(crate) fn schema(_: SchemaName) -> anyhow::Result<Schema> {
        bail!("settings are changed on Linux only, and so is this schema printed there only")
    }

    pub(crate) mod ab {
        use crate::Outcome;
        use crate::cli::AbArgs;

        pub(crate) fn run(_: &AbArgs) -> anyhow::Result<Outcome> {
            super::refuse()
        }
    }

    pub(crate) mod undo {
        use crate::Outcome;
        use crate::cli::UndoArgs;

        pub(crate) fn run(_: &UndoArgs) -> anyhow::Result<Outcome> {
            super::refuse()
        }
    }

    fn refuse<T>() -> anyhow::Result<T> {
        bail!("ab and undo change settings of Linux only: run coalescope there")
    }

    pub(crate) mod fix {
        use anyhow::bail;

        use crate::cli::{
            CheckArgs, CheckFormat, FailOn, FixArgs, HostFormat, ReportArgs, WatchedArgs,
        };
        use crate::{Outcome, check, speech};

        /// What would be done, as `check` says it.
        pub(crate) fn run(args: &FixArgs) -> anyhow::Result<Outcome> {
            if args.apply || args.persist || args.verify {
                bail!(
                    "fix changes settings of Linux only: without --apply it shows what would mend this host"
                );
            }
            speech::tell(
                "nothing is changed on this system: the commands below are what fix would do",
            );
            check::run(&CheckArgs {
                fail_on: FailOn::default(),
                ignore: Vec::new(),
                baseline: None,
                from: args.from.clone(),
                live: args.live.clone(),
                rules: args.rules.clone(),
                memory: args.memory,
                watched: WatchedArgs::default(),
                format: match args.format {
                    HostFormat::Text => CheckFormat::Text,
                    HostFormat::Json => CheckFormat::Json,
                },
                page: ReportArgs { report: None },
            })
        }
    }
}

pub(crate) mod export {
    //! No running host is watched here.

    use anyhow::bail;

    use crate::Outcome;
    use crate::cli::ExportArgs;

    pub(crate) fn run(_: &ExportArgs) -> anyhow::Result<Outcome> {
        bail!("a running host is watched on Linux only: run coalescope there")
    }
}

pub(crate) mod host {
    //! Other hosts than this one can be looked at.

    use anyhow::bail;
    use coalescope_host::model::Snapshot;

    use crate::cli::LiveArgs;

    pub(crate) use collect as this_host;

    pub(crate) fn collect(_: &LiveArgs) -> anyhow::Result<Snapshot> {
        bail!(
            "a live look is there on Linux only: run scripts/collect.sh or scripts/collect.ps1 on the \
             host, and give what it prints to --from"
        )
    }
}

pub(crate) mod lab {
    //! Incidents are simulated here, not live.

    use anyhow::bail;

    use crate::cli::{Format, GetArgs, LabRunArgs, LabShellArgs, WireArgs};
    use crate::{Outcome, speech};

    pub(crate) fn run(_: &LabRunArgs) -> anyhow::Result<Outcome> {
        bail!(
            "incidents are run live in network namespaces of Linux: run it there, or with --simulated"
        )
    }

    pub(crate) fn shell(_: &LabShellArgs) -> anyhow::Result<Outcome> {
        refuse()
    }

    pub(crate) fn clean() -> anyhow::Result<Outcome> {
        refuse()
    }

    pub(crate) fn wire(_: &WireArgs) -> anyhow::Result<Outcome> {
        refuse()
    }

    pub(crate) fn get(_: &GetArgs) -> anyhow::Result<Outcome> {
        refuse()
    }

    fn refuse<T>() -> anyhow::Result<T> {
        bail!("the lab is made of network namespaces of Linux: run it there")
    }

    /// Nothing is run live here.
    pub(crate) fn demo(_: Format) -> anyhow::Result<bool> {
        speech::tell(
            "not here: incidents are run live on Linux only; so captures of a simulated one instead",
        );
        Ok(false)
    }
}

pub(crate) mod meant {
    //! No error names an interface of this host.

    pub(crate) fn meant(_: &anyhow::Error) -> String {
        String::new()
    }
}

pub(crate) mod memory {
    //! Where the system does not say how much memory a process has, none is bounded.

    use crate::cli::MemoryArgs;

    pub(crate) fn bound(_: MemoryArgs) {}

    pub(crate) fn reading(_: String) {}

    pub(crate) fn is_short() -> bool {
        false
    }
}

pub(crate) mod rights {
    //! Nothing is given up.

    use std::path::PathBuf;

    use crate::speech;

    pub(crate) fn give_up(folders: &[PathBuf], outputs: &[PathBuf]) {
        speech::detail(|| {
            format!(
                "nothing is given up on this system, though no more is needed than reading {folders:?} and \
                 writing {outputs:?}"
            )
        });
    }
}

pub(crate) mod watch {
    //! What was watched elsewhere can be looked at.

    use std::time::Duration;

    use anyhow::bail;
    use coalescope_watch::facts::Watched;

    use crate::cli::{LiveArgs, WatchArgs};

    pub(crate) fn for_a_time(_: Duration, _: &LiveArgs) -> anyhow::Result<Watched> {
        bail!("a live look is there on Linux only: give what was recorded there to --watched")
    }

    pub(crate) fn watched(_: &WatchArgs) -> anyhow::Result<Watched> {
        bail!("a live look is there on Linux only: give what was recorded there to --replay")
    }
}
