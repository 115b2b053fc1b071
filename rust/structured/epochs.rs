//! One epoch of the chain: search, compare, learn; in integers as long as they are exact.

use super::chain::Chain;
use super::lattice::{Lattice, Search};
use super::learner::Learner;
use super::prefix::compare;
use super::weights::{State, Weights};
use crate::arith::average::{average, timed};
use crate::arith::number::Number;
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::online::Monitor;
use crate::rows::Entries;

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

/// The weights, and the search that reads them.
struct Engine<N> {
    learner: Learner<N>,
    lattice: Lattice<N>,
}

impl<N: Number> Engine<N> {
    fn new(learner: Learner<N>, with_pair: bool) -> Result<Self> {
        let lattice = Lattice::new(learner.w.shape, with_pair)?;
        Ok(Self { learner, lattice })
    }
}

/// In one of two kinds of numbers.
enum Form {
    Exact(Engine<i32>, i32),
    Float(Engine<f64>),
}

/// What a sequence came to.
struct Visit<N> {
    /// Labels that differ; 0 if the answer was right.
    wrong: usize,
    largest: N,
}

/// What is read of one sequence and written about it, over and over.
#[derive(Default)]
struct Scratch {
    entries: Entries,
    path: Vec<u32>,
}

/// How an epoch went.
#[derive(Default)]
pub(super) struct Errors {
    pub sequences: i64,
    pub tokens: i64,
    pub interrupted: bool,
}

/// A run between two sequences.
pub(super) struct Run<'a> {
    chain: &'a Chain<'a>,
    form: Option<Form>,
    scratch: Scratch,
    pub seen: u64,
}

/// Sequences between two questions to the monitor.
const BLOCK: usize = 64;

impl<'a> Run<'a> {
    pub fn new(chain: &'a Chain<'a>, state: &State) -> Result<Self> {
        let with_pair = state.weights.pair.is_some();
        let form = match limit(chain, state) {
            Some(limit) => Form::Exact(Engine::new(Learner::new(state)?, with_pair)?, limit),
            None => Form::Float(Engine::new(Learner::new(state)?, with_pair)?),
        };
        Ok(Self { chain, form: Some(form), scratch: Scratch::default(), seen: state.seen })
    }

    /// Visits sequences in that order.
    pub fn epoch(&mut self, order: &[u32], epoch: u64, monitor: &dyn Monitor) -> Result<Errors> {
        let mut errors = Errors::default();
        for (i, &sequence) in order.iter().enumerate() {
            let asked = if i % BLOCK == 0 { monitor.pause() } else { Ok(()) };
            match asked.and_then(|()| self.visit(sequence as usize, monitor)) {
                Ok(Some(wrong)) => {
                    errors.sequences += i64::from(wrong > 0);
                    errors.tokens += wrong as i64;
                }
                Ok(None) => return Err(Error::Overflow { epoch }),
                Err(Error::Interrupted) => {
                    errors.interrupted = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let is_finite = match &self.form {
            Some(Form::Exact(engine, _)) => engine.learner.is_finite(),
            Some(Form::Float(engine)) => engine.learner.is_finite(),
            None => false,
        };
        if is_finite { Ok(errors) } else { Err(Error::Overflow { epoch }) }
    }

    /// Labels of a sequence that were wrong; `None`: a number is not finite. Where the monitor interrupts,
    /// nothing of the sequence has been learnt; after another error the run is not to be used.
    fn visit(&mut self, sequence: usize, monitor: &dyn Monitor) -> Result<Option<usize>> {
        let (chain, scratch, seen) = (self.chain, &mut self.scratch, self.seen + 1);
        let (wrong, leaves) = match &mut self.form {
            None => (None, false),
            Some(Form::Float(engine)) => {
                let visit = engine.visit(chain, scratch, sequence, seen, monitor)?;
                (visit.map(|visit| visit.wrong), false)
            }
            Some(Form::Exact(engine, limit)) => {
                let visit = engine.visit(chain, scratch, sequence, seen, monitor)?;
                let leaves = visit.as_ref().is_some_and(|visit| !visit.largest.within(*limit));
                (visit.map(|visit| visit.wrong), leaves)
            }
        };
        if leaves && let Some(Form::Exact(engine, _)) = self.form.take() {
            let with_pair = engine.learner.model().pair.is_some();
            self.form = Some(Form::Float(Engine::new(engine.learner.widened()?, with_pair)?));
        }
        self.seen = seen;
        Ok(wrong)
    }

    /// What `value` makes of each weight and its sum; `None`: an average is not finite.
    pub fn weights(&self, value: impl Fn(f64, f64) -> f64) -> Result<Option<Weights<'static>>> {
        match &self.form {
            None => Ok(None),
            Some(Form::Exact(engine, _)) => engine.weights(value, self.seen),
            Some(Form::Float(engine)) => engine.weights(value, self.seen),
        }
    }

    /// The averages so far.
    pub fn averages(&self) -> Result<Option<Weights<'static>>> {
        self.weights(|w, u| average(w, u, self.seen))
    }
}

impl<N: Number> Engine<N> {
    /// Looks for the labels of a sequence and learns from them; `None`: a number is not finite.
    fn visit(
        &mut self,
        chain: &Chain,
        scratch: &mut Scratch,
        number: usize,
        t: u64,
        monitor: &dyn Monitor,
    ) -> Result<Option<Visit<N>>> {
        let Self { learner, lattice } = self;
        let Scratch { entries, path } = scratch;
        let rows = chain.sequences.rows(number);
        let truth = &chain.labels[rows.clone()];
        entries.clear();
        chain.rows.gather(rows, entries)?;
        let search = Search { beam: chain.beam, ..Search::default() };
        let model = learner.model();
        if !entries.is_finite() || !lattice.fill(model, entries, search, monitor)? {
            return Ok(None);
        }
        path.try_resize(truth.len(), 0)?;
        let len = compare(lattice, (model, entries), chain.mending, truth, path)?;
        let compared = (&truth[..len], &path[..len]);
        let wrong = compared.0.iter().zip(compared.1).filter(|(y, z)| y != z).count();
        let mut largest = N::default();
        if wrong > 0 {
            let tc = timed(t, chain.eta);
            if !tc.is_finite() {
                return Ok(None);
            }
            largest = learner.learn((chain.eta, tc), entries, compared, len == truth.len())?;
        }
        Ok(Some(Visit { wrong, largest }))
    }

    fn weights(&self, value: impl Fn(f64, f64) -> f64, seen: u64) -> Result<Option<Weights<'static>>> {
        if self.learner.average_is_finite(seen)? { self.learner.weights(value).map(Some) } else { Ok(None) }
    }
}
