//! The margin of a given plane, as an interval that contains it.

use super::certificate::{Checked, Lengths, back_down, back_up, norm_ends, precise, quotient};
use super::problem::{Bias, MarginProblem, survey};
use crate::arith::environment::standard;
use crate::arith::sign::ExactSum;
use crate::arith::twofold::{UNIT, exponent, times_power};
use crate::base::{Error, Grow, Monitor, Result, bail, collected, ensure, gathered};
use crate::rows::{Entries, Matrix};

/// Refuses labels that are not one 0 or 1 for each row, and no rows at all.
pub fn check_signs(rows: &dyn Matrix, labels: &[u32]) -> Result<()> {
    let n = rows.len();
    let text = if labels.len() != n {
        format!("labels must hold one label for each of {n} rows, got {}", labels.len())
    } else if n == 0 {
        "rows must hold at least one row, got none".into()
    } else if let Some(label) = labels.iter().max().filter(|label| **label > 1) {
        format!("labels must be 0 or 1, got {label}; encode the two classes first")
    } else {
        return Ok(());
    };
    Err(Error::Invalid(text))
}

/// Bounds of `min_i y_i (<w, x_i> + b) / ||w||`, and the rows that are on the plane or on the wrong side of
/// it, which is decided exactly. Both bounds are -inf if there are any. `normalize` false leaves out the
/// division.
pub fn margin(
    rows: &dyn Matrix,
    labels: &[u32],
    coef: &[f64],
    intercept: Option<f64>,
    normalize: bool,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<(f64, f64, Vec<u32>)> {
    standard(|| {
        check_signs(rows, labels)?;
        if coef.len() != rows.columns() {
            let d = rows.columns();
            bail!("coef must have shape ({d},), one weight for each column, got ({},)", coef.len());
        }
        let b = intercept.unwrap_or(0.0);
        if !b.is_finite() || coef.iter().any(|w| !w.is_finite()) {
            bail!("coef and intercept must be finite, got NaN or infinity; train again");
        }
        let largest = coef.iter().fold(0.0_f64, |largest, w| largest.max(w.abs()));
        ensure!(largest != 0.0, "coef must not be all zeros: such a plane has no margin; train first");
        let problem =
            MarginProblem::new(rows, labels, Bias::None, survey(rows, monitor)?, None, (threads, monitor))?;
        let lengths = Lengths::new(&problem)?;
        let power = -exponent(largest);
        let w = collected(coef.iter().map(|w| times_power(*w, power)))?;
        let shifted = times_power(times_power(b, power), problem.shift);
        ensure!(
            shifted.is_finite(),
            "intercept must not exceed the activations so far, got {b:?}; scale the features or the weights"
        );
        let checked = Checked::new(&problem, &lengths, &w)?;
        let offending = offending(&problem, &checked, coef, b, shifted)?;
        if !offending.is_empty() {
            return Ok((f64::NEG_INFINITY, f64::NEG_INFINITY, offending));
        }
        let (mut low, mut high) = (f64::INFINITY, f64::INFINITY);
        for side in checked.nearest()? {
            for (value, error) in precise(&problem, &w, &side, shifted)? {
                low = low.min(value - error);
                high = high.min(value + error);
            }
        }
        (low, high) = (low.next_down().max(0.0), high.next_up());
        let back = -problem.shift - power;
        if !normalize {
            return Ok((back_down(low, back), back_up(high, back), offending));
        }
        let ends = norm_ends(&w, 0.0);
        let upper = back_up((high / ends[0]).next_up(), -problem.shift);
        Ok((quotient(low, ends[1], problem.shift), upper, offending))
    })
}

fn offending(
    problem: &MarginProblem,
    checked: &Checked,
    coef: &[f64],
    b: f64,
    shifted: f64,
) -> Result<Vec<u32>> {
    let is_unsure = |&row: &u32| {
        let (row, score) = (row as usize, checked.scores[row as usize]);
        let error = checked.error(row) + shifted.abs() * (4.0 * UNIT) + score.abs() * (4.0 * UNIT);
        score + problem.sign(row) * shifted - error <= 0.0
    };
    let unsure = gathered((0..problem.len() as u32).filter(is_unsure))?;
    let precise = precise(problem, checked.w, &unsure, shifted)?;
    let mut wrong = vec![];
    for (row, (value, error)) in unsure.into_iter().zip(precise) {
        let is_sure = value + error < 0.0 || value - error > 0.0;
        if if is_sure { value + error < 0.0 } else { is_wrong(problem, row, coef, b)? } {
            wrong.try_push(row)?;
        }
    }
    Ok(wrong)
}

/// Whether a row is on the plane or on the wrong side of it, exactly.
fn is_wrong(problem: &MarginProblem, row: u32, coef: &[f64], b: f64) -> Result<bool> {
    problem.monitor.pause()?;
    let mut exact = ExactSum::default();
    exact.add_product(b, 1.0);
    for (j, x) in Entries::default().only(problem.rows, row as usize)?.pairs() {
        exact.add_product(x, coef[j]);
    }
    let sign = if problem.labels[row as usize] == 1 { exact.sign() } else { -exact.sign() };
    Ok(sign <= 0)
}
