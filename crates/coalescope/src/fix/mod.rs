//! `coalescope fix`: makes what `check` proposes, so that it can be taken back.

mod apply;
mod choose;
mod proofs;
mod verify;

use std::path::Path;

use coalescope_experiment::settings::Setting;
use coalescope_knowledge::rules::HostFinding;
use coalescope_remedy::{Plan, Wish, plan};
use coalescope_report::{FixReport, Fixed};

use crate::cli::FixArgs;
use crate::{Outcome, output, places};
use choose::Chosen;

pub(crate) fn run(args: &FixArgs) -> anyhow::Result<Outcome> {
    places::mention_left();
    let mut report = FixReport::default();
    if args.verify {
        report.verifies = true;
        report.verified = verify::verified()?;
        output::print_fix(&report, args.format)?;
        return Ok(Outcome::of(report.reverted()));
    }
    let chosen = Chosen::of(args)?;
    // Shown unless they are neither asked for nor just looked at.
    if args.persist || !args.apply {
        report.files = lasting(&chosen.settings);
    }
    let outcome = if args.apply {
        apply::apply(args, &chosen, &mut report)?
    } else {
        Outcome::of(!chosen.fixes.is_empty())
    };
    report.fixes = chosen.fixes;
    output::print_fix(&report, args.format)?;
    Ok(outcome)
}

/// What files would have to say.
fn lasting(settings: &[Setting]) -> Plan {
    let wishes = settings.iter().filter_map(|setting| {
        let (interface, feature, on) = setting.feature()?;
        Some(Wish {
            interface: interface.to_owned(),
            namespace: setting.subject.namespace.clone(),
            feature: feature.to_owned(),
            on,
        })
    });
    plan(Path::new("/"), &wishes.collect::<Vec<_>>())
}

/// A finding, and what mends it.
fn fixed(finding: &HostFinding, settings: &[Setting], persist: bool) -> Fixed {
    let is_ours = !settings.is_empty() && settings.iter().all(|one| one.feature().is_some());
    let texts = settings.iter().map(ToString::to_string).collect();
    Fixed::new(&run_from_here(finding), texts, persist && !is_ours)
}

/// The same finding, with commands that do their work in the namespace of its interface.
fn run_from_here(finding: &HostFinding) -> HostFinding {
    let mut finding = finding.clone();
    let inside = finding
        .interface
        .as_deref()
        .and_then(|key| key.strip_prefix("ns/"));
    let Some((namespace, _)) = inside.and_then(|rest| rest.split_once('/')) else {
        return finding;
    };
    let namespace = namespace.to_owned();
    for remedy in &mut finding.remedies {
        if remedy.platform == "linux" && !remedy.command.starts_with("ip netns exec ") {
            remedy.command = within(&namespace, &remedy.command);
        }
    }
    finding
}

fn within(namespace: &str, command: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " /._-+:@%,=".contains(c);
    if command.chars().all(is_plain) {
        return format!("ip netns exec {namespace} {command}");
    }
    let quoted = command.replace('\'', r"'\''");
    format!("ip netns exec {namespace} sh -c '{quoted}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_reach_into_the_namespace() {
        assert_eq!(
            within("vm", "ethtool -K eth0 gro off"),
            "ip netns exec vm ethtool -K eth0 gro off"
        );
        assert_eq!(
            within("vm", "echo 'a' > /sys/b"),
            r"ip netns exec vm sh -c 'echo '\''a'\'' > /sys/b'"
        );
    }
}
