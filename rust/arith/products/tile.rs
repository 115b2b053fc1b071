//! Rule 3 for many rows with many vectors: tiles of both share each load. Every sum keeps its eight lanes.

use std::{array::from_fn, ops::Range};

use super::dot::{LANES, dots};
use crate::arith::simd::{Fours, HAS_VECTORS, Leaf, Simd};
use crate::base::{Result, filled};

/// Vectors of a tile.
const VECTORS: usize = 4;

/// Rows of a tile: with eight lanes in a register, sixteen sums and room for what is loaded, in 32 registers; with
/// four, eight sums in sixteen, half of the lanes after the other.
const ROWS_OF_EIGHT: usize = 4;
const ROWS_OF_FOUR: usize = 2;

/// Columns that are multiplied at a time: those of a tile's vectors stay in the first cache while all rows pass.
const STRIP: usize = 512;

/// With four lanes in a register, fewer columns than this are not worth two passes.
const FEW: usize = 256;

/// Dot products of rows with vectors, which both stand one after another. The rows best stay in the second
/// cache: all of them pass for each tile's vectors.
pub struct Products<'a> {
    pub rows: &'a [f64],
    pub vectors: &'a [f64],
    /// Of each row and vector.
    pub columns: usize,
    /// Rows x vectors.
    pub out: &'a mut [f64],
}

impl Leaf for Products<'_> {
    const WIDEST: bool = true;

    type Output = Result<()>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<()> {
        let Self { rows, vectors, columns: d, out } = self;
        if d == 0 || rows.is_empty() || vectors.is_empty() {
            out.fill(0.0);
            return Ok(());
        }
        let (n, stride) = (rows.len() / d, vectors.len() / d);
        let in_tiles = HAS_VECTORS && (S::LANES == LANES || d >= FEW);
        let none = [simd.lanes(&[0.0; LANES]); HALVES];
        let mut kept = filled(none, if in_tiles && d > STRIP { n * VECTORS } else { 0 })?;
        let mut tails = filled([0.0; LANES], if in_tiles && d % LANES > 0 { n } else { 0 })?;
        for (padded, x) in tails.iter_mut().zip(rows.chunks_exact(d)) {
            *padded = tail(x);
        }
        let all = TailedRows { rows, tails: &tails, d, stride, in_tiles };
        for (i, w) in vectors.chunks(VECTORS * d).enumerate() {
            let out = &mut out[i * VECTORS..];
            match w.len() / d {
                1 => all.group::<S, 1>(simd, w, &mut kept, out),
                2 => all.group::<S, 2>(simd, w, &mut kept, out),
                3 => all.group::<S, 3>(simd, w, &mut kept, out),
                _ => all.group::<S, VECTORS>(simd, w, &mut kept, out),
            }
        }
        Ok(())
    }
}

/// The lanes of a sum, in one register or in two, of which else the second is not used.
type Lanes<S> = [<S as Simd>::Lanes; HALVES];
const HALVES: usize = 2;

/// The columns behind the last whole eight, and zeros: their products change no lane.
#[inline(always)]
fn tail(x: &[f64]) -> [f64; LANES] {
    let mut padded = [0.0; LANES];
    for (padded, x) in padded.iter_mut().zip(x.as_chunks::<LANES>().1) {
        *padded = *x;
    }
    padded
}

#[derive(Clone, Copy)]
struct TailedRows<'a> {
    rows: &'a [f64],
    /// Of each row, if they do not end with a whole eight.
    tails: &'a [[f64; LANES]],
    d: usize,
    /// Of what is found.
    stride: usize,
    in_tiles: bool,
}

