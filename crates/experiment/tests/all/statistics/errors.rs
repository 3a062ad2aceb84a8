//! How often verdicts are wrong: 1,000 seeded experiments each, with the stopping rule in force.
//!
//! At most 50 of 1,000 is the claim. Not below 10 shows that the test has teeth: the rule gives its
//! error away to exactness and to the looks, but not all of it.

use coalescope_experiment::design::Factor;
use coalescope_experiment::effects::{Analysis, Verdict};

use super::experiment::{Noise, count, design, pair, run};

const MOST: usize = 50;
const LEAST: usize = 10;

fn different(analysis: &Analysis, factors: &[&str]) -> bool {
    let effects = analysis
        .effects
        .iter()
        .filter(|effect| factors.contains(&effect.factor.as_str()));
    effects
        .map(|effect| effect.verdict)
        .any(|verdict| verdict == Verdict::Different)
}

fn null(noise: Noise) {
    let wrong = count(|seed| different(&run(&pair(seed), &[940.0, 940.0], noise, seed), &["gro"]));
    println!("{noise:?}: {wrong} of 1,000");
    assert!(
        (LEAST..=MOST).contains(&wrong),
        "{noise:?}: {wrong} of 1,000"
    );
}

#[test]
fn no_effect_and_normal_noise() {
    null(Noise::Normal(0.1));
}

#[test]
fn no_effect_and_skewed_noise() {
    null(Noise::LogNormal(0.6));
}

#[test]
fn no_effect_and_heavy_tails() {
    null(Noise::Heavy(0.1));
}

#[test]
fn no_effect_and_drift() {
    null(Noise::Drift(0.5, 0.05));
}

/// A line so steep that it is nearly all there is: 0.1% noise, 100% drift. Blocks then differ by
/// their order alone, as coins do, and p has few values: the error is well below 5%.
#[test]
fn no_effect_and_nothing_but_drift() {
    let noise = Noise::Drift(1.0, 0.001);
    let wrong = count(|seed| different(&run(&pair(seed), &[940.0, 940.0], noise, seed), &["gro"]));
    println!("nothing but drift: {wrong} of 1,000");
    assert!(wrong <= MOST, "{wrong} of 1,000");
}

#[test]
fn no_effect_among_three_of_a_factorial() {
    let wrong = count(|seed| {
        let factors = vec![
            Factor::setting("mtu", &["1500", "9000"]),
            Factor::setting("gro", &["on", "off"]),
        ];
        let analysis = run(
            &design(factors, 64, seed),
            &[940.0; 4],
            Noise::Normal(0.1),
            seed,
        );
        different(&analysis, &["mtu", "gro", "mtu x gro"])
    });
    println!("factorial: {wrong} of 1,000");
    assert!((LEAST..=MOST).contains(&wrong), "{wrong} of 1,000");
}

/// A large effect of one factor does not make others out of nothing.
#[test]
fn no_effect_beside_a_large_one() {
    let wrong = count(|seed| {
        let factors = vec![
            Factor::setting("mtu", &["1500", "9000"]),
            Factor::setting("gro", &["on", "off"]),
        ];
        let truth = [20.0, 940.0, 20.0, 940.0];
        let analysis = run(
            &design(factors, 64, seed),
            &truth,
            Noise::LogNormal(0.1),
            seed,
        );
        assert!(different(&analysis, &["gro"]));
        different(&analysis, &["mtu", "mtu x gro"])
    });
    println!("beside a large one: {wrong} of 1,000");
    assert!(wrong <= MOST, "{wrong} of 1,000");
}

/// An effect just above the margin is not called "no difference larger than" it, and the interval
/// of any experiment, stopped early or not, holds the truth in 95%.
#[test]
fn no_difference_is_claimed_wrongly_or_interval_misses_the_truth() {
    let truth = 1.0501;
    let analyses: Vec<Analysis> = (0..1000)
        .map(|seed| run(&pair(seed), &[1.0, truth], Noise::LogNormal(0.025), seed))
        .collect();
    let none = |analysis: &&Analysis| match analysis.effects[0].verdict {
        Verdict::NoDifference { larger_than } => larger_than < truth - 1.0,
        _ => false,
    };
    let missed = |analysis: &&Analysis| {
        let effect = &analysis.effects[0];
        effect.low.is_some_and(|low| low > truth) || effect.high.is_some_and(|high| high < truth)
    };
    let (none, missed) = (
        analyses.iter().filter(none).count(),
        analyses.iter().filter(missed).count(),
    );
    println!("wrongly none: {none}, missed: {missed} of 1,000");
    assert!(
        none <= MOST / 2 && missed <= MOST,
        "wrongly none: {none}, missed: {missed} of 1,000"
    );
}
