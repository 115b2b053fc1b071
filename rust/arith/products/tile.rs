//! Rule 3 for many rows with many vectors: tiles of both share each load. Every sum keeps its eight lanes.

use std::array::from_fn;

use super::by_lane::add;
use super::dot::{LANES, dots};
use crate::arith::simd::{Fours, HAS_VECTORS, Leaf, Simd, dispatch};
use crate::base::{Result, filled};

/// Vectors of a tile.
const VECTORS: usize = 4;

/// Rows of a tile: with eight lanes in a register, sixteen sums and room for what is loaded, in 32 registers; with
/// four, eight sums in sixteen, half of the lanes after the other.
const ROWS_OF_EIGHT: usize = 4;
const ROWS_OF_FOUR: usize = 2;

/// Chunks of columns that are multiplied at a time: those of a tile's vectors stay in the first cache while all rows
/// pass.
const STRIP: usize = 64;

/// With four lanes in a register, fewer columns than this are not worth two passes.
const FEW: usize = 256;

/// With eight lanes in a register, rows of fewer columns take less time with a vector in each of its places, if there
/// are more than it has.
const SHORT: usize = 16;

type Chunk = [f64; LANES];

/// Dot products of rows with vectors, which both stand one after another, into `out` (rows x vectors). The rows best
/// stay in the second cache: all of them pass for each tile's vectors.
pub fn products(rows: &[f64], vectors: &[f64], columns: usize, out: &mut [f64]) -> Result<()> {
    if columns == 0 || rows.is_empty() || vectors.is_empty() {
        out.fill(0.0);
        return Ok(());
    }
    let (n, stride, d) = (rows.len() / columns, vectors.len() / columns, columns);
    let is_wide = dispatch(Width) == LANES;
    if is_wide && d < SHORT && stride > LANES {
        return of_short_rows(rows, vectors, d, out);
    }
    let in_tiles = HAS_VECTORS && (is_wide || d >= FEW);
    let mut kept = filled([0.0; LANES], if in_tiles && d > STRIP * LANES { n * VECTORS } else { 0 })?;
    let mut tails = filled([0.0; LANES], if in_tiles && !d.is_multiple_of(LANES) { n } else { 0 })?;
    for (i, padded) in tails.iter_mut().enumerate() {
        *padded = tail(&rows[i * d..], d);
    }
    for (i, vectors) in vectors.chunks(VECTORS * d).enumerate() {
        let (tails, kept, out) = (&tails[..], &mut kept[..], &mut out[i * VECTORS..]);
        match vectors.len() / d {
            1 => dispatch(Group::<1> { rows, tails, vectors, d, stride, in_tiles, kept, out }),
            2 => dispatch(Group::<2> { rows, tails, vectors, d, stride, in_tiles, kept, out }),
            3 => dispatch(Group::<3> { rows, tails, vectors, d, stride, in_tiles, kept, out }),
            _ => dispatch(Group::<VECTORS> { rows, tails, vectors, d, stride, in_tiles, kept, out }),
        }
    }
    Ok(())
}

/// The numbers of a register.
struct Width;

impl Leaf for Width {
    const WIDEST: bool = true;

    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> usize {
        S::LANES
    }
}

/// The same of short rows: by column, two registers of vectors at a time, nothing of which is folded.
fn of_short_rows(rows: &[f64], vectors: &[f64], d: usize, out: &mut [f64]) -> Result<()> {
    let stride = vectors.len() / d;
    let mut by_column = filled([[0.0; LANES]; 2], stride.div_ceil(2 * LANES) * d)?;
    for (k, w) in vectors.chunks_exact(d).enumerate() {
        for (out, w) in by_column[k / (2 * LANES) * d..].iter_mut().zip(w) {
            out[k / LANES % 2][k % LANES] = *w;
        }
    }
    for (i, vectors) in by_column.chunks(d).enumerate() {
        dispatch(ShortRows { rows, vectors, stride, first: i * 2 * LANES, out });
    }
    Ok(())
}

