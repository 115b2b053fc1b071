//! The sums and maxima of a search over label sequences, in float64 or, where rule 10 allows it, in i32.
//!
//! Labels stand side by side, `stride` of them with the padding. A step of the search is
//! `(before[y'] + pair[y'][y]) + e[y]`, maximised over y'; [`reach`] is the maximum of the bracket.
//! No loop keeps where a maximum came from: the same sums give the same bits again, so [`first_best`]
//! finds it out for the few labels of the path.

use super::number::Number;
use crate::arith::value::Index;

/// `out[y] = max over y' in from of (before[y'] + pair[y'*stride + y])`; `from` is not empty. `all`: these
/// are all labels, and `pair` has as many rows.
#[inline(always)]
pub fn reach<N: Number>(before: &[N], (from, all): (&[u32], bool), pair: &[N], out: &mut [N]) {
    let stride = out.len();
    let mut offset = 0;
    while offset < stride {
        let place = (stride, offset);
        let rest = (stride - offset) / 8;
        offset += match rest {
            1 => reach_group::<N, 1>(before, from, all, pair, place, out),
            2 => reach_group::<N, 2>(before, from, all, pair, place, out),
            3 => reach_group::<N, 3>(before, from, all, pair, place, out),
            _ => reach_group::<N, 4>(before, from, all, pair, place, out),
        };
    }
}

/// `8*C` labels from `offset` on, their maxima in registers: more than four times eight are kept in
/// memory by the compiler, depending on how it is called.
#[inline(always)]
fn reach_group<N: Number, const C: usize>(
    before: &[N],
    from: &[u32],
    all: bool,
    pair: &[N],
    (stride, offset): (usize, usize),
    out: &mut [N],
) -> usize {
    let mut best = [[N::default(); 8]; C];
    let first = from[0].at();
    let row = pair[first * stride + offset..][..8 * C].as_chunks::<8>().0;
    for c in 0..C {
        for k in 0..8 {
            best[c][k] = before[first] + row[c][k];
        }
    }
    if all {
        for (score, row) in before.iter().zip(pair.chunks_exact(stride)).skip(1) {
            take_larger(*score, &row[offset..][..8 * C], &mut best);
        }
    } else {
        for y in &from[1..] {
            take_larger(before[y.at()], &pair[y.at() * stride + offset..][..8 * C], &mut best);
        }
    }
    out[offset..][..8 * C].copy_from_slice(best.as_flattened());
    8 * C
}

#[inline(always)]
fn take_larger<N: Number, const C: usize>(score: N, row: &[N], best: &mut [[N; 8]; C]) {
    let row = row.as_chunks::<8>().0;
    for c in 0..C {
        for k in 0..8 {
            best[c][k] = best[c][k].larger(score + row[c][k]);
        }
    }
}

/// The first y' in `from` with the largest `before[y'] + pair(y')`.
#[inline(always)]
pub fn first_best<N: Number>(before: &[N], from: &[u32], pair: impl Fn(usize) -> N) -> u32 {
    let sum = |y: u32| before[y.at()] + pair(y.at());
    let mut best = (from[0], sum(from[0]));
    for &y in &from[1..] {
        let sum = sum(y);
        if sum > best.1 {
            best = (y, sum);
        }
    }
    best.0
}

/// The same for all labels, in two passes that vectorise.
#[inline(always)]
pub fn first_best_of_all<N: Number>(before: &[N], pair: &[N]) -> u32 {
    let most = best_of_all(before, pair);
    let is_most = |(before, pair): (&N, &N)| *before + *pair == most;
    before.iter().zip(pair).position(is_most).unwrap_or(0) as u32
}

/// The largest `one[y] + other[y]`.
#[inline(always)]
pub fn best_of_all<N: Number>(one: &[N], other: &[N]) -> N {
    let (one_chunks, one_rest) = one.as_chunks::<8>();
    let (other_chunks, other_rest) = other.as_chunks::<8>();
    let mut best = [one[0] + other[0]; 8];
    for (one, other) in one_chunks.iter().zip(other_chunks) {
        for k in 0..8 {
            best[k] = best[k].larger(one[k] + other[k]);
        }
    }
    let mut most = best[0];
    for (one, other) in one_rest.iter().zip(other_rest) {
        most = most.larger(*one + *other);
    }
    best.iter().fold(most, |most, sum| most.larger(*sum))
}

/// `out += other`, element by element.
#[inline(always)]
pub fn add_all<N: Number>(out: &mut [N], other: &[N]) {
    for (out, other) in out.iter_mut().zip(other) {
        *out = *out + *other;
    }
}

impl Index for u32 {
    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn of(at: u32) -> Self {
        at
    }
}
