//! Dot products of many rows with many rows, by rule 3 or, where all values are small integers, by
//! rule 10: the same bits.

use std::ops::Range;

use super::kernels::Kernel;
use super::products::{Packed, Whole};
use crate::arith::dot::LANES;
use crate::arith::environment::standard;
use crate::arith::gram::{MOST_COLUMNS, WIDTH};
use crate::arith::kernel::scale;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::tile::products;
use crate::base::{Monitor, Result, collected, ensure, filled, matrix, pieces, tried};
use crate::online::of_each_row;
use crate::rows::{Arranged, Listed, Matrix, Renamed, arranged_otherwise, over, row_entries};
use crate::threads::each;

/// Bytes of the rows in i16 that are laid out at a time: they stay in the first cache while all others pass.
const TILE_BYTES: usize = 24 * 1024;

/// The same for rows in f64, which stay in the second cache.
const WIDE_TILE_BYTES: usize = 256 * 1024;

/// Rows of the other side, all of which use a row once it is laid out. Of 784 columns in f64, the loop over
/// columns takes two thirds of the time, to read and lay out rows a sixth.
const LEFT: usize = 64;

/// Fewer rows than this are not worth a copy of all others.
const FEW: usize = 16;

/// How dot products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GramForm {
    /// Rows laid out in i16, exact products in i32.
    Whole,
    /// Rows laid out in f64.
    Wide,
    /// One side laid out as weights or listed by columns, the other read where it is stored.
    Sparse,
    /// They are looked up: column k of row i.
    Given,
}

impl GramForm {
    /// The fastest form for products of these rows with each other; of two, for those of the first with the
    /// second.
    pub fn of(kernel: Kernel, sides: &[&dyn Matrix], monitor: &dyn Monitor) -> Result<Self> {
        if kernel == Kernel::Precomputed {
            return Ok(Self::Given);
        }
        let columns = sides[0].columns();
        if let [rows, _] = sides
            && rows.len() < FEW
        {
            return Ok(Self::Sparse);
        }
        if sides.iter().any(|rows| is_sparse(*rows)) || columns == 0 {
            return Ok(Self::Sparse);
        }
        if columns > MOST_COLUMNS {
            return Ok(Self::Wide);
        }
        let mut scratch = filled(0, columns)?;
        for rows in sides {
            for piece in pieces(rows.len(), 4 * (row_entries(*rows) + 1), monitor) {
                if !piece?.all(|row| rows.narrow(row, &mut scratch)) {
                    return Ok(Self::Wide);
                }
            }
        }
        Ok(Self::Whole)
    }

    /// Rows that are laid out at a time.
    pub(super) fn tile(self, columns: usize) -> usize {
        let (bytes, row) = match self {
            Self::Whole => (TILE_BYTES, columns * 2),
            Self::Wide => (WIDE_TILE_BYTES, columns * 8),
            Self::Sparse | Self::Given => (TILE_BYTES, 0), // nothing is laid out
        };
        (bytes / row.max(1)).clamp(8, 64) / 4 * 4
    }
}

/// Whether lists of the entries take less time than rows written out.
pub(super) fn is_sparse(rows: &dyn Matrix) -> bool {
    rows.entries(0..rows.len()) < rows.len() * rows.columns() / 4
}

/// Dot products of one row with many.
#[derive(Debug, Clone, PartialEq)]
pub enum Dots {
    Whole(Vec<i32>),
    Wide(Vec<f64>),
}

impl Dots {
    pub fn new(form: GramForm, len: usize) -> Result<Self> {
        Ok(if form == GramForm::Whole { Self::Whole(filled(0, len)?) } else { Self::Wide(filled(0.0, len)?) })
    }

