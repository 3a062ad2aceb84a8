//! An interface's settings and counters by ethtool.

use super::offloads;
use super::unread::{Of, Unreads};
use crate::model::{Driver, Interface, Setting};
use coalescope_netlink::Error;
use coalescope_netlink::ethtool::{Ethtool, Value};
use std::collections::BTreeMap;

/// Requests everything; what the driver lacks is left out.
pub(super) fn read(
    interface: &mut Interface,
    ethtool: &Ethtool,
    inside: &str,
    unread: &mut Unreads,
) {
    let name = interface.name.clone();
    let of = Of {
        interface: &name,
        inside,
    };
    let mut ask = Ask { of, unread };
    interface.features = ask
        .answer("offloads", ethtool.read_features(&name))
        .map(|features| offloads::by_ethtool(&features))
        .unwrap_or_default();
    interface.driver = ask.answer("driver", ethtool.driver(&name)).and_then(driver);
    let speed = ask.answer("speed", ethtool.speed_bps(&name));
    interface.speed_bps = speed.flatten();
    let coalescing = ask.answer("coalescing", ethtool.read_coalescing(&name));
    interface.coalescing = settings(coalescing.unwrap_or_default());
    let rings = ask.answer("rings", ethtool.rings(&name));
    interface.rings = rings.unwrap_or_default();
    let channels = ask.answer("channels", ethtool.channels(&name));
    interface.channels = channels.unwrap_or_default();
    let statistics = ask.answer("statistics", ethtool.statistics(&name));
    interface.statistics = statistics.unwrap_or_default();
    let flags = ask.answer("private flags", ethtool.private_flags(&name));
    let flags = flags.unwrap_or_default().into_iter();
    interface
        .properties
        .extend(flags.map(|(name, on)| (name, Setting::Flag(on))));
}

struct Ask<'a> {
    of: Of<'a>,
    unread: &'a mut Unreads,
}

impl Ask<'_> {
    /// The answer, if there is one; that a driver does not have something is no news.
    fn answer<T>(&mut self, what: &str, answer: Result<T, Error>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) if error.is_unsupported() => None,
            Err(error) if error.is_gone() => {
                let why = "it went away while it was read";
                self.unread.note_of("settings", self.of, &why);
                None
            }
            Err(error) => {
                self.unread.note_of(what, self.of, &error);
                None
            }
        }
    }
}

fn driver(driver: coalescope_netlink::ethtool::Driver) -> Option<Driver> {
    // What ethtool prints of a field without a value.
    let said = |text: String| Some(text).filter(|text| !text.is_empty() && text != "N/A");
    Some(Driver {
        name: said(driver.name)?,
        version: said(driver.version),
        firmware: said(driver.firmware),
        bus: said(driver.bus),
    })
}

fn settings(values: BTreeMap<String, Value>) -> BTreeMap<String, Setting> {
    let settings = values.into_iter().map(|(name, value)| {
        let setting = match value {
            Value::Flag(on) => Setting::Flag(on),
            Value::Number(number) => Setting::Number(number.into()),
        };
        (name, setting)
    });
    settings.collect()
}
