//! Who may read and write what the program keeps.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::ab::Place;
use crate::common::stderr;
use crate::fix::hold;

/// Everything below a folder, with its permissions.
fn modes(folder: &Path, all: &mut Vec<(PathBuf, bool, u32)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let about = entry.metadata().unwrap();
        all.push((entry.path(), about.is_dir(), about.mode() & 0o7777));
        if about.is_dir() {
            modes(&entry.path(), all);
        }
    }
}

fn under_umask(place: &Place, umask: &str, arguments: &[&str]) -> Command {
    let own = place.command(&[]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
    command.arg(own.get_program()).args(arguments);
    command.current_dir(place.path(""));
    command.env("COALESCOPE_STATE", place.path("state").join(umask));
    command
}

#[test]
fn folders_and_records_are_ones_own_whatever_the_umask() {
    Place::with("folders_and_records_are_ones_own", |place| {
        for umask in ["0", "002", "077"] {
            hold();
            let lines: [&[&str]; 3] = [
                &[
                    "ab",
                    "--settle",
                    "0",
                    "--max-runs",
                    "4",
                    "--set",
                    "t0:mtu=1400",
                    "--",
                    "true",
                ],
                &["fix", "gro-latency-hold", "--apply"],
                &["undo", "--list"],
            ];
            for line in lines {
                let output = under_umask(place, umask, line).output().unwrap();
                assert!(
                    output.status.success(),
                    "umask {umask}: {}",
                    stderr(&output)
                );
            }
            let mut all = Vec::new();
            modes(&place.path("state"), &mut all);
            let journals = all
                .iter()
                .filter(|(path, ..)| path.extension().is_some_and(|end| end == "json"));
            assert_eq!(journals.count(), 2, "a record and a journal: {all:?}");
            for (path, is_folder, mode) in all {
                assert_eq!(
                    mode,
                    if is_folder { 0o700 } else { 0o600 },
                    "umask {umask}: {path:?}"
                );
            }
            let undone = under_umask(place, umask, &["undo"]).output().unwrap();
            assert!(
                undone.status.success(),
                "umask {umask}: {}",
                stderr(&undone)
            );
            fs::remove_dir_all(place.path("state")).unwrap();
        }
    });
}

#[test]
fn a_record_is_written_past_planted_links_and_keeps_its_rights() {
    Place::with("a_record_is_written_past", |place| {
        let (record, precious) = (place.path("record.json"), place.path("precious"));
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, place.path("record.json.new")).unwrap();
        let save = [
            "--max-runs",
            "4",
            "--save",
            "record.json",
            "--do",
            "a: true",
            "--do",
            "b: true",
            "--",
            "true",
        ];
        let (code, _, said) = place.ab(&save);
        assert_eq!(code, 0, "{said}");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(
            (mode(&record), fs::read(&precious).unwrap()),
            (0o600, b"precious".to_vec())
        );
        fs::set_permissions(&record, fs::Permissions::from_mode(0o640)).unwrap();
        let (code, _, said) = place.ab(&save);
        assert_eq!((code, mode(&record)), (0, 0o640), "{said}");
    });
}

/// A folder for state that another user could replace is not used.
#[test]
fn state_is_not_kept_where_another_user_could_put_something_in_its_place() {
    Place::with("state_is_not_kept_where", |place| {
        let (above, link) = (place.path("above"), place.path("link"));
        fs::create_dir_all(above.join("state")).unwrap();
        fs::set_permissions(&above, fs::Permissions::from_mode(0o777)).unwrap();
        symlink(place.path(""), &link).unwrap();
        let nobody = Some(65_534);
        if coalescope_needs::had(
            "a link of another user",
            std::os::unix::fs::lchown(&link, nobody, None),
        )
        .is_none()
        {
            return;
        }
        for (state, why) in [
            (above.join("state"), "others can write to"),
            (above.join("new"), "others can write to"),
            (link.join("state"), "is a link of the user 65534"),
        ] {
            let mut command = place.command(&["ab", "--set", "t0:mtu=1400", "--", "true"]);
            let output = command.env("COALESCOPE_STATE", &state).output().unwrap();
            let said = stderr(&output);
            assert_eq!(
                (output.status.code(), said.contains(why)),
                (Some(2), true),
                "{said}"
            );
            assert!(!state.join("ab").exists() && !place.path("state").exists());
        }
    });
}
