//! The multilayer perceptron.
//!
//! - Problem: find weights of layers of neurons that make the mean logistic loss of the examples small:
//!   minus the logarithm of the probability of the true class.
//! - Update rule: a batch at a time, in the order of the epoch: `z = W*h + b` and `h' = f(z)` from
//!   layer to layer; at the output, logistic function or softmax. The error of the output is
//!   probability minus truth, that of a layer before is `(Wᵀ*error)*f'(z)`. The gradient is the sum of
//!   `error*h` over the batch; a step is `W = r*W − (eta/m)*gradient`, `r = max(0, 1 − eta*alpha/m)`.
//! - Given: start values, learning rate, strength of the penalty, batch size, an order.
//! - Result: weights and intercepts; the mean loss of each epoch, each example's before its batch's step.
//! - Paper: Rumelhart, Hinton, Williams 1986, Learning representations by back-propagating errors;
//!   start values: Glorot, Bengio 2010, equation 16.

use super::network::{Layer, Network, read};
use super::stopping::{Criterion, Stopped};
use crate::arith::environment::standard;
use crate::arith::neuron;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::error::{Error, Result};
use crate::memory::{Grow, filled, refill, tried};
use crate::online::Monitor;
use crate::order::shuffle;
use crate::rows::Matrix;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    pub rate: f64,
    pub alpha: f64,
    pub batch_size: usize,
    /// Key of the orders; `None`: the stored one.
    pub seed: Option<u64>,
    pub first_epoch: u64,
    pub max_iter: u64,
    pub tol: Option<f64>,
    pub n_iter_no_change: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The mean loss of each epoch.
    pub losses: Vec<f64>,
    /// The mistakes of each epoch, each example's before its batch's step.
    pub mistakes: Vec<i64>,
    pub stopped: Stopped,
}

/// Runs epochs until the loss no longer improves. After an error the network is not to be used.
pub fn fit(
    rows: &dyn Matrix,
    labels: &[u32],
    network: &mut Network,
    schedule: &Schedule,
    monitor: &dyn Monitor,
) -> Result<Report> {
    let (n, classes) = (rows.len(), network.outputs().max(2));
    if labels.len() != n || n == 0 || labels.iter().any(|&label| label as usize >= classes) {
        let text = format!("labels must be {n} numbers below {classes}, and at least one");
        return Err(Error::Invalid(text));
    }
    if schedule.batch_size < 1 || schedule.max_iter < 1 {
        let Schedule { batch_size, max_iter, .. } = schedule;
        let text = format!("batch_size and max_iter must be at least 1, got {batch_size} and {max_iter}");
        return Err(Error::Invalid(text));
    }
    standard(|| run(rows, labels, network, schedule, monitor))
}

fn run(
    rows: &dyn Matrix,
    labels: &[u32],
    network: &mut Network,
    schedule: &Schedule,
    monitor: &dyn Monitor,
) -> Result<Report> {
    let n = rows.len();
    let mut pass = Pass {
        values: network.room(rows.columns())?,
        errors: tried(network.layers.iter().map(|layer| filled(0.0, layer.neurons())))?,
        gradient: tried(network.layers.iter().map(Layer::zeros))?,
    };
    let strip = network.strip(rows.columns());
    let mut criterion = Criterion::new(schedule.tol, schedule.n_iter_no_change);
    let (mut losses, mut counts, mut order) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let epoch = schedule.first_epoch + losses.len() as u64;
        refill(&mut order, 0..n as u32)?;
        if let Some(seed) = schedule.seed {
            shuffle(&mut order, seed, epoch, 0);
        }
        let (mut total, mut mistakes) = (0.0, 0);
        for batch in order.chunks(schedule.batch_size) {
            for (k, &row) in batch.iter().enumerate() {
                if k % strip == 0 {
                    monitor.pause()?;
                }
                read(rows, row as usize, &mut pass.values[0]);
                let label = labels[row as usize] as usize;
                match dispatch(Example { network, pass: &mut pass, label }) {
                    Some((loss, is_mistake)) => {
                        total += loss;
                        mistakes += i64::from(is_mistake);
                    }
                    None => return Err(Error::Overflow { epoch }),
                }
            }
            dispatch(Step { network, gradient: &mut pass.gradient, schedule, examples: batch.len() });
        }
        if !network.layers.iter().flat_map(Layer::numbers).all(|w| w.is_finite()) {
            return Err(Error::Overflow { epoch });
        }
        let loss = neuron::mean(total, n);
        losses.try_push(loss)?;
        counts.try_push(mistakes)?;
        let last = losses.len() as u64 == schedule.max_iter;
        // The loss alone is judged: an epoch without a mistake does not end the run.
        if let Some(stopped) = criterion.judge(loss, last) {
            return Ok(Report { losses, mistakes: counts, stopped });
        }
    }
}

/// What a pass over an example computes, layer by layer, and the sum of the gradients of a batch.
struct Pass {
    values: Vec<Vec<f64>>,
    errors: Vec<Vec<f64>>,
    gradient: Vec<Layer>,
}

struct Example<'a> {
    network: &'a Network,
    pass: &'a mut Pass,
    label: usize,
}

impl Leaf for Example<'_> {
    /// The loss, and whether it was a mistake; `None` if an activation is not finite.
    type Output = Option<(f64, bool)>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Option<(f64, bool)> {
        let Self { network, pass: Pass { values, errors, gradient }, label } = self;
        network.forward(values);
        let last = network.layers.len() - 1;
        if !values[last + 1].iter().all(|z| z.is_finite()) {
            return None;
        }
        let is_mistake = neuron::is_mistake(&values[last + 1], label);
        errors[last].copy_from_slice(&values[last + 1]);
        let loss = neuron::judge(&mut errors[last], label);
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
    schedule: &'a Schedule,
    examples: usize,
}

impl Leaf for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Schedule { rate, alpha, .. } = *self.schedule;
        for (layer, gradient) in self.network.layers.iter_mut().zip(self.gradient) {
            neuron::step(&mut layer.coef, &gradient.coef, rate, alpha, self.examples);
            neuron::step(&mut layer.intercept, &gradient.intercept, rate, 0.0, self.examples);
            gradient.numbers_mut().for_each(|g| *g = 0.0);
        }
    }
}
