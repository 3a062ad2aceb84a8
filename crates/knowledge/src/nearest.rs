//! Suggests the known name that an unknown one was probably meant to be.

/// Names that are less alike (Jaro-Winkler, from 0 to 1) are other names, not typing errors. clap uses the same limit
/// for its suggestions.
const ALIKE: f64 = 0.8;

/// The known name that is most like the given one, if any is alike.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let rated = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&given, &name.to_lowercase()), name));
    let alike = rated.filter(|(rate, name)| *rate > ALIKE || is_one_off(&given, name));
    let best = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, name)| name)
}

/// The hint for an unknown name: the one that was probably meant, or all.
pub(crate) fn meant<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(given, known.clone()) {
        Some(meant) => format!("did you mean {meant}?"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// Whether one letter differs: in short names, such as those of interfaces, a letter is a large part.
fn is_one_off(given: &str, name: &str) -> bool {
    given.len() > 2 && strsim::osa_distance(given, &name.to_lowercase()) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alike_is_meant() {
        let names = ["openstack-gro", "openstack-gro-fixed", "ipvs-gro", "jumbo"];
        assert_eq!(nearest("opnstack-gro", names), Some("openstack-gro"));
        assert_eq!(nearest("OpenStack-GRO", names), Some("openstack-gro"));
        assert_eq!(nearest("jumob", names), Some("jumbo"));
        assert_eq!(nearest("something else", names), None);
        let interfaces = ["lo", "eth0", "enp3s0f0", "br0"];
        assert_eq!(nearest("eht0", interfaces), Some("eth0"));
        assert_eq!(nearest("enp3sof0", interfaces), Some("enp3s0f0"));
        assert_eq!(nearest("wlan7", interfaces), None);
    }
}
