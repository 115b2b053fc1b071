//! The rows of a margin problem: signed, in groups, scaled by powers of two.
//!
//! `u_i = y_i x_i`, with a constant coordinate for the augmented margin. With a free bias the rows form
//! two groups, by label, and the margin is half the distance of the two hulls; else one, and it is
//! the distance of its hull from the origin. `unit` holds a power of two for each column, so that
//! scaling is exact unless a value underflows.

use std::ops::Range;

use crate::arith::twofold::{exponent, power};
use crate::base::{Monitor, Result, bail, collected, filled};
use crate::online::of_each_row;
use crate::rows::{Entries, Matrix, Survey, strip};
use crate::threads::each;

/// Scales beyond these would leave the range of floats.
const LARGEST_SHIFT: i32 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    Free,
    Augmented,
    None,
}

pub struct MarginProblem<'a> {
    pub rows: &'a dyn Matrix,
    pub labels: &'a [u32],
    pub bias: Bias,
    pub found: Survey,
    /// Scaled values are raw ones times 2^shift; the largest is then in [1/2, 1).
    pub shift: i32,
    /// The constant coordinate of augmented rows, scaled; else 0.
    pub constant: f64,
    pub unit: Vec<f64>,
    /// Of all columns, if it is the same.
    common: Option<f64>,
    pub threads: usize,
    pub monitor: &'a dyn Monitor,
}

/// Looks at all values once, and refuses NaN and infinity.
pub fn survey(rows: &dyn Matrix, monitor: &dyn Monitor) -> Result<Survey> {
    let (strip, mut found) = (strip(rows), Survey::EMPTY);
    for start in (0..rows.len()).step_by(strip) {
        monitor.pause()?;
        let end = rows.len().min(start + strip);
        let more = rows.survey(start..end);
        if !more.finite {
            check_finite(rows, start..end)?;
        }
        found = found.and(more);
    }
    Ok(found)
}

/// Names the first value of some rows that is NaN or infinite.
fn check_finite(rows: &dyn Matrix, some: Range<usize>) -> Result<()> {
    let mut room = Entries::default();
    for row in some {
        if let Some((column, _)) = room.only(rows, row)?.pairs().find(|(_, x)| !x.is_finite()) {
            bail!(
                "rows must be finite, got NaN or infinity in row {row}, column {column}; \
                 remove the row or impute the value"
            );
        }
    }
    Ok(())
}

/// The power of two that brings the largest value into [1/2, 1), within the range of floats.
pub fn scale_of(largest: f64) -> i32 {
    if largest > 0.0 { (-exponent(largest)).clamp(-LARGEST_SHIFT, LARGEST_SHIFT) } else { 0 }
}

