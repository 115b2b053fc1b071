//! What is to be learnt: checked once, then infallible.

use std::ops::Range;

use crate::arith::step::weight;
use crate::error::{Error, Result};
use crate::rows::{Head, Rows, Tie, Visit, integer_step};

/// What is to be learnt.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    pub rows: &'a dyn Rows,
    /// Class index of every row.
    pub labels: &'a [u32],
    pub sample_weight: Option<&'a [f64]>,
    /// For each plane, the class index that is its +1.
    pub positive: &'a [u32],
    /// For each plane, the weights of its negatives and positives.
    pub class_weight: &'a [[f64; 2]],
    pub eta: f64,
    pub tie: Tie,
    pub fit_intercept: bool,
    integer_step: Option<f64>,
}

impl<'a> Problem<'a> {
    #[allow(clippy::too_many_arguments)] // each is one plain input of the problem
    pub fn new(
        rows: &'a dyn Rows,
        labels: &'a [u32],
        sample_weight: Option<&'a [f64]>,
        positive: &'a [u32],
        class_weight: &'a [[f64; 2]],
        eta: f64,
        tie: Tie,
        fit_intercept: bool,
    ) -> Result<Self> {
        let n = rows.len();
        let same = |name: &str, got: usize, want: usize| {
            if got == want {
                Ok(())
            } else {
                Err(Error::Invalid(format!("{name} must have {want} entries, got {got}")))
            }
        };
        if u32::try_from(n).is_err() {
            return Err(Error::Invalid(format!(
                "rows must be fewer than 2^32, got {n}; feed them in batches"
            )));
        }
        same("labels", labels.len(), n)?;
        same("sample_weight", sample_weight.map_or(n, <[f64]>::len), n)?;
        same("class_weight", class_weight.len(), positive.len())?;
        let mut weights = sample_weight.unwrap_or(&[]).iter().chain(class_weight.as_flattened());
        if let Some(weight) = weights.find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
            return Err(Error::Invalid(format!(
                "sample_weight and class_weight must be finite and at least 0, got {weight}"
            )));
        }
        if !(eta.is_finite() && eta > 0.0) {
            return Err(Error::Invalid(format!("eta0 must be finite and above 0, got {eta}")));
        }
        let integer_step = integer_step(eta, sample_weight, class_weight);
        Ok(Self {
            rows,
            labels,
            sample_weight,
            positive,
            class_weight,
            eta,
            tie,
            fit_intercept,
            integer_step,
        })
    }

    /// A pass over all rows in their order.
    #[must_use]
    pub fn visit(&self) -> Visit<'a> {
        Visit {
            order: None,
            labels: self.labels,
            sample_weight: self.sample_weight,
            eta: self.eta,
            tie: self.tie,
            fit_intercept: self.fit_intercept,
            integer_step: self.integer_step,
        }
    }

    fn weight(&self, class_weight: [f64; 2], positive: u32, row: usize) -> f64 {
        let sample = self.sample_weight.map(|weights| weights[row]);
        weight(sample, class_weight[usize::from(self.labels[row] == positive)])
    }

    /// Rows with a weight above 0 for at least one plane; `None`: all of them.
    pub(super) fn kept(&self) -> Option<Vec<u32>> {
        let weightless = |row: usize| {
            let mut planes = self.class_weight.iter().zip(self.positive);
            planes.all(|(&class_weight, &positive)| self.weight(class_weight, positive, row) == 0.0)
        };
        if self.sample_weight.is_none() && !self.has_zero_class_weight() {
            return None;
        }
        let kept: Vec<u32> =
            (0..self.rows.len()).filter(|&row| !weightless(row)).map(|row| row as u32).collect();
        (kept.len() < self.rows.len()).then_some(kept)
    }

    fn has_zero_class_weight(&self) -> bool {
        self.class_weight.iter().any(|weights| weights.contains(&0.0))
    }

    /// The order without the rows that weigh 0 for this plane alone; `None`: there are none.
    pub(super) fn without_weightless(&self, head: &Head, order: Option<&[u32]>) -> Option<Vec<u32>> {
        let weighs = |row: &u32| self.weight(head.class_weight, head.positive, *row as usize) != 0.0;
        if !head.class_weight.contains(&0.0) {
            return None;
        }
        Some(match order {
            Some(order) => order.iter().copied().filter(weighs).collect(),
            None => (0..self.rows.len() as u32).filter(weighs).collect(),
        })
    }

    /// Ranges of planes that train together: one for each thread, and each plane with a class
    /// weight of 0 alone.
    pub(super) fn ranges(&self, threads: usize) -> Vec<Range<usize>> {
        let planes = self.positive.len();
        let width = planes.div_ceil(threads.max(1)).max(1);
        let alone = |k: usize| self.class_weight[k].contains(&0.0);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for k in 0..planes {
            match ranges.last_mut() {
                Some(range) if range.len() < width && !alone(k) && !alone(k - 1) => range.end = k + 1,
                _ => ranges.push(k..k + 1),
            }
        }
        ranges
    }
}
