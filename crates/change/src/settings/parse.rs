//! Parsing and printing of settings.

use super::{Error, Factor, Knob, Setting, Subject, Value, What};
use coalescope_host::names::{of_key, owner_end};
use coalescope_netlink::ethtool::coalescing_names;
use std::fmt::{self, Display};
use std::str::FromStr;

const EXAMPLES: &str = "eth0:gro=off, ns/NAME/eth0:mtu=1500 or sysctl:net.ipv4.tcp_reordering=127";
/// `IFNAMSIZ` without the terminating zero.
const NAME_BYTES: usize = 15;

impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (subject, value) = split(text)?;
        let value = read_value(&subject, value).map_err(syntax(text))?;
        Ok(Self { subject, value })
    }
}

impl FromStr for Factor {
    type Err = Error;

    /// Commas separate levels, also those of a sysctl.
    fn from_str(text: &str) -> Result<Self, Error> {
        let (subject, values) = split(text)?;
        let levels: Result<Vec<_>, _> = values
            .split(',')
            .map(|value| read_value(&subject, value))
            .collect();
        let levels = levels.map_err(syntax(text))?;
        let twice = (1..levels.len()).any(|last| levels[..last].contains(&levels[last]));
        if levels.len() < 2 || twice {
            return Err(syntax(text)("it takes two levels or more, all different"));
        }
        Ok(Self { subject, levels })
    }
}

impl FromStr for Subject {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse_subject(text).map_err(syntax(text))
    }
}

fn split(text: &str) -> Result<(Subject, &str), Error> {
    let end = owner_end(text);
    let at = text[end..].find('=').map(|at| end + at);
    let at = at.ok_or_else(|| syntax(text)("there is no ="))?;
    let subject = parse_subject(text[..at].trim()).map_err(syntax(text))?;
    Ok((subject, text[at + 1..].trim()))
}

fn syntax(text: &str) -> impl FnOnce(&'static str) -> Error {
    let text = text.to_owned();
    move |problem| Error::Syntax {
        text,
        problem: problem.to_owned(),
        example: EXAMPLES.to_owned(),
    }
}

fn parse_subject(text: &str) -> Result<Subject, &'static str> {
    let (namespace, rest) = match text.strip_prefix("ns/") {
        None => (None, text),
        Some(_) => {
            let (Some(name), rest) = of_key(text) else {
                return Err("after ns/ comes a name, a slash, and an interface");
            };
            (Some(namespace_name(name)?), rest)
        }
    };
    let what = parse_what(rest, namespace.is_some())?;
    Ok(Subject { namespace, what })
}

fn namespace_name(name: &str) -> Result<String, &'static str> {
    let plain = !matches!(name, "" | "." | "..") && !name.contains('\0');
    plain
        .then(|| name.to_owned())
        .ok_or("that is no name of a namespace")
}

fn parse_what(text: &str, inside: bool) -> Result<What, &'static str> {
    let (owner, name) = text.split_once(':').ok_or("there is no :")?;
    if owner == "sysctl" {
        let key = sysctl_path(name)?;
        if inside && !key.starts_with("net/") {
            return Err("only sysctls that begin with net. are of a network namespace");
        }
        return Ok(What::Sysctl(key));
    }
    Ok(What::Interface {
        name: interface_name(owner)?,
        knob: knob(name)?,
    })
}

fn interface_name(name: &str) -> Result<String, &'static str> {
    let bad = |letter: char| letter == '/' || letter.is_whitespace() || letter.is_control();
    if matches!(name, "" | "." | "..") || name.len() > NAME_BYTES || name.contains(bad) {
        return Err("that is no name of an interface");
    }
    Ok(name.to_owned())
}

fn knob(name: &str) -> Result<Knob, &'static str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(plain) {
        return Err("that is no name of a setting");
    }
    Ok(match name.replace('_', "-").as_str() {
        "mtu" => Knob::Mtu,
        "gro-flush-timeout" => Knob::GroFlushTimeout,
        "napi-defer-hard-irqs" => Knob::NapiDeferHardIrqs,
        "gso-max-size" => Knob::GsoMaxSize,
        "gro-max-size" => Knob::GroMaxSize,
        name if coalescing_names().any(|(known, _)| known == name) => {
            Knob::Coalescing(name.to_owned())
        }
        _ => Knob::Feature(name.to_owned()),
    })
}

/// The path of a sysctl, parsed as by sysctl(8): if the first separator is a dot, dots and slashes change places.
pub(super) fn sysctl_path(key: &str) -> Result<String, &'static str> {
    let dotted = key.find(['.', '/']).map(|at| &key[at..=at]) == Some(".");
    let path = if dotted { swapped(key) } else { key.to_owned() };
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.contains(char::is_control);
    if !path.contains('/') || path.split('/').any(bad) {
        return Err("that is no name of a sysctl");
    }
    Ok(path)
}

