//! The multilayer perceptron.
//!
//! - Problem: find weights of layers of neurons that make the mean logistic loss of the examples small:
//!   minus the logarithm of the probability of the true class.
//! - Update rule: a batch at a time, in the order of the epoch: `z = W*h + b` and `h' = f(z)` from
//!   layer to layer; at the output, logistic function or softmax. The error of the output is
//!   probability minus truth, that of a layer before is `(Wᵀ*error)*f'(z)`. The gradient is the sum of
//!   `error*h` over the batch; a step is `W = r*W − (eta/m)*gradient`, `r = max(0, 1 − eta*alpha/m)`, with m
//!   examples in the batch. The weight of an example multiplies its error of the output and its loss; those
//!   of weight 0 are left out before the order is drawn.
//! - Given: start values, learning rate, strength of the penalty, batch size, weights of examples, a seed or
//!   none.
//! - Result: weights and intercepts; the weighted mean loss of each epoch, each example's before its batch's
//!   step.
//! - Paper: Rumelhart, Hinton, Williams 1986, Learning representations by back-propagating errors;
//!   start values: Glorot, Bengio 2010, equation 16.

use super::network::{Layer, Network};
use crate::arith::environment::standard;
use crate::arith::neuron;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{
    Error, Grow, Monitor, Result, bail, collected, ensure, filled, refill, tried, unless_interrupted,
};
use crate::online::Epoch;
use crate::order::shuffle;
use crate::rows::Matrix;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetworkSettings {
    pub rate: f64,
    pub alpha: f64,
    pub batch_size: usize,
    /// Key of the orders; `None`: the stored one.
    pub seed: Option<u64>,
}

/// A run between two epochs. It is always used with the rows that it was started with, and not at all
/// after an error.
pub struct NetworkRun {
    network: Network,
    labels: Vec<u32>,
    weights: Option<Vec<f64>>,
    /// Those of all examples together.
    weight: f64,
    visited: Vec<u32>,
    settings: NetworkSettings,
    pass: BatchPass,
    order: Vec<u32>,
}

impl NetworkRun {
    /// Checks labels, weights and network against the rows.
    pub fn start(
        rows: &dyn Matrix,
        labels: Vec<u32>,
        weights: Option<Vec<f64>>,
        network: Network,
        settings: NetworkSettings,
    ) -> Result<Self> {
        let (n, classes) = (rows.len(), network.outputs().max(2));
        if labels.len() != n || n == 0 || labels.iter().any(|&label| label as usize >= classes) {
            bail!("labels must be {n} numbers below {classes}, and at least one");
        }
        ensure!(settings.batch_size >= 1, "batch_size must be at least 1, got 0");
        let (visited, weight) = match &weights {
            None => (collected(0..n as u32)?, n as f64),
            Some(weights) => visited(weights, n)?,
        };
        let pass = BatchPass {
            values: network.room(rows.columns())?,
            errors: tried(network.layers.iter().map(|layer| filled(0.0, layer.neurons())))?,
            gradient: tried(network.layers.iter().map(Layer::zeros))?,
        };
        Ok(Self { network, labels, weights, weight, visited, settings, pass, order: Vec::new() })
    }

    /// Visits all examples in the order of the epoch of this number.
    pub fn epoch(&mut self, rows: &dyn Matrix, number: u64, monitor: &dyn Monitor) -> Result<Epoch> {
        standard(|| {
            let mut done = Tally::default();
            let is_whole =
                unless_interrupted(self.visit_batches(rows, number, monitor, &mut done))?.is_some();
            if !is_whole {
                self.pass.gradient.iter_mut().flat_map(Layer::numbers_mut).for_each(|g| *g = 0.0);
            }
            if !self.network.layers.iter().flat_map(Layer::numbers).all(|w| w.is_finite()) {
                return Err(Error::Overflow { epoch: number });
            }
            let weight = if is_whole { self.weight } else { done.weight };
            let loss = if weight > 0.0 { done.loss / weight } else { 0.0 };
            Epoch::of_one_decision(done.mistakes, loss, !is_whole)
        })
    }

