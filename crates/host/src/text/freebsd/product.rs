//! Systems and products by name and version.

use crate::model::Distribution;

/// A product with a version and a name to show.
pub(super) fn distribution(id: &str, version: &str, name: &str) -> Option<Distribution> {
    Some(Distribution {
        id: id.to_owned(),
        version: Some(version.to_owned()),
        name: Some(name.to_owned()),
    })
}

/// `14.1-RELEASE-p5` is FreeBSD 14.1.
pub(super) fn freebsd(release: &str) -> Option<Distribution> {
    let (version, _) = release.split_once('-')?;
    distribution("freebsd", version, &format!("FreeBSD {release}"))
}
