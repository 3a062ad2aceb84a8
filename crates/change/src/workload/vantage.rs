//! Vantages: where a command is run.

use super::Error;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::str::FromStr;

/// Where a command is run. As text: `here`, `ns/NAME`, `ssh:HOST`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Vantage {
    /// On this host, in the namespaces of this process.
    Here,
    /// On this host, in the network namespace of that name in /run/netns.
    Namespace(String),
    /// On another host, `HOST` or `USER@HOST` as ssh(1) takes it, over ssh.
    Ssh(String),
}

impl FromStr for Vantage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |problem| Error::Vantage {
            text: text.to_owned(),
            problem,
        };
        if text == "here" {
            Ok(Self::Here)
        } else if let Some(name) = text.strip_prefix("ns/") {
            namespace(name).map_err(wrong)
        } else if let Some(host) = text.strip_prefix("ssh:") {
            ssh(host).map_err(wrong)
        } else {
            Err(wrong("there is no such vantage"))
        }
    }
}

fn namespace(name: &str) -> Result<Vantage, &'static str> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
    plain
        .then(|| Vantage::Namespace(name.to_owned()))
        .ok_or("that is no name of a namespace")
}

/// Parses a host. ssh(1) would take a host that begins with `-` for an option.
fn ssh(host: &str) -> Result<Vantage, &'static str> {
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if host.is_empty() {
        return Err("the host is missing");
    }
    if host.starts_with('-') || host.contains(odd) {
        return Err("that is no name of a host");
    }
    Ok(Vantage::Ssh(host.to_owned()))
}

impl Display for Vantage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => to.write_str("here"),
            Self::Namespace(name) => write!(to, "ns/{name}"),
            Self::Ssh(host) => write!(to, "ssh:{host}"),
        }
    }
}

impl TryFrom<String> for Vantage {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Vantage> for String {
    fn from(vantage: Vantage) -> Self {
        vantage.to_string()
    }
}
