//! What is to be learnt: checked once, then infallible.

use std::ops::Range;

use crate::arith::decay::Decay;
use crate::arith::step::weight;
use crate::error::{Error, Result};
use crate::rows::{Head, Mistake, Noise, Rows, Spread, Tie, Tolerance, Visit, integer_step};

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
    pub(super) tolerance: Tolerance,
    joint: Option<Spread>,
    penalty: Option<Penalty>,
    integer_step: Option<f64>,
}

/// What every example takes from the weights (not from the intercept).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    pub l1: f64,
    pub l2: f64,
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
            tolerance: Tolerance::default(),
            joint: None,
            penalty: None,
            integer_step,
        })
    }

    /// The same with what tolerates noise.
    pub fn tolerant(self, tolerance: Tolerance) -> Result<Self> {
        let Tolerance { margin, added_feature, max_mistakes } = tolerance;
        for (name, value) in [("margin", margin), ("added_feature", added_feature)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::Invalid(format!("{name} must be finite and at least 0, got {value}")));
            }
            if value != 0.0 && self.joint.is_some() {
                return Err(Error::Invalid(format!("{name} must be 0 for a joint decision, got {value}")));
            }
        }
        if max_mistakes == Some(0) {
            return Err(Error::Invalid("max_mistakes_per_example must be at least 1, got 0".into()));
        }
        Ok(Self { tolerance, ..self })
    }

    /// The same with a penalty.
    pub fn penalised(self, penalty: Penalty) -> Result<Self> {
        for (name, value) in [("l1", penalty.l1), ("l2", penalty.l2)] {
            if !((self.eta * value).is_finite() && value >= 0.0) {
                return Err(Error::Invalid(format!("{name} must be finite and at least 0, got {value}")));
            }
        }
        Ok(Self { penalty: Some(penalty), ..self })
    }

    /// The same with the planes as the classes of one decision, in the order of their labels.
    pub fn joint(self, spread: Spread) -> Result<Self> {
        let planes = self.positive.len();
        if planes < 2 || self.positive.iter().enumerate().any(|(k, &positive)| positive as usize != k) {
            return Err(Error::Invalid(format!(
                "positive must be 0, 1, … of two classes or more for a joint decision, got {:?}",
                self.positive
            )));
        }
        if self.tie != Tie::Mistake {
            return Err(Error::Invalid(
                "tie must be \"mistake\" for a joint decision, got \"positive\"".into(),
            ));
        }
        if let Some(label) = self.labels.iter().find(|&&label| label as usize >= planes) {
            return Err(Error::Invalid(format!(
                "labels must be below {planes} for a joint decision, got {label}"
            )));
        }
        // The other two spreads divide the step.
        let integer_step = self.integer_step.filter(|_| spread == Spread::Max);
        Ok(Self { joint: Some(spread), integer_step, ..self })
            .and_then(|problem: Self| problem.tolerant(self.tolerance))
    }

    pub(super) fn decay(&self) -> Option<Decay> {
        self.penalty.map(|Penalty { l1, l2 }| Decay::new(self.eta, l1, l2, self.rows.len()))
    }

    pub(super) fn is_joint(&self) -> bool {
        self.joint.is_some()
    }

    /// How many planes stop on their own: all of them, or together.
    pub(super) fn decisions(&self) -> usize {
        if self.joint.is_some() { 1 } else { self.positive.len() }
    }

    /// The decision that a plane belongs to.
    pub(super) fn decision(&self, plane: usize) -> usize {
        if self.joint.is_some() { 0 } else { plane }
    }

    /// Whether an entry of the log is the one by which the mistake is counted.
    pub(super) fn counts(&self, mistake: &Mistake) -> bool {
        self.joint.is_none() || self.labels[mistake.row as usize] == mistake.plane
    }

    /// Bytes that [`Problem::noise`] keeps of each example and decision.
    pub(super) fn noise_bytes(&self) -> usize {
        let Tolerance { added_feature, max_mistakes, .. } = self.tolerance;
        8 * (usize::from(added_feature != 0.0) + usize::from(max_mistakes.is_some()))
    }

    /// What is kept of each example while a range of planes trains.
    pub(super) fn noise(&self, planes: &Range<usize>) -> Option<Noise> {
        let width = if self.joint.is_some() { 1 } else { planes.len() };
        Noise::new(self.tolerance, self.rows.len(), planes.start, width)
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
            margin: self.tolerance.margin,
            joint: self.joint,
            integer_step: self.integer_step,
        }
    }

    /// The weight `s` of a row for a plane.
    pub(super) fn weight(&self, class_weight: [f64; 2], positive: u32, row: usize) -> f64 {
        let sample = self.sample_weight.map(|weights| weights[row]);
        weight(sample, class_weight[usize::from(self.labels[row] == positive)])
    }

    /// Rows with a weight above 0 for at least one plane; `None`: all of them.
    pub(super) fn kept(&self) -> Option<Vec<u32>> {
        let weightless = |row: usize| {
            if self.joint.is_some() {
                let label = self.labels[row];
                return self.weight(self.class_weight[label as usize], label, row) == 0.0;
            }
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

    /// No weights of examples, none of 0 of a class, and no penalty.
    pub(super) fn is_plain(&self) -> bool {
        self.sample_weight.is_none() && self.penalty.is_none() && !self.has_zero_class_weight()
    }

    fn has_zero_class_weight(&self) -> bool {
        self.class_weight.iter().any(|weights| weights.contains(&0.0))
    }

    /// The order without the rows that weigh 0 for this plane alone; `None`: there are none.
    pub(super) fn without_weightless(&self, head: &Head, order: Option<&[u32]>) -> Option<Vec<u32>> {
        let weighs = |row: &u32| self.weight(head.class_weight, head.positive, *row as usize) != 0.0;
        if self.joint.is_some() || !head.class_weight.contains(&0.0) {
            return None;
        }
        Some(match order {
            Some(order) => order.iter().copied().filter(weighs).collect(),
            None => (0..self.rows.len() as u32).filter(weighs).collect(),
        })
    }

    /// Ranges of planes that train together: one for each thread, and each plane with a class
    /// weight of 0 alone. Planes of a range have equal `ages` (planes x columns, or none at all).
    pub(super) fn ranges(&self, threads: usize, ages: &[i64]) -> Vec<Range<usize>> {
        let planes = self.positive.len();
        if self.joint.is_some() {
            return std::iter::once(0..planes).collect();
        }
        let width = planes.div_ceil(threads.max(1)).max(1);
        let zero = |k: usize| self.class_weight[k].contains(&0.0);
        let d = if ages.is_empty() { 0 } else { self.rows.columns() };
        let alone = |k: usize| zero(k) || ages[k * d..][..d] != ages[(k - 1) * d..][..d];
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for k in 0..planes {
            match ranges.last_mut() {
                Some(range) if range.len() < width && !alone(k) && !zero(k - 1) => range.end = k + 1,
                _ => ranges.push(k..k + 1),
            }
        }
        ranges
    }
}
