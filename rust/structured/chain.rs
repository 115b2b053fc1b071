//! The structured perceptron on linear chains, for label sequences.
//!
//! - Problem: rows x1 ... xn in a sequence, labels y1 ... yn. Choose the labels with the largest score,
//!   the sum over tokens of `e[t][y_t] = emission[y_t].x_t` and `pair[y_(t-1)][y_t]`, plus a start and an end weight;
//!   pair is the transition, plus `pair[y'][y].x_t` where there are pair weights.
//! - Update rule: if the choice z is wrong, add c to all that y has and z has not, take c from all that z has
//!   and y has not, c = eta0; at the t-th sequence also t c to the sums u. Token by token, y before z.
//! - Given: rows, labels, lengths; eta0, a seed or none, epochs; the weights and sums to start from.
//! - Result: weights, sums, T; for each epoch the wrong sequences and wrong tokens.
//! - Paper: M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1,
//!   with the averaged parameters of section 2.5.

pub use super::prefix::Mending;

use std::borrow::Cow;
use std::mem;

use super::Sequences;
use super::lattice::{Lattice, Search};
use super::prefix::compare;
use super::slots::Slots;
use super::update::update;
use super::weights::{Padded, State, Weights};
use crate::arith::average::{average, timed};
use crate::arith::environment::Standard;
use crate::arith::lattice::Number;
use crate::error::{Error, Result};
use crate::online::{Flow, Monitor};
use crate::order::shuffle;
use crate::rows::{Entries, Table};

/// What is to be learnt.
pub struct Chain<'a> {
    rows: &'a dyn Table,
    labels: &'a [u32],
    sequences: &'a Sequences,
    /// Those to learn from.
    chosen: Vec<u32>,
    eta: f64,
    beam: Option<usize>,
    mending: Mending,
}

/// How long, and in what order.
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    pub seed: Option<u64>,
    pub first_epoch: u64,
    pub max_iter: u64,
}

/// What is wanted of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    State,
    /// The averages, without what another run would need: less memory.
    Average,
}

/// Weights or, if that was wanted, averages; the sums u.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    pub weights: Weights<'static>,
    pub sums: Option<Weights<'static>>,
    pub seen: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Clean,
    MaxIter,
}

impl Stopped {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::MaxIter => "max_iter",
        }
    }
}

/// The story of a run: for each epoch, the sequences that made an update, and the labels in which
/// what it compared differed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub sequence_errors: Vec<i64>,
    pub token_errors: Vec<i64>,
    pub stopped: Stopped,
}

impl<'a> Chain<'a> {
    pub fn new(
        rows: &'a dyn Table,
        labels: &'a [u32],
        sequences: &'a Sequences,
        eta: f64,
        beam: Option<usize>,
        mending: Mending,
    ) -> Result<Self> {
        if labels.len() != rows.len() {
            return Err(Error::Invalid(format!(
                "labels must have {} entries, one for each row, got {}",
                rows.len(),
                labels.len()
            )));
        }
        if !(eta.is_finite() && eta > 0.0) {
            return Err(Error::Invalid(format!("eta0 must be finite and above 0, got {eta}")));
        }
        check_beam(beam)?;
        if mending != Mending::Full && beam.is_none() {
            return Err(Error::Invalid("update must be \"full\" without a beam; give a beam".into()));
        }
        let chosen = (0..sequences.len() as u32).collect();
        Ok(Self { rows, labels, sequences, chosen, eta, beam, mending })
    }

    /// Learns from some of the sequences alone: the orders are permutations of this list.
    pub fn only(mut self, chosen: &[u32]) -> Result<Self> {
        if let Some(i) = chosen.iter().find(|i| **i as usize >= self.sequences.len()) {
            return Err(Error::Invalid(format!(
                "chosen must be below the number of sequences, {}, got {i}",
                self.sequences.len()
            )));
        }
        self.chosen = chosen.to_vec();
        Ok(self)
    }
}

pub(super) fn check_beam(beam: Option<usize>) -> Result<()> {
    if beam == Some(0) {
        return Err(Error::Invalid("beam must be at least 1, got 0; None looks at all labels".into()));
    }
    Ok(())
}

/// Room for the sums of a search in i32: half of it, the other half is for updates on their way.
const ROOM: f64 = (1 << 30) as f64;

