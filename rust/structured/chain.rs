//! The structured perceptron on linear chains, for label sequences.
//!
//! - Problem: rows x1 ... xn in a sequence, labels y1 ... yn. Choose the labels with the largest score,
//!   the sum over tokens of `e[t][y_t] = emission[y_t].x_t` and `pair[y_(t-1)][y_t]`, plus a start and an
//!   end weight; pair is the transition, plus `pair[y'][y].x_t` where there are pair weights.
//! - Update rule: if the choice z is wrong, add c to all that y has and z has not, take c from all that z has
//!   and y has not, c = eta0, or that of a passive-aggressive step; at the t-th sequence also t c to the sums
//!   u. Token by token, y before z.
//! - Given: rows, labels, lengths; eta0, a seed or none; the weights and sums to start from.
//! - Result: weights, sums, T; for each epoch the wrong sequences and wrong tokens.
//! - Paper: M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002: figure 1,
//!   with the averaged parameters of section 2.5.

pub use super::prefix::Mending;

use super::lattice::{Lattice, Search};
use super::learner::ChainLearner;
use super::prefix::{ahead, compare};
use super::{ChainState, Sequences};
use crate::arith::average::timed;
use crate::arith::environment::standard;
use crate::arith::integers::{all_integers, integers_within};
use crate::arith::number::Number;
use crate::arith::step::Aggressive;
use crate::base::{
    Error, Grow, Monitor, Result, bail, collected, ensure, pieces, refill, unless_interrupted,
};
use crate::monitor::{all, filled};
use crate::online::Epoch;
use crate::order::shuffle;
use crate::rows::{Entries, Matrix};

#[derive(Debug, Clone, Copy)]
pub struct ChainSettings {
    pub eta: f64,
    /// How many labels of each token a search goes on from; `None`: all.
    pub beam: Option<usize>,
    pub mending: Mending,
    /// Passive-aggressive steps in the place of those of the length `eta`.
    pub aggressive: Option<Aggressive>,
    /// Key of the orders; `None`: as the sequences stand.
    pub seed: Option<u64>,
    /// The number of the sequences among parts of the data, for these orders.
    pub partition: u64,
    /// Whether to keep the answer to each sequence, before the update that it led to.
    pub track_answers: bool,
}

/// What is to be learnt.
pub struct Chain {
    labels: Vec<u32>,
    sequences: Sequences,
    /// Those to learn from: the orders are permutations of this list.
    chosen: Vec<u32>,
    settings: ChainSettings,
}

impl Chain {
    /// `chosen`: numbers of the sequences to learn from; `None`: all.
    pub fn new(
        labels: Vec<u32>,
        sequences: Sequences,
        chosen: Option<Vec<u32>>,
        settings: ChainSettings,
    ) -> Result<Self> {
        let (rows, eta) = (sequences.rows_in_all(), settings.eta);
        ensure!(
            labels.len() == rows,
            "labels must have {rows} entries, one for each row, got {}",
            labels.len()
        );
        ensure!(eta.is_finite() && eta > 0.0, "eta0 must be finite and above 0, got {eta}");
        check_beam(settings.beam)?;
        settings.aggressive.map_or(Ok(()), Aggressive::check)?;
        let count = sequences.len();
        if let Some(i) = chosen.iter().flatten().find(|i| **i as usize >= count) {
            bail!("chosen must be below the number of sequences, {count}, got {i}");
        }
        let chosen = match chosen {
            Some(chosen) => chosen,
            None => collected(0..count as u32)?,
        };
        Ok(Self { labels, sequences, chosen, settings })
    }

    fn check_labels(&self, labels: usize, monitor: &dyn Monitor) -> Result<()> {
        for piece in pieces(self.labels.len(), 1, monitor) {
            if let Some(label) = self.labels[piece?].iter().find(|label| **label as usize >= labels) {
                bail!("labels must be below {labels}, got {label}");
            }
        }
        Ok(())
    }

    fn draw_order(&self, order: &mut Vec<u32>, number: u64, monitor: &dyn Monitor) -> Result<()> {
        refill(order, self.chosen.len(), |i| self.chosen[i], monitor)?;
        let Some(seed) = self.settings.seed else { return Ok(()) };
        shuffle(order, (seed, number, self.settings.partition), monitor)
    }

