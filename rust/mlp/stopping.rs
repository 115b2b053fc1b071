//! When a network has learnt enough.

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The loss did not improve by `tol` for `n_iter_no_change` epochs in a row.
    Tol,
    /// The number of epochs was used up.
    MaxIter,
}

impl Stopped {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tol => "tol",
            Self::MaxIter => "max_iter",
        }
    }
}

/// Watches the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    tol: Option<f64>,
    patience: u64,
    best: f64,
    without_progress: u64,
}

impl Criterion {
    #[must_use]
    pub fn new(tol: Option<f64>, patience: u64) -> Self {
        Self { tol, patience, best: f64::INFINITY, without_progress: 0 }
    }

    /// Judges an epoch; `last`: no further one is allowed.
    pub fn judge(&mut self, loss: f64, last: bool) -> Option<Stopped> {
        if let Some(tol) = self.tol {
            if loss > self.best - tol {
                self.without_progress += 1;
            } else {
                self.without_progress = 0;
            }
            self.best = self.best.min(loss);
            if self.without_progress >= self.patience {
                return Some(Stopped::Tol);
            }
        }
        last.then_some(Stopped::MaxIter)
    }
}
