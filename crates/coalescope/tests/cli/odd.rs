//! Inputs that are not what they say, never end, or hold more of one thing than anybody has: none takes more than the
//! budget of memory, none makes a panic, and an error names the input.

use std::fs;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::bombs::{Ended, MARGIN, budget, check, entry, mib, packed, run};

/// A host that is understood.
const HOST: &str = "net.ipv4.ip_forward = 1\n";

impl Ended {
    /// It ended as it may, and within the budget.
    fn is_sound(&self, what: &str) {
        // One that ends at once is not seen at all on a busy machine.
        let peak = self.peak_bytes;
        assert!(peak < budget() + MARGIN, "{what}: {peak}");
        assert!(!self.stderr.contains("panicked"), "{what}: {}", self.stderr);
        let code = self.status.code();
        assert!(matches!(code, Some(0..=4)), "{what}: {code:?}");
    }

    /// Nothing in it was of use, and its name is said.
    fn is_refused(&self, name: &str) {
        self.is_sound(name);
        assert_eq!(self.status.code(), Some(2), "{name}: {}", self.stdout);
        assert!(self.stderr.contains(name), "{}", self.stderr);
    }
}

/// Files that are given beside the host's: a device has no length, and no end.
#[test]
fn files_of_rules_incidents_and_baselines_that_never_end() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("sysctl"), HOST).unwrap();
    let allowed = format!("{}M", mib());
    let check = ["check", "--from", "sysctl", "--max-memory", &allowed];
    for more in ["--rules", "--baseline"] {
        let arguments = [&check[..], &[more, "/dev/zero"]].concat();
        run(folder.path(), &arguments, |_| Ok(())).is_refused("/dev/zero");
    }
    let incident = ["lab", "run", "--simulated", "/dev/zero"];
    run(folder.path(), &incident, |_| Ok(())).is_refused("/dev/zero");
}

#[test]
fn files_packed_in_each_other() {
    let mut inner = HOST.as_bytes().to_vec();
    for depth in 0..12 {
        let mut outer = Vec::new();
        if depth % 2 == 0 {
            entry(&mut outer, b'0', &format!("{depth}"), &inner).unwrap();
        } else {
            let mut packed = GzEncoder::new(&mut outer, Compression::fast());
            packed.write_all(&inner).unwrap();
            packed.finish().unwrap();
        }
        inner = outer;
    }
    check("deep.gz", |out| out.write_all(&inner)).is_refused("deep.gz");
}

#[test]
fn json_100_000_deep() {
    let begins: [&str; 3] = [
        "[",
        "{\"a\":",
        "{\"schema\":\"coalescope/host/1\",\"interfaces\":[",
    ];
    for begin in begins {
        let ended = check("deep.json.gz", |out| {
            out.write_all(begin.as_bytes())?;
            out.write_all("[".repeat(100_000).as_bytes())
        });
        ended.is_refused("deep.json.gz");
    }
}

#[test]
fn one_line_longer_than_the_budget() {
    let ended = check("line.gz", |out| {
        let piece = vec![b'x'; 1 << 20];
        (0..300).try_for_each(|_| out.write_all(&piece))
    });
    ended.is_refused("line.gz");
}

/// Each kind of entry that an archive may have, and what is not one.
#[test]
fn entries_that_are_no_files() {
    let ended = check("odd.tar.gz", |out| {
        entry(out, b'0', "h/sysctl", HOST.as_bytes())?;
        for kind in *b"1234567SVMDKLgxX\0\xff" {
            entry(out, kind, &format!("h/kind-{kind}"), b"12 path=../x\n")?;
        }
        for name in [
            "../../etc/passwd",
            "/etc/passwd",
            "a/../../b",
            "\u{1b}[2J",
            "",
        ] {
            entry(out, b'0', name, b"x\n")?;
        }
        entry(out, b'x', "pax", b"99999999999999999999 size=1\n")?;
        entry(out, b'0', "after", b"x\n")
    });
    ended.is_sound("odd.tar.gz");
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    assert!(!ended.stdout.contains('\u{1b}'), "{}", ended.stdout);
}

/// A block of pcapng.
fn block(out: &mut dyn Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let padded = body.len().next_multiple_of(4);
    let length = u32::try_from(padded + 12).unwrap().to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&[0; 3][..padded - body.len()])?;
    out.write_all(&length)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

