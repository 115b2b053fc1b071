//! The formulas of a kernel perceptron on a budget: shrinking by the Forgetron, projecting on a span.

/// The share of the mistakes that the harm of all removals may come to.
const SHARE: f64 = 15.0 / 32.0;

/// What is left of an example beside its projection, in proportion to its square, is lost in rounding
/// below this.
const NOTHING: f64 = 1.0 / (1_u64 << 40) as f64;

/// Psi: what it costs that an example goes after all steps are multiplied by phi. `sigma` is the size
/// of its step before, `mu` its activation before, times the sign of its step.
pub fn harm(sigma: f64, mu: f64, phi: f64) -> f64 {
    let rest = sigma * phi;
    rest * rest + 2.0 * rest * (1.0 - phi * mu)
}

/// phi, by which all steps are multiplied before an example goes, and the harm of all removals. For each class
/// that shares the budget: the step of the example, and its sum over the support set. `eta` is the size of the
/// step of a mistake, by which they are measured, and `so_far` the harm of the removals before.
///
/// phi is the largest number in (0, 1] with `so_far + harm <= SHARE * mistakes`. The harm is
/// `a phi^2 + b phi`; where it is too large for phi = 1, it is as large as it may be at one root
/// between 0 and 1.
pub fn shrinking(steps: &[f64], sums: &[f64], eta: f64, so_far: f64, mistakes: u64) -> (f64, f64) {
    let size = steps.iter().fold(0.0_f64, |size, c| size.max(c.abs()));
    if size == 0.0 {
        return (1.0, so_far);
    }
    let mu = steps.iter().zip(sums).fold(0.0, |mu, (c, s)| mu + (c / size) * s);
    let (sigma, mu) = (size / eta, mu / eta);
    let rest = so_far - SHARE * mistakes as f64;
    let whole = harm(sigma, mu, 1.0);
    if whole + rest <= 0.0 {
        return (1.0, so_far + whole);
    }
    let (a, b) = (sigma * sigma - 2.0 * sigma * mu, 2.0 * sigma);
    let square = b * b - 4.0 * a * rest;
    let root = if square < 0.0 { 0.0 } else { square.sqrt() };
    let phi = -2.0 * rest / (b + root);
    let phi = if phi > 1.0 { 1.0 } else { phi };
    (phi, so_far + harm(sigma, mu, phi))
}

/// Whether an example is projected: `rest` is the square of what is left of it beside its projection, `own` its kernel
/// value with itself.
pub fn within_span(rest: f64, own: f64, distance: f64) -> bool {
    let apart = rest > distance * distance && rest > NOTHING * own;
    !apart
}