struct ShortRows<'a> {
    rows: &'a [f64],
    vectors: &'a [[Chunk; 2]],
    stride: usize,
    first: usize,
    out: &'a mut [f64],
}

impl Leaf for ShortRows<'_> {
    const WIDEST: bool = true;

    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows, vectors, stride, first, out } = self;
        for part in (0..LANES).step_by(S::LANES) {
            for (x, out) in rows.chunks_exact(vectors.len()).zip(out.chunks_mut(stride)) {
                let mut lanes = [[simd.lanes(&[0.0; LANES]); 2]; LANES];
                for (x, w) in x.chunks(LANES).zip(vectors.chunks(LANES)) {
                    for (lane, sums) in lanes.iter_mut().enumerate() {
                        if let (Some(x), Some(w)) = (x.get(lane), w.get(lane)) {
                            let x = simd.lanes(&[*x; LANES]);
                            for v in 0..2 {
                                sums[v] = simd.add_products(sums[v], simd.lanes(&w[v][part..]), x);
                            }
                        }
                    }
                }
                let pair = |i: usize| add(simd, lanes[i], lanes[i + LANES / 2]);
                let sums = add(simd, add(simd, pair(0), pair(2)), add(simd, pair(1), pair(3)));
                for (v, sums) in sums.into_iter().enumerate() {
                    let (mut found, out) = ([0.0; LANES], out[first..].get_mut(v * LANES + part..));
                    simd.write(sums, &mut found);
                    match out {
                        Some(out) if out.len() >= S::LANES => {
                            out[..S::LANES].copy_from_slice(&found[..S::LANES]);
                        }
                        Some(out) => out.copy_from_slice(&found[..out.len()]),
                        None => {}
                    }
                }
            }
        }
    }
}

/// The columns of a row behind the last whole eight, and zeros: their products change no lane. A copy of that many
/// numbers would be a call; so what follows is read, too, where there is enough, and taken away by its bits.
#[inline(always)]
fn tail(rows: &[f64], d: usize) -> Chunk {
    let (rest, kept) = (&rows[d / LANES * LANES..], d % LANES);
    let Some(found) = rest.first_chunk::<LANES>() else {
        return from_fn(|k| if k < kept { rest[k] } else { 0.0 });
    };
    from_fn(|k| f64::from_bits(found[k].to_bits() & u64::from(k < kept).wrapping_neg()))
}

/// The products of all rows with a tile's vectors. A leaf of its own: in one for all numbers of vectors, the compiler
/// keeps sums in memory.
struct Group<'a, const V: usize> {
    rows: &'a [f64],
    /// Of each row, if they do not end with a whole eight.
    tails: &'a [Chunk],
    vectors: &'a [f64],
    d: usize,
    /// Of what is found.
    stride: usize,
    in_tiles: bool,
    /// What a strip leaves for the next one.
    kept: &'a mut [Chunk],
    out: &'a mut [f64],
}

impl<const V: usize> Leaf for Group<'_, V> {
    const WIDEST: bool = true;

    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Self { rows, d, stride, .. } = self;
        if !self.in_tiles {
            let mut w = [rows; V];
            for (w, vector) in w.iter_mut().zip(self.vectors.chunks_exact(d)) {
                *w = vector;
            }
            for (x, out) in rows.chunks_exact(d).zip(self.out.chunks_mut(stride)) {
                out[..V].copy_from_slice(&dots(simd, w, x));
            }
            return;
        }
        let (n, chunks) = (rows.len() / d, d / LANES);
        let (tiles, mut ends) = (n / ROWS_OF_EIGHT * ROWS_OF_EIGHT, [[0.0; LANES]; V]);
        for (v, end) in ends.iter_mut().enumerate() {
            *end = tail(&self.vectors[v * d..], d);
        }
        for start in (0..chunks.max(1)).step_by(STRIP) {
            let strip = [start, chunks.min(start + STRIP)];
            if S::LANES == LANES {
                for i in (0..tiles).step_by(ROWS_OF_EIGHT) {
                    self.tile::<S, ROWS_OF_EIGHT>(simd, i, strip, &ends);
                }
            } else {
                for i in (0..tiles).step_by(ROWS_OF_FOUR) {
                    self.tile::<S, ROWS_OF_FOUR>(simd, i, strip, &ends);
                }
            }
            for i in tiles..n {
                self.tile::<S, 1>(simd, i, strip, &ends);
            }
        }
    }
}