    /// Bound of the weights up to which all sums of a search are exact in i32, if there is one (rule 10).
    fn limit(&self, rows: &dyn Matrix, state: &ChainState, monitor: &dyn Monitor) -> Result<Option<i32>> {
        let (Some(size), eta) = (rows.magnitude(monitor)?, self.settings.eta) else { return Ok(None) };
        let longest = self.sequences.longest() as f64;
        let with_pair = if state.weights.pair.is_some() { 2.0 } else { 1.0 };
        let limit = (ROOM / (longest * (with_pair * size.row + 1.0) + 2.0)).floor();
        let one_sequence = longest * eta * size.value.max(1.0);
        let mut is_exact = self.settings.aggressive.is_none()
            && all_integers(&[eta])
            && one_sequence < ROOM / 2.0
            && limit >= 1.0;
        for w in state.weights.arrays() {
            is_exact = is_exact && all(w, |w| integers_within(w, limit), monitor)?;
        }
        Ok(is_exact.then_some(limit as i32))
    }
}

pub(super) fn check_beam(beam: Option<usize>) -> Result<()> {
    ensure!(beam != Some(0), "beam must be at least 1, got 0; None looks at all labels");
    Ok(())
}

/// Room for the sums of a search in i32: half of it, the other half is for updates on their way.
const ROOM: f64 = (1 << 30) as f64;

/// Sequences between two questions to the monitor.
const BLOCK: usize = 64;

/// A run between two epochs. It is always used with the rows that it was started with, and not at all
/// after an error.
pub struct ChainRun {
    chain: Chain,
    form: Precision,
    scratch: Scratch,
    order: Vec<u32>,
    /// The answers to all sequences, if they are recorded.
    answers: Vec<u32>,
    /// Sequences seen since the last cold start.
    seen: u64,
    /// The number of the last epoch.
    epoch: u64,
}

/// The weights, and the search that reads them.
struct Engine<N> {
    learner: ChainLearner<N>,
    lattice: Lattice<N>,
}

/// In one of two kinds of numbers: integers as long as they are exact.
enum Precision {
    Exact(Engine<i32>, i32),
    Float(Engine<f64>),
}

/// What is read of one sequence and written about it, over and over.
#[derive(Default)]
struct Scratch {
    entries: Entries,
    path: Vec<u32>,
}

/// What a sequence came to.
struct Outcome<N> {
    /// Labels that differ; 0 if the answer was right.
    wrong: usize,
    largest: N,
}

impl ChainRun {
    /// Checks labels and state against the rows.
    pub fn start(rows: &dyn Matrix, chain: Chain, state: &ChainState, monitor: &dyn Monitor) -> Result<Self> {
        standard(|| {
            state.check(rows.columns(), monitor)?;
            chain.check_labels(state.weights.labels(), monitor)?;
            let with_pair = state.weights.pair.is_some();
            let form = match chain.limit(rows, state, monitor)? {
                Some(limit) => {
                    Precision::Exact(Engine::new(ChainLearner::new(state, monitor)?, with_pair)?, limit)
                }
                None => Precision::Float(Engine::new(ChainLearner::new(state, monitor)?, with_pair)?),
            };
            let answers = filled(&0, if chain.settings.track_answers { rows.len() } else { 0 }, monitor)?;
            let (scratch, order) = (Scratch::default(), Vec::new());
            Ok(Self { chain, form, scratch, order, answers, seen: state.seen, epoch: 0 })
        })
    }