const SECTION: u32 = 0x0a0d_0d0a;

/// A section, with an interface.
fn begin(out: &mut dyn Write) -> io::Result<()> {
    block(out, SECTION, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]))?;
    interface(out, b"")
}

fn interface(out: &mut dyn Write, options: &[u8]) -> io::Result<()> {
    block(out, 1, &[&words(&[101, 0]), options].concat())
}

/// A frame of an interface: a SYN, after which a length may lie.
fn frame(out: &mut dyn Write, interface: u32, length: u32) -> io::Result<()> {
    let mut syn = [0; 40];
    (syn[0], syn[3], syn[8], syn[9]) = (0x45, 40, 64, 6);
    (syn[12], syn[16], syn[23], syn[32], syn[33]) = (10, 10, 80, 0x50, 2);
    let head = words(&[interface, 0, 0, length, length]);
    block(out, 6, &[&head[..], &syn].concat())
}

/// Traces what is written, within the budget.
fn trace(what: &str, write: impl Fn(&mut dyn Write) -> io::Result<()> + Send) -> Ended {
    let folder = TempDir::new().unwrap();
    packed(&folder.path().join("x.gz"), |out| write(out));
    let allowed = format!("{}M", mib());
    let ended = run(
        folder.path(),
        &["trace", "--max-memory", &allowed, "x.gz"],
        |_| Ok(()),
    );
    ended.is_sound(what);
    ended
}

#[test]
fn blocks_of_a_capture_that_lie_or_are_very_many() {
    trace("interfaces", |out| {
        begin(out)?;
        (0..200_000).try_for_each(|_| interface(out, b"\x02\0\x04\0eth0"))?;
        frame(out, 199_999, 40)
    });
    let option = [&b"\x02\0\xfc\xff"[..], &[b'n'; 65_532]].concat();
    trace("options", |out| {
        begin(out)?;
        (0..20).try_for_each(|_| interface(out, &option.repeat(100)))?;
        frame(out, 0, 40)
    });
    for (name, kind) in [
        ("names", 4),
        ("secrets", 10),
        ("statistics", 5),
        ("unknown", 77),
    ] {
        trace(name, |out| {
            begin(out)?;
            (0..20).try_for_each(|_| block(out, kind, &[1; 1 << 20]))?;
            frame(out, 0, 40)
        });
    }
    for length in [0, 41, 0x7fff_ffff, u32::MAX] {
        trace("a frame's length", |out| {
            begin(out)?;
            frame(out, 0, length)?;
            frame(out, 7, 40)?;
            frame(out, 0, 40)
        });
        trace("a block's length", |out| {
            begin(out)?;
            out.write_all(&words(&[6, length, 0]))?;
            (0..20).try_for_each(|_| out.write_all(&[0; 1 << 20]))
        });
    }
}

/// The length of what is kept of a frame, in the file's head and in the frame's own.
#[test]
fn lengths_of_a_plain_capture_that_lie() {
    for longest in [0, 1, u32::MAX] {
        for kept in [0, 40, 41, 1 << 30, u32::MAX] {
            trace("a plain capture", |out| {
                out.write_all(&words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, longest, 101]))?;
                for _ in 0..3 {
                    out.write_all(&words(&[1, 1, kept, kept]))?;
                    out.write_all(&[0x45; 40])?;
                }
                out.write_all(&[0; 1 << 20])
            });
        }
    }
}

/// First pieces of datagrams, of which the rest never comes.
#[test]
fn pieces_of_datagrams_that_are_never_whole() {
    let ended = trace("pieces", |out| {
        out.write_all(&words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 101]))?;
        let mut piece = [0; 60];
        (piece[0], piece[3], piece[6], piece[8], piece[9]) = (0x45, 60, 0x20, 64, 6);
        for number in 0..200_000_u32 {
            out.write_all(&words(&[number / 1_000_000, number % 1_000_000, 60, 60]))?;
            piece[4..6].copy_from_slice(&number.to_be_bytes()[2..]);
            piece[12..16].copy_from_slice(&(number >> 8).to_be_bytes());
            out.write_all(&piece)?;
        }
        Ok(())
    });
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
}