/// Bound of the weights up to which all sums of a search are exact in i32, if there is one (rule 10).
fn limit(chain: &Chain, state: &State) -> Option<i32> {
    let size = chain.rows.magnitude()?;
    let longest = chain.sequences.longest() as f64;
    let with_pair = if state.weights.pair.is_some() { 2.0 } else { 1.0 };
    let limit = (ROOM / (longest * (with_pair * size.row + 1.0) + 2.0)).floor();
    let one_sequence = longest * chain.eta * size.value.max(1.0);
    let integers = |w: &[f64]| w.iter().all(|w| w.fract() == 0.0 && w.abs() <= limit);
    let is_exact = chain.eta.fract() == 0.0 && one_sequence < ROOM / 2.0 && limit >= 1.0;
    (is_exact && state.weights.arrays().all(integers)).then_some(limit as i32)
}

/// The search and the weights that it reads, in one of two kinds of numbers.
struct Engine<N> {
    w: Padded<N>,
    lattice: Lattice<N>,
}

enum Form {
    Exact(Engine<i32>, i32),
    Float(Engine<f64>),
}

impl<N: Number> Engine<N> {
    fn new(w: Padded<N>) -> Self {
        let lattice = Lattice::new(&w);
        Self { w, lattice }
    }
}

/// What a sequence came to.
struct Visit<N> {
    /// Labels that differ; 0 if the answer was right.
    wrong: usize,
    largest: N,
}

struct Pass<'a> {
    chain: &'a Chain<'a>,
    u: Padded<f64>,
    slots: Slots,
    entries: Entries,
    /// The same by slots.
    placed: Entries,
    path: Vec<u32>,
    seen: u64,
}

impl Pass<'_> {
    /// Looks for the labels of a sequence and learns from them; `None`: a number is not finite.
    fn visit<N: Number>(&mut self, engine: &mut Engine<N>, sequence: usize) -> Option<Visit<N>> {
        let Engine { w, lattice } = engine;
        let Chain { beam, mending, eta, .. } = *self.chain;
        let rows = self.chain.sequences.rows(sequence);
        let truth = &self.chain.labels[rows.clone()];
        self.entries.clear();
        self.chain.rows.gather(rows, &mut self.entries);
        self.entries.rename(&mut self.placed, |_, column| self.slots.get(column));
        self.seen += 1;
        let search = Search { beam, ..Search::default() };
        if !self.entries.is_finite() || !lattice.fill(w, &self.placed, search) {
            return None;
        }
        self.path.resize(truth.len(), 0);
        let len = compare(lattice, (w, &self.placed), mending, truth, &mut self.path);
        let compared = (&truth[..len], &self.path[..len]);
        let wrong = compared.0.iter().zip(compared.1).filter(|(y, z)| y != z).count();
        let mut largest = N::default();
        if wrong > 0 {
            let tc = timed(self.seen, eta);
            if !tc.is_finite() {
                return None;
            }
            // Only rows that are changed need a slot; a wrong label changes the pairs on both sides.
            let differs = |token: usize| token < len && compared.0[token] != compared.1[token];
            let changes =
                |token: usize| differs(token) || w.pair.is_some() && token > 0 && differs(token - 1);
            self.entries
                .rename(&mut self.placed, |token, column| changes(token).then(|| self.slots.take(column)));
            let slots = self.slots.len();
            w.grow(slots);
            self.u.grow(slots);
            let is_whole = len == truth.len();
            largest = update(w, eta, &self.placed, compared, is_whole);
            update(&mut self.u, tc, &self.placed, compared, is_whole);
        }
        Some(Visit { wrong, largest })
    }
}

/// Sequences between two questions to the monitor.
const BLOCK: usize = 64;

