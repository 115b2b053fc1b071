//! What the page shows of a place in the run.

use perceptron_rs::error::Result;
use perceptron_rs::mlp::Network;
use perceptron_rs::rows::{Dense, Tie};
use serde::Serialize;

use crate::layers::Layers;
use crate::planes::Planes;
use crate::request::{Learner, Request};
use crate::session::{Data, Run, Session};

/// Visits that the table shows.
const ROWS: u64 = 12;

/// After `t` examples.
#[derive(Serialize)]
pub struct View {
    pub t: u64,
    pub epoch: u64,
    pub position: usize,
    /// Mistakes up to here: in all, and in the epoch of the last example.
    pub mistakes: usize,
    pub mistakes_of_epoch: usize,
    /// The point that was visited last, and the next one.
    pub visited: Option<u32>,
    pub next: Option<u32>,
    pub planes: Vec<PlaneView>,
    /// The last visits, and the next one.
    pub table: Vec<Row>,
    /// Mistakes on each point by the plane that is looked at.
    pub alpha: Vec<u32>,
}

/// A line: the one that learns, and the one that predicts.
#[derive(Serialize)]
pub struct PlaneView {
    pub w: [f64; 2],
    pub b: f64,
    pub predicts: [f64; 3],
    /// Smallest `y a / ||w||` of what predicts.
    pub margin: Option<f64>,
}

/// A visit: what it found, before the update.
#[derive(Serialize)]
pub struct Row {
    pub t: u64,
    pub epoch: u64,
    pub point: u32,
    pub x: [f64; 2],
    pub y: f64,
    /// Weights and intercept.
    pub w: Option<[f64; 3]>,
    pub a: f64,
    pub ya: f64,
    pub mistake: bool,
    /// Not visited yet.
    pub next: bool,
}

/// What the next example does, and whether somebody has said so.
#[derive(Serialize)]
pub struct Check {
    pub row: Row,
    /// Weights and intercept behind it.
    pub after: [f64; 3],
    pub right: bool,
}

/// Decimal fractions that somebody types are a little off: weights count as equal if they differ by less.
const TYPED: f64 = 1e-9;

impl Session {
    /// Compares a prediction of the example behind place `t` with what it does to a plane: no mistake, or the
    /// new weights and the intercept. The run has been made that far.
    pub fn check(
        &mut self,
        t: u64,
        plane: usize,
        said: Option<[f64; 3]>,
    ) -> std::result::Result<Check, String> {
        if t >= self.known() {
            return Err(format!("there is no example behind place {t}"));
        }
        let Self { request, data, run, .. } = self;
        let Run::Planes(run) = run else { return Err("layers have no weights to predict".into()) };
        if request.learner == Learner::Kernel {
            return Err("a kernel has no weights to predict".into());
        }
        let text = |error: perceptron_rs::error::Error| error.to_string();
        let row = run.row(request, data, t, plane).map_err(text)?;
        let sums = run.sums(data, t + 1).map_err(text)?;
        let after = [sums.coef[2 * plane], sums.coef[2 * plane + 1], sums.intercept[plane]];
        let is_near = |(a, b): (f64, f64)| (a - b).abs() <= TYPED * b.abs().max(1.0);
        let right = match said {
            None => !row.mistake,
            Some(said) => row.mistake && said.into_iter().zip(after).all(is_near),
        };
        Ok(Check { row, after, right })
    }

    /// Shows the place after `t` examples, and one plane of it. The run has been made up to there.
    pub fn view(&mut self, t: u64, plane: usize) -> Result<View> {
        let (epoch, position) = self.place(t);
        let n = self.data.len();
        let Self { request, data, run, ended, mistakes, .. } = self;
        let all = (mistakes.len() * n) as u64;
        // Of the epoch of the last example.
        let begun = t.saturating_sub(1) / n as u64 * n as u64;
        let visits = t.saturating_sub(ROWS)..t + u64::from(!(*ended && t == all));
        let mut table = Vec::new();
        let (planes, alpha, made) = match run {
            Run::Planes(run) => {
                for visit in visits {
                    table.push(run.row(request, data, visit, plane)?);
                }
                let alpha = run.alpha(data, t, plane);
                let made = |t| (0..run.planes()).map(|k| run.mistakes(k, t)).sum::<usize>();
                let made = (made(t), made(begun));
                (run.plane_views(request, data, t)?, alpha, made)
            }
            Run::Layers(run) => {
                let first = visits.start;
                table = run.rows(data, visits, plane)?;
                let whole: i64 = mistakes[..epoch as usize].iter().flatten().sum();
                let part = if position == 0 {
                    0
                } else {
                    let order = data.order(epoch)?;
                    let network = run.network(data, epoch * n as u64)?;
                    run.after(&network, data, &order[..position])?.1
                };
                debug_assert!(first <= t);
                let before: i64 = mistakes[..begun as usize / n].iter().flatten().sum();
                (vec![], vec![0; n], ((whole + part) as usize, before as usize))
            }
        };
        for row in &mut table {
            row.next = row.t > t;
        }
        let of = |t| table.iter().find(|row| row.t == t).map(|row| row.point);
        Ok(View {
            t,
            epoch,
            position,
            mistakes: made.0,
            mistakes_of_epoch: made.0 - made.1,
            visited: of(t),
            next: of(t + 1),
            planes,
            alpha,
            table,
        })
    }

