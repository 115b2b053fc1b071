//! The weights of one or more planes, in the form that a leaf trains on.

use crate::arith::decay::Decay;
use crate::arith::exact::{Halves, LARGEST, LARGEST_SUM, weight_limit};
use crate::arith::finite::all_finite;
use crate::arith::integers::integers_within;
use crate::base::{Error, Grow, Monitor, Result, filled, pieces};
use crate::monitor::{self, all};
use crate::rows::pass::noise::Noise;
use crate::rows::weights::pending::{Ages, Pending};
use crate::rows::weights::scaled::Common;
use crate::rows::weights::table::{Layout, Table, fill};
use crate::rows::weights::undo::Undo;

/// Everything of a plane but its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Index of the plane in the state.
    pub plane: u32,
    /// The class index that is its +1.
    pub positive: u32,
    /// Weights of its negatives and positives.
    pub class_weight: [f64; 2],
    pub intercept: f64,
    /// Examples seen since the last cold start.
    pub seen: u64,
    /// Sum of the losses of this epoch, in visiting order.
    pub loss: f64,
}

/// Bounds of a data set that the exact path needs (rule 10).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Magnitude {
    /// Largest |value|.
    pub value: f64,
    /// The largest sum of |values| of a row, but for its rounding: it is compared with room to spare.
    pub row: f64,
}

impl Magnitude {
    /// Takes in the largest |value| of a row and the sum of all its |values|.
    #[must_use]
    pub fn with(self, [largest, sum]: [f64; 2]) -> Self {
        Self { value: self.value.max(largest), row: self.row.max(sum) }
    }
}

/// Forms of the weights of K planes over d columns.
pub enum Weights {
    Float(Table),
    /// Exact integers for dense bytes.
    Halves(Vec<Halves>),
    /// Exact integers for CSR rows, d x stride.
    Counts {
        w: Vec<i32>,
        stride: usize,
    },
}

/// Values per column, of all the rows to be scored, from which another form of the weights is worth making.
pub(in crate::rows) const MANY: usize = 8;

/// Activations of examples at their visit, before the update: n x width, from plane `first` on.
#[derive(Debug, Clone, PartialEq)]
pub struct Activations {
    pub values: Vec<f64>,
    pub first: usize,
    pub width: usize,
}

impl Activations {
    #[inline(always)]
    pub(in crate::rows) fn put(&mut self, row: usize, plane: u32, a: f64) {
        self.values[row * self.width + plane as usize - self.first] = a;
    }
}

pub struct Planes {
    pub heads: Vec<Head>,
    /// Memory of each example during a call; set by the driver.
    pub noise: Option<Noise>,
    /// Penalties to be applied; set by the driver. Rules out the exact path.
    pub pending: Option<Pending>,
    /// Where the activations of the visited examples go, if they are wanted.
    pub activations: Option<Activations>,
    /// What the weights were, if all that is learnt may be taken back; set by the driver. Rules out the exact path.
    pub undo: Option<Undo>,
    columns: usize,
    pub(crate) weights: Weights,
    /// No exact path any more: its bound was passed.
    inexact: bool,
    /// The largest |weight| that the exact path allows.
    pub(in crate::rows) limit: i32,
}

impl Planes {
    /// # Panics
    /// If there are not weights for each head.
    pub fn new(heads: Vec<Head>, weights: Table) -> Self {
        let [planes, columns] = weights.shape();
        assert_eq!(planes, heads.len());
        Self {
            heads,
            noise: None,
            pending: None,
            activations: None,
            undo: None,
            columns,
            weights: Weights::Float(weights),
            inexact: false,
            limit: 0,
        }
    }

    pub fn is_exact(&self) -> bool {
        !self.inexact && matches!(self.weights, Weights::Halves(_) | Weights::Counts { .. })
    }

    /// The same for rows of this limit: those that are learnt from next may have a larger one.
    fn is_exact_within(&self, limit: Option<i32>) -> bool {
        self.is_exact() && limit.is_some_and(|limit| self.limit <= limit)
    }

    /// The weights of one plane.
    pub fn plane(&self, k: usize) -> Result<Vec<f64>> {
        let mut out = Table::zero([1, self.columns]);
        self.write(std::iter::once((k, 0)), &mut out, &())?;
        out.by_plane(&())
    }

    /// Copies the weights of some planes, in whatever form they are, to where they belong in a table.
    pub fn write(
        &self,
        planes: impl Iterator<Item = (usize, usize)> + Clone,
        to: &mut Table,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        match &self.weights {
            Weights::Float(table) => table.write(planes, to, monitor),
            Weights::Halves(w) => to.fill(planes, Layout::ByPlane, |k, j| f64::from(w[k].weight(j)), monitor),
            Weights::Counts { w, stride } => {
                to.fill(planes, Layout::ByColumn, |k, j| f64::from(w[j * stride + k]), monitor)
            }
        }
    }

