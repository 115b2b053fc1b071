//! What is to be learnt, and how: checked once, then infallible.

use std::ops::Range;

use crate::arith::decay::Decay;
use crate::arith::step::{Aggressive, weight};
use crate::base::{Error, Grow, Monitor, Result, bail, collected, ensure, filled, pieces, same};
use crate::online::{pocket::Check, scores::of_each_row};
use crate::rows::{
    Examples, Head, Labels, Mistake, Noise, PassiveAggressive, Rows, Spread, Tie, Tolerance, Visit,
    integer_step,
};

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices")]
pub struct Settings {
    /// For each plane, the class index that is its +1.
    pub positive: Vec<u32>,
    /// For each plane, the weights of its negatives and positives.
    pub class_weight: Vec<[f64; 2]>,
    pub eta: f64,
    pub tie: Tie,
    pub fit_intercept: bool,
    pub tolerance: Tolerance,
    /// The planes are the classes of one decision, in the order of their labels.
    pub joint: Option<Spread>,
    pub penalty: Option<Penalty>,
    /// Passive-aggressive steps in the place of those of the length `eta`.
    pub aggressive: Option<Aggressive>,
    /// Each epoch visits a new permutation, drawn from this seed; `None`: the rows in their order.
    pub seed: Option<u64>,
    /// The number of the data among its parts, for these permutations.
    pub partition: u64,
    /// Penalties are applied to all weights at the end of each epoch; else they stay pending.
    pub settle: bool,
    /// Of a pocket: when errors are counted, and whether those of averages are, too.
    pub check: Check,
    pub average: bool,
    pub track_mistakes: bool,
    /// The activations at the visits of the last epoch are kept.
    pub track_activations: bool,
    pub threads: usize,
}

/// What every example takes from the weights (not from the intercept).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Penalty {
    pub l1: f64,
    pub l2: f64,
}

impl Settings {
    /// The plain perceptron, a plane for each of these classes.
    pub fn new(positive: Vec<u32>) -> Self {
        Self {
            class_weight: vec![[1.0; 2]; positive.len()],
            positive,
            eta: 1.0,
            tie: Tie::Mistake,
            fit_intercept: true,
            tolerance: Tolerance::default(),
            joint: None,
            penalty: None,
            aggressive: None,
            seed: None,
            partition: 0,
            settle: true,
            check: Check::Run,
            average: false,
            track_mistakes: false,
            track_activations: false,
            threads: 1,
        }
    }

    pub fn planes(&self) -> usize {
        self.positive.len()
    }

    /// How many planes stop on their own: all of them, or together.
    pub fn decisions(&self) -> usize {
        if self.joint.is_some() { 1 } else { self.planes() }
    }

    pub(in crate::online) fn has_zero_class_weight(&self) -> bool {
        self.class_weight.iter().any(|weights| weights.contains(&0.0))
    }

    fn check(&self) -> Result<()> {
        if self.class_weight.len() != self.planes() {
            let (got, want) = (self.class_weight.len(), self.planes());
            bail!("class_weight must have {want} entries, got {got}");
        }
        check_weights(self.class_weight.as_flattened())?;
        ensure!(self.eta.is_finite() && self.eta > 0.0, "eta0 must be finite and above 0, got {}", self.eta);
        let tolerance = self.tolerance;
        let noise =
            [("margin_threshold", tolerance.margin_threshold), ("added_feature", tolerance.added_feature)];
        let penalty = self.penalty.map(|Penalty { l1, l2 }| [("l1", l1), ("l2", l2)]);
        for (name, value) in noise {
            not_negative(name, value, value)?;
        }
        for (name, value) in penalty.into_iter().flatten() {
            not_negative(name, value, self.eta * value)?;
        }
        ensure!(tolerance.max_mistakes != Some(0), "max_mistakes_per_example must be at least 1, got 0");
        if self.joint.is_some() {
            self.check_joint()?;
        }
        if let Some(rule) = self.aggressive {
            rule.check()?;
            let (one, joint) =
                (Tolerance { max_mistakes: tolerance.max_mistakes, ..Tolerance::default() }, self.joint);
            if tolerance != one || self.penalty.is_some() || joint.is_some_and(|spread| spread != Spread::Max)
            {
                bail!(
                    "margin_threshold and added_feature must be 0, penalty None and joint \"max\" or None for \
                            passive-aggressive steps"
                );
            }
        }
        Ok(())
    }

