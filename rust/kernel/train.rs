//! The kernel perceptron.
//!
//! - Problem: a classifier that is linear in a space of features known by its inner product alone,
//!   the kernel K; with the loop over epochs of every online learner.
//! - Update rule: in the dual form the sum of an example i is `S_i = sum_k c_k K(x_k, x_i)` over the mistakes
//!   in their order, its activation `S_i + b`. A mistake on example k with the step c makes
//!   `S_i += c K(x_k, x_i)` for every i, and `b += c`. So the sums are the weights of a perceptron whose
//!   examples are unit vectors, and whose updates add rows of the Gram matrix: [`DualRows`] are these
//!   examples, and a [`crate::online::Run`] goes over them as over any others.
//! - Given: the examples, a kernel; the sums to start from, and the squared norm N of the vector there.
//! - Result: the log of mistakes ([`crate::online::voted`]), and N after each of them.
//! - Paper: Aizerman, Braverman, Rozonoer 1964, Theoretical foundations of the potential function
//!   method; Freund, Schapire 1999, Large margin classification using the perceptron algorithm (section 3).
//!
//! To add one row of the Gram matrix at a time would read all examples for each mistake. Instead the
//! next examples to be visited are a window, whose sums alone are kept up to date; when [`BATCH`]
//! examples have been mistaken, or the window ends, the rows of all of them are computed together and
//! added to the sums of all examples, in the order of the mistakes: the same additions for each
//! example, so the same bits.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cache::Cache;
use super::gram::{Dots, DotsMut, GramForm, Side, square_of, squares, squares_of};
use super::kernels::Kernel;
use super::window::{Updates, Window};
use crate::arith::kernel::{add, grown};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::arith::step::start;
use crate::base::{Error, Grow, Monitor, Result, bail, collected, gathered, tried};
use crate::rows::{Cursor, Examples, Learn, Matrix, Mistake, Planes, Stop, Visit, Weights, row_entries};
use crate::threads::{each, lock};

/// Mistaken examples whose rows are computed together, and the bytes of what is laid out for them at most.
const BATCH: usize = 32;
const BATCH_BYTES: usize = 64 * 1024 * 1024;

/// Examples of a window, at first and at the least and most.
const WINDOW: usize = 256;
const WINDOWS: Range<usize> = 32..1025;

/// Examples whose sums a thread brings up to date at a time.
const STRIP: usize = 512;

/// N of each plane: at the start, and after each update.
pub type Norms = Vec<Vec<f64>>;

/// Gives the rows of a Gram matrix of n examples, when they are needed. It is asked on the thread that called
/// [`crate::online::Run::epoch`], for one row at a time; not again for a row in the cache.
pub trait RowSource: Sync {
    /// Puts the kernel values of every example with this one into `out` (n), the same ones each time. False
    /// if it cannot: the run then ends with an error, and nothing of it is kept.
    fn row(&self, number: usize, out: &mut [f64]) -> bool;
}

/// What a run of the dual form keeps between its epochs, beside the sums.
pub struct Dual {
    pub(super) kernel: Kernel,
    pub(super) form: GramForm,
    pub(super) squares: Vec<f64>,
    pub(super) batch: usize,
    threads: usize,
    memory: Mutex<DualMemory>,
}

/// The examples of the dual form: n unit vectors.
#[derive(Clone, Copy)]
pub struct DualRows<'a> {
    pub(super) dual: &'a Dual,
    pub(super) rows: &'a dyn Matrix,
    pub(super) source: Option<&'a dyn RowSource>,
    pub(super) monitor: &'a dyn Monitor,
}

struct DualMemory {
    cache: Cache,
    norms: Norms,
    window: usize,
    /// The sums of all examples are not up to date: nothing more can be learnt, but what has been learnt is
    /// whole.
    interrupted: bool,
}