    /// A copy of the weights in floats, in the layout that they have.
    pub fn table(&self, monitor: &dyn Monitor) -> Result<Table> {
        let layout = match &self.weights {
            Weights::Float(table) => return table.copy(monitor),
            Weights::Halves(_) => Layout::ByPlane,
            Weights::Counts { .. } => Layout::ByColumn,
        };
        let mut table = Table::zero([self.heads.len(), self.columns]);
        table.stand(layout, monitor)?;
        self.write((0..self.heads.len()).map(|k| (k, k)), &mut table, monitor)?;
        Ok(table)
    }

    /// The same, taken out: the planes have none to go on with.
    pub fn take(&mut self, monitor: &dyn Monitor) -> Result<Table> {
        self.leave_integers(monitor)?;
        match &mut self.weights {
            Weights::Float(table) => Ok(std::mem::take(table)),
            _ => Err(Error::Memory),
        }
    }

    /// Other planes in the place of these.
    pub fn replace(&mut self, heads: Vec<Head>, weights: Table) {
        (self.heads, self.weights) = (heads, Weights::Float(weights));
    }

    /// From here on all that is learnt can be taken back.
    pub fn keep_undo(&mut self) {
        self.leave_exact();
        self.undo = Some(Undo::default());
    }

    /// Makes the weights what they were then.
    pub fn take_back(&mut self) {
        let (Some(undo), Weights::Float(table)) = (&mut self.undo, &mut self.weights) else { return };
        // What has been written to is nobody else's.
        if let (false, Ok(weights)) = (undo.is_empty(), table.own(&())) {
            undo.take_back(weights);
        }
    }

    /// Puts the planes under a penalty, with `ages` examples pending on each coordinate.
    pub fn put_under(&mut self, decay: Decay, ages: &[i64], monitor: &dyn Monitor) -> Result<()> {
        self.leave_exact();
        let age = ages.first().copied().unwrap_or(0);
        self.pending = Some(
            if decay.is_common() && all(ages, |ages| ages.iter().all(|other| *other == age), monitor)? {
                Pending::Common(Common::new(decay, age))
            } else {
                Pending::Each(Ages::new(decay, ages, monitor)?)
            },
        );
        Ok(())
    }

    /// Before the first example: if one factor can stand for all that is pending, but the ages differ,
    /// everything is settled.
    pub(crate) fn level(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if matches!(&self.pending, Some(Pending::Each(ages)) if ages.decay.is_common()) {
            self.settle(monitor)?;
            if let Some(Pending::Each(ages)) = self.pending.take() {
                self.pending = Some(Pending::Common(Common::new(ages.decay, 0)));
            }
        }
        Ok(())
    }

    /// The examples pending on each coordinate, if there is a penalty.
    pub fn ages(&self, monitor: &dyn Monitor) -> Result<Option<Vec<i64>>> {
        Ok(match &self.pending {
            None => None,
            Some(Pending::Each(ages)) => Some(ages.ages(monitor)?),
            Some(Pending::Common(common)) => Some(monitor::filled(&common.age(), self.columns, monitor)?),
        })
    }

    /// Applies all penalties that are pending. After an interrupt some still are.
    pub fn settle(&mut self, monitor: &dyn Monitor) -> Result<()> {
        // Integers are put under no penalty.
        let (Some(pending), Weights::Float(table)) = (&mut self.pending, &mut self.weights) else {
            return Ok(());
        };
        let (d, [by_plane, by_column]) = (self.columns, table.steps());
        let weights = table.own(monitor)?;
        match pending {
            // One factor for all: it is taken at once, or not at all. A pass over the weights, as
            // `is_finite`.
            Pending::Common(common) => common.settle(weights),
            Pending::Each(ages) => {
                const SETTLED: usize = 8; // numbers that are copied meanwhile
                let planes = self.heads.len();
                for piece in pieces(d, SETTLED * planes, monitor) {
                    for j in piece? {
                        ages.settle(j, weights[j * by_column..].iter_mut().step_by(by_plane).take(planes));
                    }
                }
            }
        }
        Ok(())
    }

    pub fn is_finite(&self) -> bool {
        let finite = match &self.weights {
            Weights::Float(table) => all_finite(table.numbers().unwrap_or_default()),
            Weights::Halves(_) | Weights::Counts { .. } => true,
        };
        finite && self.heads.iter().all(|head| head.intercept.is_finite())
    }

