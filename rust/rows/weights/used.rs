//! The columns of weights that hold anything.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::memory::Grow;
use crate::monitor::{Monitor, pieces};
use crate::rows::weights::table::{Layout, Table, WIDE, in_tiles};

impl Table {
    /// The columns in which a plane has a number other than 0; they rise.
    pub fn weighted_columns(&self, monitor: &dyn Monitor) -> Result<Vec<usize>> {
        weighted_columns(&[self], self.shape()[1], monitor)
    }

    /// Adds bits to those of columns in which there is a number other than 0.
    fn add_bits(&self, columns: Range<usize>, bits: &mut [u64]) {
        let ([planes, every], Some(numbers)) = (self.shape(), self.numbers()) else { return };
        if planes > 1 && self.layout() == Layout::ByColumn {
            let numbers = &numbers[columns.start * planes..];
            // Where the compiler knows how many there are, few take a third of the time.
            return match planes {
                2 => add_bits_of(numbers.chunks_exact(2), bits),
                3 => add_bits_of(numbers.chunks_exact(3), bits),
                4 => add_bits_of(numbers.chunks_exact(4), bits),
                5 => add_bits_of(numbers.chunks_exact(5), bits),
                _ => add_bits_of(numbers.chunks_exact(planes), bits),
            };
        }
        for k in 0..planes {
            add_bits_of(numbers[k * every + columns.start..].chunks_exact(1), bits);
            if bits.iter().all(|bits| *bits != 0) {
                return;
            }
        }
    }

    /// The numbers of these columns alone, by plane.
    pub fn of_columns(&self, columns: &[usize], monitor: &dyn Monitor) -> Result<Self> {
        if columns.iter().copied().eq(0..self.shape()[1]) {
            return self.taken(None, Layout::ByPlane, monitor);
        }
        let (mut few, [per_plane, per_column]) = (Self::zero([self.shape()[0], columns.len()]), self.steps());
        if let Some(numbers) = self.numbers() {
            let (len, planes, out) = (columns.len(), self.shape()[0], few.own(monitor)?);
            in_tiles(len, [planes, WIDE], monitor, |tile| {
                for k in 0..planes {
                    let out = &mut out[k * len..][tile.clone()];
                    for (number, j) in out.iter_mut().zip(&columns[tile.clone()]) {
                        *number = numbers[k * per_plane + j * per_column];
                    }
                }
            })?;
        }
        Ok(few)
    }
}

/// The columns in which one of the tables has a number other than 0; they rise.
pub fn weighted_columns(tables: &[&Table], columns: usize, monitor: &dyn Monitor) -> Result<Vec<usize>> {
    const AT_ONCE: usize = 1 << 10;
    let mut weighted = Vec::new();
    // To look at many of them in the order of their lanes, and to sort them, takes longer than to look at all.
    let are_few = |within: &Arc<Vec<usize>>| within.len() <= columns / 8;
    if tables.iter().all(|table| table.is_empty() || table.within.as_ref().is_some_and(are_few)) {
        for table in tables {
            let (Some(numbers), Some(within)) = (table.numbers(), &table.within) else { continue };
            let (planes, [per_plane, per_column]) = (table.shape()[0], table.steps());
            let is_weighted = |j: &usize| (0..planes).any(|k| numbers[k * per_plane + j * per_column] != 0.0);
            for piece in pieces(within.len(), planes, monitor) {
                for j in within[piece?].iter().filter(|j| is_weighted(j)) {
                    weighted.try_push(*j)?;
                }
            }
        }
        weighted.sort_unstable();
        weighted.dedup();
        return Ok(weighted);
    }
    let (mut bits, mut found) = ([0; AT_ONCE], [0; AT_ONCE]);
    let planes = tables.first().map_or(1, |table| table.shape()[0].saturating_mul(tables.len()));
    for piece in pieces(columns.div_ceil(AT_ONCE), planes.saturating_mul(AT_ONCE), monitor) {
        for start in piece?.map(|i| i * AT_ONCE) {
            let range = start..columns.min(start + AT_ONCE);
            let bits = &mut bits[..range.len()];
            bits.fill(0);
            for table in tables {
                table.add_bits(range.clone(), bits);
            }
            // Without a branch: whether there is anything in a column is as good as drawn.
            let mut len = 0;
            for (j, bits) in range.zip(bits) {
                found[len] = j;
                len += usize::from(*bits != 0);
            }
            weighted.try_extend(found[..len].iter().copied())?;
        }
    }
    Ok(weighted)
}

/// Adds the bits of numbers other than 0 to those of each column; without a branch for each of few.
#[inline(always)]
fn add_bits_of<'a>(columns: impl Iterator<Item = &'a [f64]>, bits: &mut [u64]) {
    const FEW: usize = 64;
    let any = |numbers: &[f64]| numbers.iter().fold(0, |bits, number| bits | number.to_bits()) << 1;
    for (bits, column) in bits.iter_mut().zip(columns) {
        *bits |= match column.len() {
            ..=FEW => any(column),
            _ => column.chunks(FEW).map(any).find(|bits| *bits != 0).unwrap_or(0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_have_a_number_are_found_however_they_stand() {
        let with = |planes: usize, columns: &[usize], layout| {
            let mut numbers = vec![0.0; planes * 2500];
            numbers[9] = -0.0;
            columns.iter().enumerate().for_each(|(i, j)| numbers[i % planes * 2500 + j] = -1.0);
            let mut table = Table::new(numbers, [planes, 2500]).expect("K x d");
            table.stand(layout, &()).expect("memory");
            table
        };
        for (planes, layout) in
            [1, 3, 20].into_iter().flat_map(|k| [Layout::ByPlane, Layout::ByColumn].map(|layout| (k, layout)))
        {
            let [one, other] = [&[0, 1023, 1024, 2499][..], &[1, 1023]].map(|all| with(planes, all, layout));
            assert_eq!(one.weighted_columns(&()), Ok(vec![0, 1023, 1024, 2499]));
            let tables = [&one, &Table::zero([planes, 2500]), &other];
            assert_eq!(weighted_columns(&tables, 2500, &()), Ok(vec![0, 1, 1023, 1024, 2499]));
        }
    }
}