impl Dual {
    /// `norms` are those of the start; the cache of rows of the Gram matrix has at most `cache` bytes. With a
    /// [`RowSource`] (`has_source`), these rows come from it: the kernel must be [`Kernel::Precomputed`], and
    /// of `rows` the number alone matters.
    pub fn new(
        rows: &dyn Matrix,
        kernel: Kernel,
        has_source: bool,
        norms: &[f64],
        cache: usize,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        let n = rows.len();
        if has_source && kernel != Kernel::Precomputed {
            bail!("kernel must be precomputed where a source gives its values");
        }
        if !has_source && kernel == Kernel::Precomputed && rows.columns() != n {
            bail!(
                "rows must have {n} columns, one for each of them, to be a Gram matrix, got {}",
                rows.columns()
            );
        }
        let form = GramForm::of(kernel, &[rows], monitor)?;
        // A source's rows are held until they are added to the sums: no more of them than may be kept.
        let (bytes, width) = match form {
            GramForm::Given => (if has_source { cache } else { BATCH_BYTES }, n),
            GramForm::Sparse => (BATCH_BYTES, BATCH * row_entries(rows)),
            GramForm::Whole | GramForm::Wide => (BATCH_BYTES, rows.columns()),
        };
        let batch = (bytes / (8 * width).max(1)).clamp(1, BATCH);
        let norms = tried(norms.iter().map(|&norm| collected(std::iter::once(start(norm)))))?;
        let memory = DualMemory { cache: Cache::new(cache), norms, window: WINDOW, interrupted: false };
        let squares = squares(kernel, rows, threads, monitor)?;
        Ok(Self { kernel, form, squares, threads, batch, memory: Mutex::new(memory) })
    }

    /// The examples for an epoch: those of [`Dual::new`]. The source is `Some` if that had `has_source`. The
    /// monitor is that of the epoch.
    pub fn rows<'a>(
        &'a self,
        rows: &'a dyn Matrix,
        source: Option<&'a dyn RowSource>,
        monitor: &'a dyn Monitor,
    ) -> DualRows<'a> {
        DualRows { dual: self, rows, source, monitor }
    }

    pub fn norms(&mut self) -> &Norms {
        &self.memory.get_mut().unwrap_or_else(PoisonError::into_inner).norms
    }

    fn memory(&self) -> MutexGuard<'_, DualMemory> {
        lock(&self.memory)
    }
}

impl DualRows<'_> {
    /// Adds the rows of the Gram matrix of some updates to the sums of all examples (planes x n).
    fn flush(&self, cache: &mut Cache, updates: &mut Updates, sums: &mut [f64]) -> Result<()> {
        let n = self.rows.len();
        if updates.made.is_empty() {
            return Ok(());
        }
        let mut missing = Vec::new();
        let mut kept = std::mem::take(&mut updates.rows);
        let given = kept.len(); // none, or all: a source has given them
        for (slot, &support) in updates.supports.iter().enumerate().skip(given) {
            let row = cache.take(support);
            if row.is_none() {
                missing.try_push(slot)?;
            }
            kept.try_push(row.map_or_else(|| Dots::new(self.dual.form, n), Ok)?)?;
        }
        let numbers = collected(missing.iter().map(|&slot| updates.supports[slot]))?;
        // No weights can be laid out for no rows.
        let left = || Side::left(self.dual.form, self.rows, &numbers, self.rows, n);
        let left = (!numbers.is_empty()).then(left).transpose()?;
        let updates = &*updates;
        let empty = |first| Strip { range: first..n.min(first + STRIP), rows: Vec::new(), sums: Vec::new() };
        let mut strips = collected((0..n).step_by(STRIP).map(empty))?;
        for row in &mut kept {
            for (strip, part) in strips.iter_mut().zip(row.parts(STRIP)?) {
                strip.rows.try_push(part)?;
            }
        }
        for sums in sums.chunks_mut(n) {
            for (strip, sums) in strips.iter_mut().zip(sums.chunks_mut(STRIP)) {
                strip.sums.try_push(sums)?;
            }
        }
        each(strips.into_iter(), self.dual.threads, self.monitor, |strip: Strip| {
            let Strip { range, mut rows, mut sums } = strip;
            if let Some(left) = &left {
                self.compute(left, &missing, &range, &mut rows)?;
            }
            dispatch(AddRows { dual: self.dual, updates, range, rows: &rows, sums: &mut sums });
            Ok(())
        })?;
        for (&support, row) in updates.supports.iter().zip(kept) {
            cache.put(support, row)?;
        }
        Ok(())
    }

    /// Computes the rows that the cache lacks, in a strip.
    fn compute(
        &self,
        left: &Side,
        missing: &[usize],
        range: &Range<usize>,
        rows: &mut [DotsMut],
    ) -> Result<()> {
        let step = self.dual.form.tile(self.rows.columns());
        for first in range.clone().step_by(step) {
            let end = range.end.min(first + step);
            self.monitor.pause()?;
            let numbers = collected(first as u32..end as u32)?;
            let tile = Side::tile(self.dual.form, self.rows, &numbers)?;
            let place = first - range.start..end - range.start;
            let is_missing = |(slot, _): &(usize, _)| missing.binary_search(slot).is_ok();
            let absent = rows.iter_mut().enumerate().filter(is_missing);
            let mut out = gathered(absent.map(|(_, row)| row.sub(place.clone())))?;
            left.dots(self.rows, &tile, 0, &mut out)?;
        }
        Ok(())
    }
}

