//! Perceptrons, in the plane and with a kernel: one run, whose log of mistakes says what each learner of the
//! family had learnt at any place of it.

use perceptron_rs::error::{Error, Result};
use perceptron_rs::kernel::{self, Dual, Kernel};
use perceptron_rs::online::averaged::average;
use perceptron_rs::online::pocket::{Check, Pocket};
use perceptron_rs::online::voted::{Log, Sums, Voted, replay};
use perceptron_rs::online::{self, Learner as _, Numbers, Prechecked, Problem, Run, Settings, State};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Dense, Examples, Mistake, Table, Visit};

use crate::request::{Learner, Request};
use crate::session::Data;

/// Examples of which a pocket counts the errors after every update, as `check="auto"` of Python does.
pub const FEW: usize = 300;
/// Kernel values that are kept.
const CACHE: usize = 1 << 26;

/// The mistakes of a plane: the point, how many examples there had been with it, the step, and the squared
/// norm of a kernel's vector after it.
#[derive(Default)]
pub struct Made {
    pub row: Vec<i64>,
    pub t: Vec<i64>,
    pub step: Vec<f64>,
    pub norm: Vec<f64>,
}

pub struct Planes {
    settings: Settings,
    found: Prechecked,
    run: Run,
    voted: Voted,
    dual: Option<Dual>,
    pocket: Option<Pocket>,
    start: Sums,
    pub log: Vec<Made>,
    /// Examples after which a plane went on no more.
    ended: Vec<Option<u64>>,
    /// Pocket's vectors: plane, t, errors.
    swaps: Vec<(usize, u64, f64)>,
    /// The weights at the place that was asked for last.
    last: (u64, Sums),
    /// The order of the epoch that was looked at last.
    pub order: (Option<u64>, Vec<u32>),
}

/// The vectors of a run up to some place, plane after plane.
pub struct Vectors {
    pub start: Vec<i64>,
    pub row: Vec<i64>,
    pub t: Vec<i64>,
    pub step: Vec<f64>,
    pub bias: Vec<f64>,
    /// Of all vectors, the start first: examples survived, and squared norms.
    pub counts: Vec<i64>,
    pub norms: Vec<f64>,
    pub seen: Vec<i64>,
}

impl Vectors {
    pub fn log(&self, stored: usize) -> Result<Log<'_>> {
        Log::new(&self.start, &self.row, &self.step, &self.bias, stored)
    }

    /// The vector of each plane that a seed draws by the examples survived, as Python does.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Vec<i64> {
        let mut first = 0;
        let draw = |(k, pair): (usize, &[i64])| {
            let counts = &self.counts[first..=first + (pair[1] - pair[0]) as usize];
            first += counts.len();
            let total: i64 = counts.iter().sum();
            if total == 0 {
                return 0;
            }
            let mut left = SplitMix64::of_epoch(seed, u64::MAX, k as u64).below(total as u64) as i64;
            let drawn = counts.iter().position(|count| {
                left -= count;
                left < 0
            });
            drawn.unwrap_or(0) as i64
        };
        self.start.windows(2).enumerate().map(draw).collect()
    }
}

impl Planes {
    pub fn start(request: &Request, data: &Data) -> std::result::Result<Self, String> {
        let kernel = (request.learner == Learner::Kernel).then(|| request.kernel()).transpose()?;
        Self::begin(request, kernel, data).map_err(|error| error.to_string())
    }

    fn begin(request: &Request, kernel: Option<Kernel>, data: &Data) -> Result<Self> {
        let (planes, n, d) = (data.planes(), data.len(), data.d);
        let mut settings = Settings::new((0..planes).map(|k| data.positive(k)).collect());
        settings.eta = request.rate;
        settings.tie = request.tie;
        settings.fit_intercept = request.intercept;
        settings.seed = request.shuffled.then_some(u64::from(request.seed));
        let [w1, w2, b] = if kernel.is_some() { [0.0; 3] } else { request.start };
        let b = if request.intercept { b } else { 0.0 };
        let mut w = vec![0.0; d];
        w[..2].copy_from_slice(&[w1, w2]);
        let start = Sums {
            coef: w.repeat(planes),
            intercept: vec![b; planes],
            coef_u: vec![0.0; d * planes],
            intercept_u: vec![0.0; planes],
        };
        let coef = if kernel.is_some() { vec![0.0; planes * n] } else { start.coef.clone() };
        let coef = Table::new(coef, [planes, if kernel.is_some() { n } else { d }])?;
        let state = State { coef, intercept: start.intercept.clone(), seen: vec![0; planes], ages: None };
        let rows = data.rows()?;
        let check = if n <= FEW { Check::Update } else { Check::Ratchet };
        let pocket = || {
            let mut pocket = Pocket::new(check, false, request.intercept, &state, &())?;
            pocket.begin(&Problem::new(&rows, &data.labels, None, &settings)?, 1, &())?;
            Ok::<_, Error>(pocket)
        };
        let pocket = (request.learner == Learner::Pocket).then(pocket).transpose()?;
        let dual = |kernel| Dual::new(&rows, kernel, false, &vec![0.0; planes], CACHE, 1, &());
        let dual = kernel.map(dual).transpose()?;
        let mut voted = Voted::new(planes)?;
        let (run, found) = with_problem(&settings, None, dual.as_ref(), data, |problem| {
            Ok((Run::start(problem, state, &mut voted, &())?, problem.found()))
        })?;
        Ok(Self {
            settings,
            found,
            run,
            voted,
            dual,
            pocket,
            log: (0..planes).map(|_| Made::default()).collect(),
            ended: vec![None; planes],
            swaps: Vec::new(),
            last: (0, start.clone()),
            start,
            order: (None, vec![]),
        })
    }

