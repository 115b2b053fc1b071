//! The network: its random start, its values, its answer.

use crate::arith::environment::standard;
use crate::arith::neuron::{self, Activation};
use crate::base::{Error, Grow, Monitor, NUMBERS, Result, ensure, filled, pieces, tried};
use crate::order::SplitMix64;

/// No permutation uses it.
const START_EPOCH: u64 = u64::MAX;

/// Weights (neurons x neurons of the layer before) and intercepts.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    pub coef: Vec<f64>,
    pub intercept: Vec<f64>,
}

impl Layer {
    pub fn neurons(&self) -> usize {
        self.intercept.len()
    }

    pub fn zeros(&self) -> Result<Self> {
        Ok(Self { coef: filled(0.0, self.coef.len())?, intercept: filled(0.0, self.intercept.len())? })
    }

    pub fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.coef.iter().chain(&self.intercept)
    }

    pub fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.coef.iter_mut().chain(&mut self.intercept)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    pub layers: Vec<Layer>,
    pub activation: Activation,
}

impl Network {
    /// Random weights; `sizes` are the numbers of neurons from the input on.
    pub fn start(sizes: &[usize], activation: Activation, seed: u64, monitor: &dyn Monitor) -> Result<Self> {
        standard(|| {
            ensure!(
                !sizes.contains(&0),
                "every layer must have at least one neuron, got the sizes {sizes:?}"
            );
            let mut layers = Vec::new();
            for (number, pair) in sizes.windows(2).enumerate() {
                let (inputs, neurons) = (pair[0], pair[1]);
                let weights = inputs.checked_mul(neurons).ok_or(Error::Memory)?;
                let mut random = SplitMix64::of_epoch(seed, START_EPOCH, number as u64);
                let bound = neuron::bound(inputs, neurons, activation);
                let mut draw = |count| -> Result<_> {
                    let mut drawn = Vec::new();
                    for piece in pieces(count, 1, monitor) {
                        drawn.try_extend(piece?.map(|_| neuron::start(random.draw(), bound)))?;
                    }
                    Ok(drawn)
                };
                layers.try_push(Layer { coef: draw(weights)?, intercept: draw(neurons)? })?;
            }
            Ok(Self { layers, activation })
        })
    }

    pub fn outputs(&self) -> usize {
        self.layers.last().map_or(0, Layer::neurons)
    }

    /// Room for the values of an example: of the input, of the layers.
    pub fn room(&self, columns: usize) -> Result<Vec<Vec<f64>>> {
        self.strip(columns)?;
        let layers = self.layers.iter().map(Layer::neurons);
        tried(std::iter::once(columns).chain(layers).map(|len| filled(0.0, len)))
    }

    /// Rows that are read between two looks at the monitor.
    pub fn strip(&self, columns: usize) -> Result<usize> {
        strip(columns, self.layers.iter().map(|layer| layer.coef.len()))
    }

    /// Computes the values of each layer from those of the input, the first ones; of the output,
    /// the activations.
    #[inline(always)]
    pub fn forward(&self, values: &mut [Vec<f64>]) {
        for (number, layer) in self.layers.iter().enumerate() {
            let (before, after) = values.split_at_mut(number + 1);
            let z = &mut after[0];
            neuron::weighted(&before[number], &layer.coef, &layer.intercept, z);
            if number + 1 < self.layers.len() {
                self.activation.apply(z);
            }
        }
    }
}

/// Rows that are read between two looks at the monitor, by layers of so many weights each.
pub(super) fn strip(columns: usize, weights: impl Iterator<Item = usize>) -> Result<usize> {
    ensure!(columns != 0, "rows must have at least one column for layers of neurons, got 0");
    Ok(NUMBERS / weights.fold(columns, usize::saturating_add).max(1) + 1)
}