/// A part of all examples: its part of the rows and of each plane's sums.
struct Strip<'a> {
    range: Range<usize>,
    rows: Vec<DotsMut<'a>>,
    sums: Vec<&'a mut [f64]>,
}

struct AddRows<'a, 'b> {
    dual: &'a Dual,
    updates: &'a Updates,
    range: Range<usize>,
    rows: &'a [DotsMut<'b>],
    sums: &'a mut [&'b mut [f64]],
}

impl Leaf for AddRows<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self { dual, updates, range, rows, sums } = self;
        let mut values = [0.0; STRIP];
        let values = &mut values[..range.len()];
        let mut ready = usize::MAX;
        for &(plane, slot, c) in &updates.made {
            if ready != slot {
                rows[slot].widen(values);
                let square = square_of(&dual.squares, updates.supports[slot] as usize);
                dual.kernel.finish(values, square, squares_of(&dual.squares, range.clone()));
                ready = slot;
            }
            add(c, values, sums[plane]);
        }
    }
}

impl Examples for DualRows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn columns(&self) -> usize {
        self.rows.len()
    }

    fn block(&self, _planes: usize) -> usize {
        WINDOWS.end
    }

    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop> {
        let mut memory = self.dual.memory();
        let memory = &mut *memory;
        if memory.interrupted {
            return Err(Error::Interrupted);
        }
        let end = end.min(at.pos + memory.window);
        let numbers = collected((at.pos..end).map(|pos| visit.row(pos) as u32))?;
        let Weights::Float(sums) = &mut planes.weights else {
            bail!("sums of examples must be floats");
        };
        let sums = sums.own(&())?; // by plane, as they began
        let mut window = Window::new(*self, &mut memory.cache, &numbers, sums)?;
        let logged = log.len();
        let (heads, noise, activations) =
            (&mut planes.heads[..], planes.noise.as_mut(), planes.activations.as_mut());
        let stop =
            Learn { body: &mut window, visit: *visit, at, end, heads, noise, activations, log }.go()?;
        let Window { mut updates, before, error, interrupted, .. } = window;
        if let Some(error) = error {
            return Err(error);
        }
        for (mistake, (s, own)) in log[logged..].iter().zip(before) {
            let norms = &mut memory.norms[mistake.plane as usize];
            let last = norms[norms.len() - 1];
            norms.try_push(grown(last, mistake.c, s, own))?;
        }
        let finite = memory.norms.iter().all(|norms| norms[norms.len() - 1].is_finite());
        // So wide that about a batch is mistaken in it.
        let wider = updates.supports.len() < self.dual.batch / 2;
        let narrower = updates.supports.len() == self.dual.batch && at.pos < end;
        let width = if wider { 2 * memory.window } else { memory.window >> usize::from(narrower) };
        memory.window = width.clamp(WINDOWS.start, WINDOWS.end - 1);
        if stop == Stop::Overflow || !finite {
            return Ok(Stop::Overflow);
        }
        let flushed = if interrupted {
            Err(Error::Interrupted)
        } else {
            self.flush(&mut memory.cache, &mut updates, sums)
        };
        // What has been learnt is whole without the sums; whoever asks the monitor next ends the epoch.
        memory.interrupted = flushed == Err(Error::Interrupted);
        if memory.interrupted { Ok(Stop::Block) } else { flushed.map(|()| Stop::Block) }
    }
}
