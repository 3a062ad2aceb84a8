//! The kernel's GRO as an oracle: the same batch gives the same answer, and nothing is lost.

use coalescope_lab::random_frames::{Mix, random_batch, random_batch_of};
use coalescope_lab::{Delivered, Error, KernelGro, MAX_BATCH, Options};
use std::time::Instant;

const ALL: Options = Options {
    udp_forwarding: true,
    fraglist: false,
    vxlan: true,
};

fn kernel(options: Options, test: &str) -> Option<KernelGro> {
    coalescope_needs::had(test, KernelGro::with(options))
}

/// How many segments a frame holds.
fn segments(one: &Delivered) -> usize {
    if one.vnet.gso_size == 0 {
        return 1;
    }
    let transport = usize::from(one.vnet.csum_start);
    let header = if one.vnet.csum_offset == 16 {
        usize::from(one.frame[transport + 12] >> 4) * 4
    } else {
        8
    };
    (one.frame.len() - transport - header).div_ceil(one.vnet.gso_size.into())
}

#[test]
fn the_same_batch_gives_the_same_answer_and_nothing_is_lost() {
    for options in [Options::default(), ALL] {
        let Some(mut gro) = kernel(options, "the_same_batch_gives_the_same_answer") else {
            return;
        };
        for seed in 0..500 {
            let batch = random_batch(seed);
            let out = gro.run(&batch).unwrap();
            assert_eq!(
                out.iter().map(segments).sum::<usize>(),
                batch.len(),
                "seed {seed}"
            );
            assert_eq!(gro.run(&batch).unwrap(), out, "seed {seed}");
        }
    }
}

#[test]
fn frames_that_are_not_merged_pass_unchanged() {
    let Some(mut gro) = kernel(ALL, "frames_that_are_not_merged_pass_unchanged") else {
        return;
    };
    for seed in 0..300 {
        let batch = random_batch(seed);
        let out = gro.run(&batch).unwrap();
        let mut singles = out.iter().filter(|one| one.vnet.gso_size == 0);
        assert!(singles.all(|one| batch.contains(&one.frame)), "seed {seed}");
    }
}

#[test]
fn calm_traffic_merges() {
    let Some(mut gro) = kernel(ALL, "calm_traffic_merges") else {
        return;
    };
    let mix = Mix {
        disturbances: false,
        links: false,
        tunnels: false,
        ..Mix::default()
    };
    let (mut frames, mut out) = (0, 0);
    for seed in 0..300 {
        let batch = random_batch_of(seed, mix);
        frames += batch.len();
        out += gro.run(&batch).unwrap().len();
    }
    assert!(out * 2 < frames, "{frames} frames became {out}");
}

#[test]
fn several_oracles_do_not_disturb_each_other() {
    let test = "several_oracles_do_not_disturb_each_other";
    let (Some(mut one), Some(mut two)) = (kernel(ALL, test), kernel(ALL, test)) else {
        return;
    };
    for seed in 0..100 {
        let batch = random_batch(seed);
        assert_eq!(
            one.run(&batch).unwrap(),
            two.run(&batch).unwrap(),
            "seed {seed}"
        );
    }
}

#[test]
fn batches_that_cannot_be_are_refused() {
    let Some(mut gro) = kernel(Options::default(), "batches_that_cannot_be_are_refused") else {
        return;
    };
    let long = vec![vec![0; 60]; MAX_BATCH + 1];
    assert!(matches!(
        gro.run(&long),
        Err(Error::BatchTooLong {
            frames: 65,
            limit: 64
        })
    ));
    let short = [vec![0; 60], vec![0; 13]];
    assert!(matches!(
        gro.run(&short),
        Err(Error::FrameLength {
            index: 1,
            length: 13,
            ..
        })
    ));
    assert!(gro.run(&[]).unwrap().is_empty());
    assert_eq!(
        gro.run(&[vec![0; 60]]).unwrap().len(),
        1,
        "it goes on after an error"
    );
}

/// `cargo test --release -p coalescope-lab --test all oracle:: -- --ignored --nocapture`
#[test]
#[ignore = "takes a minute; measures"]
fn speed() {
    let Some(mut gro) = kernel(ALL, "speed") else {
        return;
    };
    let (mut making, mut running) = (std::time::Duration::ZERO, std::time::Duration::ZERO);
    for seed in 0..100_000 {
        let start = Instant::now();
        let batch = random_batch(seed);
        making += start.elapsed();
        let start = Instant::now();
        let out = gro.run(&batch).unwrap();
        running += start.elapsed();
        assert_eq!(
            out.iter().map(segments).sum::<usize>(),
            batch.len(),
            "seed {seed}"
        );
    }
    println!("100,000 batches: made in {making:.1?}, run in {running:.1?}");
}
