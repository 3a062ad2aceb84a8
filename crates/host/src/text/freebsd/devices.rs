//! `pciconf -lv` and `kldstat`.

use super::super::Text;
use super::names::{driver, driver_unit};
use crate::model::{Driver, Setting, Snapshot};
use crate::text::notes::{Notes, first_line, quoted, whole_lines};

pub(super) fn recognises_pciconf(text: &Text<'_>) -> bool {
    device(first_line(text)).is_some()
}

/// Name, place and class of `ix0@pci0:3:0:0:` and, after a tab, `class=0x020000`.
fn device(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once("@pci")?;
    let (place, rest) = rest.split_once([' ', '\t'])?;
    let place = place.strip_suffix(':')?;
    let digits = place.split(':').all(|part| part.parse::<u32>().is_ok());
    let class = rest
        .trim_start()
        .strip_prefix("class=0x")?
        .split(' ')
        .next()?;
    let sound = digits && driver_unit(name).is_some();
    sound.then_some((name, place, class))
}

pub(super) fn read_pciconf(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    snapshot.platform = Some(crate::model::Platform::Freebsd);
    let mut of = None;
    for line in body.lines() {
        if let Some((name, place, class)) = device(line) {
            of = card(name, place, class, snapshot, &mut notes);
        } else if line.contains("@pci") {
            of = None;
            notes.line(line);
        } else if let Some(name) = of {
            said(line, name, snapshot);
        }
    }
    notes.finish(snapshot);
}

/// A network card whose interface has the device's name.
fn card<'a>(
    name: &'a str,
    place: &str,
    class: &str,
    to: &mut Snapshot,
    notes: &mut Notes<'_>,
) -> Option<&'a str> {
    if !class.starts_with("02") {
        return None;
    }
    let Some(driver) = driver(name) else {
        let why = "a network device whose interface pciconf does not name";
        notes.add(&format!("device {name}"), &quoted(name), why);
        return None;
    };
    to.interface_mut(name).driver = Some(Driver {
        name: driver.to_owned(),
        bus: Some(format!("pci{place}")),
        ..Driver::default()
    });
    Some(name)
}

/// `    device     = 'Ethernet Controller X550'`.
fn said(line: &str, name: &str, to: &mut Snapshot) {
    let Some((key, value)) = line.split_once('=') else {
        return;
    };
    let quoted = value.trim().strip_prefix('\'');
    let value = quoted.and_then(|value| value.strip_suffix('\''));
    if let (key @ ("vendor" | "device"), Some(value)) = (key.trim(), value) {
        let value = Setting::Text(value.to_owned());
        let properties = &mut to.interface_mut(name).properties;
        properties.insert(format!("pci.{key}"), value);
    }
}

pub(super) fn recognises_kldstat(text: &Text<'_>) -> bool {
    let words: Vec<&str> = first_line(text).split_whitespace().collect();
    words == ["Id", "Refs", "Address", "Size", "Name"]
}

pub(super) fn read_kldstat(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut notes = Notes::new(text);
    let body = whole_lines(text, &mut notes);
    snapshot.platform = Some(crate::model::Platform::Freebsd);
    let lines = body.lines().filter(|line| !line.trim().is_empty());
    let modules = snapshot.modules.get_or_insert_default();
    for line in lines.skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            [id, _, address, _, name, ..]
                if id.parse::<u32>().is_ok() && address.starts_with("0x") =>
            {
                modules.push(name.strip_suffix(".ko").unwrap_or(name).to_owned());
            }
            // kldstat -v: the modules within a file.
            ["Contains", "modules:"] | ["Id", "Name"] => {}
            [id, ..] if id.parse::<u32>().is_ok() => {}
            _ => notes.line(line),
        }
    }
    notes.finish(snapshot);
}
