//! Any bytes as a file with saved output: bundle, archive, packed, pasted or saved snapshot.

use coalescope_host::sources::{Limits, read_bytes};

pub(super) fn run(data: &[u8]) {
    let limits = Limits {
        text_bytes: 1 << 20,
        understood_bytes: 1 << 20,
        total_bytes: 4 << 20,
        files: 1000,
        ..Limits::default()
    };
    match read_bytes("fuzz", data, &limits) {
        Ok(hosts) => {
            assert!(!hosts.is_empty());
            for host in hosts {
                let saved = serde_json::to_vec(&host.snapshot).expect("a snapshot is JSON");
                let again = read_bytes("again", &saved, &Limits::default()).expect("it is saved");
                assert_eq!(again[0].snapshot, host.snapshot);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
