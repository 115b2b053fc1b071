//! Rule 3 for many rows with many vectors: tiles of both share each load. Every sum keeps its eight lanes.

use std::array::from_fn;
use std::ops::Range;

use super::dot::{LANES, dots};
use crate::arith::simd::{Fours, Leaf, Simd};
use crate::error::Result;
use crate::memory::filled;

/// Vectors of a tile.
const VECTORS: usize = 4;

/// Rows of a tile: with eight lanes in a register, sixteen sums and room for what is loaded, in 32 registers; with
/// four, eight sums in sixteen, so that all rows pass twice.
const ROWS_OF_EIGHT: usize = 4;
const ROWS_OF_FOUR: usize = 2;

/// Columns that are multiplied at a time: those of a tile's vectors stay in the first cache while all rows pass.
const STRIP: usize = 512;

/// Fewer columns than this are not worth two passes.
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
        if d == 0 || vectors.is_empty() {
            out.fill(0.0);
            return Ok(());
        }
        let (n, stride) = (rows.len() / d, vectors.len() / d);
        let in_tiles = S::LANES == LANES || d >= FEW;
        let none = [simd.lanes(&[0.0; LANES]); VECTORS];
        let mut sums: Vec<TileSums<S>> = filled(none, if in_tiles { n } else { 0 })?;
        let mut others: Vec<TileSums<S>> = filled(none, if S::LANES < LANES { sums.len() } else { 0 })?;
        let mut tails = filled([0.0; LANES], if d % LANES > 0 { sums.len() } else { 0 })?;
        for (padded, x) in tails.iter_mut().zip(rows.chunks_exact(d)) {
            *padded = tail(x);
        }
        let mut k = 0;
        for w in vectors.chunks_exact(VECTORS * d) {
            let w = [&w[..d], &w[d..2 * d], &w[2 * d..3 * d], &w[3 * d..]];
            if !in_tiles {
                for (x, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(stride)) {
                    out[k..][..VECTORS].copy_from_slice(&dots(simd, w, x));
                }
                k += VECTORS;
                continue;
            }
            sums.fill(none);
            others.fill(none);
            let whole = d / LANES * LANES;
            for start in (0..whole).step_by(STRIP) {
                let strip = start..whole.min(start + STRIP);
                if S::LANES == LANES {
                    add::<S, ROWS_OF_EIGHT>(simd, (rows, d), w, &strip, 0, &mut sums);
                } else {
                    add::<S, ROWS_OF_FOUR>(simd, (rows, d), w, &strip, 0, &mut sums);
                    add::<S, ROWS_OF_FOUR>(simd, (rows, d), w, &strip, LANES / 2, &mut others);
                }
            }
            let ends = [tail(w[0]), tail(w[1]), tail(w[2]), tail(w[3])];
            let ends = [&ends[0][..], &ends[1], &ends[2], &ends[3]];
            for (i, out) in out.chunks_exact_mut(stride).enumerate() {
                if let Some(tail) = tails.get(i) {
                    add_products(simd, [&tail[..]], ends, 0, &mut sums[i..]);
                    if S::LANES < LANES {
                        add_products(simd, [&tail[..]], ends, LANES / 2, &mut others[i..]);
                    }
                }
                for v in 0..VECTORS {
                    let mut lanes = [0.0; LANES];
                    simd.write(sums[i][v], &mut lanes);
                    if S::LANES < LANES {
                        simd.write(others[i][v], &mut lanes[LANES / 2..]);
                    }
                    let simd = simd.fours();
                    out[k + v] = simd.fold([simd.lanes(&lanes), simd.lanes(&lanes[LANES / 2..])]);
                }
            }
            k += VECTORS;
        }
        let w = vectors.chunks_exact(VECTORS * d).remainder();
        if !w.is_empty() {
            for (x, out) in rows.chunks_exact(d).zip(out.chunks_exact_mut(stride)) {
                match &mut out[k..] {
                    [out] => [*out] = dots(simd, [w], x),
                    [one, two] => [*one, *two] = dots(simd, [&w[..d], &w[d..]], x),
                    out => out.copy_from_slice(&dots(simd, [&w[..d], &w[d..2 * d], &w[2 * d..]], x)),
                }
            }
        }
        Ok(())
    }
}

/// The sums of a row with the vectors of a tile, in a register of lanes each.
type TileSums<S> = [<S as Simd>::Lanes; VECTORS];

/// The columns behind the last whole eight, and zeros: their products change no lane.
#[inline(always)]
fn tail(x: &[f64]) -> [f64; LANES] {
    let mut padded = [0.0; LANES];
    for (padded, x) in padded.iter_mut().zip(x.as_chunks::<LANES>().1) {
        *padded = *x;
    }
    padded
}

/// A register of lanes, from `first` on, of some columns of all rows with the vectors of a tile.
#[inline(always)]
fn add<S: Simd, const R: usize>(
    simd: S,
    (rows, d): (&[f64], usize),
    w: [&[f64]; VECTORS],
    strip: &Range<usize>,
    first: usize,
    sums: &mut [TileSums<S>],
) {
    let mut here = w;
    for (here, w) in here.iter_mut().zip(w) {
        *here = &w[strip.clone()];
    }
    let mut i = 0;
    for tile in rows.chunks_exact(R * d) {
        let mut x = [tile; R];
        for (r, x) in x.iter_mut().enumerate() {
            *x = &tile[r * d..][strip.clone()];
        }
        add_products(simd, x, here, first, &mut sums[i..]);
        i += R;
    }
    for x in rows.chunks_exact(R * d).remainder().chunks_exact(d) {
        add_products(simd, [&x[strip.clone()]], here, first, &mut sums[i..]);
        i += 1;
    }
}

/// Adds products to the sums of rule 3, in a register of lanes from `first` on: of each of `R` rows with each
/// vector. The sums come and go as registers: from arrays of numbers, the compiler copies them by a call.
///
/// # Panics
/// If there are fewer than `R` rows of sums.
#[inline(always)]
fn add_products<S: Simd, const R: usize>(
    simd: S,
    x: [&[f64]; R],
    w: [&[f64]; VECTORS],
    first: usize,
    sums: &mut [TileSums<S>],
) {
    let chunks = x[0].len() / LANES;
    let x: [&[[f64; LANES]]; R] = from_fn(|k| &x[k].as_chunks().0[..chunks]);
    let w: [&[[f64; LANES]]; VECTORS] = from_fn(|k| &w[k].as_chunks().0[..chunks]);
    let place: &mut [TileSums<S>; R] = sums.first_chunk_mut().expect("sums of each row");
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