    /// Makes a step with each batch, and tells what the batches so far have come to.
    fn visit_batches(
        &mut self,
        rows: &dyn Matrix,
        number: u64,
        monitor: &dyn Monitor,
        done: &mut Tally,
    ) -> Result<()> {
        let Self { network, labels, weights, visited, settings, pass, order, .. } = self;
        refill(order, visited.len(), |i| visited[i], monitor)?;
        if let Some(seed) = settings.seed {
            shuffle(order, (seed, number, 0), monitor)?;
        }
        let strip = network.strip(rows.columns())?;
        let mut tally = Tally::default();
        for batch in order.chunks(settings.batch_size) {
            for (k, &row) in batch.iter().enumerate() {
                if k % strip == 0 {
                    monitor.pause()?;
                }
                rows.write(row as usize, &mut pass.values[0]);
                let label = labels[row as usize] as usize;
                let weight = weights.as_ref().map_or(1.0, |weights| weights[row as usize]);
                let Some((loss, is_mistake)) = dispatch(Example { network, pass, label, weight }) else {
                    return Err(Error::Overflow { epoch: number });
                };
                tally.loss += loss;
                tally.weight += weight;
                tally.mistakes += i64::from(is_mistake);
            }
            dispatch(Step { network, gradient: &mut pass.gradient, settings, examples: batch.len() });
            *done = tally;
        }
        Ok(())
    }

    pub fn network(&self) -> &Network {
        &self.network
    }
}

/// What examples have come to: the sums of their losses and weights, and the mistakes.
#[derive(Clone, Copy, Default)]
struct Tally {
    loss: f64,
    weight: f64,
    mistakes: i64,
}

/// The examples of a weight above 0, and all weights together, added in stored order.
fn visited(weights: &[f64], n: usize) -> Result<(Vec<u32>, f64)> {
    ensure!(
        weights.len() == n,
        "sample_weight must have {n} entries, one for each example, got {}",
        weights.len()
    );
    if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        bail!("sample_weight must be finite and at least 0, got {weight}");
    }
    let (mut visited, mut total) = (Vec::new(), 0.0);
    for (row, &weight) in (0..).zip(weights) {
        if weight > 0.0 {
            visited.try_push(row)?;
            total += weight;
        }
    }
    if visited.is_empty() || !f64::is_finite(total) {
        bail!("sample_weight must add up to a finite number above 0, got {total}");
    }
    Ok((visited, total))
}

/// What a pass over an example computes, layer by layer, and the sum of the gradients of a batch.
struct BatchPass {
    values: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    gradient: Vec<Layer>,
}

struct Example<'a> {
    network: &'a Network,
    pass: &'a mut BatchPass,
    label: usize,
    weight: f64,
}

impl Leaf for Example<'_> {
    /// The loss, and whether it was a mistake; `None` if an activation is not finite.
    type Output = Option<(f64, bool)>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Option<(f64, bool)> {
        let Self { network, pass: BatchPass { values, errors, gradient }, label, weight } = self;
        network.forward(values);
        let last = network.layers.len() - 1;
        if !values[last + 1].iter().all(|z| z.is_finite()) {
            return None;
        }
        let is_mistake = neuron::is_mistake(&values[last + 1], label);
        errors[last].copy_from_slice(&values[last + 1]);
        let loss = neuron::judge(&mut errors[last], label) * weight;
        // A weight of 1 changes no bit.
        errors[last].iter_mut().for_each(|error| *error *= weight);
        for layer in (0..=last).rev() {
            let (before, after) = errors.split_at_mut(layer);
            let (delta, h) = (&after[0], &values[layer]);
            let Layer { coef, intercept } = &mut gradient[layer];
            neuron::accumulate(delta, h, coef, intercept);
            if let Some(back) = before.last_mut() {
                neuron::backward(delta, &network.layers[layer].coef, back);
                network.activation.times_slope(back, h);
            }
        }
        Some((loss, is_mistake))
    }
}

struct Step<'a> {
    network: &'a mut Network,
    gradient: &'a mut [Layer],
    settings: &'a NetworkSettings,
    examples: usize,
}

impl Leaf for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let NetworkSettings { rate, alpha, .. } = *self.settings;
        for (layer, gradient) in self.network.layers.iter_mut().zip(self.gradient) {
            neuron::step(&mut layer.coef, &gradient.coef, rate, alpha, self.examples);
            neuron::step(&mut layer.intercept, &gradient.intercept, rate, 0.0, self.examples);
            gradient.numbers_mut().for_each(|g| *g = 0.0);
        }
    }
}
