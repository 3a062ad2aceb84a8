//! Which points show the same datagrams as others: one that shows none of them lies beside the path.

use super::Datagrams;

/// Of so many datagrams one at least is at the other point: queries of strangers may begin alike by chance, since a number of 16
/// bits and few letters are all that tells them apart.
const ONE_OF: usize = 50;

/// The points that have datagrams in common with another one, in their order. All of them where no point has.
pub(super) fn met(points: &[Datagrams]) -> Vec<usize> {
    let tokens: Vec<Vec<u64>> = points.iter().map(tokens).collect();
    let has_met = |point: &usize| {
        let mut others = (0..points.len()).filter(|other| other != point);
        others.any(|other| have_common(&tokens[*point], &tokens[other]))
    };
    let all = 0..points.len();
    let found: Vec<usize> = all.clone().filter(has_met).collect();
    if found.is_empty() {
        all.collect()
    } else {
        found
    }
}

fn tokens(point: &Datagrams) -> Vec<u64> {
    let mut tokens: Vec<u64> = point.seen.iter().map(|seen| seen.token).collect();
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn have_common(one: &[u64], other: &[u64]) -> bool {
    let (few, many) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let common = few.iter().filter(|token| many.binary_search(token).is_ok());
    !few.is_empty() && common.count() * ONE_OF >= few.len()
}
