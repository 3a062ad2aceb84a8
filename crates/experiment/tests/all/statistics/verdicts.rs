//! Verdicts and their words, story C's factorial, and what is missing, zero or too little.

use std::collections::BTreeMap;

use coalescope_experiment::design::{Design, Factor};
use coalescope_experiment::effects::{
    Analysis, AnalysisError, Decision, Effect, Measured, Metric, Rules, Sense, Verdict, decide,
};
use coalescope_experiment::statistics::Scale;

use super::experiment::{Noise, design, metric, run};

/// Runs of whole blocks with these figures of one metric, from the block and the cell.
fn runs(design: &Design, name: &str, figure: impl Fn(usize, usize) -> f64) -> Vec<Measured> {
    let cells = (0..design.max_blocks())
        .flat_map(|block| (0..design.cells()).map(move |cell| (block, cell)));
    let measured = |(block, cell)| Measured {
        block: Some(block),
        cell,
        figures: BTreeMap::from([(name.to_owned(), figure(block, cell))]),
    };
    cells.map(measured).collect()
}

fn gro(max_runs: usize) -> Design {
    design(vec![Factor::setting("gro", &["on", "off"])], max_runs, 1)
}

/// A little noise that is the same everywhere, in thousandths.
fn wobble(block: usize, cell: usize) -> f64 {
    let parts = [3.0, -7.0, 11.0, -2.0, 5.0, -9.0, 1.0, 8.0, -4.0, -6.0, 10.0];
    1.0 + parts[(3 * block + 5 * cell) % parts.len()] / 1000.0
}

fn judged(design: &Design, metric: Metric, figure: impl Fn(usize, usize) -> f64) -> Vec<Effect> {
    let runs = runs(design, &metric.name, figure);
    Analysis::of(design, &[metric], &runs, &Rules::default())
        .expect("a sound plan and its own runs")
        .effects
}

fn words(sense: Sense, reference: f64, level: f64) -> String {
    let effects = judged(&gro(20), metric("figure", sense), |block, cell| {
        [reference, level][cell] * wobble(block, cell)
    });
    effects[0].words.clone()
}

#[test]
fn faster_slower_higher_and_lower() {
    let words = [
        words(Sense::Speed, 343.0, 16018.0),
        words(Sense::Speed, 2957.52, 2847.64),
        words(Sense::Speed, 100.0, 130.0),
        words(Sense::Time, 46.7, 1.0),
        words(Sense::Time, 1.0, 47.0),
        words(Sense::Plain, 3.982, 1.211),
        words(Sense::Speed, 100.0, 100.0),
    ];
    let expected = [
        "with gro=off it is 46.6 times faster (95% interval 46.3 to 47, p = 0.002)",
        "with gro=off it is 3.9% slower (95% interval 3.1% to 4.5%, p = 0.002)",
        "with gro=off it is 29.8% faster (95% interval 28.9% to 30.8%, p = 0.002)",
        "with gro=off it is 46.8 times faster (95% interval 46.4 to 47.1, p = 0.002)",
        "with gro=off it is 46.9 times slower (95% interval 46.6 to 47.3, p = 0.002)",
        "with gro=off figure is 3.29 times lower (95% interval 3.27 to 3.32, p = 0.002)",
        "no difference larger than 0.9%",
    ];
    assert_eq!(words, expected);
}

#[test]
fn from_behind_the_box_it_is_slow() {
    let design = design(vec![Factor::vantage("from", &["here", "ns/vm"])], 20, 1);
    let effects = judged(
        &design,
        metric("throughput", Sense::Speed),
        |block, cell| [92.4, 1.96][cell] * wobble(block, cell),
    );
    let words =
        "from ns/vm it is 47.2 times slower than from here (95% interval 46.9 to 47.6, p = 0.002)";
    assert_eq!(effects[0].words, words);
}

#[test]
fn too_few_blocks_never_claim() {
    let effects = judged(
        &gro(10),
        metric("throughput", Sense::Speed),
        |block, cell| [1.0, 1000.0][cell] * wobble(block, cell),
    );
    assert_eq!(effects[0].verdict, Verdict::NotClear);
    assert_eq!(effects[0].p_value, Some(0.0625));
    let words =
        "not clear after 10 runs: too few for an interval; 5 blocks cannot decide it, 6 could";
    assert_eq!(effects[0].words, words);
    let one = judged(&gro(2), metric("throughput", Sense::Speed), |_, cell| {
        [1.0, 1000.0][cell]
    });
    assert_eq!(one[0].verdict, Verdict::NotJudged);
    assert_eq!((one[0].p_value, one[0].ratio), (None, None));
}

