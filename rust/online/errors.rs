//! The errors that a weight vector makes on all examples.

use crate::arith::step::{signed, weight};
use crate::base::{Monitor, Result, filled};
use crate::online::run::problem::Problem;

/// Weights of the examples that `(coef, intercept)` gets wrong as plane `plane` of the problem, added in row
/// order from 0. Zeros, which have no side, get all of them wrong. `None` as soon as the sum is not below
/// `bound`: weights of examples are not negative, so it never is again.
pub fn count(
    problem: &Problem,
    plane: usize,
    (coef, intercept): (&[f64], f64),
    bound: f64,
    monitor: &dyn Monitor,
) -> Result<Option<f64>> {
    let (rows, n, tie) = (problem.rows()?, problem.examples.len(), problem.settings.tie);
    let has_sides = intercept != 0.0 || coef.iter().any(|w| *w != 0.0);
    let (positive, class_weight) = (problem.settings.positive[plane], problem.settings.class_weight[plane]);
    let weights = rows.arrange(coef.into(), 1, n, monitor)?;
    let block = rows.block(1);
    let mut activations = filled(0.0, block.min(n))?;
    let mut errors = 0.0;
    for start in (0..n).step_by(block) {
        let end = n.min(start + block);
        let activations = &mut activations[..end - start];
        rows.scores(start..end, &weights, &[intercept], activations)?;
        for (row, &a) in (start..end).zip(&*activations) {
            let is_positive = problem.labels.of(row).has(positive);
            let sample = problem.sample_weight.map(|weights| weights[row]);
            let s = weight(sample, class_weight[usize::from(is_positive)]);
            // An example of weight 0 adds 0, whatever it holds.
            let wrong = !has_sides || tie.is_error(signed(a, is_positive), is_positive);
            errors += if wrong { s } else { 0.0 };
        }
        if errors >= bound {
            return Ok(None);
        }
        monitor.pause()?;
    }
    Ok((errors < bound).then_some(errors))
}
