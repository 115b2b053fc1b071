//! The arithmetic of layers of neurons: values forward, errors backward, the step. Sums over the
//! neurons of a layer run from the first one on.

use super::dot::dot;
use super::exp::{exp, logistic};
use super::log::log;
use super::tanh::tanh;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Logistic,
    Relu,
    Tanh,
}

impl Activation {
    /// By their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("logistic", Self::Logistic), ("relu", Self::Relu), ("tanh", Self::Tanh)];

    /// NaN where the activation is not finite.
    #[inline(always)]
    pub fn apply(self, z: &mut [f64]) {
        match self {
            Self::Logistic => each(z, logistic),
            Self::Relu => each(z, |z| if z <= 0.0 { 0.0 } else { z }),
            Self::Tanh => each(z, tanh),
        }
    }

    /// Multiplies errors by the derivatives of the function where its values are `h`.
    #[inline(always)]
    pub fn times_slope(self, delta: &mut [f64], h: &[f64]) {
        for (delta, &h) in delta.iter_mut().zip(h) {
            *delta *= match self {
                Self::Logistic => h * (1.0 - h),
                Self::Relu => f64::from(u8::from(h > 0.0)),
                Self::Tanh => 1.0 - h * h,
            };
        }
    }
}

#[inline(always)]
fn each(z: &mut [f64], function: impl Fn(f64) -> f64) {
    for z in z {
        *z = if z.is_finite() { function(*z) } else { f64::NAN };
    }
}

/// The activation of every neuron of a layer: rule 3, the intercept last.
#[inline(always)]
pub fn weighted(h: &[f64], coef: &[f64], intercept: &[f64], z: &mut [f64]) {
    for ((z, w), b) in z.iter_mut().zip(coef.chunks_exact(h.len())).zip(intercept) {
        *z = dot(h, w) + b;
    }
}

/// Makes probabilities of the activations of the output: the logistic function of one, the
/// softmax of several. Returns what the losses need: the largest activation and the sum.
#[inline(always)]
pub fn probabilities(z: &mut [f64]) -> (f64, f64) {
    if let [z] = z {
        *z = logistic(*z);
        return (0.0, 0.0);
    }
    let largest = z.iter().copied().fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let mut total = 0.0;
    for z in z.iter_mut() {
        *z = exp(*z - largest);
        total += *z;
    }
    for z in z.iter_mut() {
        *z /= total;
    }
    (largest, total)
}

/// Makes errors, probability minus truth, of the activations of the output, which are finite.
/// Returns the loss: minus the logarithm of the probability of the example's class.
#[inline(always)]
pub fn judge(z: &mut [f64], label: usize) -> f64 {
    if let [z] = z {
        let m = if label == 1 { *z } else { -*z };
        *z = logistic(*z) - label as f64;
        return (if m < 0.0 { -m } else { 0.0 }) + log(1.0 + exp(-m.abs()));
    }
    let own = z[label];
    let (largest, total) = probabilities(z);
    z[label] -= 1.0;
    log(total) - (own - largest)
}

/// Whether the activations of the output, before `judge`, speak for another class: the largest, the first of
/// equals, or for two classes the sign, where 0 speaks for the first.
#[inline(always)]
pub fn is_mistake(z: &[f64], label: usize) -> bool {
    if let [z] = z {
        return (*z > 0.0) != (label == 1);
    }
    let own = z[label];
    z[..label].iter().any(|&other| other >= own) || z[label + 1..].iter().any(|&other| other > own)
}

/// The errors of a layer times the weights that lead to them.
#[inline(always)]
pub fn backward(delta: &[f64], coef: &[f64], back: &mut [f64]) {
    back.fill(0.0);
    for (&d, w) in delta.iter().zip(coef.chunks_exact(back.len())) {
        for (back, w) in back.iter_mut().zip(w) {
            *back += d * w;
        }
    }
}

/// Adds an example's gradient of weights and intercepts to the sums.
#[inline(always)]
pub fn accumulate(delta: &[f64], h: &[f64], gradient: &mut [f64], intercept: &mut [f64]) {
    for (&d, gradient) in delta.iter().zip(gradient.chunks_exact_mut(h.len())) {
        for (gradient, h) in gradient.iter_mut().zip(h) {
            *gradient += d * h;
        }
    }
    for (sum, d) in intercept.iter_mut().zip(delta) {
        *sum += d;
    }
}

/// A step of weights: first shrunk by the penalty, then moved against the gradient.
#[inline(always)]
pub fn step(w: &mut [f64], gradient: &[f64], rate: f64, alpha: f64, examples: usize) {
    let examples = examples as f64;
    if alpha > 0.0 {
        let r = (1.0 - (rate * alpha) / examples).max(0.0);
        for w in w.iter_mut() {
            *w = *w * r + 0.0;
        }
    }
    let c = -(rate / examples);
    for (w, g) in w.iter_mut().zip(gradient) {
        *w += c * g;
    }
}

/// Glorot's bound of the start weights of a layer.
pub fn bound(inputs: usize, outputs: usize, activation: Activation) -> f64 {
    let width = if activation == Activation::Logistic { 2.0 } else { 6.0 };
    (width / (inputs + outputs) as f64).sqrt()
}

/// A start weight from a random number: uniform between plus and minus the bound.
pub fn start(number: u64, bound: f64) -> f64 {
    let part = (number >> 11) as f64 * (f64::EPSILON / 2.0);
    (2.0 * part - 1.0) * bound + 0.0
}