    /// Floats that stand so, and are nobody else's. An interrupt leaves the weights in the form that they had.
    pub fn make_float(&mut self, layout: Layout, monitor: &dyn Monitor) -> Result<()> {
        self.leave_integers(monitor)?;
        if let Weights::Float(table) = &mut self.weights {
            table.stand(layout, monitor)?;
            table.own(monitor)?;
        }
        Ok(())
    }

    fn leave_integers(&mut self, monitor: &dyn Monitor) -> Result<()> {
        if !matches!(self.weights, Weights::Float(_)) {
            self.weights = Weights::Float(self.table(monitor)?);
        }
        Ok(())
    }

    /// Brings the weights into `Halves` if rule 10 holds for them, else into `ByPlane`.
    pub(in crate::rows) fn make_halves(
        &mut self,
        integer_step: Option<f64>,
        size: Magnitude,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let limit = exact_limit(integer_step, size, LARGEST_SUM);
        if matches!(self.weights, Weights::Halves(_)) && self.is_exact_within(limit) {
            return Ok(());
        }
        self.make_float(Layout::ByPlane, monitor)?;
        let d = self.columns;
        if let Some(numbers) = self.integers(limit).and_then(Table::numbers) {
            self.weights = Weights::Halves(halves(numbers, d, monitor)?);
        }
        Ok(())
    }

    /// Brings the weights into `Counts` if rule 10 holds for them, else into `ByColumn`.
    pub(in crate::rows) fn make_counts(
        &mut self,
        integer_step: Option<f64>,
        size: Option<Magnitude>,
        monitor: &dyn Monitor,
    ) -> Result<()> {
        let limit = size.and_then(|size| exact_limit(integer_step, size, LARGEST));
        if matches!(self.weights, Weights::Counts { .. }) && self.is_exact_within(limit) {
            return Ok(());
        }
        if self.inexact || limit.is_none() {
            return self.make_float(Layout::ByColumn, monitor);
        }
        self.leave_integers(monitor)?;
        let (planes, d) = (self.heads.len(), self.columns);
        let Some(table) = self.integers(limit) else { return self.make_float(Layout::ByColumn, monitor) };
        // Rows of eight i32 keep the loop over planes free of a remainder.
        let stride = if planes == 1 { 1 } else { planes.next_multiple_of(8) };
        let mut w = filled(0, d * stride)?;
        if let (Some(numbers), [per_plane, per_column]) = (table.numbers(), table.steps()) {
            let number = |k: usize, j: usize| numbers[k * per_plane + j * per_column] as i32;
            let (to, all) = ((Layout::ByColumn, [1, stride]), (0..planes).map(|k| (k, k)));
            fill((&mut w, to), d, all, table.layout(), number, |_| false, monitor)?;
        }
        self.weights = Weights::Counts { w, stride };
        Ok(())
    }

    /// The weights, if they are integers within the bounds of rule 10.
    fn integers(&mut self, limit: Option<i32>) -> Option<&Table> {
        let limit = limit.filter(|_| !self.inexact && self.columns > 0)?;
        let Weights::Float(table) = &self.weights else { return None };
        let exact = integers_within(table.numbers().unwrap_or_default(), f64::from(limit));
        (self.limit, self.inexact) = (limit, !exact);
        exact.then_some(table)
    }

    /// Rule 3 from here on; the form changes when the planes are prepared again.
    pub(in crate::rows) fn leave_exact(&mut self) {
        self.inexact = true;
    }

    /// The same after [`Stop::Limit`](crate::rows::Stop::Limit), which is that of the memory for an undo, too.
    pub(in crate::rows) fn stop_at_limit(&mut self) -> Result<()> {
        self.leave_exact();
        if self.undo.as_ref().is_some_and(Undo::has_failed) { Err(Error::Memory) } else { Ok(()) }
    }
}

/// The largest |weight| with which steps and values of this size stay exact; `None`: not even 0.
fn exact_limit(integer_step: Option<f64>, size: Magnitude, largest_sum: f64) -> Option<i32> {
    (integer_step? * size.value <= LARGEST).then(|| weight_limit(size.row, largest_sum))
}

/// Integers, K x columns, each in two halves.
pub(in crate::rows) fn halves(w: &[f64], columns: usize, monitor: &dyn Monitor) -> Result<Vec<Halves>> {
    let mut planes = Vec::new();
    for w in w.chunks(columns) {
        monitor.pause()?;
        planes.try_push(Halves::new(w)?)?;
    }
    Ok(planes)
}
