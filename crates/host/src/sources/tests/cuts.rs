//! Bundles, cut anywhere, and archives, changed anywhere.

use proptest::prelude::*;

use super::*;

#[test]
fn archives_lead_nowhere_else() {
    let mut bytes = tar(&[
        ("aa/aaa", "stub\nmtu eth1 1\n"),
        ("b", "stub\nmtu eth0 1\n"),
    ]);
    // tar's own writer refuses such a name.
    bytes[..6].copy_from_slice(b"../aaa");
    let sum = bytes[..512].iter().enumerate();
    let sum = sum.map(|(at, byte)| {
        if (148..156).contains(&at) {
            32
        } else {
            u32::from(*byte)
        }
    });
    let sum = format!("{:06o}\0 ", sum.sum::<u32>());
    bytes[148..156].copy_from_slice(sum.as_bytes());
    let snapshot = one(&bytes);
    assert_eq!(snapshot.interfaces.len(), 1);
    assert!(
        unread(&snapshot)[0].contains("leads out"),
        "{:?}",
        unread(&snapshot)
    );
}

#[test]
fn a_cut_archive_gives_what_is_whole() {
    let whole = tar(&[
        ("a", "stub\nmtu eth0 1500\n"),
        ("b", "stub\nmtu eth1 15000\n"),
    ]);
    let snapshot = one(&whole[..3 * 512 + 14]);
    assert_eq!(snapshot.interfaces.len(), 1);
    assert!(
        unread(&snapshot)
            .iter()
            .any(|line| line.contains("cut or damaged"))
    );
}

/// A bundle of some sections.
fn a_bundle(bodies: &[String]) -> String {
    let mut bundle = "# coalescope bundle 1\n#= by test\n".to_owned();
    for (at, body) in bodies.iter().enumerate() {
        let lines = body.lines().count();
        bundle += &format!("#= section {} rc=0 lines={lines} stub eth{at}\n", at + 1);
        for line in body.lines() {
            bundle += &format!("|{line}\n");
        }
    }
    bundle + &format!("#= end sections={}\n", bodies.len())
}

#[test]
fn each_of_several_bundles_is_a_host() {
    let bundle = |name: &str| a_bundle(&[format!("stub\nname {name}\nmtu eth0 1\n")]);
    let (one, two) = (bundle("hv1"), bundle("hv2"));
    assert_eq!(of_bytes((one.clone() + &two).as_bytes()).unwrap().len(), 2);
    assert_eq!(hosts(folder(&[("a", &one), ("b", &two)]).path()).len(), 2);
    let with_more = folder(&[("a", &one), ("b", "stub\nmtu eth1 1\n")]);
    let found = hosts(with_more.path());
    assert_eq!((found.len(), found[0].snapshot.interfaces.len()), (1, 2));
}

/// All values of a snapshot, with where they are; elements of a list without their number.
fn leaves(value: &serde_json::Value, path: &str, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                leaves(value, &format!("{path} {key}"), out);
            }
        }
        serde_json::Value::Array(values) => {
            for value in values {
                leaves(value, path, out);
            }
        }
        _ => out.push(format!("{path} {value}")),
    }
}

fn known(hosts: &[Host]) -> Vec<String> {
    let mut out = Vec::new();
    for host in hosts {
        let mut snapshot = host.snapshot.clone();
        snapshot.unread.clear();
        leaves(&serde_json::to_value(&snapshot).unwrap(), "", &mut out);
    }
    out
}

proptest! {
    #[test]
    fn a_cut_bundle_says_nothing_that_the_whole_does_not(
        values in proptest::collection::vec((0..3_u8, 0..20_000_u32), 1..12),
        cut in 0.0..1.0_f64,
    ) {
        let bodies: Vec<String> = values.iter().map(|(interface, mtu)| {
            format!("stub\nmtu eth{interface} {mtu}\nsysctl vm.count{interface} {mtu}\nmtu {mtu}\n")
        }).collect();
        let whole = a_bundle(&bodies);
        let all = known(&of_bytes(whole.as_bytes()).unwrap());
        let end = (whole.len() as f64 * cut) as usize;
        if let Ok(hosts) = of_bytes(&whole.as_bytes()[..end]) {
            for leaf in known(&hosts) {
                prop_assert!(all.contains(&leaf), "{leaf}");
            }
            prop_assert!(!hosts[0].snapshot.unread.is_empty());
        }
    }

    #[test]
    fn any_change_of_an_archive_is_survived(at in 0..4096_usize, byte: u8) {
        let mut bytes = tar(SOSREPORT);
        let len = bytes.len();
        bytes[at % len] = byte;
        let _ = of_bytes(&bytes);
        let mut packed = gzip(&bytes);
        let len = packed.len();
        packed[at % len] = byte;
        let _ = of_bytes(&packed);
    }
}
