//! From arguments to a request.

use anyhow::{Context, anyhow, bail};
use coalescope_change::settings::{Factor, Setting};
use coalescope_experiment::ab::{self, Checked, Session};
use coalescope_experiment::effects::{Rules, Sense};
use coalescope_experiment::figures;
use coalescope_experiment::record::{Asked, NamedCommand, Record, Vary};

use super::kept;
use crate::cli::{AbArgs, SenseArg};
use crate::speech;

/// How long iperf3 runs: long enough for a window to grow, short enough for many runs.
const IPERF3_S: u64 = 5;
/// Runs and blocks that are enough for most differences; docs/experiments.md has the power.
const RUNS: usize = 40;
const BLOCKS: usize = 10;
/// Longest run if the user's own ssh session is at risk: a hanging run must end.
const LONGEST_S: f64 = 300.0;

/// The request of the arguments.
pub(super) fn asked(args: &AbArgs) -> anyhow::Result<Asked> {
    let factors = factors(args)?;
    let cells: usize = factors
        .iter()
        .map(|vary| vary.factor().levels.len())
        .product();
    Ok(Asked {
        command: command(args)?,
        place: args.from.first().filter(|_| args.from.len() == 1).cloned(),
        metrics: args.metric.clone(),
        sense: args.sense.map(sense),
        max_runs: args.max_runs.unwrap_or_else(|| RUNS.max(BLOCKS * cells)),
        seed: args.seed.unwrap_or_else(kept::now_ns),
        settle_s: args.settle,
        timeout_s: (args.timeout > 0.0).then_some(args.timeout),
        deadline_s: args.deadline,
        ignore_failure: args.ignore_failure,
        interface: args.interface.clone(),
        peer: args.peer.clone(),
        rules: Rules {
            alpha: args.alpha,
            margin: args.margin / 100.0,
            ..Rules::default()
        },
        factors,
    })
}

/// Refuses settings without root or CAP_NET_ADMIN, before other errors are reported.
pub(super) fn mind_the_rights(args: &AbArgs) -> anyhow::Result<()> {
    let mut settings = args.set.iter().chain(&args.factor);
    match settings.next() {
        Some(setting) if !may_change() => bail!(
            "to change {setting} takes root (or CAP_NET_ADMIN): run it with sudo; what needs no \
             rights is --from with two vantages, and --do with commands of your own"
        ),
        _ => Ok(()),
    }
}

/// Whether this process may change network settings.
pub(crate) fn may_change() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    let effective = capabilities(None).map(|sets| sets.effective);
    effective.is_ok_and(|effective| effective.contains(CapabilitySet::NET_ADMIN))
}

fn factors(args: &AbArgs) -> anyhow::Result<Vec<Vary>> {
    let mut factors = Vec::new();
    for text in &args.set {
        factors.push(ab::now(&text.parse::<Setting>()?)?);
    }
    for text in &args.factor {
        factors.push(Vary::from(&text.parse::<Factor>()?));
    }
    if !args.commands.is_empty() {
        let levels: anyhow::Result<_> = args.commands.iter().map(|text| named(text)).collect();
        factors.push(Vary::Commands { levels: levels? });
    }
    if args.from.len() > 1 {
        let levels = args.from.clone();
        factors.push(Vary::Vantage { levels });
    }
    if factors.is_empty() {
        bail!(
            "there is nothing to compare: give --set, --factor or --do, or --from with two vantages"
        );
    }
    Ok(factors)
}

fn named(text: &str) -> anyhow::Result<NamedCommand> {
    let parts = text.split_once(':');
    let (name, command) =
        parts.with_context(|| format!("--do '{text}': write it as 'NAME: COMMAND'"))?;
    let (name, command) = (name.trim().to_owned(), command.trim().to_owned());
    if name.is_empty() || command.is_empty() {
        bail!("--do '{text}': write it as 'NAME: COMMAND'");
    }
    Ok(NamedCommand { name, command })
}

fn command(args: &AbArgs) -> anyhow::Result<Vec<String>> {
    if let Some(url) = &args.fetch {
        return Ok(figures::fetch_command(url));
    }
    if let Some(host) = &args.iperf3 {
        return Ok(figures::iperf3_command(host, IPERF3_S));
    }
    if args.command.is_empty() {
        return Err(anyhow!(
            "there is nothing to run: give a COMMAND after --, or --fetch URL, or --iperf3 HOST"
        ));
    }
    Ok(args.command.clone())
}

fn sense(sense: SenseArg) -> Sense {
    match sense {
        SenseArg::Speed => Sense::Speed,
        SenseArg::Time => Sense::Time,
        SenseArg::Plain => Sense::Plain,
    }
}

/// Refuses to change an interface that carries the user's own ssh session, unless `--yes` is given;
/// then runs get a time limit.
pub(super) fn mind_the_session(
    checked: &Checked,
    record: &mut Record,
    is_meant: bool,
) -> anyhow::Result<()> {
    let Some(session) = Session::own() else {
        return Ok(());
    };
    let names = session.at_risk(&checked.settings())?;
    if names.is_empty() {
        return Ok(());
    }
    let what = format!(
        "your ssh session from {session} goes over {}, which is to be changed",
        names.join(" and ")
    );
    if !is_meant {
        bail!("{what}; --yes goes on: if the session is lost, the settings are restored");
    }
    let longest = record.asked.timeout_s.get_or_insert(LONGEST_S);
    speech::tell(&format!(
        "warning: {what}; it is restored when this program ends in any way, and when a run takes \
         far longer than {longest} s"
    ));
    Ok(())
}