    /// Checks that the labels are what the planes look for.
    fn check_labels(&self, labels: Labels) -> Result<()> {
        let planes = self.planes();
        match labels {
            Labels::Classes(classes) if self.joint.is_some() => {
                if let Some(class) = classes.iter().find(|&&class| class as usize >= planes) {
                    bail!("labels must be below {planes} for a joint decision, got {class}");
                }
            }
            Labels::Classes(_) => {}
            Labels::Sets(..) if self.joint.is_some() => {
                bail!("labels must be one class each for a joint decision, got sets");
            }
            Labels::Sets(_, width) => {
                if let Some(class) = self.positive.iter().find(|&&k| k as usize >= 32 * width) {
                    bail!("labels must have a bit for class {class}, got {width} words of 32 bits");
                }
            }
        }
        Ok(())
    }

    fn check_joint(&self) -> Result<()> {
        if self.planes() < 2 || self.positive.iter().enumerate().any(|(k, &positive)| positive as usize != k)
        {
            bail!(
                "positive must be 0, 1, … of two classes or more for a joint decision, got {:?}",
                self.positive
            );
        }
        ensure!(self.tie == Tie::Mistake, "tie must be \"mistake\" for a joint decision, got \"positive\"");
        let Tolerance { margin_threshold, added_feature, .. } = self.tolerance;
        for (name, value) in [("margin_threshold", margin_threshold), ("added_feature", added_feature)] {
            ensure!(value == 0.0, "{name} must be 0 for a joint decision, got {value}");
        }
        Ok(())
    }
}

fn not_negative(name: &str, value: f64, used: f64) -> Result<()> {
    ensure!(used.is_finite() && value >= 0.0, "{name} must be finite and at least 0, got {value}");
    Ok(())
}

fn check_weights(weights: &[f64]) -> Result<()> {
    match weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        None => Ok(()),
        Some(weight) => Err(Error::Invalid(format!(
            "sample_weight and class_weight must be finite and at least 0, got {weight}"
        ))),
    }
}

/// What is to be learnt: the examples with their labels and weights, and the settings.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    pub examples: &'a dyn Examples,
    pub labels: Labels<'a>,
    pub sample_weight: Option<&'a [f64]>,
    pub settings: &'a Settings,
    found: Prechecked,
}

/// What a look at all labels and weights has found.
#[derive(Debug, Clone, Copy)]
pub struct Prechecked {
    /// See [`integer_step`].
    integer_step: Option<f64>,
}

impl<'a> Problem<'a> {
    pub fn new(
        examples: &'a dyn Examples,
        labels: impl Into<Labels<'a>>,
        sample_weight: Option<&'a [f64]>,
        settings: &'a Settings,
    ) -> Result<Self> {
        let (n, labels) = (examples.len(), labels.into());
        let weights = sample_weight.map_or(n, <[f64]>::len);
        for (name, got) in [("labels", labels.len()), ("sample_weight", weights)] {
            ensure!(got == n, "{name} must have {n} entries, got {got}");
        }
        check_weights(sample_weight.unwrap_or(&[]))?;
        settings.check()?;
        settings.check_labels(labels)?;
        // The other two spreads divide the step, and so do passive-aggressive ones.
        let divides =
            settings.aggressive.is_some() || settings.joint.is_some_and(|spread| spread != Spread::Max);
        let integer_step =
            if divides { None } else { integer_step(settings.eta, sample_weight, &settings.class_weight) };
        Ok(Self { examples, labels, sample_weight, settings, found: Prechecked { integer_step } })
    }