    /// Makes an epoch. Returns its mistakes, and whether all planes have ended.
    pub fn epoch(&mut self, data: &Data, number: u64) -> Result<(Vec<i64>, bool)> {
        let Self { settings, found, run, voted, dual, ended, .. } = self;
        let goes_on: Vec<bool> = ended.iter().map(Option::is_none).collect();
        let epoch = with_problem(settings, Some(*found), dual.as_ref(), data, |problem| {
            let epoch = run.epoch(problem, voted, number, &())?;
            for (k, mistakes) in epoch.mistakes.iter().enumerate() {
                if *mistakes == 0 && ended[k].is_none() {
                    ended[k] = Some((number + 1) * data.len() as u64);
                    run.end(problem, voted, k, &())?;
                }
            }
            Ok(epoch)
        })?;
        let known: Vec<usize> = self.log.iter().map(|made| made.t.len()).collect();
        self.read_log()?;
        self.fill_pocket(data, number, &known, &goes_on)?;
        Ok((epoch.mistakes, self.ended.iter().all(Option::is_some)))
    }

    /// Takes over the new mistakes.
    fn read_log(&mut self) -> Result<()> {
        for (name, numbers) in self.voted.memory()? {
            for k in 0..self.log.len() {
                let made = &mut self.log[k];
                match (&numbers, name) {
                    (Numbers::Integers(planes), "log_row") => take(&mut made.row, &planes[k]),
                    (Numbers::Integers(planes), "log_t") => take(&mut made.t, &planes[k]),
                    (Numbers::Floats(planes), "log_step") => take(&mut made.step, &planes[k]),
                    _ => {}
                }
            }
        }
        if let Some(dual) = &mut self.dual {
            for (made, norms) in self.log.iter_mut().zip(dual.norms()) {
                take(&mut made.norm, &norms[1..]);
            }
        }
        Ok(())
    }

    /// Shows the pocket the mistakes of an epoch: all behind the `known` ones.
    fn fill_pocket(&mut self, data: &Data, number: u64, known: &[usize], goes_on: &[bool]) -> Result<()> {
        let Some(pocket) = &mut self.pocket else { return Ok(()) };
        let rows = data.rows()?;
        let problem = Problem::again(&rows, &data.labels, None, &self.settings, self.found);
        let order = data.order(number)?;
        let visit = Visit { order: Some(&order), ..problem.visit(&[]) };
        let ranges: Vec<_> = (0..self.log.len()).map(|k| k..k + 1).collect();
        let rules = pocket.split(&ranges, &problem)?.into_iter().enumerate().filter(|(k, _)| goes_on[*k]);
        for (k, mut rule) in rules {
            let made = &self.log[k];
            let mistake = |i: usize| {
                let (row, t, c) = (made.row[i] as u32, made.t[i] as u64, made.step[i]);
                Mistake { row, plane: k as u32, t, c }
            };
            let log: Vec<Mistake> = (known[k]..made.t.len()).map(mistake).collect();
            rule.start_epoch(number);
            rule.absorb(&visit, &log, &())?;
            rule.end_epoch(&visit, (number + 1) * data.len() as u64, &())?;
        }
        let memory = pocket.memory()?;
        let integers = |name| memory.iter().find(|(other, _)| *other == name).map(|(_, numbers)| numbers);
        if let [Some(Numbers::Integers(plane)), Some(Numbers::Integers(t)), Some(Numbers::Floats(errors))] =
            ["swap_plane", "swap_t", "swap_errors"].map(integers)
        {
            let numbers = plane[0].iter().zip(&*t[0]).zip(&*errors[0]);
            self.swaps = numbers.map(|((&plane, &t), &errors)| (plane as usize, t as u64, errors)).collect();
        }
        Ok(())
    }

