//! What one mistake changes: the labels that were right gain, those that were chosen lose.

use super::weights::Padded;
use crate::arith::lattice::Number;
use crate::rows::Entries;

/// Adds `c` times the features of `truth`, and takes `c` times those of `path`, where they differ;
/// `is_whole`: the last label is that of the sequence. Returns the largest weight written.
pub(super) fn update<N: Number>(
    w: &mut Padded<N>,
    c: f64,
    rows: &Entries,
    (truth, path): (&[u32], &[u32]),
    is_whole: bool,
) -> N {
    let (labels, stride) = (w.labels, w.stride);
    let mut largest = N::default();
    for token in 0..truth.len() {
        let row = rows.row(token);
        let (right, wrong) = (truth[token] as usize, path[token] as usize);
        if right != wrong {
            for (c, label) in [(c, right), (-c, wrong)] {
                largest = largest.larger(N::add_row(c, row, &mut w.emission, (stride, label)));
                if token == 0 {
                    largest = largest.larger(N::add(c, &mut w.start[label]));
                }
                if is_whole && token + 1 == truth.len() {
                    largest = largest.larger(N::add(c, &mut w.end[label]));
                }
            }
        }
        if token == 0 {
            continue;
        }
        let (right, wrong) = ((truth[token - 1] as usize, right), (path[token - 1] as usize, wrong));
        if right != wrong {
            for (c, (before, label)) in [(c, right), (-c, wrong)] {
                let at = before * stride + label;
                largest = largest.larger(N::add(c, &mut w.transition[at]));
                w.turned[label * stride + before] = w.transition[at];
                if let Some(pair) = &mut w.pair {
                    largest = largest.larger(N::add_row(c, row, pair, (labels * stride, at)));
                }
            }
        }
    }
    largest
}