    pub fn bytes(&self) -> usize {
        match self {
            Self::Whole(dots) => 4 * dots.len(),
            Self::Wide(dots) => 8 * dots.len(),
        }
    }

    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::Whole(dots) => f64::from(dots[i]),
            Self::Wide(dots) => dots[i],
        }
    }

    pub fn parts(&mut self, len: usize) -> Result<Vec<DotsMut<'_>>> {
        match self {
            Self::Whole(dots) => collected(dots.chunks_mut(len).map(DotsMut::Whole)),
            Self::Wide(dots) => collected(dots.chunks_mut(len).map(DotsMut::Wide)),
        }
    }

    pub fn all_mut(&mut self) -> DotsMut<'_> {
        match self {
            Self::Whole(dots) => DotsMut::Whole(dots),
            Self::Wide(dots) => DotsMut::Wide(dots),
        }
    }
}

pub enum DotsMut<'a> {
    Whole(&'a mut [i32]),
    Wide(&'a mut [f64]),
}

impl DotsMut<'_> {
    pub fn sub(&mut self, range: Range<usize>) -> DotsMut<'_> {
        match self {
            Self::Whole(dots) => DotsMut::Whole(&mut dots[range]),
            Self::Wide(dots) => DotsMut::Wide(&mut dots[range]),
        }
    }

    /// Sets a dot product, which is a whole number in `Whole`.
    #[inline(always)]
    pub fn put(&mut self, j: usize, dot: f64) {
        match self {
            Self::Whole(dots) => dots[j] = dot as i32,
            Self::Wide(dots) => dots[j] = dot,
        }
    }

    #[inline(always)]
    pub fn put_whole(&mut self, j: usize, dot: i32) {
        match self {
            Self::Whole(dots) => dots[j] = dot,
            Self::Wide(dots) => dots[j] = f64::from(dot),
        }
    }

    #[inline(always)]
    pub fn widen(&self, out: &mut [f64]) {
        match self {
            Self::Whole(dots) => out.iter_mut().zip(&**dots).for_each(|(out, dot)| *out = f64::from(*dot)),
            Self::Wide(dots) => out.copy_from_slice(dots),
        }
    }
}

/// Rows of one side, ready for products.
pub enum Side {
    Whole(Packed<i16>),
    Wide(Packed<f64>),
    /// As weights, for [`Rows::scores`] of the other side, which has arranged them.
    Weights(Arranged<'static>, Vec<f64>),
    Listed(Listed),
    /// Numbers of rows that stay where they are.
    Numbers(Vec<u32>),
}

impl Side {
    /// Lays rows out for products with tiles of `others`, `count` rows in all.
    pub fn left(
        form: GramForm,
        rows: &dyn Matrix,
        numbers: &[u32],
        others: &dyn Matrix,
        count: usize,
    ) -> Result<Self> {
        if form != GramForm::Sparse {
            return Self::tile(form, rows, numbers);
        }
        // To write zeros for all columns takes as long as to look up half as many of the entries.
        let (d, read) = (rows.columns(), row_entries(others) * count);
        if d.saturating_mul(numbers.len()) > 2 * read {
            return Ok(Self::Listed(Listed::new(rows, numbers)?));
        }
        let mut coef = matrix(0.0, numbers.len(), d)?;
        for (w, &row) in coef.chunks_mut(d.max(1)).zip(numbers) {
            rows.axpy(row as usize, 1.0, w);
        }
        Ok(Self::Weights(
            others.arrange(coef.into(), numbers.len(), count, &())?,
            filled(0.0, numbers.len())?,
        ))
    }

    pub fn tile(form: GramForm, rows: &dyn Matrix, numbers: &[u32]) -> Result<Self> {
        let d = rows.columns();
        Ok(match form {
            GramForm::Whole => {
                let mut packed = Packed::new(d, WIDTH, numbers.len())?;
                for (place, &row) in packed.places().zip(numbers) {
                    rows.narrow(row as usize, &mut place[..d]);
                }
                Self::Whole(packed)
            }
            GramForm::Wide => {
                let mut packed = Packed::new(d, LANES, numbers.len())?;
                for (place, &row) in packed.places().zip(numbers) {
                    rows.write(row as usize, &mut place[..d]);
                }
                Self::Wide(packed)
            }
            GramForm::Sparse | GramForm::Given => Self::Numbers(collected(numbers.iter().copied())?),
        })
    }

