//! Reads an incident file, and refuses what contradicts itself.

mod elements;
mod workload;

use crate::element::{Element, Side};
use crate::error::Error;
use crate::model::{Control, Incident};
use crate::path::{Does, Part};
use crate::setting::{Setting, Value};
use crate::table::Row;
use coalescope_unpack::bounded::text_within;
use std::collections::BTreeSet;
use std::path::Path;

/// The longest file that is read: the longest of ours has 6 KB.
pub(crate) const MAX_BYTES: u64 = 1 << 20;
/// Rooms of a path at most: each is a subnet and a thread or more.
const ROOMS: usize = 16;
/// Longest name of a room: its namespace's name and the process's number go in front.
const ROOM_NAME: usize = 16;
/// IFNAMSIZ, less its closing zero.
const INTERFACE_NAME: usize = 15;
/// Rows of a table at most: each is a measurement.
const ROWS: usize = 64;
/// How far the stated round trip may be from the sum of all delays: queues and cards add some.
const RTT_TOLERANCE: f64 = 0.3;
/// Headers of a segment: IPv4 and TCP without options, up to TCP's longest options (RFC 9293).
const HEADERS: std::ops::RangeInclusive<i64> = 40..=80;

/// A fault of a file: the word that it is about, and the reason.
pub(crate) struct Fault {
    word: String,
    reason: String,
}

pub(crate) type Checked = Result<(), Fault>;

/// The fault of a value.
pub(crate) fn fault(word: impl ToString + Copy, reason: impl Into<String>) -> Checked {
    Err(Fault {
        word: word.to_string(),
        reason: reason.into(),
    })
}

/// Requires a property of a value.
pub(crate) fn require(
    is_so: bool,
    word: impl ToString + Copy,
    reason: impl Into<String>,
) -> Checked {
    if is_so { Ok(()) } else { fault(word, reason) }
}

