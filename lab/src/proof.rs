//! The proof of the convergence theorem on a run: the lengths that it compares, after each mistake.

use perceptron_rs::error::Result;
use perceptron_rs::online::scores;
use perceptron_rs::rows::Dense;
use serde::Serialize;

use crate::request::Learner;
use crate::session::{Run, Session};

/// Mistakes that are shown.
const MOST: usize = 2000;

/// After some mistakes of a plane, one after the other. Weights are divided by the rate; with an intercept,
/// that is one of them.
#[derive(Default, Serialize)]
pub struct Lengths {
    pub w: Vec<Vec<f64>>,
    /// `||w_k||^2`.
    pub squares: Vec<f64>,
    /// `w_k . u`.
    pub progress: Vec<f64>,
}

impl Session {
    /// The lengths after each mistake up to `t`, apart from the `from` first ones; `u` may be empty.
    pub fn lengths(&mut self, t: u64, plane: usize, from: usize, u: &[f64]) -> Result<Lengths> {
        let Self { request, data, run, .. } = self;
        let Run::Planes(run) = run else { return Ok(Lengths::default()) };
        if request.learner == Learner::Kernel {
            return Ok(Lengths::default());
        }
        let (d, mut all) = (data.d, Vec::new());
        let mistakes = run.mistakes(plane, t).min(MOST);
        for k in from.min(mistakes)..mistakes {
            let (t, step) = (run.log[plane].t[k] as u64, run.log[plane].step[k].abs());
            let sums = run.sums(data, t)?;
            all.extend(sums.coef[d * plane..][..d].iter().map(|w| w / step));
            all.extend(request.intercept.then(|| sums.intercept[plane] / step));
        }
        let d = d + usize::from(request.intercept);
        let mut progress = vec![0.0; if u.is_empty() { 0 } else { all.len() / d }];
        if !progress.is_empty() {
            scores(&Dense::new(&all, all.len() / d, d)?, u.into(), &[0.0], 1, &(), &mut progress)?;
        }
        let squares = squares(&all, d)?;
        Ok(Lengths { w: all.chunks(d).map(Into::into).collect(), squares, progress })
    }
}

/// The squared lengths of vectors of `d` numbers.
pub fn squares(all: &[f64], d: usize) -> Result<Vec<f64>> {
    let square = |w: &[f64]| {
        let mut square = [0.0];
        scores(&Dense::new(w, 1, d)?, w.into(), &[0.0], 1, &(), &mut square)?;
        Ok(square[0])
    };
    all.chunks(d).map(square).collect()
}
