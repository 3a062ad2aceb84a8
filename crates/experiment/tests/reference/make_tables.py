#!/usr/bin/python3
"""Makes tables.json: what scipy says, for tests/all/statistics/reference.rs to compare with.

    /usr/bin/python3 crates/experiment/tests/reference/make_tables.py

scipy 1.10.1 and numpy 1.24.2 made the committed file. Every p is of scipy.stats.permutation_test
with permutation_type="samples" and all permutations (exact). Every interval is found by bisection
over that function: the shifts that neither one-sided test rejects at alpha / 2.
"""

import json
import math
import pathlib

import numpy as np
import scipy
from scipy import stats


def mean(values, axis):
    return np.mean(values, axis=axis)


def p_one_sample(values, alternative):
    found = stats.permutation_test(
        (np.asarray(values),), mean, permutation_type="samples", vectorized=True,
        n_resamples=np.inf, alternative=alternative,
    )
    return float(found.pvalue)


def bisect(rejected, inside, outside):
    """The shift at which `rejected` turns true between `inside` (not rejected) and `outside`."""
    for _ in range(60):
        middle = (inside + outside) / 2
        if rejected(middle):
            outside = middle
        else:
            inside = middle
    return (inside + outside) / 2


def interval(values, alpha):
    values = np.asarray(values)
    if 2.0 ** -len(values) > alpha / 2:
        return None, None
    reach = float(np.max(np.abs(values))) + 1.0
    low = bisect(lambda d: p_one_sample(values - d, "greater") <= alpha / 2 + 1e-12, float(np.mean(values)), -reach)
    high = bisect(lambda d: p_one_sample(values - d, "less") <= alpha / 2 + 1e-12, float(np.mean(values)), reach)
    return low, high


def contrast_case(name, values, alphas):
    values = [float(value) for value in values]
    spread = stats.sem(values)
    t_low, t_high = stats.t.interval(0.95, len(values) - 1, np.mean(values), spread) if spread > 0 else (None, None)
    case = {
        "name": name, "values": values, "mean": float(np.mean(values)),
        "p": p_one_sample(values, "two-sided"), "t_low": t_low, "t_high": t_high, "intervals": [],
    }
    for alpha in alphas:
        low, high = interval(values, alpha)
        case["intervals"].append({"alpha": alpha, "low": low, "high": high})
    return case


def pair_case(name, reference, level, logarithms):
    """Two levels as they are measured: figures of block after block."""
    reference, level = np.asarray(reference), np.asarray(level)
    a, b = (np.log(reference), np.log(level)) if logarithms else (reference, level)
    found = stats.permutation_test(
        (b, a), lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        permutation_type="samples", vectorized=True, n_resamples=np.inf, alternative="two-sided",
    )
    low, high = interval(b - a, 0.05)
    back = math.exp if logarithms else float
    estimate = float(stats.gmean(level / reference)) if logarithms else float(np.mean(level - reference))
    return {
        "name": name, "reference": reference.tolist(), "level": level.tolist(), "ratios": logarithms,
        "estimate": estimate, "p": float(found.pvalue), "low": back(low), "high": back(high),
    }


def contrast_cases(random):
    alphas = [0.1, 0.05, 0.0125]
    cases = [
        contrast_case("normal, 4 blocks: too few for any", random.normal(0.5, 0.1, 4), alphas),
        contrast_case("normal, 6 blocks", random.normal(0.05, 0.1, 6), alphas),
        contrast_case("normal, 8 blocks", random.normal(0.08, 0.1, 8), alphas),
        contrast_case("normal, 10 blocks, no effect", random.normal(0.0, 0.1, 10), alphas),
        contrast_case("normal, 13 blocks", random.normal(0.05, 0.1, 13), alphas),
        contrast_case("heavy tails, 12 blocks", 0.05 * random.standard_t(2, 12) + 0.05, alphas),
        contrast_case("skewed, 11 blocks", random.exponential(0.1, 11) - 0.08, alphas),
        contrast_case("ties, 9 blocks", [1, 1, 2, 0, -1, 1, 0, 2, 1], alphas),
        contrast_case("all the same, 7 blocks", [0.25] * 7, alphas),
        contrast_case("nothing at all, 8 blocks", [0.0] * 8, alphas),
        contrast_case("46.7 times, 8 blocks", random.normal(math.log(46.7), 0.2, 8), alphas),
    ]
    sampled = [
        contrast_case("normal, 16 blocks", random.normal(0.04, 0.1, 16), [0.05]),
        contrast_case("heavy tails, 16 blocks", 0.05 * random.standard_t(2, 16) + 0.06, [0.05]),
    ]
    return cases, sampled


def pair_cases(random):
    weather = np.exp(random.normal(0, 0.3, 10))
    slow = 343 * weather * np.exp(random.normal(0, 0.05, 10))
    fast = 16005 * weather * np.exp(random.normal(0, 0.05, 10))
    same = 940 * np.exp(random.normal(0, 0.02, 9))
    other = 940 * np.exp(random.normal(0, 0.02, 9))
    return [
        pair_case("story A: gro on and off, KiB/s", slow.round(2), fast.round(2), True),
        pair_case("no effect, Mbit/s", same.round(1), other.round(1), True),
        pair_case("retransmissions, with zeros", [0, 3, 1, 0, 2, 6, 1, 2], [9, 7, 14, 8, 5, 21, 9, 1], False),
    ]


def detectable(deviation, blocks, alpha, power):
    freedom = blocks - 1
    steps = stats.t.ppf(1 - alpha / 2, freedom) + stats.t.ppf(power, freedom)
    return {
        "deviation": deviation, "blocks": blocks, "alpha": alpha, "power": power,
        "effect": float(steps * deviation / math.sqrt(blocks)),
    }


def main():
    random = np.random.default_rng(20261122)
    contrasts, sampled = contrast_cases(random)
    tables = {
        "made_by": f"scipy {scipy.__version__}, numpy {np.__version__}",
        "contrasts": contrasts, "sampled": sampled, "pairs": pair_cases(random),
        "detectable": [
            detectable(0.04, 20, 0.05, 0.8), detectable(0.04, 20, 0.025, 0.9), detectable(0.3, 8, 0.0125, 0.8),
        ],
    }
    path = pathlib.Path(__file__).with_name("tables.json")
    path.write_text(json.dumps(tables, indent=1) + "\n")


main()
