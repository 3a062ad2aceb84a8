//! Other systems than Linux: functions of Linux alone are refused, memory is not limited, no right
//! is given up, and there is no journal to restore.

pub(crate) mod changes {
    //! No setting is changed on this system.

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

        use crate::cli::{CheckArgs, CheckFormat, FailOn, FixArgs, HostFormat, WatchedArgs};
        use crate::{Outcome, check, speech};

        /// Shows what `fix` would do on other hosts, from saved output.
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
                page: args.page.clone(),
            })
        }
    }
}

pub(crate) mod export {
    //! No host is watched on this system.

    use anyhow::bail;

    use crate::Outcome;
    use crate::cli::ExportArgs;

    pub(crate) fn run(_: &ExportArgs) -> anyhow::Result<Outcome> {
        bail!("a running host is watched on Linux only: run coalescope there")
    }
}

pub(crate) mod host {
    //! Only saved output of other hosts can be read.

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
    //! Incidents are simulated here, not run live.

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
    //! Interfaces of this host are not known, so that no name is suggested.

    pub(crate) fn meant(_: &anyhow::Error) -> String {
        String::new()
    }
}

pub(crate) mod memory {
    //! No limit on memory, since the system does not report how much a process uses.

    use crate::cli::MemoryArgs;

    pub(crate) fn bound(_: MemoryArgs) {}

    pub(crate) fn reading(_: String) {}

    pub(crate) fn is_short() -> bool {
        false
    }
}

pub(crate) mod rights {
    //! No right is given up.

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
    //! Only records of other hosts can be read.

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
