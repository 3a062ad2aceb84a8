//! Packed files, whole, joined, cut and damaged; archives; and bounds.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};

use coalescope_unpack::bounded::{bytes_within, text_within};
use coalescope_unpack::tar::{Kind, each_member};
use coalescope_unpack::{Budget, Packing, Unpacked};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(0);
    let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).expect("memory");
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    ruzstd::encoding::compress_to_vec(bytes, level)
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKERS: [(Packing, Pack); 4] = [
    (Packing::Gzip, gzip),
    (Packing::Bzip2, bzip2),
    (Packing::Xz, xz),
    (Packing::Zstd, zstd),
];

/// What comes out, up to the end or the first error.
fn unpacked(packing: Packing, packed: &[u8]) -> (Vec<u8>, io::Result<usize>) {
    let mut out = Vec::new();
    let ended = Unpacked::new(packing, packed).read_to_end(&mut out);
    (out, ended)
}

/// Text that does not repeat itself, so that no packer makes one block of it.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 28) as u8
    };
    (0..length).map(|_| letter()).collect()
}

#[test]
fn streams_of_one_part_and_many() {
    for (packing, pack) in PACKERS {
        let packed = [pack(b"one "), pack(b""), pack(b"two")].concat();
        assert_eq!(Packing::of(&packed), Some(packing));
        let mut reader = Unpacked::new(packing, &packed[..]);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("sound");
        assert_eq!(
            (text.as_str(), reader.consumed()),
            ("one two", packed.len() as u64)
        );
    }
    assert_eq!(Packing::of(b"BZh is how bzip2 begins"), None);
    assert_eq!(Packing::of(b""), None);
}

#[test]
fn what_stands_before_a_cut_or_damage_comes_before_the_error() {
    let plain = noise(800_000);
    for (packing, pack) in PACKERS {
        let packed = pack(&plain);
        let half = packed.len() / 2;
        let mut damaged = packed.clone();
        damaged[half..half + 40].fill(0xff);
        for broken in [&packed[..half], &damaged] {
            let (out, ended) = unpacked(packing, broken);
            assert!(ended.is_err(), "{packing:?}");
            let sound = plain.iter().zip(&out).take_while(|(one, two)| one == two);
            assert!(sound.count() > 50_000, "{packing:?}: {}", out.len());
        }
    }
}

#[test]
fn a_zstd_frame_to_be_skipped_that_is_cut_is_no_end() {
    let skipped = [&[0x53, 0x2a, 0x4d, 0x18, 9, 0, 0, 0][..], b"nine byte"].concat();
    let packed = [zstd(b"before"), skipped].concat();
    let (out, ended) = unpacked(Packing::Zstd, &packed);
    assert_eq!((&out[..], ended.is_ok()), (&b"before"[..], true));
    let (out, ended) = unpacked(Packing::Zstd, &packed[..packed.len() - 1]);
    assert_eq!(&out[..], b"before");
    assert_eq!(ended.expect_err("cut").kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn packed_bytes_behind_damage_are_counted() {
    for (packing, pack) in [PACKERS[0], PACKERS[3]] {
        let packed = [&pack(b"text")[..], &[b'?'; 1000]].concat();
        let mut reader = Unpacked::new(packing, &packed[..]);
        let mut out = Vec::new();
        assert!(reader.read_to_end(&mut out).is_err());
        assert_eq!(out, b"text");
        assert!((980..=1000).contains(&reader.drain()));
        assert_eq!(reader.consumed(), packed.len() as u64);
    }
}

#[test]
fn members_of_an_archive() {
    let long = format!("{}/file", "folder/".repeat(40));
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in [("short", "one"), (&long, "two"), ("last", "three")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        builder
            .append_data(&mut header, name, text.as_bytes())
            .expect("memory");
    }
    let archive = builder.into_inner().expect("memory");
    let read = |bytes: &[u8], most: usize| {
        let mut members = Vec::new();
        let ended = each_member(bytes, |member| {
            let mut text = String::new();
            let whole = member.read_to_string(&mut text).is_ok();
            assert_eq!(member.kind, Kind::File);
            members.push((
                String::from_utf8_lossy(&member.name).into_owned(),
                text,
                whole,
            ));
            members.len() < most
        });
        (members, ended)
    };
    let member = |name: &str, text: &str| (name.to_owned(), text.to_owned(), true);
    let all = [
        member("short", "one"),
        member(&long, "two"),
        member("last", "three"),
    ];
    let (members, ended) = read(&archive, 9);
    assert!(ended.is_ok());
    assert_eq!(members, all);
    assert_eq!(read(&archive, 2).0, all[..2]);
    // The last header begins six blocks in front of the end: its own, its bytes, and what tar fills up with.
    let last = archive
        .windows(5)
        .rposition(|five| five == b"three")
        .expect("its bytes");
    let (members, ended) = read(&archive[..last + 2], 9);
    assert!(ended.is_err());
    assert_eq!(members[..2], all[..2]);
    assert!(members.get(2).is_none_or(|(_, _, whole)| !whole));
}

#[test]
fn a_budget_is_shared() {
    let budget = Budget::new(10);
    let mut out = Vec::new();
    budget
        .meter(&b"123456"[..])
        .read_to_end(&mut out)
        .expect("six of ten");
    assert!(!budget.clone().is_spent());
    let error = budget
        .meter(&b"123456789"[..])
        .read_to_end(&mut out)
        .expect_err("spent");
    assert_eq!(error.to_string(), "too much to read in one path");
    assert!(budget.is_spent());
}

#[test]
fn a_longer_file_is_no_such_file() {
    assert_eq!(
        bytes_within(3, &b"abc"[..]).expect("memory").as_deref(),
        Some(&b"abc"[..])
    );
    assert_eq!(bytes_within(2, &b"abc"[..]).expect("memory"), None);
    assert_eq!(bytes_within(2, io::repeat(0)).expect("without end"), None);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("text");
    // The bound is within a letter: what is too long is told, not what the cut leaves.
    fs::write(&file, "ä".repeat(3)).expect("a file");
    assert_eq!(text_within(6, &file, "poem").expect("short"), "äää");
    let error = text_within(4, &file, "poem").expect_err("long");
    assert_eq!(
        error.to_string(),
        "it is longer than 4 bytes: that is no poem"
    );
    fs::write(&file, [0xff]).expect("a file");
    assert_eq!(
        text_within(4, &file, "poem").expect_err("no text").kind(),
        ErrorKind::InvalidData
    );
}