#[test]
fn noise_leaves_it_open() {
    let effects = judged(
        &gro(40),
        metric("throughput", Sense::Speed),
        |block, cell| 100.0 * wobble(block, cell).powi(20),
    );
    assert_eq!(
        effects[0].words,
        "not clear after 40 runs: between 0.871 and 1.08"
    );
}

#[test]
fn counts_with_zeros_are_differences() {
    let retransmits = Metric {
        name: "retransmits".into(),
        unit: Some("segments".into()),
        sense: Sense::Plain,
    };
    let effects = judged(&gro(20), retransmits.clone(), |block, cell| {
        [(block % 3) as f64, 40.0 + (block % 2) as f64][cell]
    });
    let effect = &effects[0];
    assert_eq!((effect.scale, effect.ratio), (Scale::Difference, None));
    let words =
        "with gro=off retransmits is 39.6 segments higher (95% interval 38.8 to 40.4, p = 0.002)";
    assert_eq!(effect.words, words);
    let same = judged(&gro(20), retransmits, |_, _| 0.0);
    assert_eq!(same[0].words, "no difference in any of 10 blocks");
    assert_eq!(same[0].p_value, Some(1.0));
}

#[test]
fn missing_figures_leave_their_block_out() {
    let design = gro(24);
    let mut runs = runs(&design, "throughput", |block, cell| {
        [100.0, 200.0][cell] * wobble(block, cell)
    });
    runs[3].figures.clear();
    runs[8].figures.insert("throughput".into(), f64::NAN);
    let analysis = Analysis::of(
        &design,
        &[metric("throughput", Sense::Speed)],
        &runs,
        &Rules::default(),
    )
    .unwrap();
    let effect = &analysis.effects[0];
    assert_eq!(
        (effect.blocks, effect.missing_blocks, analysis.blocks),
        (10, 2, 12)
    );
    assert!(
        effect
            .words
            .ends_with("; 2 blocks left out, a figure is missing"),
        "{}",
        effect.words
    );
    assert_eq!(analysis.cells.cells[1].figures["throughput"].missing, 1);
    let never = Analysis::of(
        &design,
        &[metric("cpu", Sense::Plain)],
        &runs,
        &Rules::default(),
    )
    .unwrap();
    assert_eq!(
        never.effects[0].words,
        "not judged: fewer than two blocks have the figures"
    );
}

#[test]
fn an_outlier_is_named_and_kept() {
    let design = gro(20);
    let mut runs = runs(&design, "throughput", |block, cell| {
        100.0 * wobble(block, cell)
    });
    runs[7].figures.insert("throughput".into(), 12.0);
    let analysis = Analysis::of(
        &design,
        &[metric("throughput", Sense::Speed)],
        &runs,
        &Rules::default(),
    )
    .unwrap();
    let named: Vec<usize> = analysis
        .outliers
        .iter()
        .map(|outlier| outlier.run)
        .collect();
    assert_eq!(named, [7]);
    assert_eq!(analysis.effects[0].blocks, 10);
    assert_eq!(analysis.effects[0].verdict, Verdict::NotClear);
}

#[test]
fn what_is_not_of_the_design_is_refused() {
    let (design, speed) = (gro(4), [metric("throughput", Sense::Speed)]);
    let of =
        |runs: &[Measured]| Analysis::of(&design, &speed, runs, &Rules::default()).unwrap_err();
    let at = |block, cell| Measured {
        block: Some(block),
        cell,
        figures: BTreeMap::new(),
    };
    assert_eq!(of(&[at(0, 0), at(0, 0)]), AnalysisError::Twice(1));
    assert_eq!(of(&[at(0, 2)]), AnalysisError::Unplanned(0));
    assert_eq!(of(&[at(0, 1), at(2, 0)]), AnalysisError::Unplanned(1));
    let loose = Rules {
        alpha: 0.0,
        ..Rules::default()
    };
    assert_eq!(
        decide(&design, &speed, &[], &loose),
        Err(AnalysisError::Rules(loose))
    );
    assert_eq!(
        decide(&design, &[], &[], &Rules::default()),
        Err(AnalysisError::Metrics)
    );
}

