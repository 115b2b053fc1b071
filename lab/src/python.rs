//! The same run in Python.

use std::fmt::Write;

use perceptron_rs::error::Result;
use serde::Serialize;

use crate::planes::FEW;
use crate::request::{Learner, Request};
use crate::session::{Data, Run, Session};

/// Code, and the digest that it prints.
#[derive(Serialize)]
pub struct Report {
    pub code: String,
    /// After how many examples; none at the start, where no call of Python ends.
    pub t: u64,
    pub digest: Option<String>,
}

impl Session {
    /// The calls that end after `t` examples; or after the whole epochs before, if there is none that ends
    /// there.
    pub fn report(&mut self, t: u64) -> Result<Report> {
        let (epoch, position) = self.place(t);
        let mut t = t;
        if !self.ends_within(t) {
            t -= position as u64;
        }
        let mut code = String::new();
        let _ = self.write(&mut code, epoch, (t % self.data.len() as u64) as usize);
        let digest = if t > 0 { Some(self.digest(t)?) } else { None };
        if let Some(digest) = &digest {
            let _ = writeln!(code, "print(digest(model))  # {digest}");
        }
        Ok(Report { code, t, digest })
    }

    /// Whether calls of Python can end within an epoch there: a pocket counts its runs by calls, and a call
    /// for some examples more begins each class anew that had ended.
    fn ends_within(&self, t: u64) -> bool {
        match &self.run {
            Run::Planes(run) => self.request.learner != Learner::Pocket && !run.any_ended_before(t),
            Run::Layers(_) => true,
        }
    }

    fn write(&self, code: &mut String, epochs: u64, position: usize) -> std::fmt::Result {
        let Self { request, data, .. } = self;
        let name = class(request.learner);
        if position > 0 {
            writeln!(code, "import numpy as np")?;
        }
        writeln!(code, "from perceptron_rs import {name}, digest\n")?;
        let (open, close) = if position > 0 { ("np.array(", ")") } else { ("", "") };
        let points: Vec<[f64; 2]> = request.points.iter().map(|point| [point.x, point.y]).collect();
        let values = data.values();
        let labels: Vec<i64> = data.labels.iter().map(|label| values[*label as usize]).collect();
        writeln!(code, "X = {open}{points:?}{close}\ny = {open}{labels:?}{close}")?;
        let begins = epochs == 0;
        if begins && position == 0 {
            return writeln!(
                code,
                "model = {name}({})",
                parameters(request, data, request.epochs.into(), None)
            );
        }
        if begins {
            // The other examples weigh nothing, and tell of their classes.
            let order = self.order(0);
            writeln!(code, "order = {order:?}  # {position} of them are visited")?;
            writeln!(code, "model = {name}({})", parameters(request, data, 1, Some(false)))?;
            let start = start(request, data);
            return writeln!(
                code,
                "model.fit(X[order], y[order], sample_weight=[1] * {position} + [0] * {}{start})",
                data.len() - position,
            );
        }
        writeln!(code, "model = {name}({})", parameters(request, data, epochs, None))?;
        writeln!(code, "model.fit(X, y{})", start(request, data))?;
        if position > 0 {
            let order = self.order(epochs);
            writeln!(code, "order = {:?}  # the first ones of the next epoch", &order[..position])?;
            writeln!(code, "model.partial_fit(X[order], y[order])")?;
        }
        Ok(())
    }

    fn order(&self, epoch: u64) -> Vec<u32> {
        self.data.order(epoch).unwrap_or_default()
    }
}

fn class(learner: Learner) -> &'static str {
    match learner {
        Learner::Perceptron => "Perceptron",
        Learner::Averaged => "AveragedPerceptron",
        Learner::Voted => "VotedPerceptron",
        Learner::Pocket => "PocketPerceptron",
        Learner::Kernel => "KernelPerceptron",
        Learner::Multilayer => "MultilayerPerceptron",
    }
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// The parameters that say all of the run; `shuffle` is asked for otherwise where the order is given.
fn parameters(request: &Request, data: &Data, epochs: u64, shuffle: Option<bool>) -> String {
    let shuffle = truth(shuffle.unwrap_or(request.shuffled));
    let seed = request.seed;
    let last = format!("max_iter={epochs}, tol=None, shuffle={shuffle}, random_state={seed}");
    let (tie, rate) = (request.tie_name(), request.rate);
    if request.learner == Learner::Multilayer {
        let (hidden, activation) = (request.hidden, request.activation_name());
        return format!(
            "({hidden},), activation=\"{activation}\", alpha=0, learning_rate_init={rate:?}, {last}"
        );
    }
    let own = match request.learner {
        Learner::Pocket => {
            let check = if data.len() <= FEW { "update" } else { "ratchet" };
            format!("check=\"{check}\", average=False, ")
        }
        Learner::Kernel => {
            let (kernel, gamma, prediction) = (request.kernel, request.gamma, request.prediction.name());
            let of_poly = if kernel == "poly" {
                format!("degree={}, coef0={:?}, ", request.degree, request.coef0)
            } else {
                String::new()
            };
            format!("\"{kernel}\", gamma={gamma:?}, {of_poly}prediction=\"{prediction}\", ")
        }
        _ => String::new(),
    };
    format!("{own}fit_intercept={}, tie=\"{tie}\", eta0={rate:?}, {last}", truth(request.intercept))
}

/// Start weights, if they are not 0.
fn start(request: &Request, data: &Data) -> String {
    let [w1, w2, b] = request.start;
    if !request.starts_elsewhere() || matches!(request.learner, Learner::Kernel | Learner::Multilayer) {
        return String::new();
    }
    let coef = vec![[w1, w2]; data.planes()];
    let mut text = format!(", coef_init={coef:?}");
    if request.intercept {
        let _ = write!(text, ", intercept_init={:?}", vec![b; data.planes()]);
    }
    text
}
