//! What passes over partitions have led to, mixed: ARITHMETIC.md, "Partitions". A number in which passes do not differ
//! stays as it is.

use std::ops::Range;

/// Adds what `leaf` makes of the passes: neighbours first, then neighbours of these sums.
pub fn tree(passes: Range<usize>, sum: &mut [f64], scratch: &mut [f64], leaf: &impl Fn(usize, &mut [f64])) {
    if passes.len() == 1 {
        return leaf(passes.start, sum);
    }
    let half = passes.start + passes.len().next_power_of_two() / 2;
    tree(passes.start..half, sum, scratch, leaf);
    let (other, rest) = scratch.split_at_mut(sum.len());
    tree(half..passes.end, other, rest, leaf);
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += *other);
}

/// The numbers of a pass, each times its factor.
pub fn product(factors: &[f64], numbers: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(factors.iter().zip(numbers)).for_each(|(out, (k, w))| *out = k * w);
}

/// Marks, with all bits, the places at which numbers differ from others.
pub fn mark(differs: &mut [u64], numbers: &[f64], others: &[f64]) {
    for (differs, (a, b)) in differs.iter_mut().zip(numbers.iter().zip(others)) {
        *differs |= if a == b { 0 } else { u64::MAX };
    }
}

/// Makes means of sums of weights; where no pass differs, the mean is the weight of the `first`.
pub fn mean(sums: &mut [f64], of_all: &[f64], differs: &[u64], first: &[f64]) {
    for ((sum, all), (differs, first)) in sums.iter_mut().zip(of_all).zip(differs.iter().zip(first)) {
        *sum = chosen(*differs, *sum / all + 0.0, *first);
    }
}

/// Makes the u of all of the sum of the u of passes: with T + 1, the mixed w and the sum of (T + 1) w of the passes, and
/// with T + 1, w and u `before` them.
pub fn sums_of_all(
    u: &mut [f64],
    others: f64,
    [next, mixed, sums]: [&[f64]; 3],
    [next_before, w, before]: [&[f64]; 3],
    differs: &[u64],
) {
    let after = next.iter().zip(mixed).zip(sums);
    let of_before = next_before.iter().zip(w).zip(before);
    for (((u, differs), ((next, mixed), sum)), ((next_before, w), before)) in
        u.iter_mut().zip(differs).zip(after).zip(of_before)
    {
        let gained = (next * mixed - *sum) + others * (next_before * w);
        *u = chosen(*differs, (*u - others * before) + gained + 0.0, *before);
    }
}

/// Without a branch, which nobody can foresee.
fn chosen(differs: u64, mixed: f64, same: f64) -> f64 {
    f64::from_bits(mixed.to_bits() & differs | same.to_bits() & !differs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_are_added_neighbours_first() {
        let add = |passes: usize| {
            let (mut sum, mut scratch) = ([0.0], [0.0; 3]);
            let leaf = |p: usize, out: &mut [f64]| out[0] = [1.0, 1e16, -1e16, 1.0, 3.0][p];
            tree(0..passes, &mut sum, &mut scratch, &leaf);
            sum[0]
        };
        assert_eq!([1, 3, 4, 5].map(add), [1.0, 0.0, 0.0, 3.0]);
    }
}
