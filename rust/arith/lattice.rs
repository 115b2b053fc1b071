//! The sums and maxima of a search over label sequences, in float64 or, where rule 10 allows it, in i32.
//!
//! Labels stand side by side, `stride` of them with the padding. A step of the search is
//! `(before[y'] + pair[y'][y]) + e[y]`, maximised over y'; [`reach`] is the maximum of the bracket.
//! No loop keeps where a maximum came from: the same sums give the same bits again, so [`first_best`]
//! finds it out for the few labels of the path.

use super::dot;
use super::exact;
use super::value::Index;

/// What scores and weights are kept in.
pub trait Number: Copy + Default + PartialOrd + Send + Sync + 'static {
    fn of(value: f64) -> Self;

    fn wide(self) -> f64;

    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// Whether it is neither infinite nor no number.
    fn is_finite(self) -> bool;

    /// Whether an update may stop here: at most so large. Floats have no bound.
    fn within(self, limit: Self) -> bool;

    /// Activations of a row for all planes, which are stored by column.
    fn activate(row: Row, w: &[Self], sums: &mut [Self]);

    /// `w += c*x` for plane `offset` of `stride`; returns the largest |w| written.
    fn add_row(c: f64, row: Row, w: &mut [Self], place: (usize, usize)) -> Self;

    /// `w += c`; returns |w|.
    fn add(c: f64, w: &mut Self) -> Self;

    #[inline(always)]
    #[must_use]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

/// The entries of a row that are not 0; `ones`: every value is 1.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub columns: &'a [i64],
    pub values: &'a [f64],
    pub ones: bool,
}

impl Number for f64 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }

    #[inline(always)]
    fn within(self, _limit: Self) -> bool {
        true
    }

    #[inline(always)]
    fn activate(row: Row, w: &[f64], sums: &mut [f64]) {
        let stride = sums.len();
        let mut offset = 0;
        while offset < stride {
            let place = (stride, offset);
            offset += if stride - offset >= 16 {
                group::<4>(row, w, place, sums)
            } else {
                group::<2>(row, w, place, sums)
            };
        }
    }

    #[inline(always)]
    fn add_row(c: f64, row: Row, w: &mut [f64], (stride, offset): (usize, usize)) -> f64 {
        super::axpy::axpy_entries(c, row.columns, row.values, w, (stride, offset));
        0.0
    }

    #[inline(always)]
    fn add(c: f64, w: &mut f64) -> f64 {
        *w += c;
        0.0
    }
}

impl Number for i32 {
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as i32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }

    #[inline(always)]
    fn within(self, limit: Self) -> bool {
        self <= limit
    }

    #[inline(always)]
    fn activate(row: Row, w: &[i32], sums: &mut [i32]) {
        if row.ones {
            activate_exact::<true>(row, w, sums);
        } else {
            activate_exact::<false>(row, w, sums);
        }
    }

    #[inline(always)]
    fn add_row(c: f64, row: Row, w: &mut [i32], place: (usize, usize)) -> i32 {
        exact::axpy_entries(c as i32, row.columns, row.values, w, place)
    }

    #[inline(always)]
    fn add(c: f64, w: &mut i32) -> i32 {
        *w += c as i32;
        w.abs()
    }
}

/// Sums of `4*C` labels from `offset` on. Whoever searches asks for weights in advance.
#[inline(always)]
fn group<const C: usize>(row: Row, w: &[f64], place: (usize, usize), sums: &mut [f64]) -> usize {
    let found = dot::dots_entries::<f64, i64, C>(row.columns, row.values, w, place, |_| ());
    sums[place.1..][..4 * C].copy_from_slice(found.as_flattened());
    4 * C
}

#[inline(always)]
fn activate_exact<const ONES: bool>(row: Row, w: &[i32], sums: &mut [i32]) {
    let stride = sums.len();
    let mut offset = 0;
    while offset < stride {
        let place = (stride, offset);
        offset += match (stride - offset) / 8 {
            1 => group_exact::<ONES, 1>(row, w, place, sums),
            2 => group_exact::<ONES, 2>(row, w, place, sums),
            3 => group_exact::<ONES, 3>(row, w, place, sums),
            _ => group_exact::<ONES, 4>(row, w, place, sums),
        };
    }
}

#[inline(always)]
fn group_exact<const ONES: bool, const C: usize>(
    row: Row,
    w: &[i32],
    place: (usize, usize),
    sums: &mut [i32],
) -> usize {
    let exact = exact::dots_entries::<f64, i64, ONES, C>(row.columns, row.values, w, place, |_| ());
    sums[place.1..][..8 * C].copy_from_slice(exact.as_flattened());
    8 * C
}

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
            best[c][k] = before[first].plus(row[c][k]);
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
            best[c][k] = best[c][k].larger(score.plus(row[c][k]));
        }
    }
}

/// The first y' in `from` with the largest `before[y'] + pair(y')`.
#[inline(always)]
#[must_use]
pub fn first_best<N: Number>(before: &[N], from: &[u32], pair: impl Fn(usize) -> N) -> u32 {
    let sum = |y: u32| before[y.at()].plus(pair(y.at()));
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
#[must_use]
pub fn first_best_of_all<N: Number>(before: &[N], pair: &[N]) -> u32 {
    let (before_chunks, before_rest) = before.as_chunks::<8>();
    let (pair_chunks, pair_rest) = pair.as_chunks::<8>();
    let mut best = [before[0].plus(pair[0]); 8];
    for (before, pair) in before_chunks.iter().zip(pair_chunks) {
        for k in 0..8 {
            best[k] = best[k].larger(before[k].plus(pair[k]));
        }
    }
    let mut most = best[0];
    for (before, pair) in before_rest.iter().zip(pair_rest) {
        most = most.larger(before.plus(*pair));
    }
    most = best.iter().fold(most, |most, sum| most.larger(*sum));
    let is_most = |(before, pair): (&N, &N)| before.plus(*pair) == most;
    before.iter().zip(pair).position(is_most).unwrap_or(0) as u32
}

/// `out += other`, element by element.
#[inline(always)]
pub fn add_all<N: Number>(out: &mut [N], other: &[N]) {
    for (out, other) in out.iter_mut().zip(other) {
        *out = out.plus(*other);
    }
}

impl Index for u32 {
    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }
}
