//! The answers of layers of neurons, from weights where they stand.

use std::ops::Range;

use super::network::{Layer, Network, strip};
use crate::arith::environment::standard;
use crate::arith::neuron::{self, Activation};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Monitor, Result, collected, filled, tried};
use crate::rows::{Arranged, Dense, Matrix, Rows};
use crate::threads::each;

/// A layer of which nothing is copied.
pub struct LayerView<'a> {
    pub coef: Arranged<'a>,
    pub intercept: &'a [f64],
}

impl Layer {
    fn view(&self) -> LayerView<'_> {
        LayerView { coef: (&self.coef).into(), intercept: &self.intercept }
    }
}

impl Network {
    /// What the output neurons have for every row, row by row.
    pub fn scores(
        &self,
        rows: &dyn Matrix,
        probabilities: bool,
        threads: usize,
        monitor: &dyn Monitor,
        out: &mut [f64],
    ) -> Result<()> {
        let layers = collected(self.layers.iter().map(Layer::view))?;
        scores(rows, layers, self.activation, probabilities, threads, monitor, out)
    }
}

/// The same of layers whose shapes fit.
pub fn scores(
    rows: &dyn Matrix,
    layers: Vec<LayerView>,
    activation: Activation,
    probabilities: bool,
    threads: usize,
    monitor: &dyn Monitor,
    out: &mut [f64],
) -> Result<()> {
    let outputs = layers.last().map_or(1, |layer| layer.intercept.len());
    let strip = strip(rows.columns(), layers.iter().map(|layer| layer.coef.len()))?;
    standard(|| {
        let (n, mut width) = (rows.len(), 0);
        let layers = tried(layers.into_iter().map(|LayerView { coef, intercept }| {
            let planes = intercept.len();
            let coef = if width == 0 {
                rows.arrange(coef, planes, n, monitor)?
            } else {
                Dense::<f64>::new(&[], 0, width)?.arrange(coef, planes, n, monitor)?
            };
            width = planes;
            Ok(LayerView { coef, intercept })
        }))?;
        let answer = Outputs { rows, layers, activation, probabilities };
        each(out.chunks_mut(strip * outputs).enumerate(), threads, monitor, |(i, out)| {
            answer.give(i * strip..i * strip + out.len() / outputs, out)
        })
    })
}

struct Outputs<'a> {
    rows: &'a dyn Matrix,
    layers: Vec<LayerView<'a>>,
    activation: Activation,
    probabilities: bool,
}

impl Outputs<'_> {
    /// That of some rows, layer by layer.
    fn give(&self, range: Range<usize>, out: &mut [f64]) -> Result<()> {
        let (n, mut values, mut width) = (range.len(), Vec::new(), 0);
        for (number, LayerView { coef, intercept }) in self.layers.iter().enumerate() {
            let mut z = filled(0.0, n * intercept.len())?;
            if number == 0 {
                self.rows.scores(range.clone(), coef, intercept, &mut z)?;
            } else {
                Dense::new(&values, n, width)?.scores(0..n, coef, intercept, &mut z)?;
            }
            if number + 1 < self.layers.len() {
                dispatch(ApplyActivation(self.activation, &mut z));
            }
            (values, width) = (z, intercept.len());
        }
        if self.probabilities {
            values.chunks_mut(width).for_each(|z| dispatch(Probabilities(z)));
        }
        out.copy_from_slice(&values);
        Ok(())
    }
}

struct ApplyActivation<'a>(Activation, &'a mut [f64]);

impl Leaf for ApplyActivation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        self.0.apply(self.1);
    }
}

struct Probabilities<'a>(&'a mut [f64]);

impl Leaf for Probabilities<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        neuron::probabilities(self.0);
    }
}