    /// Where all planes start.
    #[must_use]
    pub fn first(&self) -> &Sums {
        &self.start
    }

    #[must_use]
    pub fn planes(&self) -> usize {
        self.log.len()
    }

    /// Examples that a plane has seen after `t` of the run.
    #[must_use]
    pub fn seen(&self, plane: usize, t: u64) -> u64 {
        self.ended[plane].map_or(t, |last| last.min(t))
    }

    /// Whether a plane had gone on no more before `t`.
    #[must_use]
    pub fn any_ended_before(&self, t: u64) -> bool {
        self.ended.iter().flatten().any(|last| *last < t)
    }

    /// How many mistakes a plane had made after `t` examples.
    #[must_use]
    pub fn mistakes(&self, plane: usize, t: u64) -> usize {
        self.log[plane].t.partition_point(|made| *made as u64 <= t)
    }

    /// The next mistake of any plane behind `t`, or the last one before it.
    #[must_use]
    pub fn update(&self, t: u64, forward: bool) -> Option<u64> {
        let of = |k: usize| {
            let made = &self.log[k].t;
            if forward {
                made.get(self.mistakes(k, t)).map(|t| *t as u64)
            } else {
                made[..t.checked_sub(1).map_or(0, |t| self.mistakes(k, t))].last().map(|t| *t as u64)
            }
        };
        let found = (0..self.log.len()).filter_map(of);
        if forward { found.min() } else { found.max() }
    }

    /// The vectors behind some entries of each plane's log up to `t`.
    fn between(&self, from: &[usize], t: u64) -> Vectors {
        let mut vectors = Vectors {
            start: vec![0],
            row: vec![],
            t: vec![],
            step: vec![],
            bias: vec![],
            counts: vec![],
            norms: vec![],
            seen: vec![],
        };
        for (k, made) in self.log.iter().enumerate() {
            let range = from[k]..self.mistakes(k, t);
            let seen = self.seen(k, t) as i64;
            let step = &made.step[range.clone()];
            vectors.row.extend(&made.row[range.clone()]);
            vectors.step.extend(step);
            let zero = if self.settings.fit_intercept { 1.0 } else { 0.0 };
            vectors.bias.extend(step.iter().map(|c| c * zero + 0.0));
            let ts = &made.t[range.clone()];
            let ends = ts.iter().copied().chain([seen + 1]);
            vectors.counts.extend([1].iter().chain(ts).zip(ends).map(|(t, end)| end - t));
            vectors.t.extend(ts);
            vectors.norms.push(0.0);
            vectors.norms.extend(made.norm.get(range).unwrap_or_default());
            vectors.start.push(vectors.row.len() as i64);
            vectors.seen.push(seen);
        }
        vectors
    }

    /// All vectors up to `t`.
    #[must_use]
    pub fn vectors(&self, t: u64) -> Vectors {
        self.between(&vec![0; self.log.len()], t)
    }

    /// The weights after `t` examples, and the sums that make their averages.
    pub fn sums(&mut self, data: &Data, t: u64) -> Result<Sums> {
        let (before, sums) = if self.last.0 <= t { self.last.clone() } else { (0, self.start.clone()) };
        let from: Vec<usize> =
            (0..self.log.len()).map(|k| if before == 0 { 0 } else { self.mistakes(k, before) }).collect();
        let vectors = self.between(&from, t);
        let upto: Vec<i64> = vectors.start.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let rows = data.rows()?;
        let sums = replay(&rows, &vectors.log(data.len())?, (&vectors.t, &upto), sums, &())?;
        self.last = (t, sums.clone());
        Ok(sums)
    }

    /// Weights and intercepts that predict after `t` examples: the last, averaged or pocket's ones.
    pub fn answer(&mut self, learner: Learner, data: &Data, t: u64) -> Result<(Vec<f64>, Vec<f64>)> {
        match learner {
            Learner::Averaged => {
                let sums = self.sums(data, t)?;
                let seen: Vec<u64> = (0..self.log.len()).map(|k| self.seen(k, t)).collect();
                let (mut coef, mut intercept) = (sums.coef.clone(), sums.intercept.clone());
                average([&sums.coef, &sums.coef_u], &seen, 2, &(), &mut coef)?;
                average([&sums.intercept, &sums.intercept_u], &seen, 1, &(), &mut intercept)?;
                Ok((coef, intercept))
            }
            Learner::Pocket => {
                let (mut coef, mut intercept) = (vec![], vec![]);
                for k in 0..self.log.len() {
                    let sums = self.sums(data, self.pocketed(k, t))?;
                    coef.extend(&sums.coef[2 * k..2 * k + 2]);
                    intercept.push(sums.intercept[k]);
                }
                Ok((coef, intercept))
            }
            _ => self.sums(data, t).map(|sums| (sums.coef, sums.intercept)),
        }
    }