impl<const V: usize> Group<'_, V> {
    /// A strip of `R` rows from `i` on.
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(
        &mut self,
        simd: S,
        i: usize,
        [start, end]: [usize; 2],
        ends: &[Chunk; V],
    ) {
        const NONE: &[Chunk] = &[];
        let Self { rows, vectors, d, .. } = *self;
        let (zeros, mut x, mut w) = ([0.0; LANES], [NONE; R], [NONE; V]);
        for (r, x) in x.iter_mut().enumerate() {
            *x = &rows[(i + r) * d..][..d].as_chunks().0[start..end];
        }
        for (v, w) in w.iter_mut().enumerate() {
            *w = &vectors[v * d..][..d].as_chunks().0[start..end];
        }
        let is_last = end == d / LANES;
        let tails = if is_last { self.tails.get(i..i + R) } else { None };
        let mut lanes = [[zeros; V]; R];
        let kept = self.kept.get_mut(i * VECTORS..).unwrap_or_default().as_chunks_mut::<VECTORS>().0;
        for first in (0..LANES).step_by(S::LANES) {
            let mut sums = [[simd.lanes(&zeros); V]; R];
            if start > 0 {
                for r in 0..R {
                    for v in 0..V {
                        sums[r][v] = simd.lanes(&kept[r][v][first..]);
                    }
                }
            }
            for c in 0..end - start {
                for r in 0..R {
                    let x = simd.lanes(&x[r][c][first..]);
                    for v in 0..V {
                        sums[r][v] = simd.add_products(sums[r][v], x, simd.lanes(&w[v][c][first..]));
                    }
                }
            }
            if let Some(tails) = tails {
                for r in 0..R {
                    let x = simd.lanes(&tails[r][first..]);
                    for v in 0..V {
                        sums[r][v] = simd.add_products(sums[r][v], x, simd.lanes(&ends[v][first..]));
                    }
                }
            }
            for r in 0..R {
                for v in 0..V {
                    simd.write(sums[r][v], &mut lanes[r][v][first..]);
                }
            }
        }
        if !is_last {
            for (r, lanes) in lanes.iter().enumerate() {
                kept[r][..V].copy_from_slice(lanes);
            }
            return;
        }
        let fours = simd.fours();
        for (r, lanes) in lanes.iter().enumerate() {
            let out = &mut self.out[(i + r) * self.stride..][..V];
            for v in 0..V {
                let [low, high] = [&lanes[v][..], &lanes[v][LANES / 2..]];
                out[v] = fours.fold([fours.lanes(low), fours.lanes(high)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arith::dot::dot;
    use crate::arith::simd::{InstructionSet, force};
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
        let shapes = if cfg!(miri) { &[0, 1, 5, 8][..] } else { &[0, 1, 2, 3, 4, 5, 7, 8, 9, 19] };
        for set in InstructionSet::available() {
            force(Some(set));
            for &columns in
                &[0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 255, 257, 1037][..if cfg!(miri) { 6 } else { 13 }]
            {
                for &n in shapes {
                    for &k in shapes {
                        let (mut x, mut w) = (drawn(n * columns, 1), drawn(k * columns, 2));
                        // What stands behind a row or a vector is read with it, and counts for nothing.
                        for behind in [x.get_mut(3 * columns), w.get_mut(2 * columns)].into_iter().flatten() {
                            *behind = f64::INFINITY;
                        }
                        let mut out = vec![f64::NAN; n * k];
                        products(&x, &w, columns, &mut out).expect("memory");
                        for (place, out) in out.iter().enumerate() {
                            let (i, j) = (place / k * columns, place % k * columns);
                            if columns > 0 && (i == 3 * columns || j == 2 * columns) {
                                continue;
                            }
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