    /// Dot products of these rows with those of a tile of `rows`, from the row `first` of the tile on;
    /// `out` has a part of the tile's length for each row.
    pub fn dots(&self, rows: &dyn Matrix, tile: &Self, first: usize, out: &mut [DotsMut]) -> Result<()> {
        match (self, tile) {
            (Self::Whole(left), Self::Whole(right)) => dispatch(Whole { left, right, first, out }),
            (Self::Wide(left), Self::Wide(right)) => {
                let (rows, vectors, columns) = (left.rows_from(0), right.rows_from(first), left.stride);
                let width = vectors.len() / columns;
                let mut dots = filled(0.0, rows.len() / columns * width)?;
                products(rows, vectors, columns, &mut dots)?;
                for (out, dots) in out.iter_mut().zip(dots.chunks(width.max(1))) {
                    dots.iter().enumerate().for_each(|(j, dot)| out.put(first + j, *dot));
                }
            }
            (Self::Weights(weights, bias), Self::Numbers(numbers)) => {
                let mut sums = filled(0.0, (numbers.len() - first) * bias.len())?;
                let mut j = first;
                for run in numbers[first..].chunk_by(|row, next| row + 1 == *next) {
                    let start = run[0] as usize;
                    let sums = &mut sums[..run.len() * bias.len()];
                    rows.scores(start..start + run.len(), weights, bias, sums)?;
                    for sums in sums.chunks(bias.len().max(1)) {
                        out.iter_mut().zip(sums).for_each(|(out, sum)| out.put(j, *sum));
                        j += 1;
                    }
                }
            }
            (Self::Listed(listed), Self::Numbers(numbers)) => {
                let (mut room, mut sums) = (Renamed::default(), filled(0.0, listed.len())?);
                for (j, &row) in numbers.iter().enumerate().skip(first) {
                    listed.dots(rows, row as usize, &mut room, &mut sums)?;
                    out.iter_mut().zip(&sums).for_each(|(out, sum)| out.put(j, *sum));
                }
            }
            (Self::Numbers(left), Self::Numbers(right)) => {
                for (out, &support) in out.iter_mut().zip(left) {
                    for (j, &row) in right.iter().enumerate().skip(first) {
                        out.put(j, rows.value(row as usize, support as usize));
                    }
                }
            }
            _ => return Err(arranged_otherwise()),
        }
        Ok(())
    }
}

/// `x·x` of every row, by the same rules; empty if the kernel does not need it.
pub fn squares(kernel: Kernel, rows: &dyn Matrix, threads: usize, monitor: &dyn Monitor) -> Result<Vec<f64>> {
    if kernel.needs_squares() { all_squares(rows, threads, monitor) } else { Ok(Vec::new()) }
}

fn all_squares(rows: &dyn Matrix, threads: usize, monitor: &dyn Monitor) -> Result<Vec<f64>> {
    with_ones(rows, |rows, ones| {
        of_each_row(rows, threads, monitor, |range, out| rows.squares(range, ones, out))
    })
}

/// What `work` makes of the rows and a 1 for each column; of sparse rows, for each column that has entries.
fn with_ones(rows: &dyn Matrix, work: impl Fn(&dyn Matrix, &[f64]) -> Result<Vec<f64>>) -> Result<Vec<f64>> {
    if rows.len() == 0 {
        return Ok(Vec::new());
    }
    let own = rows.own_columns(1, &[], &())?;
    over(rows, own.as_ref(), |rows| work(rows, &filled(1.0, rows.columns())?))
}

/// One divided by the number of columns and the variance of all values; 1 if that is not above 0.
pub fn scale_gamma(rows: &dyn Matrix, monitor: &dyn Monitor) -> Result<f64> {
    standard(|| {
        let sums = with_ones(rows, |rows, ones| {
            of_each_row(rows, 1, monitor, |range, out| rows.scores(range, &ones.into(), &[0.0], out))
        })?;
        Ok(scale(&sums, &all_squares(rows, 1, monitor)?, rows.columns()))
    })
}

pub struct Finish<'a, 'b> {
    pub kernel: Kernel,
    /// If they do not stand in `out`.
    pub dots: Option<&'a DotsMut<'b>>,
    pub square: f64,
    pub squares: &'a [f64],
    pub out: &'a mut [f64],
}

impl Leaf for Finish<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        if let Some(dots) = self.dots {
            dots.widen(self.out);
        }
        self.kernel.finish(self.out, self.square, self.squares);
    }
}

