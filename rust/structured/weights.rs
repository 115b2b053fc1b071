//! The weights of a chain, as the engines' protocol has them.

use std::borrow::Cow;

use super::sparse::Sparse;
use crate::arith::{average::average, environment::standard};
use crate::base::{Grow, Monitor, Result, bail, collected, ensure, filled, gathered, pieces};
use crate::rows::{Chosen, Matrix};

/// Weights of K labels over d columns, or sums over them.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainWeights<'a> {
    /// d x K: of a column for a label.
    pub emission: Sparse<'a>,
    /// K x K: of a label after another, the earlier one first.
    pub transition: Cow<'a, [f64]>,
    /// K: of the first label of a sequence.
    pub start: Cow<'a, [f64]>,
    /// K: of the last one.
    pub end: Cow<'a, [f64]>,
    /// d x (K x K): of a column for a label after another.
    pub pair: Option<Sparse<'a>>,
}

/// What a run has learnt, and all that it needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainState<'a> {
    pub weights: ChainWeights<'a>,
    /// The sums u of rule 5.
    pub sums: ChainWeights<'a>,
    pub seen: u64,
}

impl ChainWeights<'_> {
    pub fn zero(columns: usize, labels: usize, with_pair: bool) -> Result<Self> {
        Ok(Self {
            emission: Sparse::empty(columns)?,
            transition: filled(0.0, labels * labels)?.into(),
            start: filled(0.0, labels)?.into(),
            end: filled(0.0, labels)?.into(),
            pair: with_pair.then(|| Sparse::empty(columns)).transpose()?,
        })
    }

    pub fn labels(&self) -> usize {
        self.start.len()
    }

    /// Refuses arrays that are no weights over `columns` columns.
    pub fn check(&self, columns: usize, monitor: &dyn Monitor) -> Result<()> {
        self.check_some(columns, None, monitor)
    }

    /// The same before a search that reads the weights of these rows alone: of far more columns than entries
    /// no others are looked at.
    pub fn check_for(&self, rows: &dyn Matrix, monitor: &dyn Monitor) -> Result<()> {
        let own = rows.own_columns(self.labels(), &[], monitor)?;
        self.check_some(rows.columns(), own.as_ref().map(|own| &own.chosen), monitor)
    }

    fn check_some(&self, columns: usize, some: Option<&Chosen>, monitor: &dyn Monitor) -> Result<()> {
        let labels = self.labels();
        ensure!(labels != 0, "start must hold a weight for each label, got none");
        let sizes = [("transition", self.transition.len(), labels * labels), ("end", self.end.len(), labels)];
        for (name, got, needed) in sizes {
            ensure!(needed == got, "{name} must hold a weight for each of {labels} labels, got {got}");
        }
        self.emission.check("emission", (columns, labels), some, monitor)?;
        let planes = labels * labels;
        self.pair.as_ref().map_or(Ok(()), |pair| pair.check("pair", (columns, planes), some, monitor))
    }

    pub fn arrays(&self) -> impl Iterator<Item = &[f64]> {
        let pair = self.pair.as_ref().map(|pair| &pair.data);
        [&self.emission.data, &self.transition, &self.start, &self.end]
            .into_iter()
            .chain(pair)
            .map(|w| &w[..])
    }

    /// The same with other matrices for those of columns.
    fn with_columns(&self, of: impl Fn(&Sparse) -> Result<Sparse<'static>>) -> Result<ChainWeights<'static>> {
        let owned = |numbers: &[f64]| -> Result<_> { Ok(collected(numbers.iter().copied())?.into()) };
        Ok(ChainWeights {
            emission: of(&self.emission)?,
            transition: owned(&self.transition)?,
            start: owned(&self.start)?,
            end: owned(&self.end)?,
            pair: self.pair.as_ref().map(of).transpose()?,
        })
    }
}

impl ChainState<'_> {
    /// The columns, of the first so many, that have weights or sums.
    pub fn weighted(&self, columns: usize, monitor: &dyn Monitor) -> Result<Vec<usize>> {
        let mut weighted = Vec::new();
        let both = [&self.weights, &self.sums].into_iter();
        let tables = gathered(both.flat_map(|weights| [&weights.emission].into_iter().chain(&weights.pair)))?;
        let tables = gathered(tables.into_iter().filter(|table| !table.data.is_empty()))?;
        for piece in pieces(if tables.is_empty() { 0 } else { columns }, tables.len(), monitor) {
            for j in piece? {
                if tables.iter().any(|table| table.indptr.get(j) != table.indptr.get(j + 1)) {
                    weighted.try_push(j)?;
                }
            }
        }
        Ok(weighted)
    }

    /// The state over some columns, each at its place; others have no weights and no sums.
    pub fn take(&self, chosen: &Chosen, monitor: &dyn Monitor) -> Result<ChainState<'static>> {
        self.with_columns(|table| table.take(chosen, monitor))
    }

    /// The state over so many columns from which [`take`](Self::take) has taken this one; the chosen columns
    /// are sorted.
    pub fn put(&self, chosen: &Chosen, columns: usize, monitor: &dyn Monitor) -> Result<ChainState<'static>> {
        self.with_columns(|table| table.put(chosen, columns, monitor))
    }

    fn with_columns(&self, of: impl Fn(&Sparse) -> Result<Sparse<'static>>) -> Result<ChainState<'static>> {
        let (weights, sums) = (self.weights.with_columns(&of)?, self.sums.with_columns(&of)?);
        Ok(ChainState { weights, sums, seen: self.seen })
    }

    /// Refuses arrays that are no weights over `columns` columns with their sums.
    pub fn check(&self, columns: usize, monitor: &dyn Monitor) -> Result<()> {
        let Self { weights, sums, .. } = self;
        weights.check(columns, monitor)?;
        if sums.labels() != weights.labels() || sums.pair.is_some() != weights.pair.is_some() {
            bail!("sums must have the shapes of the weights");
        }
        sums.check(columns, monitor)
    }
}

pub fn averages(state: &ChainState, monitor: &dyn Monitor) -> Result<ChainWeights<'static>> {
    standard(|| {
        state.check(state.weights.emission.columns(), monitor)?;
        let ChainState { weights: w, sums: u, seen } = state;
        let mean = |w: &[f64], u: &[f64]| -> Result<Cow<'static, [f64]>> {
            Ok(collected(w.iter().zip(u).map(|(w, u)| average(*w, *u, *seen)))?.into())
        };
        let mean_of = |w: &Sparse, u: &Sparse| w.merge(u, |w, u| average(w, u, *seen), monitor);
        Ok(ChainWeights {
            emission: mean_of(&w.emission, &u.emission)?,
            transition: mean(&w.transition, &u.transition)?,
            start: mean(&w.start, &u.start)?,
            end: mean(&w.end, &u.end)?,
            pair: w.pair.as_ref().zip(u.pair.as_ref()).map(|(w, u)| mean_of(w, u)).transpose()?,
        })
    })
}
