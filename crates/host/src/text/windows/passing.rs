//! How a Windows host passes packets on: forwarding, teams of its own (LBFO), merging of UDP (URO).

use super::super::Text;
use super::forms::records;
use super::record::{Cell, Record, name};
use crate::model::{Platform, Setting, Snapshot};
use crate::text::notes::{Notes, first_lines, whole_lines};

/// Where the model keeps whether an interface forwards.
pub(crate) const FORWARDING: &str = "forwarding";

/// How the name of the loopback begins, of which no adapter is listed.
const LOOPBACK: &str = "Loopback Pseudo-Interface";

/// `Get-NetIPInterface`: one object for each address family.
pub(super) fn read_ip_interfaces(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    for record in records(text, &mut notes) {
        let Some(name) = name(&record, &mut notes) else {
            continue;
        };
        let interface = snapshot.interface_mut(name);
        if name.starts_with(LOOPBACK) {
            interface.kind = Some("loopback".to_owned());
        }
        let properties = &mut interface.properties;
        if let Some(mtu) = record.setting("NlMtu", &mut notes) {
            properties.entry("NlMtu".to_owned()).or_insert(mtu);
        }
        // A number may be either: only the words are sure.
        match record.text("Forwarding", &mut notes) {
            Some("Enabled") => {
                properties.insert(FORWARDING.to_owned(), Setting::Flag(true));
            }
            Some("Disabled") => {
                let key = properties.entry(FORWARDING.to_owned());
                key.or_insert(Setting::Flag(false));
            }
            _ => {}
        }
    }
    notes.finish(snapshot);
}

/// `Get-NetLbfoTeam`.
pub(super) fn read_teams(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    for record in records(text, &mut notes) {
        let members = list(&record, "Members");
        let mode = record.text("TeamingMode", &mut notes).map(str::to_owned);
        for name in list(&record, "TeamNics") {
            let team = snapshot.interface_mut(&name);
            team.kind = Some("team".to_owned());
            let bond = team.bond.get_or_insert_default();
            bond.mode.clone_from(&mode);
            bond.members.clone_from(&members);
        }
    }
    notes.finish(snapshot);
}

/// Names; one alone is no list where PowerShell prints it.
fn list(record: &Record, key: &str) -> Vec<String> {
    match record.cell(key) {
        Some(Cell::Many(all)) => all.clone(),
        Some(Cell::One(one)) if !one.is_empty() => vec![one.clone()],
        _ => Vec::new(),
    }
}

/// `netsh int udp show global` and `netsh int tcp show global`, in English.
pub(super) fn recognises_globals(text: &Text<'_>) -> bool {
    let titles = ["UDP Global Parameters", "TCP Global Parameters"];
    first_lines(text).any(|line| titles.contains(&line.trim()))
}

pub(super) fn read_globals(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    snapshot.platform = Some(Platform::Windows);
    for line in whole_lines(text, &mut notes).lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        let is_on = value == "enabled";
        if !is_on && value != "disabled" {
            continue;
        }
        let known = match key.trim() {
            "UDP Receive Offload State" => {
                Some(("UdpReceiveOffload", Setting::Text(value.to_owned())))
            }
            // By the names of Get-NetOffloadGlobalSetting.
            "Receive Segment Coalescing State" => {
                Some(("ReceiveSegmentCoalescing", Setting::Flag(is_on)))
            }
            "Receive-Side Scaling State" => Some(("ReceiveSideScaling", Setting::Flag(is_on))),
            _ => None,
        };
        let known = known.map(|(key, value)| (key.to_owned(), value));
        snapshot.settings.extend(known);
    }
    notes.finish(snapshot);
}
