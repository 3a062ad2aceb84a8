//! Several effects of one metric.

/// Holm's adjusted p of each p: below 5% for no true null hypothesis with a probability of 95%, for
/// any dependence between them (Holm, A simple sequentially rejective multiple test procedure,
/// 1979). Never below the p itself, at most 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(super::number(p_values.len() - rank) * p_values[index]);
        adjusted[index] = largest.min(1.0);
    }
    adjusted
}
