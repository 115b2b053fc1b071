//! Runs of the kernel perceptron on a budget. What is kept, and what goes, is decided in
//! [`super::support_set`].
//!
//! The sums of all examples are not kept up to date here, as in [`super::train`]: those of an example
//! are computed when it is visited, from its kernel values with the examples kept alone. These are computed
//! for the next examples together, a window: first with all members, then with each one that is added.

use std::sync::{Mutex, MutexGuard};

use super::kernels::Kernel;
use super::pool::{Next, Pool, Rooms};
use super::support_set::{Budget, SupportSet};
use crate::arith::simd::Simd;
use crate::base::{
    Error, Grow, Monitor, NUMBERS, Result, bail, collected, filled, gathered, tried, with_room,
};
use crate::rows::{
    Cursor, Examples, Hint, Learn, LoopBody, Matrix, Mistake, Planes, Stop, Visit, row_entries,
};
use crate::threads::lock;

const WINDOW: usize = 64;

/// Distance of the kernel values of two members: no power of two, which would put those of one example
/// into few places of the cache.
const STRIDE: usize = WINDOW + 8;

/// Examples of a block; the monitor is asked after each window.
const BLOCK: usize = 1024;

/// Mistakes that have cost more products than these end a window, for the monitor is asked after each.
const WORK: usize = 32 * NUMBERS;

struct BudgetMemory {
    pool: Pool,
    sets: Vec<SupportSet>,
}

/// What a run on a budget keeps between its epochs.
pub struct Budgeted {
    budget: Budget,
    /// Classes that share a set: 1, or all.
    width: usize,
    threads: usize,
    memory: Mutex<BudgetMemory>,
}

/// The examples of a run on a budget. They have no columns: the planes have no weights.
pub struct BudgetRows<'a> {
    budgeted: &'a Budgeted,
    rooms: Rooms<'a>,
    monitor: &'a dyn Monitor,
}

impl Budgeted {
    /// The members of the sets are numbers of stored rows, or behind these of rows of the run. The kernel
    /// values of the members with the examples of a window are shared out over threads.
    #[expect(clippy::too_many_arguments, reason = "all of a run but its labels and order")]
    pub fn new(
        rows: &dyn Matrix,
        stored: &dyn Matrix,
        kernel: Kernel,
        mut sets: Vec<SupportSet>,
        budget: Budget,
        width: usize,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        budget.check()?;
        let (n, columns) = (rows.len(), rows.columns());
        if kernel == Kernel::Precomputed && (n != columns || !stored.is_empty()) {
            bail!(
                "rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}, \
                 and stored_rows must have no rows, got {}",
                stored.len()
            );
        }
        if columns != stored.columns() {
            let needed = stored.columns();
            bail!("rows must have {needed} columns, like the other rows, got {columns}");
        }
        let rooms = Rooms { rows, stored };
        let mut pool = Pool::new(rooms, kernel, threads, monitor)?;
        for member in sets.iter_mut().flat_map(|kept| &mut kept.members) {
            *member = pool.put(rooms, *member)?.0;
            pool.uses[*member] += 1;
        }
        Ok(Self { budget, width, threads, memory: Mutex::new(BudgetMemory { pool, sets }) })
    }

    /// The examples for an epoch: those that [`Budgeted::new`] saw. The monitor is that of the epoch.
    pub fn rows<'a>(
        &'a self,
        rows: &'a dyn Matrix,
        stored: &'a dyn Matrix,
        monitor: &'a dyn Monitor,
    ) -> BudgetRows<'a> {
        BudgetRows { budgeted: self, rooms: Rooms { rows, stored }, monitor }
    }

    /// The support sets, with the numbers of rows for members.
    pub fn sets(&self) -> Result<Vec<SupportSet>> {
        let BudgetMemory { pool, sets } = &*self.memory();
        tried(sets.iter().map(|kept| kept.renumbered(|slot| pool.numbers[slot])))
    }

    fn memory(&self) -> MutexGuard<'_, BudgetMemory> {
        lock(&self.memory)
    }
}

/// The examples that are visited next.
struct BudgetWindow<'a> {
    rooms: Rooms<'a>,
    budget: &'a Budget,
    width: usize,
    memory: &'a mut BudgetMemory,
    /// The planes that are trained, by their numbers.
    planes: Vec<usize>,
    next: Next<'a>,
    /// Kernel values of each slot with the examples.
    values: Vec<f64>,
    visited: usize,
    /// Planes and steps of the mistake on the last one of them, until it is taken in. It has room for all.
    update: Vec<(usize, f64)>,
    /// About what the mistakes so far have cost.
    work: usize,
    finite: bool,
    error: Option<Error>,
}

