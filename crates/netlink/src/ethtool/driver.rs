//! The driver's description.

use super::Ethtool;
use crate::attributes::text;
use crate::error::Error;
use crate::ioctl;

/// A driver as `ethtool -i` shows it; a text is empty if the driver does not fill it in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// `ixgbe`.
    pub name: String,
    /// Its version; of most drivers within the kernel, the kernel's.
    pub version: String,
    /// Version of the device's firmware.
    pub firmware: String,
    /// The device's address on its bus: `0000:03:00.0`.
    pub bus: String,
}

impl Ethtool {
    /// The driver of an interface.
    pub fn driver(&self, interface: &str) -> Result<Driver, Error> {
        let bytes = ioctl::driver(self.family.socket().as_fd(), interface)?;
        // struct ethtool_drvinfo: a number, then texts of 32 bytes.
        let field = |index: usize| {
            let start = 4 + 32 * index;
            bytes
                .get(start..start + 32)
                .map(text)
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        Ok(Driver {
            name: field(0),
            version: field(1),
            firmware: field(2),
            bus: field(3),
        })
    }
}