impl Incident {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`Error::Unreadable`], and as [`parse`](Self::parse).
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |source| Error::Unreadable {
            path: path.to_owned(),
            source,
        };
        let text = text_within(MAX_BYTES, path, "incident file").map_err(unreadable)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of a file of that name.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it is no YAML of this form, [`Error::Wrong`] where a value is out of
    /// its range or names what is not there; both say the line.
    pub fn parse(file: &str, text: &str) -> Result<Self, Error> {
        let incident: Self = serde_saphyr::from_str(text).map_err(|error| Error::Malformed {
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
        // A line feed in a name of the file's could pass for the end of the message.
        let wrong = |line: Option<usize>, reason: String| Error::Wrong {
            file: file.to_owned(),
            line,
            reason: reason.replace(char::is_control, "\u{fffd}"),
        };
        let checked = incident.check();
        checked.map_err(|fault| wrong(line_of(text, &fault.word, 0), fault.reason))?;
        if incident.uml.is_some() {
            let begin = section(text, "uml");
            let checked = incident.on_uml().check();
            checked.map_err(|fault| {
                let reason = format!("in user-mode Linux: {}", fault.reason);
                wrong(line_of(text, &fault.word, begin), reason)
            })?;
        }
        Ok(incident)
    }

    fn check(&self) -> Checked {
        let sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = !self.name.is_empty() && self.name.bytes().all(sound);
        let name = &self.name;
        require(
            is_name,
            name,
            format!("the name {name:?}: lower-case letters, digits and -"),
        )?;
        self.check_shape()?;
        self.check_rooms()?;
        elements::check(self)?;
        workload::check(&self.workload)?;
        self.check_figures()?;
        self.check_points()?;
        self.setting(&self.remedy)?;
        self.controls
            .iter()
            .try_for_each(|control| self.control_fits(control))?;
        self.check_table()
    }

    /// Rows of the same columns, none twice, with settings that can be made.
    fn check_table(&self) -> Checked {
        let reason = format!("table: at most {ROWS} rows");
        require(self.table.len() <= ROWS, "table", reason)?;
        let first = self.table.first();
        for (number, row) in self.table.iter().enumerate() {
            let alike = first.is_some_and(|first| first.levels.keys().eq(row.levels.keys()));
            let words = row_words(row);
            let reason = format!("table: row {words} has other columns than the first, or none");
            require(alike && !row.levels.is_empty(), "table", reason)?;
            let twice = self.table[..number]
                .iter()
                .any(|one| one.levels == row.levels);
            let reason = format!("table: two rows are {words}");
            require(!twice, "table", reason)?;
            published(row)?;
            row.set
                .iter()
                .try_for_each(|setting| self.setting(setting))?;
        }
        Ok(())
    }

    /// Rooms and joints take turns.
    fn check_shape(&self) -> Checked {
        let is_room = |part: &Part| matches!(part, Part::Room(_));
        let turns = self.path.iter().enumerate();
        let wrong = turns.filter(|(index, part)| is_room(part) != (index % 2 == 0));
        if let Some((index, _)) = wrong.into_iter().next() {
            let reason = "has to be a room, a wire or veth, a room, and so on";
            return fault(
                "path",
                format!("part {} of the path: it {reason}", index + 1),
            );
        }
        let ends = self.path.len() % 2 == 1 && self.path.len() > 1;
        require(
            ends,
            "path",
            "the path has to begin and end with a room, and have two at least",
        )?;
        let few = self.rooms().count() <= ROOMS;
        require(few, "path", format!("a path has at most {ROOMS} rooms"))
    }

    fn check_rooms(&self) -> Checked {
        let mut names = BTreeSet::new();
        let last = self.rooms().count() - 1;
        for (number, room) in self.rooms().enumerate() {
            let name = &room.name;
            let sound = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let is_name = (1..=ROOM_NAME).contains(&name.len()) && name.bytes().all(sound);
            let reason = format!("room {name:?}: 1 to {ROOM_NAME} lower-case letters and digits");
            require(is_name, name, reason)?;
            require(
                names.insert(name),
                name,
                format!("two rooms are called {name}"),
            )?;
            let is_end = number == 0 || number == last;
            let reason = match is_end {
                true => format!("room {name} is an end of the path, which passes nothing on"),
                false => format!("room {name} is on the way: it does bridge, route, nat or ipvs"),
            };
            require(is_end == (room.does == Does::Nothing), name, reason)?;
            self.check_interfaces(number)?;
        }
        Ok(())
    }

    fn check_interfaces(&self, number: usize) -> Checked {
        let interfaces = [Side::Client, Side::Server].map(|side| self.interface(number, side));
        for name in interfaces.into_iter().flatten() {
            let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            let length = (1..=INTERFACE_NAME).contains(&name.len());
            let is_name =
                length && name.bytes().all(sound) && !["lo", crate::path::BRIDGE].contains(&name);
            let reason = format!("interface {name:?}: 1 to 15 letters and digits, not lo or br0");
            require(is_name, name, reason)?;
        }
        let [one, two] = interfaces;
        let twice = one.is_some() && one == two;
        let name = one.unwrap_or_default();
        require(
            !twice,
            name,
            format!("both interfaces of a room are called {name}"),
        )?;
        self.check_features(number)
    }

    fn is_bridge(&self, number: usize, interface: &str) -> bool {
        let room = self.rooms().nth(number);
        interface == crate::path::BRIDGE && room.is_some_and(|room| room.does == Does::Bridge)
    }

    fn check_features(&self, number: usize) -> Checked {
        let room = self.rooms().nth(number);
        let features = room.into_iter().flat_map(|room| room.features.keys());
        let sizes = room.into_iter().flat_map(|room| room.gso_max_size.keys());
        let sizes = sizes.filter(|name| !self.is_bridge(number, name));
        let mut named = features.chain(sizes);
        let stranger = named.find(|name| self.side_of(number, name).is_none());
        let room = room.map_or("", |room| &room.name);
        stranger.map_or(Ok(()), |name| {
            fault(
                name,
                format!("room {room} has no interface {name} to set features of"),
            )
        })
    }

    fn check_figures(&self) -> Checked {
        let links = self.elements().filter_map(|element| match element {
            Element::Link(link) => Some(
                link.lanes()
                    .iter()
                    .map(crate::element::Lane::mean_us)
                    .sum::<f64>(),
            ),
            Element::Bond(bond) => Some(2.0 * bond.lanes.first()?.mean_us()),
            _ => None,
        });
        let bonds = self.bonds().map(crate::path::Bonded::round_trip_us);
        let (sum, said) = (links.chain(bonds).sum::<f64>(), self.rtt_us as f64);
        let near = said > 0.0 && (sum - said).abs() <= RTT_TOLERANCE * said.max(sum);
        let reason =
            format!("rtt_us is {said}, and the links' delays are {sum} both ways together");
        require(near, "rtt_us", reason)?;
        let last = self.rooms().count() - 1;
        let mtus = [
            self.mtu_bytes(0, Side::Server),
            self.mtu_bytes(last, Side::Client),
        ];
        let tunnels = self.path.iter().filter_map(|part| match part {
            Part::Wire(wire) if wire.esp => Some(wire.packet_bytes()),
            _ => None,
        });
        let mtu = mtus.into_iter().flatten().chain(tunnels).min();
        let mtu = i64::from(mtu.unwrap_or(0));
        let headers = mtu - i64::from(self.segment_bytes);
        let reason = format!(
            "segment_bytes: the smaller MTU of the ends, or what fits a tunnel, is {mtu} bytes, less 52 for headers"
        );
        require(HEADERS.contains(&headers), "segment_bytes", reason)
    }

    /// Every point is an element of the path, and they are in its order.
    fn check_points(&self) -> Checked {
        let mut there = self.elements().filter_map(|element| match element {
            Element::Point(point) => Some(&point.name),
            _ => None,
        });
        let missing = self
            .points
            .iter()
            .find(|name| !there.any(|point| point == *name));
        missing.map_or(Ok(()), |name| {
            fault(
                name,
                format!("points: {name} is no point of the path, or not in its order"),
            )
        })
    }

    fn setting(&self, setting: &Setting) -> Checked {
        let room = &setting.room;
        let Some(number) = self.room_number(room) else {
            return fault(setting, format!("{setting}: there is no room {room}"));
        };
        match &setting.value {
            Value::Feature { interface, .. }
            | Value::Mtu { interface, .. }
            | Value::GsoMaxSize { interface, .. } => {
                let is_size = matches!(setting.value, Value::GsoMaxSize { .. });
                let known = self.side_of(number, interface).is_some()
                    || is_size && self.is_bridge(number, interface);
                let reason = format!("{setting}: room {room} has no interface {interface}");
                require(known, setting, reason)
            }
            Value::Sysctl { key, .. } => {
                let reason =
                    format!("{setting}: only settings that begin with net. are a room's own");
                require(key.starts_with("net."), setting, reason)
            }
        }
    }

    fn control_fits(&self, control: &Control) -> Checked {
        control
            .set
            .iter()
            .try_for_each(|setting| self.setting(setting))?;
        if let Some(from) = &control.from {
            let number = self.room_number(from);
            let server = self.rooms().count() - 1;
            let asks = number.is_some_and(|number| number < server);
            let name = &control.name;
            require(
                asks,
                from,
                format!("control {name}: no room {from} that could ask"),
            )?;
        }
        let named = control.without.iter().chain(control.change.keys());
        let known = |name: &String| self.elements().any(|element| element.name() == name);
        let is_bond = |name: &String| {
            control.change.contains_key(name) && self.bonds().any(|bond| bond.name == *name)
        };
        for name in named {
            let is_service = control.without.contains(name) && self.has_service(name);
            let reason = format!("control {}: there is no element {name}", control.name);
            require(known(name) || is_bond(name) || is_service, name, reason)?;
        }
        let ordered = control.frames.is_none_or(|[least, most]| least <= most);
        let reason = format!(
            "control {}: frames: the least, and then the most",
            control.name
        );
        require(ordered, "frames", reason)?;
        let captured = control.frames.is_none() || !self.points.is_empty();
        let reason = format!(
            "control {}: frames are counted at a point, and there is none",
            control.name
        );
        require(captured, "frames", reason)?;
        elements::changes(self, control)?;
        control.workload.as_ref().map_or(Ok(()), workload::check)
    }

    fn has_service(&self, room: &str) -> bool {
        let mut rooms = self.rooms();
        rooms.any(|one| one.name == room && one.does == Does::Ipvs)
    }
}

fn published(row: &Row) -> Checked {
    let Some(published) = row.published else {
        return Ok(());
    };
    let figures = [Some(published.bps), published.service_demand_us_per_kb];
    let positive = |figure: f64| figure.is_finite() && figure > 0.0;
    let sound = figures.into_iter().flatten().all(positive);
    let reason = format!(
        "table: row {}: a published figure is not above 0",
        row_words(row)
    );
    require(sound, "published", reason)
}

fn row_words(row: &Row) -> String {
    let levels = row.levels.iter();
    let words: Vec<_> = levels
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    words.join(", ")
}

/// The first line from one on, the first being 0, that has the word; comments do not count.
fn line_of(text: &str, word: &str, begin: usize) -> Option<usize> {
    let bare = |line: &str| line.split(" #").next().unwrap_or_default().to_owned();
    let mut lines = text.lines().enumerate().skip(begin);
    let found = lines.find(|(_, line)| bare(line).contains(word));
    found.map(|(index, _)| index + 1)
}

/// The line, from 0, in which a section of the file begins.
fn section(text: &str, name: &str) -> usize {
    let begins = |line: &str| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    text.lines().position(begins).unwrap_or(0)
}