impl<'a> MarginProblem<'a> {
    pub fn new(
        rows: &'a dyn Matrix,
        labels: &'a [u32],
        bias: Bias,
        found: Survey,
        unit: Option<Vec<f64>>,
        (threads, monitor): (usize, &'a dyn Monitor),
    ) -> Result<Self> {
        let largest = if bias == Bias::Augmented { found.largest.max(1.0) } else { found.largest };
        let shift = scale_of(largest);
        let constant = if unit.is_some() { 1.0 } else { power(shift) };
        let constant = if bias == Bias::Augmented { constant } else { 0.0 };
        let unit = unit.map_or_else(|| filled(power(shift), rows.columns()), Ok)?;
        let common = unit.first().copied().filter(|first| unit.iter().all(|unit| unit == first));
        Ok(Self { rows, labels, bias, found, shift, constant, unit, common, threads, monitor })
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn columns(&self) -> usize {
        self.rows.columns()
    }

    /// Coordinates of a row, the constant one included.
    pub fn size(&self) -> usize {
        self.columns() + usize::from(self.bias == Bias::Augmented)
    }

    /// Whether all labels are equal: then there is one plane that separates, and no free bias to look for.
    pub fn is_of_one_class(&self) -> bool {
        self.labels.iter().all(|label| *label == self.labels[0])
    }

    pub fn groups(&self) -> usize {
        if self.bias == Bias::Free { 2 } else { 1 }
    }

    pub fn group(&self, row: usize) -> usize {
        if self.bias == Bias::Free { self.labels[row] as usize } else { 0 }
    }

    pub fn sign(&self, row: usize) -> f64 {
        if self.labels[row] == 1 { 1.0 } else { -1.0 }
    }

    /// Whether rows are worth keeping in full; a fact of the values, not of their storage.
    pub fn is_well_filled(&self) -> bool {
        10.0 * self.found.nonzeros as f64 >= self.len() as f64 * self.columns() as f64
    }

    fn raw(&self, v: &[f64]) -> Result<(Vec<f64>, f64)> {
        let w = collected(v.iter().zip(&self.unit).map(|(v, unit)| v * unit))?;
        let b = if self.bias == Bias::Augmented { v[self.columns()] * self.constant } else { 0.0 };
        Ok((w, b))
    }

    /// `<u_i, v>` of the rows with these numbers.
    pub fn scores(&self, numbers: &[u32], v: &[f64], out: &mut [f64]) -> Result<()> {
        let (w, b) = self.raw(v)?;
        let strip = strip(self.rows);
        let strips = numbers.chunks(strip).zip(out.chunks_mut(strip));
        let threads = self.threads.min(strips.len());
        each(strips, threads, self.monitor, |(numbers, out)| {
            self.rows.dots(numbers, &w, out);
            for (out, &row) in out.iter_mut().zip(numbers) {
                *out = self.sign(row as usize) * (*out + b);
            }
            Ok(())
        })
    }

    /// `<u_i, v>` of all rows.
    pub fn all_scores(&self, v: &[f64], out: &mut [f64]) -> Result<()> {
        let (w, b) = self.raw(v)?;
        let strip = strip(self.rows);
        let strips = out.chunks_mut(strip).enumerate();
        let threads = self.threads.min(strips.len());
        each(strips, threads, self.monitor, |(i, out)| {
            let first = i * strip;
            self.rows.scores(first..first + out.len(), &(&w).into(), &[b], out)?;
            for (out, label) in out.iter_mut().zip(&self.labels[first..]) {
                *out *= if *label == 1 { 1.0 } else { -1.0 };
            }
            Ok(())
        })
    }

    /// `||x_i||^2` of all raw rows times `scale`.
    pub fn squares(&self, scale: f64) -> Result<Vec<f64>> {
        let unit = filled(scale, self.columns())?;
        of_each_row(self.rows, self.threads, self.monitor, |range, out| self.rows.squares(range, &unit, out))
    }

    /// Columns and values of a scaled row, without its sign.
    pub fn entries<'b>(
        &'b self,
        row: usize,
        room: &'b mut Entries,
    ) -> Result<impl Iterator<Item = (usize, f64)> + use<'b>> {
        let constant = (self.bias == Bias::Augmented).then_some((self.columns(), self.constant));
        let own = room.only(self.rows, row)?.pairs().map(|(j, x)| (j, x * self.unit[j]));
        Ok(own.chain(constant))
    }

    /// `v += c*x` of a scaled row, without its sign; `c` is 1 or -1.
    pub fn add_to(&self, row: usize, c: f64, v: &mut [f64]) -> Result<()> {
        let (own, constant) = v.split_at_mut(self.columns());
        if let Some(unit) = self.common {
            // A product with the sign is exact, so it may come first.
            self.rows.axpy(row, c * unit, own);
        } else {
            for (j, x) in Entries::default().only(self.rows, row)?.pairs() {
                own[j] += c * (x * self.unit[j]);
            }
        }
        for v in constant {
            *v += c * self.constant;
        }
        Ok(())
    }

    /// The first row of each group.
    ///
    /// # Panics
    /// If a group has none: a problem of one class is never asked for with a free bias.
    pub fn firsts(&self) -> Result<Vec<u32>> {
        let first = |g| (0..self.len()).find(|&row| self.group(row) == g).expect("a row of each group");
        collected((0..self.groups()).map(|g| first(g) as u32))
    }
}
