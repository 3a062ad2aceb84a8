//! A setting, as `coalescope ab` takes it but with a room in front.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A setting: `box/eth0:gro=off`, `vm/eth0:mtu=1500`, `vm/sysctl:net.ipv4.tcp_sack=0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Setting {
    /// The room it is made in.
    pub room: String,
    /// What is set.
    pub value: Value,
}

/// What is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An offload, by ethtool's short or long name or the kernel's.
    Feature {
        /// The interface.
        interface: String,
        /// The offload.
        feature: String,
        /// On or off.
        on: bool,
    },
    /// An MTU.
    Mtu {
        /// The interface.
        interface: String,
        /// Bytes.
        bytes: u16,
    },
    /// The longest frame that an interface takes, `gso_max_size`: a longer one is cut before.
    GsoMaxSize {
        /// The interface.
        interface: String,
        /// Bytes.
        bytes: u32,
    },
    /// A setting of the room's stack.
    Sysctl {
        /// Its name with dots.
        key: String,
        /// Its value.
        value: String,
    },
}

impl Setting {
    /// As `coalescope ab` takes it on the machine where the room has this name under /run/netns:
    /// `ns/NAME/eth0:gro=off`.
    #[must_use]
    pub fn in_namespace(&self, name: &str) -> String {
        format!("ns/{name}/{}", self.value)
    }
}

impl Value {
    /// In words: `GRO off`, `an MTU of 1500`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self {
            Self::Feature { feature, on, .. } => {
                // Long names have hyphens and are no abbreviations.
                let name = match feature.contains('-') {
                    true => feature.clone(),
                    false => feature.to_uppercase(),
                };
                format!("{name} {}", if *on { "on" } else { "off" })
            }
            Self::Mtu { bytes, .. } => format!("an MTU of {bytes}"),
            Self::GsoMaxSize { bytes, .. } => format!("a gso_max_size of {bytes}"),
            Self::Sysctl { key, value } => format!("{key} = {value}"),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.room, self.value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feature {
                interface,
                feature,
                on,
            } => {
                let level = if *on { "on" } else { "off" };
                write!(formatter, "{interface}:{feature}={level}")
            }
            Self::Mtu { interface, bytes } => write!(formatter, "{interface}:mtu={bytes}"),
            Self::GsoMaxSize { interface, bytes } => {
                write!(formatter, "{interface}:gso_max_size={bytes}")
            }
            Self::Sysctl { key, value } => write!(formatter, "sysctl:{key}={value}"),
        }
    }
}

impl From<Setting> for String {
    fn from(setting: Setting) -> Self {
        setting.to_string()
    }
}

impl TryFrom<String> for Setting {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a setting: ROOM/INTERFACE:NAME=VALUE, or ROOM/sysctl:KEY=VALUE"
            )
        };
        let (room, rest) = text.split_once('/').ok_or_else(wrong)?;
        let (place, assigned) = rest.split_once(':').ok_or_else(wrong)?;
        let (name, level) = assigned.split_once('=').ok_or_else(wrong)?;
        if [room, place, name, level].contains(&"") {
            return Err(wrong());
        }
        Ok(Self {
            room: room.to_owned(),
            value: value(place, name, level)?,
        })
    }
}

fn value(place: &str, name: &str, level: &str) -> Result<Value, String> {
    let interface = place.to_owned();
    match (place, name) {
        ("sysctl", _) => Ok(Value::Sysctl {
            key: name.to_owned(),
            value: level.to_owned(),
        }),
        (_, "mtu") => Ok(Value::Mtu {
            interface,
            bytes: level
                .parse()
                .map_err(|_| format!("an MTU of {level}: it is a number of bytes to 65535"))?,
        }),
        (_, "gso_max_size") => Ok(Value::GsoMaxSize {
            interface,
            bytes: level
                .parse()
                .map_err(|_| format!("a gso_max_size of {level}: it is a number of bytes"))?,
        }),
        _ => Ok(Value::Feature {
            interface,
            feature: name.to_owned(),
            on: switch(name, level)?,
        }),
    }
}

fn switch(name: &str, level: &str) -> Result<bool, String> {
    match level {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{name}={level}: an offload is on or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_written_alike() {
        for text in [
            "box/lossy0:gro=off",
            "vm/eth0:mtu=1500",
            "box/tap0:gso_max_size=1500",
            "vm/sysctl:net.ipv4.tcp_rmem=4096 16384 16384",
        ] {
            let setting: Setting = text.parse().expect("a setting");
            assert_eq!(setting.to_string(), text);
        }
        let setting: Setting = "box/up0:tx-udp-segmentation=on".parse().expect("a setting");
        assert_eq!(
            setting.in_namespace("cs-1-box"),
            "ns/cs-1-box/up0:tx-udp-segmentation=on"
        );
    }

    #[test]
    fn what_is_none_is_told() {
        for (text, word) in [
            ("lossy0:gro=off", "is not a setting"),
            ("box/lossy0:gro", "is not a setting"),
            ("box/:gro=off", "is not a setting"),
            ("box/lossy0:gro=of", "on or off"),
            ("box/lossy0:mtu=90000", "number of bytes"),
        ] {
            let said = text.parse::<Setting>().expect_err(text);
            assert!(said.contains(word), "{said}");
        }
    }
}