    /// After how many examples there was the vector that is in the pocket after `t`: both checks that are
    /// used count the vector of the moment at which they swap.
    #[must_use]
    pub fn pocketed(&self, plane: usize, t: u64) -> u64 {
        let swaps = self.swaps.iter().filter(|(k, swapped, _)| *k == plane && *swapped <= t);
        swaps.map(|(_, t, _)| *t).max().unwrap_or(0)
    }

    /// What all rows have after `t` examples, row by row: activations of what predicts, or votes.
    pub fn scores(&mut self, request: &Request, data: &Data, t: u64, x: &[f64]) -> Result<Vec<f64>> {
        let (rows, planes) = (Dense::new(x, x.len() / 2, 2)?, self.log.len());
        let mut out = vec![0.0; x.len() / 2 * planes];
        match request.learner {
            Learner::Kernel => {
                self.kernel_scores(request, data, t, &rows, request.prediction.answer(), &mut out)?;
            }
            Learner::Voted => {
                let (vectors, stored) = (self.vectors(t), data.rows()?);
                let (coef, intercept) = (&self.start.coef[..], &self.start.intercept[..]);
                let log = vectors.log(data.len())?;
                let counts = &vectors.counts[..];
                let all =
                    online::VoteVectors { stored: &stored, log, coef, intercept, counts, tie: request.tie };
                let mut votes = vec![0; out.len()];
                online::votes(&rows, &all, 1, &(), &mut votes)?;
                for (i, (out, votes)) in out.iter_mut().zip(votes).enumerate() {
                    *out = votes as f64 / vectors.seen[i % planes].max(1) as f64;
                }
            }
            learner => {
                let (coef, intercept) = self.answer(learner, data, t)?;
                online::scores(&rows, (&coef).into(), &intercept, 1, &(), &mut out)?;
            }
        }
        Ok(out)
    }

    /// Activations of the vector that learns, of some rows.
    pub fn activations(&mut self, request: &Request, data: &Data, t: u64, x: &[f64]) -> Result<Vec<f64>> {
        let rows = Dense::new(x, x.len() / 2, 2)?;
        let mut out = vec![0.0; x.len() / 2 * self.log.len()];
        if request.learner == Learner::Kernel {
            self.kernel_scores(request, data, t, &rows, kernel::Answer::Last, &mut out)?;
        } else {
            let sums = self.sums(data, t)?;
            online::scores(&rows, (&sums.coef).into(), &sums.intercept, 1, &(), &mut out)?;
        }
        Ok(out)
    }

    fn kernel_scores(
        &self,
        request: &Request,
        data: &Data,
        t: u64,
        rows: &Dense<f64>,
        answer: kernel::Answer,
        out: &mut [f64],
    ) -> Result<()> {
        let (vectors, stored) = (self.vectors(t), data.rows()?);
        let drawn = vectors.drawn(u64::from(request.seed));
        let all = kernel::SupportVectors {
            stored: &stored,
            kernel: request.kernel().map_err(Error::Invalid)?,
            log: vectors.log(data.len())?,
            t: &vectors.t,
            intercept: &self.start.intercept,
            seen: &vectors.seen,
            counts: &vectors.counts,
            tie: request.tie,
            norms: &vectors.norms,
            drawn: &drawn,
        };
        kernel::predict(rows, &all, &[answer], 1, &(), out)
    }
}

fn take<T: Copy>(known: &mut Vec<T>, all: &[T]) {
    known.extend_from_slice(&all[known.len()..]);
}

/// Calls `f` on the problem; `found` is what the first look at it has found.
fn with_problem<R>(
    settings: &Settings,
    found: Option<Prechecked>,
    dual: Option<&Dual>,
    data: &Data,
    f: impl FnOnce(&Problem) -> Result<R>,
) -> Result<R> {
    let rows = data.rows()?;
    let in_dual_form = dual.map(|dual| dual.rows(&rows, None, &()));
    let examples: &dyn Examples = match &in_dual_form {
        Some(examples) => examples,
        None => &rows,
    };
    f(&match found {
        Some(found) => Problem::again(examples, &data.labels, None, settings, found),
        None => Problem::new(examples, &data.labels, None, settings)?,
    })
}
