//! The numbers that the scores of one sequence are sums of, kept for those who look at more than the best
//! labels.

use super::frame::Shape;
use super::lattice::{Columns, Lattice, Search, SearchModel};
use crate::base::{Grow, Result};
use crate::rows::Entries;

/// `e[t][y]` and `pair[t][y'][y]`, in rows of labels that are padded as those of the table.
#[derive(Default)]
pub(super) struct Terms {
    shape: Shape,
    emission: Vec<f64>,
    /// One matrix for all tokens, or with pair weights one for each, that of the first unused.
    pair: Vec<f64>,
    of_token: bool,
}

impl Terms {
    /// Those of the sequence that the table was filled for last.
    pub fn make<C: Columns<f64>>(
        &mut self,
        lattice: &mut Lattice<f64>,
        model: SearchModel<f64, C>,
        rows: &Entries,
        forbids: bool,
    ) -> Result<()> {
        self.shape = lattice.shape;
        self.of_token = model.pair.is_some();
        self.emission.clear();
        self.pair.clear();
        if !self.of_token {
            self.pair.try_extend(model.frame.transition.iter().copied())?;
        }
        let search = Search { forbids, ..Search::default() };
        for token in 0..rows.len() {
            lattice.emit(model, rows, token);
            self.emission.try_extend(lattice.column.iter().copied())?;
            if let Some(weights) = model.pair {
                lattice.pairs(model.frame, weights, rows.row(token), search);
                self.pair.try_extend(lattice.pair.iter().copied())?;
            }
        }
        Ok(())
    }

    /// `e[t]`.
    pub fn emission(&self, token: usize) -> &[f64] {
        &self.emission[token * self.shape.stride..][..self.shape.stride]
    }

    /// `pair[t]`, a row for each label before.
    pub fn pair(&self, token: usize) -> &[f64] {
        let Shape { labels, stride } = self.shape;
        let start = if self.of_token { token * labels * stride } else { 0 };
        &self.pair[start..][..labels * stride]
    }
}
