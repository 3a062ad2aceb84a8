//! Rights do not depend on the umask, which is the whole process's: one test alone.

#![cfg(target_os = "linux")]

use coalescope_files::{Replacement, Rights, private, replace};
use rustix::fs::Mode;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it works").mode() & 0o7777
}

#[test]
fn rights_are_the_same_under_every_umask() {
    let folder = tempfile::tempdir().unwrap();
    for umask in [0, 0o002, 0o022, 0o077, 0o777] {
        let before = rustix::process::umask(Mode::from_raw_mode(umask));
        let inner = folder.path().join(format!("{umask:o}/inner"));
        private(&inner).unwrap();
        for (name, rights) in [
            ("own", Rights::Exactly(0o600)),
            ("shown", Rights::Exactly(0o644)),
            ("usual", Rights::Usual),
        ] {
            let path = inner.join(name);
            replace(&Replacement::of(&path, rights), |file| file.write_all(b"x")).unwrap();
        }
        rustix::process::umask(before);
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(inner.parent().unwrap()), 0o700);
        let modes = ["own", "shown", "usual"].map(|name| mode(&inner.join(name)));
        assert_eq!(modes, [0o600, 0o644, 0o666 & !umask], "umask {umask:o}");
    }
}