    /// Visits the chosen sequences in the order of the epoch of this number. The mistakes are the sequences
    /// that led to an update, the loss the labels in which what was compared differed.
    pub fn epoch(&mut self, rows: &dyn Matrix, number: u64, monitor: &dyn Monitor) -> Result<Epoch> {
        standard(|| {
            self.epoch = number;
            let mut order = std::mem::take(&mut self.order);
            if unless_interrupted(self.chain.draw_order(&mut order, number, monitor))?.is_none() {
                return Epoch::of_one_decision(0, 0.0, true);
            }
            let (mut sequences, mut tokens, mut interrupted) = (0, 0, false);
            for (i, &sequence) in order.iter().enumerate() {
                let asked = if i % BLOCK == 0 { monitor.pause() } else { Ok(()) };
                match asked.and_then(|()| self.visit(rows, sequence as usize, monitor)) {
                    Ok(Some(wrong)) => {
                        sequences += i64::from(wrong > 0);
                        tokens += wrong;
                    }
                    Ok(None) => return Err(Error::Overflow { epoch: number }),
                    Err(Error::Interrupted) => {
                        interrupted = true;
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            self.order = order;
            let is_finite = match &self.form {
                Precision::Exact(engine, _) => engine.learner.is_finite(),
                Precision::Float(engine) => engine.learner.is_finite(),
            };
            if is_finite {
                Epoch::of_one_decision(sequences, tokens as f64, interrupted)
            } else {
                Err(Error::Overflow { epoch: number })
            }
        })
    }

    /// Labels of a sequence that were wrong; `None`: a number is not finite. Where the monitor interrupts,
    /// nothing of the sequence has been learnt; after another error the run is not to be used.
    fn visit(&mut self, rows: &dyn Matrix, sequence: usize, monitor: &dyn Monitor) -> Result<Option<usize>> {
        let Self { chain, form, scratch, answers, seen, .. } = self;
        let (visited, t) = ((rows, sequence, &mut answers[..]), *seen + 1);
        let (wrong, leaves) = match form {
            Precision::Float(engine) => {
                let visit = engine.visit(chain, scratch, visited, t, monitor)?;
                (visit.map(|visit| visit.wrong), false)
            }
            Precision::Exact(engine, limit) => {
                let visit = engine.visit(chain, scratch, visited, t, monitor)?;
                let leaves = visit.as_ref().is_some_and(|visit| !visit.largest.within(*limit));
                (visit.map(|visit| visit.wrong), leaves)
            }
        };
        if leaves && let Precision::Exact(engine, _) = form {
            let with_pair = engine.learner.model().pair.is_some();
            *form = Precision::Float(Engine::new(std::mem::take(&mut engine.learner).widened()?, with_pair)?);
        }
        *seen = t;
        Ok(wrong)
    }

    /// The run goes on no more: its averages must be finite.
    pub fn end(&self, monitor: &dyn Monitor) -> Result<()> {
        let is_finite = standard(|| match &self.form {
            Precision::Exact(engine, _) => engine.learner.average_is_finite(self.seen, monitor),
            Precision::Float(engine) => engine.learner.average_is_finite(self.seen, monitor),
        })?;
        if is_finite { Ok(()) } else { Err(Error::Overflow { epoch: self.epoch }) }
    }

    /// Weights and sums: all that another run needs.
    pub fn state(&self, monitor: &dyn Monitor) -> Result<ChainState<'static>> {
        let seen = self.seen;
        match &self.form {
            Precision::Exact(engine, _) => engine.learner.state(seen, monitor),
            Precision::Float(engine) => engine.learner.state(seen, monitor),
        }
    }

    /// The labels of all rows as they were chosen at the last visit; empty if they are not recorded.
    pub fn answers(&self) -> &[u32] {
        &self.answers
    }
}

impl<N: Number> Engine<N> {
    fn new(learner: ChainLearner<N>, with_pair: bool) -> Result<Self> {
        let lattice = Lattice::new(learner.w.shape, with_pair)?;
        Ok(Self { learner, lattice })
    }

    /// Looks for the labels of a sequence and learns from them; `None`: a number is not finite.
    fn visit(
        &mut self,
        chain: &Chain,
        scratch: &mut Scratch,
        (rows, number, answers): (&dyn Matrix, usize, &mut [u32]),
        t: u64,
        monitor: &dyn Monitor,
    ) -> Result<Option<Outcome<N>>> {
        let Self { learner, lattice } = self;
        let Scratch { entries, path } = scratch;
        let ChainSettings { eta, beam, mending, aggressive, track_answers, .. } = chain.settings;
        let tokens = chain.sequences.rows(number);
        let truth = &chain.labels[tokens.clone()];
        entries.clear();
        rows.gather(tokens.clone(), entries)?;
        let model = learner.model();
        let search = Search { beam, ..Search::default() };
        if !entries.is_finite() || !lattice.fill(model, entries, search, monitor)? {
            return Ok(None);
        }
        if track_answers && let Some(best) = lattice.best(truth.len() - 1) {
            lattice.trace(model.frame, best, &mut answers[tokens]);
        }
        path.try_resize(truth.len(), 0)?;
        let Some(len) = compare(lattice, (model, entries), mending, truth, path)? else { return Ok(None) };
        let (compared, is_whole) = ((&truth[..len], &path[..len]), len == truth.len());
        let wrong = compared.0.iter().zip(compared.1).filter(|(y, z)| y != z).count();
        let mut largest = N::default();
        if wrong > 0 {
            let c = match aggressive {
                None => eta,
                Some(rule) => {
                    let loss = wrong as f64 + ahead(lattice, (model, entries), compared.0, path[len - 1]);
                    if !loss.is_finite() {
                        return Ok(None);
                    }
                    rule.tau(loss.max(0.0), learner.square(entries, compared, is_whole)?)
                }
            };
            let tc = timed(t, c);
            if !tc.is_finite() {
                return Ok(None);
            }
            largest = learner.learn((c, tc), entries, compared, is_whole)?;
        }
        Ok(Some(Outcome { wrong, largest }))
    }
}
