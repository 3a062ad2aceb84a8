//! The incidents that come with the program.

use crate::error::Error;
use crate::model::Incident;

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../incidents/", $name, ".yaml")))),*]
    };
}

/// The rules that `check` needs for the lab's own cards, as rules of a site.
pub const RULES: &str = include_str!("../incidents/rules/lab.yaml");

/// Names and texts, in the order in which they are listed.
const FILES: [(&str, &str); 19] = files![
    "openstack-gro",
    "freebsd-bridge-lro",
    "bond-rr-gro",
    "ipvs-gro",
    "hyperv-rsc-jumbo",
    "gvisor-forward",
    "vm-frames-bare",
    "gso-size-guessed",
    "cap-on-bridge",
    "gro-forwarding",
    "gvisor-forward-segments",
    "vm-frames-with-header",
    "gso-size-kept",
    "cap-on-port",
    "plain-loss",
    "slow-server",
    "small-window",
    "rate-limit",
    "jumbo",
];

impl Incident {
    /// The names of those that are built in: the five stories, those from the field, then the innocent ones.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FILES.into_iter().map(|(name, _)| name)
    }

    /// One that is built in.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], which lists the names.
    pub fn named(name: &str) -> Result<Self, Error> {
        let mut files = FILES.into_iter();
        match files.find(|(known, _)| *known == name) {
            Some((name, text)) => Self::parse(&format!("incidents/{name}.yaml"), text),
            None => Err(Error::Unknown {
                name: name.to_owned(),
                known: Self::names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// The text of the file of one that is built in, for people to begin their own with.
    #[must_use]
    pub fn text_of(name: &str) -> Option<&'static str> {
        let mut files = FILES.into_iter();
        files
            .find(|(known, _)| *known == name)
            .map(|(_, text)| text)
    }
}