impl TailedRows<'_> {
    /// The products of all rows with a tile's vectors. What a strip leaves for the next one is kept.
    #[inline(always)]
    fn group<S: Simd, const V: usize>(self, simd: S, w: &[f64], kept: &mut [Lanes<S>], out: &mut [f64]) {
        let Self { rows, d, stride, .. } = self;
        let w: [&[f64]; V] = from_fn(|v| &w[v * d..][..d]);
        if !self.in_tiles {
            for (x, out) in rows.chunks_exact(d).zip(out.chunks_mut(stride)) {
                out[..V].copy_from_slice(&dots(simd, w, x));
            }
            return;
        }
        let (n, whole) = (rows.len() / d, d / LANES * LANES);
        let ends: [[f64; LANES]; V] = from_fn(|v| tail(w[v]));
        let mut start = 0;
        loop {
            let strip = start..whole.min(start + STRIP);
            let w: [&[f64]; V] = from_fn(|v| &w[v][strip.clone()]);
            let tiles = n / ROWS_OF_EIGHT * ROWS_OF_EIGHT;
            if S::LANES == LANES {
                for i in (0..tiles).step_by(ROWS_OF_EIGHT) {
                    self.tile::<S, V, ROWS_OF_EIGHT>(simd, i, &strip, (w, &ends), kept, out);
                }
            } else {
                for i in (0..tiles).step_by(ROWS_OF_FOUR) {
                    self.tile::<S, V, ROWS_OF_FOUR>(simd, i, &strip, (w, &ends), kept, out);
                }
            }
            for i in tiles..n {
                self.tile::<S, V, 1>(simd, i, &strip, (w, &ends), kept, out);
            }
            start = strip.end;
            if start == whole {
                return;
            }
        }
    }

    /// A strip of `R` rows from `i` on.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const R: usize>(
        self,
        simd: S,
        i: usize,
        strip: &Range<usize>,
        (w, ends): ([&[f64]; V], &[[f64; LANES]; V]),
        kept: &mut [Lanes<S>],
        out: &mut [f64],
    ) {
        let (d, is_last) = (self.d, strip.end == self.d / LANES * LANES);
        let tile = &self.rows[i * d..][..R * d];
        let x: [&[f64]; R] = from_fn(|r| &tile[r * d..][strip.clone()]);
        let mut sums = [[[simd.lanes(&[0.0; LANES]); V]; R]; HALVES];
        for (half, sums) in sums.iter_mut().enumerate().take(LANES / S::LANES) {
            if strip.start > 0 {
                for r in 0..R {
                    for v in 0..V {
                        sums[r][v] = kept[(i + r) * VECTORS + v][half];
                    }
                }
            }
            add_products(simd, x, w, half * S::LANES, sums);
            if is_last && !self.tails.is_empty() {
                let x: [&[f64]; R] = from_fn(|r| &self.tails[i + r][..]);
                add_products(simd, x, from_fn::<_, V, _>(|v| &ends[v][..]), half * S::LANES, sums);
            }
        }
        if !is_last {
            for r in 0..R {
                for v in 0..V {
                    kept[(i + r) * VECTORS + v] = [sums[0][r][v], sums[1][r][v]];
                }
            }
            return;
        }
        for r in 0..R {
            let out = &mut out[(i + r) * self.stride..][..V];
            for v in 0..V {
                out[v] = fold(simd, [sums[0][r][v], sums[1][r][v]]);
            }
        }
    }
}

/// The tree of rule 3.
#[inline(always)]
fn fold<S: Simd>(simd: S, [low, high]: Lanes<S>) -> f64 {
    let mut lanes = [0.0; LANES];
    simd.write(low, &mut lanes);
    if S::LANES < LANES {
        simd.write(high, &mut lanes[LANES / 2..]);
    }
    let simd = simd.fours();
    simd.fold([simd.lanes(&lanes), simd.lanes(&lanes[LANES / 2..])])
}

/// Adds products to the sums of rule 3, in a register of lanes from `first` on: of each of `R` rows with each
/// of `V` vectors. The sums come and go as registers: from arrays of numbers, the compiler copies them by a call.
#[inline(always)]
fn add_products<S: Simd, const R: usize, const V: usize>(
    simd: S,
    x: [&[f64]; R],
    w: [&[f64]; V],
    first: usize,
    place: &mut [[S::Lanes; V]; R],
) {
    let chunks = x[0].len() / LANES;
    let x: [&[[f64; LANES]]; R] = from_fn(|k| &x[k].as_chunks().0[..chunks]);
    let w: [&[[f64; LANES]]; V] = from_fn(|k| &w[k].as_chunks().0[..chunks]);
    let mut sums = *place;
    for i in 0..chunks {
        for (sums, x) in sums.iter_mut().zip(&x) {
            let x = simd.lanes(&x[i][first..]);
            for (sum, w) in sums.iter_mut().zip(&w) {
                *sum = simd.add_products(*sum, x, simd.lanes(&w[i][first..]));
            }
        }
    }
    *place = sums;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::dot::dot;
    use crate::arith::simd::{InstructionSet, dispatch, force};
    use crate::order::SplitMix64;

    /// Numbers of all sizes and signs, zeros of both signs among them.
    fn drawn(count: usize, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        let number = |z: u64| match z % 7 {
            0 => 0.0,
            1 => -0.0,
            _ => (z as i64 as f64) * f64::powi(2.0, (z % 90) as i32 - 110),
        };
        (0..count).map(|_| number(random.draw())).collect()
    }

    #[test]
    fn every_product_is_the_dot_product_of_rule_3() {
        let shapes = if cfg!(miri) { &[0, 1, 5, 8][..] } else { &[0, 1, 2, 3, 4, 5, 7, 8, 9, 13] };
        for set in InstructionSet::available() {
            force(Some(set));
            for &columns in
                &[0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 255, 257, 1037][..if cfg!(miri) { 6 } else { 13 }]
            {
                for &n in shapes {
                    for &k in shapes {
                        let (x, w) = (drawn(n * columns, 1), drawn(k * columns, 2));
                        let mut out = vec![f64::NAN; n * k];
                        let products = Products { rows: &x, vectors: &w, columns, out: &mut out };
                        dispatch(products).expect("memory");
                        for (place, out) in out.iter().enumerate() {
                            let (i, j) = (place / k * columns, place % k * columns);
                            let expected = dot(&x[i..i + columns], &w[j..j + columns]);
                            assert_eq!(
                                out.to_bits(),
                                expected.to_bits(),
                                "{set:?} {columns} {n} {k} {place}"
                            );
                        }
                    }
                }
            }
            force(None);
        }
    }
}