    /// The same again for another epoch, with what [`Problem::new`] found. If the numbers were changed in
    /// between, the answers are wrong or a bounds check panics; nothing worse.
    pub fn again(
        examples: &'a dyn Examples,
        labels: impl Into<Labels<'a>>,
        sample_weight: Option<&'a [f64]>,
        settings: &'a Settings,
        found: Prechecked,
    ) -> Self {
        Self { examples, labels: labels.into(), sample_weight, settings, found }
    }

    pub fn found(&self) -> Prechecked {
        self.found
    }

    /// Without the exact path (rule 10), which looks at all weights and gives them another form.
    pub(in crate::online) fn in_floats(mut self) -> Self {
        self.found.integer_step = None;
        self
    }

    pub(in crate::online) fn is_in_floats(&self) -> bool {
        self.found.integer_step.is_none()
    }

    /// The examples as rows, for a learner that needs their numbers.
    pub(in crate::online) fn rows(&self) -> Result<&'a dyn Rows> {
        let text = "learner must be \"perceptron\" or \"voted\" for examples that are no rows";
        self.examples.rows().ok_or_else(|| Error::Invalid(text.into()))
    }

    pub(in crate::online) fn decay(&self) -> Result<Option<Decay>> {
        let eta = self.settings.eta;
        let decay = |Penalty { l1, l2 }| Decay::new(eta, l1, l2, self.examples.len());
        self.settings.penalty.map(decay).transpose()
    }

    pub(in crate::online) fn is_joint(&self) -> bool {
        self.settings.joint.is_some()
    }

    pub(in crate::online) fn decision(&self, plane: usize) -> usize {
        if self.is_joint() { 0 } else { plane }
    }

    /// Whether an entry of the log is the one by which the mistake is counted.
    pub(in crate::online) fn counts(&self, mistake: &Mistake) -> bool {
        !self.is_joint() || self.labels.class(mistake.row as usize) == mistake.plane as usize
    }

    /// Bytes that [`Problem::noise`] keeps of each example and decision.
    pub(in crate::online) fn noise_bytes(&self) -> usize {
        let Tolerance { added_feature, max_mistakes, .. } = self.settings.tolerance;
        8 * (usize::from(added_feature != 0.0) + usize::from(max_mistakes.is_some()))
    }

    /// Memory of each example while a range of planes trains.
    pub(in crate::online) fn noise(
        &self,
        planes: &Range<usize>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Noise>> {
        let width = if self.is_joint() { 1 } else { planes.len() };
        Noise::new(self.settings.tolerance, self.examples.len(), (planes.start, width), monitor)
    }

    /// A pass over all rows in their order. `squares` are those of [`Problem::squares`].
    pub fn visit<'b>(&self, squares: &'b [f64]) -> Visit<'b>
    where
        'a: 'b,
    {
        let aggressive = self.settings.aggressive.map(|rule| PassiveAggressive { rule, squares });
        let (tie, margin_threshold) = match aggressive {
            // Right by 1 is right, whatever the label.
            Some(_) => (Tie::Mistake, 1.0_f64.next_down()),
            None => (self.settings.tie, self.settings.tolerance.margin_threshold),
        };
        Visit {
            order: None,
            labels: self.labels,
            sample_weight: self.sample_weight,
            eta: self.settings.eta,
            tie,
            fit_intercept: self.settings.fit_intercept,
            margin_threshold,
            joint: self.settings.joint,
            integer_step: self.found.integer_step,
            aggressive,
        }
    }

    /// `x·x` of every row, if steps are made of it; else none.
    pub(in crate::online) fn squares(&self, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        if self.settings.aggressive.is_none() {
            return Ok(Vec::new());
        }
        let (rows, unit) = (self.rows()?, filled(1.0, self.examples.columns())?);
        of_each_row(rows, self.settings.threads, monitor, |range, out| rows.squares(range, &unit, out))
    }

    /// The weight `s` of a row for a plane.
    pub(in crate::online) fn weight(&self, class_weight: [f64; 2], positive: u32, row: usize) -> f64 {
        let sample = self.sample_weight.map(|weights| weights[row]);
        weight(sample, class_weight[usize::from(self.labels.of(row).has(positive))])
    }

    /// Rows with a weight above 0 for at least one plane; `None`: all of them.
    pub(in crate::online) fn weighted(&self, monitor: &dyn Monitor) -> Result<Option<Vec<u32>>> {
        let settings = self.settings;
        let weightless = |row: usize| {
            if self.is_joint() {
                let label = self.labels.class(row);
                return self.weight(settings.class_weight[label], label as u32, row) == 0.0;
            }
            let mut planes = settings.class_weight.iter().zip(&settings.positive);
            planes.all(|(&class_weight, &positive)| self.weight(class_weight, positive, row) == 0.0)
        };
        if self.sample_weight.is_none() && !settings.has_zero_class_weight() {
            return Ok(None);
        }
        let cost = if self.is_joint() { 1 } else { settings.planes() };
        let number = |row: usize| row as u32;
        let rows = selected(self.examples.len(), number, |row| !weightless(row as usize), cost, monitor)?;
        Ok((rows.len() < self.examples.len()).then_some(rows))
    }

    /// Whether every row is visited for every plane.
    pub fn visits_all(&self) -> bool {
        let weightless = self.sample_weight.is_some_and(|weights| weights.contains(&0.0));
        !weightless && !self.settings.has_zero_class_weight()
    }

    /// The order without the rows that weigh 0 for this plane alone; `None`: there are none.
    pub(in crate::online) fn without_weightless(
        &self,
        head: &Head,
        order: Option<&[u32]>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<u32>>> {
        let weighs = |row: u32| self.weight(head.class_weight, head.positive, row as usize) != 0.0;
        if self.is_joint() || !head.class_weight.contains(&0.0) {
            return Ok(None);
        }
        match order {
            Some(order) => selected(order.len(), |pos| order[pos], weighs, 4, monitor),
            None => selected(self.examples.len(), |row| row as u32, weighs, 1, monitor),
        }
        .map(Some)
    }

    /// Ranges of planes that train together: one for each thread, and each plane with a class
    /// weight of 0 alone. Planes of a range have equal `ages` (planes x columns, or none at all).
    pub(in crate::online) fn ranges(
        &self,
        threads: usize,
        ages: &[i64],
        monitor: &dyn Monitor,
    ) -> Result<Vec<Range<usize>>> {
        let planes = self.settings.planes();
        if self.is_joint() {
            return collected(std::iter::once(0..planes));
        }
        let width = planes.div_ceil(threads.max(1)).max(1);
        let zero = |k: usize| self.settings.class_weight[k].contains(&0.0);
        let d = if ages.is_empty() { 0 } else { self.examples.columns() };
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for k in 0..planes {
            match ranges.last_mut() {
                Some(range)
                    if range.len() < width
                        && !zero(k)
                        && !zero(k - 1)
                        && same(&ages[k * d..][..d], &ages[(k - 1) * d..][..d], monitor)? =>
                {
                    range.end = k + 1;
                }
                _ => ranges.try_push(k..k + 1)?,
            }
        }
        Ok(ranges)
    }
}

/// Those of the rows at `len` positions that are wanted.
fn selected(
    len: usize,
    row: impl Fn(usize) -> u32,
    wanted: impl Fn(u32) -> bool,
    cost: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<u32>> {
    let mut selected = Vec::new();
    for piece in pieces(len, cost, monitor) {
        for row in piece?.map(&row).filter(|&row| wanted(row)) {
            selected.try_push(row)?;
        }
    }
    Ok(selected)
}