impl BudgetWindow<'_> {
    /// Computes the kernel values of a slot with the examples from a place on.
    fn look(&mut self, slot: usize, from: usize) -> Result<()> {
        if self.values.len() < (slot + 1) * STRIDE {
            self.values.try_resize((slot + 1) * STRIDE, 0.0)?;
        }
        let out = &mut self.values[slot * STRIDE..][..self.next.numbers.len()];
        self.memory.pool.values(&self.next, slot, from, out)
    }

    fn settle(&mut self) -> Result<()> {
        if self.update.is_empty() {
            return Ok(());
        }
        let number = self.memory.pool.stored + self.next.numbers[self.visited - 1] as usize;
        let (slot, new) = self.memory.pool.put(self.rooms, number)?;
        if new && self.visited < self.next.numbers.len() {
            self.look(slot, self.visited)?;
        }
        let width = self.width;
        let mut steps = filled(0.0, width)?;
        let update = std::mem::take(&mut self.update);
        for (i, &(plane, c)) in update.iter().enumerate() {
            steps[plane % width.max(1)] = c;
            if width == 1 || i + 1 == update.len() {
                self.take(if width == 1 { plane } else { 0 }, slot, &steps)?;
            }
        }
        self.memory.pool.release(slot);
        self.update = update;
        self.update.clear();
        Ok(())
    }

    fn take(&mut self, number: usize, slot: usize, steps: &[f64]) -> Result<()> {
        let BudgetMemory { pool, sets } = &mut *self.memory;
        let kept = &mut sets[number];
        let before = collected(kept.members.iter().copied())?;
        let rows = self.rooms.rows;
        let values = |one: usize, others: &[usize], out: &mut Vec<f64>| pool.between(rows, one, others, out);
        self.finite &= kept.take(slot, steps, number, self.budget, &values)?;
        self.work += self.budget.policy.products(kept.members.len(), row_entries(rows));
        for &member in &kept.members {
            pool.uses[member] += 1;
        }
        for member in before {
            pool.uses[member] -= 1;
            pool.release(member);
        }
        Ok(())
    }
}

impl LoopBody for &mut BudgetWindow<'_> {
    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, _row: usize, sums: &mut [f64]) {
        if let Err(error) = self.settle() {
            self.error = Some(error);
            // Ends the pass.
            return sums.fill(f64::NAN);
        }
        let place = self.visited;
        self.visited += 1;
        let values = &self.values;
        for (sum, &plane) in sums.iter_mut().zip(&self.planes) {
            let (set, class) = if self.width == 1 { (plane, 0) } else { (0, plane) };
            *sum = self.memory.sets[set].activation(class, |slot| values[slot * STRIDE + place]);
        }
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, _row: usize, c: f64) -> bool {
        self.update.push((self.planes[plane], c));
        self.work < WORK
    }

    #[inline(always)]
    fn size(&self) -> usize {
        0
    }

    fn prefetch(&self, _row: usize, _hint: Hint) {}
}

impl Examples for BudgetRows<'_> {
    fn len(&self) -> usize {
        self.rooms.rows.len()
    }

    fn columns(&self) -> usize {
        0
    }

    fn block(&self, _planes: usize) -> usize {
        BLOCK
    }

    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop> {
        let Budgeted { budget, width, threads, .. } = self.budgeted;
        let mut memory = self.budgeted.memory();
        let end = end.min(at.pos + WINDOW);
        let numbers = collected((at.pos..end).map(|pos| visit.row(pos) as u32))?;
        let of_rows = &memory.pool.squares[1];
        let squares = gathered(numbers.iter().filter_map(|&row| of_rows.get(row as usize).copied()))?;
        let postings = memory.pool.postings(self.rooms.rows, &numbers)?;
        let next = Next { rows: self.rooms.rows, numbers: &numbers, squares, postings };
        let values = memory.pool.all_values(&next, STRIDE, *threads, self.monitor)?;
        let mut window = BudgetWindow {
            rooms: self.rooms,
            budget,
            width: *width,
            memory: &mut memory,
            planes: collected(planes.heads.iter().map(|head| head.plane as usize))?,
            next,
            values,
            visited: 0,
            update: with_room(planes.heads.len())?,
            work: 0,
            finite: true,
            error: None,
        };
        let (heads, noise, activations) =
            (&mut planes.heads[..], planes.noise.as_mut(), planes.activations.as_mut());
        let stop =
            Learn { body: &mut window, visit: *visit, at, end, heads, noise, activations, log }.go()?;
        if let Some(error) = window.error {
            return Err(error);
        }
        window.settle()?;
        Ok(match stop {
            _ if !window.finite => Stop::Overflow,
            Stop::Limit => Stop::Block,
            stop => stop,
        })
    }
}
