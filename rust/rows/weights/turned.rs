//! Numbers by column, written by plane.

use std::ops::Range;

use crate::base::{Monitor, Result};
use crate::rows::weights::table::{WIDE, in_tiles};

/// Planes and columns that are turned at once: a line of a cache is read, and one is written.
const SIDE: usize = 8;

/// Writes d x K numbers to a place of zeros as K x d. What is zero is not written: its pages stay those of the system.
pub(super) fn turn(
    from: &[f64],
    [planes, columns]: [usize; 2],
    to: &mut [f64],
    monitor: &dyn Monitor,
) -> Result<()> {
    in_tiles(columns, [planes, WIDE], monitor, |tile| {
        for first in (0..planes).step_by(SIDE) {
            let (from, to) = (&from[first..], &mut to[first * columns..]);
            let some = match planes - first {
                1 => turn_some::<1>,
                2 => turn_some::<2>,
                3 => turn_some::<3>,
                4 => turn_some::<4>,
                5 => turn_some::<5>,
                6 => turn_some::<6>,
                7 => turn_some::<7>,
                _ => turn_some::<SIDE>,
            };
            some(from, [planes, columns], to, tile.clone());
        }
    })
}

/// The same for the first `P` planes, in some columns.
fn turn_some<const P: usize>(
    from: &[f64],
    [planes, columns]: [usize; 2],
    to: &mut [f64],
    tile: Range<usize>,
) {
    let whole = tile.len() / SIDE * SIDE;
    for start in (tile.start..tile.start + whole).step_by(SIDE) {
        let (mut block, mut bits) = ([[0.0; SIDE]; P], 0);
        for j in 0..SIDE {
            for (line, &w) in block.iter_mut().zip(&from[(start + j) * planes..][..P]) {
                line[j] = w;
                bits |= w.to_bits();
            }
        }
        if bits != 0 {
            for (p, line) in block.iter().enumerate() {
                to[p * columns + start..][..SIDE].copy_from_slice(line);
            }
        }
    }
    for j in tile.start + whole..tile.end {
        (0..P).for_each(|p| to[p * columns + j] = from[j * planes + p]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_where_its_plane_and_column_say() {
        for planes in 1..=17 {
            for columns in [1, 7, 8, 9, WIDE + 3] {
                // Zeros up to the second block, and in a column of it.
                let number = |k: usize, j: usize| if j < 10 { 0.0 } else { (k * columns + j) as f64 };
                let by_column: Vec<f64> =
                    (0..columns).flat_map(|j| (0..planes).map(move |k| number(k, j))).collect();
                let mut by_plane = vec![0.0; planes * columns];
                turn(&by_column, [planes, columns], &mut by_plane, &()).expect("nobody interrupts");
                let all = (0..planes).flat_map(|k| (0..columns).map(move |j| number(k, j)));
                assert!(by_plane.into_iter().eq(all), "{planes} planes, {columns} columns");
            }
        }
    }
}