#[test]
fn a_begun_block_is_no_look() {
    let (design, speed) = (gro(40), [metric("throughput", Sense::Speed)]);
    let runs = runs(&design, "throughput", |block, cell| {
        [1.0, 100.0][cell] * wobble(block, cell)
    });
    let after = |made: usize| decide(&design, &speed, &runs[..made], &Rules::default()).unwrap();
    assert_eq!(after(14), Decision::GoOn, "seven blocks: no look yet");
    assert_eq!(after(16), Decision::Clear, "eight: the first look");
    assert_eq!(after(17), Decision::GoOn);
    assert_eq!(after(40), Decision::Spent);
}

/// The operators' own figures, with noise of 2%, 10 blocks of MTU x GRO: their own ratios are 1.399 for
/// the MTU, 1.237 for GRO and 0.606 for the interaction, all within the intervals.
#[test]
fn story_c() {
    let factors = vec![
        Factor::setting("mtu", &["1500", "9000"]),
        Factor::setting("gro", &["off", "on"]),
    ];
    let design = design(factors, 40, 2010);
    let analysis = run(
        &design,
        &[1646.13, 2613.83, 2957.52, 2847.64],
        Noise::LogNormal(0.02),
        5,
    );
    let words: Vec<&str> = analysis
        .effects
        .iter()
        .map(|effect| effect.words.as_str())
        .collect();
    let expected: [&str; 3] = [
        "with mtu=9000 it is on average 40.4% faster (95% interval 38.2% to 43.2%, p = 0.008)",
        "with gro=on it is on average 22.8% faster (95% interval 21.4% to 24.2%, p = 0.008)",
        "with mtu=9000 and gro=on throughput is 0.603 times what their separate effects would give",
    ];
    assert_eq!(words[..2], expected[..2]);
    assert!(words[2].starts_with(expected[2]), "{}", words[2]);
    let rows: Vec<(Vec<&str>, f64)> = analysis
        .cells
        .cells
        .iter()
        .map(|cell| {
            (
                cell.levels.iter().map(String::as_str).collect(),
                cell.figures["throughput"].median.round(),
            )
        })
        .collect();
    println!("{rows:?}");
    assert_eq!(rows[3].0, ["9000", "on"]);
    let gro_at_9000 = rows[3].1 / rows[2].1;
    assert!((0.94..0.99).contains(&gro_at_9000), "{gro_at_9000}");
}

#[test]
fn the_same_twice_and_after_json() {
    let design = gro(40);
    let of = || run(&design, &[100.0, 101.0], Noise::Heavy(0.05), 9);
    let (first, again) = (of(), of());
    assert_eq!(first, again);
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(
        serde_json::from_str::<Analysis>(&text)
            .unwrap()
            .effects
            .len(),
        1
    );
    let effect = &serde_json::to_value(&first).unwrap()["effects"][0];
    for name in ["factor", "metric", "ratio", "low", "high", "p_value"] {
        assert!(effect.get(name).is_some(), "{name}");
    }
}

/// Eight cells and six effects: ten blocks find main effects, and intervals hold the truth.
#[test]
fn story_c_with_reordering() {
    let factors = vec![
        Factor::setting("mtu", &["1500", "9000"]),
        Factor::setting("gro", &["off", "on"]),
        Factor::setting("tcp_reordering", &["3", "127"]),
    ];
    // Without GRO tcp_reordering matters; with it hardly.
    let truth = [
        1646.0, 2200.0, 2614.0, 2640.0, 2957.0, 2980.0, 2848.0, 2850.0,
    ];
    let analysis = run(
        &design(factors, 80, 2010),
        &truth,
        Noise::LogNormal(0.02),
        1,
    );
    let of = |factor: &str| {
        analysis
            .effects
            .iter()
            .find(|effect| effect.factor == factor)
            .unwrap()
    };
    for factor in [
        "mtu",
        "gro",
        "tcp_reordering",
        "mtu x gro",
        "gro x tcp_reordering",
    ] {
        assert_eq!(
            of(factor).verdict,
            Verdict::Different,
            "{factor}: {}",
            of(factor).words
        );
    }
    let by_hand = |a: [f64; 2], b: [f64; 2]| (a[1] / a[0]) / (b[1] / b[0]);
    let interaction = (by_hand([1646.0, 2614.0], [2957.0, 2848.0])
        * by_hand([2200.0, 2640.0], [2980.0, 2850.0]))
    .sqrt()
    .recip();
    let effect = of("mtu x gro");
    let (low, high) = (effect.low.unwrap(), effect.high.unwrap());
    assert!(
        low < interaction && interaction < high,
        "{low} {interaction} {high}"
    );
}