/// Runs epochs until one is clean, or their number is up.
pub fn fit(
    chain: &Chain,
    schedule: &Schedule,
    state: &State,
    answer: Answer,
    monitor: &dyn Monitor,
) -> Result<(Learnt, Report)> {
    let _standard = Standard::enter();
    state.weights.check(chain.rows.columns())?;
    state.sums.check(chain.rows.columns())?;
    if state.sums.labels() != state.weights.labels()
        || state.sums.pair.is_some() != state.weights.pair.is_some()
    {
        return Err(Error::Invalid("sums must have the shapes of the weights".into()));
    }
    let most = state.weights.labels() as u32;
    if let Some(label) = chain.labels.iter().find(|label| **label >= most) {
        return Err(Error::Invalid(format!("labels must be below {most}, got {label}")));
    }
    let mut slots = Slots::new(chain.rows.columns());
    for column in 0..chain.rows.columns() {
        if state.weights.has_column(column) || state.sums.has_column(column) {
            slots.take(column as i64);
        }
    }
    let mut form = match limit(chain, state) {
        Some(limit) => Form::Exact(Engine::new(Padded::new(&state.weights, &slots)?), limit),
        None => Form::Float(Engine::new(Padded::new(&state.weights, &slots)?)),
    };
    let u = Padded::new(&state.sums, &slots)?;
    let (entries, placed, path) = (Entries::default(), Entries::default(), Vec::new());
    let mut pass = Pass { chain, u, slots, entries, placed, path, seen: state.seen };
    let mut report = Report { sequence_errors: vec![], token_errors: vec![], stopped: Stopped::MaxIter };
    let mut order: Vec<u32> = Vec::new();
    for epoch in schedule.first_epoch..schedule.first_epoch.saturating_add(schedule.max_iter) {
        order.clear();
        order.extend_from_slice(&chain.chosen);
        if let Some(seed) = schedule.seed {
            shuffle(&mut order, seed, epoch, 0);
        }
        let errors = run_epoch(&mut pass, &mut form, &order, epoch, monitor)?;
        report.sequence_errors.push(errors.0);
        report.token_errors.push(errors.1);
        if errors.0 == 0 {
            report.stopped = Stopped::Clean;
            break;
        }
    }
    let last = schedule.first_epoch + report.sequence_errors.len().saturating_sub(1) as u64;
    let learnt = match form {
        Form::Exact(engine, _) => pass.finish(&engine.w, answer),
        Form::Float(engine) => pass.finish(&engine.w, answer),
    };
    learnt.map(|learnt| (learnt, report)).ok_or(Error::Overflow { epoch: last })
}

impl Pass<'_> {
    /// What has been learnt; `None`: an average is not finite.
    fn finish<N: Number>(self, w: &Padded<N>, answer: Answer) -> Option<Learnt> {
        let Self { u, slots, seen, .. } = self;
        if !w.average_is_finite(&u, seen) {
            return None;
        }
        if answer == Answer::Average {
            let weights = w.weights(&slots, |array, i, w| average(w.wide(), u.array(array)[i], seen));
            return Some(Learnt { weights, sums: None, seen });
        }
        let weights = w.weights(&slots, |_, _, w| w.wide());
        Some(Learnt { weights, sums: Some(u.weights(&slots, |_, _, u| u)), seen })
    }
}

/// Sequences and labels that were wrong.
fn run_epoch(
    pass: &mut Pass,
    form: &mut Form,
    order: &[u32],
    epoch: u64,
    monitor: &dyn Monitor,
) -> Result<(i64, i64)> {
    let mut errors = (0, 0);
    let mut count = |wrong: usize| {
        errors.0 += i64::from(wrong > 0);
        errors.1 += wrong as i64;
    };
    for block in order.chunks(BLOCK) {
        if monitor.block() == Flow::Break {
            return Err(Error::Interrupted);
        }
        for &sequence in block {
            match form {
                Form::Exact(engine, limit) => {
                    let Some(visit) = pass.visit(engine, sequence as usize) else {
                        return Err(Error::Overflow { epoch });
                    };
                    count(visit.wrong);
                    if !visit.largest.within(*limit) {
                        let w = mem::replace(&mut engine.w, Padded::empty());
                        *form = Form::Float(Engine::new(Padded::of_exact(w)));
                    }
                }
                Form::Float(engine) => match pass.visit(engine, sequence as usize) {
                    Some(visit) => count(visit.wrong),
                    None => return Err(Error::Overflow { epoch }),
                },
            }
        }
    }
    let is_finite = match form {
        Form::Exact(..) => true,
        Form::Float(engine) => engine.w.is_finite(),
    };
    if is_finite && pass.u.is_finite() { Ok(errors) } else { Err(Error::Overflow { epoch }) }
}

/// The averaged weights of a state.
#[must_use]
pub fn averages(state: &State) -> Weights<'static> {
    let State { weights: w, sums: u, seen } = state;
    let mean = |w: &[f64], u: &[f64]| -> Cow<'static, [f64]> {
        w.iter().zip(u).map(|(w, u)| average(*w, *u, *seen)).collect()
    };
    Weights {
        emission: mean(&w.emission, &u.emission),
        transition: mean(&w.transition, &u.transition),
        start: mean(&w.start, &u.start),
        end: mean(&w.end, &u.end),
        pair: w.pair.as_ref().zip(u.pair.as_ref()).map(|(w, u)| mean(w, u)),
    }
}
