//! The kernel's release, which is the version of drivers that have none of their own.

use crate::model::Driver;

/// Drivers that are given out with the kernel alone, and have no version of their own.
const OF_THE_KERNEL: [&str; 3] = ["bonding", "hv_netvsc", "r8169"];

/// The most that the kernel has room for (`ETHTOOL_BUSINFO_LEN` of include/uapi/linux/ethtool.h, less the zero at its end): what
/// is as long may be cut.
const ROOM: usize = 31;

/// The release that `ethtool_get_drvinfo` (net/ethtool/ioctl.c) fills in where the driver says nothing. Drivers that are given
/// out by themselves have versions that look like a plain release (`5.12.5`), and those of the kernel had ones with a `k`
/// (`5.1.0-k`).
pub(super) fn kernel(driver: &Driver) -> Option<&str> {
    let version = driver.version.as_deref()?;
    let (number, build) = version.split_once('-').unwrap_or((version, ""));
    let major = major(number).filter(|_| version.len() < ROOM)?;
    let is_built = (2..10).contains(&major)
        && !build.starts_with('k')
        && build.contains(|letter: char| letter.is_ascii_alphabetic());
    let is_plain = major > 4 && OF_THE_KERNEL.contains(&driver.name.as_str());
    (is_built || is_plain).then_some(version)
}

/// `6` of `6.1.0`.
fn major(number: &str) -> Option<u32> {
    let parts: Option<Vec<u32>> = number.split('.').map(|part| part.parse().ok()).collect();
    match parts?[..] {
        [major, _, _] => Some(major),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_kernel(name: &str, version: &str) -> bool {
        let driver = Driver {
            name: name.to_owned(),
            version: Some(version.to_owned()),
            ..Driver::default()
        };
        kernel(&driver) == Some(version)
    }

    #[test]
    fn releases_of_distributions() {
        for version in [
            "6.1.0-25-amd64",
            "5.15.0-91-generic",
            "4.18.0-193.el8.x86_64",
            "5.14.0-427.13.1.el9_4.x86_64",
            "6.8.12-4-pve",
            "5.14.21-150500.55.31-default",
            "6.6.8-arch1-1",
        ] {
            assert!(is_kernel("ixgbe", version), "{version}");
        }
        assert!(is_kernel("r8169", "6.6.52"));
    }

    #[test]
    fn versions_of_drivers() {
        for version in [
            "5.1.0-k",
            "5.1.0-k-rh8.2.0",
            "7.3.21-k8-NAPI",
            "1.7.0.0-k-NAPI",
            "2.8.20",
            "5.12.5",
            "5.8-1.1.2",
            "23.10-0.5.5",
            "8.37.0.20",
            "1.713.36-0 storm 7.13.11.0",
            "3.137",
            "",
            // Cut to the room that the kernel has.
            "5.14.0-427.13.1.el9_4.x86_64+de",
        ] {
            assert!(!is_kernel("ixgbe", version), "{version}");
        }
        assert!(!is_kernel("bonding", "3.7.1"));
    }
}