    /// The classes (their numbers) that are predicted for some places after `t` examples.
    pub fn classes(&mut self, t: u64, x: &[f64]) -> Result<Vec<u8>> {
        let Self { request, data, run, .. } = self;
        let scores = match run {
            Run::Planes(run) => run.scores(request, data, t, x)?,
            Run::Layers(run) => activations(&run.network(data, t)?, x)?,
        };
        let layers = request.learner == Learner::Multilayer;
        let positive = |a: f64| a > 0.0 || (a == 0.0 && request.tie == Tie::Positive && !layers);
        let index = |scores: &[f64]| match scores {
            [a] => usize::from(positive(*a)),
            _ => (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best }),
        };
        Ok(scores.chunks(data.planes()).map(|scores| data.classes[index(scores)]).collect())
    }
}

/// The activations of the output neurons.
fn activations(network: &Network, x: &[f64]) -> Result<Vec<f64>> {
    let mut out = vec![0.0; x.len() / 2 * network.outputs()];
    network.scores(&Dense::new(x, x.len() / 2, 2)?, false, 1, &(), &mut out)?;
    Ok(out)
}

fn row(data: &Data, visit: u64, point: u32, plane: usize, w: Option<[f64; 3]>, a: f64) -> Row {
    let i = point as usize;
    let y = data.sign(i, plane);
    Row {
        t: visit + 1,
        epoch: visit / data.len() as u64,
        point,
        x: [data.x[2 * i], data.x[2 * i + 1]],
        y,
        w,
        a,
        ya: y * a,
        mistake: false,
        next: false,
    }
}

impl Planes {
    /// A visit, of which there have been `visit` before.
    fn row(&mut self, request: &Request, data: &Data, visit: u64, plane: usize) -> Result<Row> {
        let n = data.len() as u64;
        let point = self.point(data, visit)?;
        let x = &data.x[2 * point as usize..][..2];
        let a = self.activations(request, data, visit, x)?[plane];
        let w = if request.learner == Learner::Kernel {
            None
        } else {
            let sums = self.sums(data, visit)?;
            Some([sums.coef[2 * plane], sums.coef[2 * plane + 1], sums.intercept[plane]])
        };
        debug_assert!(visit / n <= u64::from(request.epochs));
        let mut row = row(data, visit, point, plane, w, a);
        row.mistake = self.log[plane].t.binary_search(&(visit as i64 + 1)).is_ok();
        Ok(row)
    }

    /// The point of a visit; the order of its epoch is kept.
    fn point(&mut self, data: &Data, visit: u64) -> Result<u32> {
        let n = data.len() as u64;
        let epoch = visit / n;
        if self.order.0 != Some(epoch) {
            self.order = (Some(epoch), data.order(epoch)?);
        }
        Ok(self.order.1[(visit % n) as usize])
    }

    fn alpha(&self, data: &Data, t: u64, plane: usize) -> Vec<u32> {
        let mut alpha = vec![0; data.len()];
        for row in &self.log[plane].row[..self.mistakes(plane, t)] {
            alpha[*row as usize] += 1;
        }
        alpha
    }

    fn plane_views(&mut self, request: &Request, data: &Data, t: u64) -> Result<Vec<PlaneView>> {
        if request.learner == Learner::Kernel {
            return Ok(vec![]);
        }
        let (coef, intercept) = self.answer(request.learner, data, t)?;
        let sums = self.sums(data, t)?;
        let mut views = Vec::new();
        for k in 0..self.planes() {
            let (w, b) = (&coef[2 * k..2 * k + 2], intercept[k]);
            let labels: Vec<u32> = (0..data.len()).map(|i| u32::from(data.sign(i, k) > 0.0)).collect();
            let rows = data.rows()?;
            let margin = if w == [0.0; 2] {
                None
            } else {
                let found = perceptron_rs::margin::margin(&rows, &labels, w, Some(b), true, 1, &())?;
                found.0.is_finite().then_some(found.0)
            };
            views.push(PlaneView {
                w: [sums.coef[2 * k], sums.coef[2 * k + 1]],
                b: sums.intercept[k],
                predicts: [w[0], w[1], b],
                margin,
            });
        }
        Ok(views)
    }
}

impl Layers {
    /// Some visits: each is a run over one point.
    fn rows(&self, data: &Data, visits: std::ops::Range<u64>, plane: usize) -> Result<Vec<Row>> {
        let mut network = self.network(data, visits.start)?;
        let mut rows = Vec::new();
        for visit in visits {
            let order = data.order(visit / data.len() as u64)?;
            let point = order[(visit % data.len() as u64) as usize];
            let a = activations(&network, &data.x[2 * point as usize..][..2])?[plane];
            let (after, mistakes) = self.after(&network, data, &[point])?;
            network = after;
            let mut row = row(data, visit, point, plane, None, a);
            row.mistake = mistakes > 0;
            rows.push(row);
        }
        Ok(rows)
    }
}