/// The square of a row, or what stands for it where the kernel needs none.
#[inline(always)]
pub fn square_of(squares: &[f64], row: usize) -> f64 {
    squares.get(row).copied().unwrap_or(0.0)
}

/// The squares of some rows, likewise.
#[inline(always)]
pub fn squares_of(squares: &[f64], range: Range<usize>) -> &[f64] {
    squares.get(range).unwrap_or(&[])
}

pub(super) fn same_columns(kernel: Kernel, rows: &dyn Matrix, others: &dyn Matrix) -> Result<()> {
    let (needed, name) = if kernel == Kernel::Precomputed {
        (others.len(), "one for each of the other rows")
    } else {
        (others.columns(), "like the other rows")
    };
    ensure!(rows.columns() == needed, "rows must have {needed} columns, {name}, got {}", rows.columns());
    Ok(())
}

/// Kernel values of every row of `rows` with every one of `others`, into `out` (rows x others).
///
/// # Panics
/// If `out` has another length.
pub fn kernel_matrix(
    rows: &dyn Matrix,
    others: &dyn Matrix,
    kernel: Kernel,
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    standard(|| {
        let width = others.len();
        assert_eq!(out.len(), rows.len() * width);
        same_columns(kernel, rows, others)?;
        let form = GramForm::of(kernel, &[rows, others], monitor)?;
        let (own, other) =
            (squares(kernel, rows, threads, monitor)?, squares(kernel, others, threads, monitor)?);
        let (step, tile) = (LEFT, form.tile(rows.columns()));
        let numbers = collected(0..others.len() as u32)?;
        if width == 0 {
            return Ok(());
        }
        each(out.chunks_mut(step * width).enumerate(), threads, monitor, |(i, out)| {
            let first = (i * step) as u32;
            let mine = collected(first..first + (out.len() / width) as u32)?;
            // Laid out on the left: the rows of `out`, so that each of its rows is filled from left to right.
            let left = if form == GramForm::Given {
                None
            } else {
                Some(Side::left(form, rows, &mine, others, width)?)
            };
            let mut dots = tried(mine.iter().map(|_| Dots::new(form, tile)))?;
            for others_here in numbers.chunks(tile) {
                monitor.pause()?;
                let first = others_here[0] as usize;
                let range = first..first + others_here.len();
                if let Some(left) = &left {
                    let tile = Side::tile(form, others, others_here)?;
                    let mut parts = collected(dots.iter_mut().map(Dots::all_mut))?;
                    left.dots(others, &tile, 0, &mut parts)?;
                }
                for (k, out) in out.chunks_mut(width).enumerate() {
                    let row = i * step + k;
                    if form == GramForm::Given {
                        range.clone().for_each(|j| out[j] = rows.value(row, j));
                        continue;
                    }
                    let mut all = dots[k].all_mut();
                    dispatch(Finish {
                        kernel,
                        dots: Some(&all.sub(0..range.len())),
                        square: square_of(&own, row),
                        squares: squares_of(&other, range.clone()),
                        out: &mut out[range.clone()],
                    });
                }
            }
            Ok(())
        })
    })
}