fn swapped(text: &str) -> String {
    let swap = |letter| match letter {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    text.chars().map(swap).collect()
}

fn read_value(subject: &Subject, text: &str) -> Result<Value, &'static str> {
    let knob = match &subject.what {
        What::Sysctl(_) if text.is_empty() || text.contains(['\0', '\n']) => {
            return Err("a sysctl's value is one line, and not empty");
        }
        What::Sysctl(_) => return Ok(Value::Text(text.to_owned())),
        What::Interface { knob, .. } => knob,
    };
    if !is_switch(knob) {
        let number = text.parse().map_err(|_| "its value is a number")?;
        return Ok(Value::Number(number));
    }
    match text {
        "on" => Ok(Value::Switch(true)),
        "off" => Ok(Value::Switch(false)),
        _ => Err("its value is on or off"),
    }
}

fn is_switch(knob: &Knob) -> bool {
    match knob {
        Knob::Feature(_) => true,
        Knob::Coalescing(name) => coalescing_names().any(|known| known == (name.as_str(), true)),
        _ => false,
    }
}

impl Display for Knob {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Feature(name) | Self::Coalescing(name) => name,
            Self::Mtu => "mtu",
            Self::GroFlushTimeout => "gro_flush_timeout",
            Self::NapiDeferHardIrqs => "napi_defer_hard_irqs",
            Self::GsoMaxSize => "gso_max_size",
            Self::GroMaxSize => "gro_max_size",
        })
    }
}

impl Display for Subject {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.namespace {
            write!(to, "ns/{name}/")?;
        }
        match &self.what {
            What::Interface { name, knob } => write!(to, "{name}:{knob}"),
            What::Sysctl(path) => write!(to, "sysctl:{}", dotted(path)),
        }
    }
}

/// A sysctl's path as sysctl(8) writes it.
#[must_use]
pub fn dotted(path: &str) -> String {
    swapped(path)
}

impl Display for Value {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => to.write_str(if *on { "on" } else { "off" }),
            Self::Number(number) => write!(to, "{number}"),
            Self::Text(text) => to.write_str(text),
        }
    }
}

impl Display for Setting {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}={}", self.subject, self.value)
    }
}

impl TryFrom<String> for Setting {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl From<Setting> for String {
    fn from(setting: Setting) -> Self {
        setting.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "eth0:gro=off",
            "ns/blue/eth0.100:mtu=1500",
            "ns/blue/veth1:gso_max_size=1500",
            "eth0:rx-usecs=50",
            "eth0:adaptive-rx=on",
            "eth0:gro_flush_timeout=20000",
            "eth0:napi_defer_hard_irqs=2",
            "eth0:tx-udp_tnl-segmentation=off",
            "sysctl:net.ipv4.tcp_reordering=127",
            "ns/blue/sysctl:net.ipv4.tcp_rmem=4096 131072 6291456",
            "sysctl:net.ipv4.conf.eth0/100.rp_filter=0",
            "=1+1:gro=off",
            "a=b:mtu=1500",
            "ns/a=b:c/=d:gro=off",
            "ns//proc/7/ns/net/eth0:gro=off",
            "ns//run/a b/sysctl:net.ipv4.conf.eth0/100.rp_filter=0",
            "ns/a=b/sysctl:net.ipv4.tcp_rmem=4096 131072 6291456",
        ] {
            let setting: Setting = text.parse().expect(text);
            assert_eq!(setting.to_string().parse::<Setting>().unwrap(), setting);
        }
        let slashes: Setting = "sysctl:net/ipv4/tcp_reordering=3".parse().unwrap();
        assert_eq!(slashes.to_string(), "sysctl:net.ipv4.tcp_reordering=3");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for text in [
            "",
            "eth0",
            "eth0:gro",
            "eth0:gro=maybe",
            "eth0:mtu=on",
            "eth0:mtu=-1",
            ":gro=on",
            "a name:gro=on",
            "averyveryverylongname:gro=on",
            "../x:gro=on",
            "ns/blue:gro=on",
            "ns/../eth0:gro=on",
            "ns//eth0:gro=on",
            "sysctl:=1",
            "sysctl:net.ipv4./../x=1",
            "sysctl:/etc/passwd=1",
            "sysctl:net/../../x=1",
            "sysctl:net.ipv4.tcp_reordering=",
            "ns/blue/sysctl:vm.swappiness=1",
            "eth0:gro;reboot=on",
        ] {
            let error = text.parse::<Setting>().expect_err(text);
            assert!(error.to_string().contains("write it as eth0:gro=off"));
        }
    }

    #[test]
    fn factors_have_levels() {
        let factor: Factor = "eth0:mtu=1500,9000".parse().unwrap();
        let texts: Vec<_> = factor.settings().map(|one| one.to_string()).collect();
        assert_eq!(texts, ["eth0:mtu=1500", "eth0:mtu=9000"]);
        assert!("eth0:mtu=1500".parse::<Factor>().is_err());
        assert!("eth0:gro=on,on".parse::<Factor>().is_err());
    }
}
