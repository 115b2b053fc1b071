//! Runs of the kernel perceptron on a budget. What is kept, and what goes, is decided in [`super::kept`].
//!
//! The sums of all examples are not kept up to date here, as in [`super::train`]: those of an example
//! are computed when it is visited, from its kernel values with the examples kept alone. These are computed
//! for the next examples together, a window: first with all members, then with each one that is added.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::kept::{Budget, Kept};
use super::kernels::Kernel;
use super::pool::{Pool, Rooms};
use crate::arith::simd::{Simd, dispatch};
use crate::error::{Error, Result, probe_memory};
use crate::rows::{Cursor, Examples, Learn, Loop, Mistake, Planes, Stop, Table, Visit};

/// Examples of a window.
const WINDOW: usize = 64;

/// Distance of the kernel values of two members: no power of two, which would put those of one example
/// into few places of the cache.
const STRIDE: usize = WINDOW + 8;

/// Examples between two looks at the monitor.
const BLOCK: usize = 1024;

struct Memory {
    pool: Pool,
    sets: Vec<Kept>,
}

/// What a run on a budget keeps between its epochs.
pub struct Budgeted {
    budget: Budget,
    /// Classes that share a set: 1, or all.
    width: usize,
    memory: Mutex<Memory>,
}

/// The examples of a run on a budget. They have no columns: the planes have no weights.
pub struct BudgetRows<'a> {
    budgeted: &'a Budgeted,
    rooms: Rooms<'a>,
}

impl Budgeted {
    /// The members of the sets are numbers of stored rows, or behind these of rows of the run.
    pub fn new(
        rows: &dyn Table,
        stored: &dyn Table,
        kernel: Kernel,
        mut sets: Vec<Kept>,
        budget: Budget,
        width: usize,
    ) -> Result<Self> {
        budget.check()?;
        let (n, columns) = (rows.len(), rows.columns());
        if kernel == Kernel::Precomputed && (n != columns || !stored.is_empty()) {
            return Err(Error::Invalid(format!(
                "rows must have {n} columns, one for each of them, to be a Gram matrix, got {columns}, \
                 and stored_rows must have no rows, got {}",
                stored.len()
            )));
        }
        if columns != stored.columns() {
            let needed = stored.columns();
            return Err(Error::Invalid(format!(
                "rows must have {needed} columns, like the other rows, got {columns}"
            )));
        }
        let columns = if kernel == Kernel::Precomputed { 0 } else { columns };
        let most = budget.size.saturating_mul(sets.len()).min(stored.len().saturating_add(n));
        probe_memory(most.checked_add(1).and_then(|most| most.checked_mul(8 * (columns + STRIDE))))?;
        let rooms = Rooms { rows, stored };
        let mut pool = Pool::new(rooms, kernel);
        for member in sets.iter_mut().flat_map(|kept| &mut kept.members) {
            *member = pool.put(rooms, *member).0;
            pool.uses[*member] += 1;
        }
        Ok(Self { budget, width, memory: Mutex::new(Memory { pool, sets }) })
    }

    /// The examples for an epoch: those that [`Budgeted::new`] saw.
    #[must_use]
    pub fn rows<'a>(&'a self, rows: &'a dyn Table, stored: &'a dyn Table) -> BudgetRows<'a> {
        BudgetRows { budgeted: self, rooms: Rooms { rows, stored } }
    }

    /// What is kept, by the numbers of rows again.
    #[must_use]
    pub fn sets(&self) -> Vec<Kept> {
        let memory = self.memory();
        let (pool, mut sets) = (&memory.pool, memory.sets.clone());
        for member in sets.iter_mut().flat_map(|kept| &mut kept.members) {
            *member = pool.numbers[*member];
        }
        sets
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The examples that are visited next.
struct Window<'a> {
    rooms: Rooms<'a>,
    budget: &'a Budget,
    width: usize,
    memory: &'a mut Memory,
    /// The planes that are trained, by their numbers.
    planes: Vec<usize>,
    numbers: &'a [u32],
    squares: Vec<f64>,
    /// Kernel values of each slot with the examples.
    values: Vec<f64>,
    /// How many have been visited.
    visited: usize,
    /// Planes and steps of the mistake on the last one of them, until it is taken in.
    update: Vec<(usize, f64)>,
    finite: bool,
}

impl Window<'_> {
    /// Computes the kernel values of a slot with the examples from a place on.
    fn look(&mut self, slot: usize, from: usize) {
        if self.values.len() < (slot + 1) * STRIDE {
            self.values.resize((slot + 1) * STRIDE, 0.0);
        }
        let (len, squares) = (self.numbers.len(), self.squares.get(from..).unwrap_or(&[]));
        let out = &mut self.values[slot * STRIDE..][from..len];
        self.memory.pool.values(self.rooms.rows, slot, &self.numbers[from..], squares, out);
    }

    /// Takes the last mistake in.
    fn settle(&mut self) {
        if self.update.is_empty() {
            return;
        }
        let number = self.memory.pool.stored + self.numbers[self.visited - 1] as usize;
        let (slot, new) = self.memory.pool.put(self.rooms, number);
        if new && self.visited < self.numbers.len() {
            self.look(slot, self.visited);
        }
        let width = self.width;
        let mut steps = vec![0.0; width];
        let update = std::mem::take(&mut self.update);
        for (i, &(plane, c)) in update.iter().enumerate() {
            steps[plane % width.max(1)] = c;
            if width == 1 || i + 1 == update.len() {
                self.take(if width == 1 { plane } else { 0 }, slot, &steps);
            }
        }
        self.memory.pool.release(slot);
        self.update = update;
        self.update.clear();
    }

    fn take(&mut self, number: usize, slot: usize, steps: &[f64]) {
        let Memory { pool, sets } = &mut *self.memory;
        let kept = &mut sets[number];
        let before = kept.members.clone();
        let rows = self.rooms.rows;
        let values = |one: usize, others: &[usize], out: &mut Vec<f64>| pool.between(rows, one, others, out);
        self.finite &= kept.take(slot, steps, number, self.budget, &values);
        for &member in &kept.members {
            pool.uses[member] += 1;
        }
        for member in before {
            pool.uses[member] -= 1;
            pool.release(member);
        }
    }
}

impl Loop for &mut Window<'_> {
    const EXACT: bool = false;

    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, _row: usize, sums: &mut [f64]) {
        self.settle();
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
        true
    }

    #[inline(always)]
    fn ahead(&self) -> usize {
        0
    }

    #[inline(always)]
    fn prefetch(&self, _row: usize) {}
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

    fn prepare(&self, _visit: &Visit, _planes: &mut Planes) -> Result<()> {
        Ok(())
    }

    fn learn(
        &self,
        visit: &Visit,
        at: &mut Cursor,
        end: usize,
        planes: &mut Planes,
        log: &mut Vec<Mistake>,
    ) -> Result<Stop> {
        let Budgeted { budget, width, .. } = self.budgeted;
        let mut memory = self.budgeted.memory();
        let end = end.min(at.pos + WINDOW);
        let numbers: Vec<u32> = (at.pos..end).map(|pos| visit.row(pos) as u32).collect();
        let of_rows = &memory.pool.squares[1];
        let squares = numbers.iter().filter_map(|&row| of_rows.get(row as usize).copied()).collect();
        let used: Vec<usize> = memory.pool.slots.values().copied().collect();
        let mut window = Window {
            rooms: self.rooms,
            budget,
            width: *width,
            memory: &mut memory,
            planes: planes.heads.iter().map(|head| head.plane as usize).collect(),
            numbers: &numbers,
            squares,
            values: Vec::new(),
            visited: 0,
            update: Vec::new(),
            finite: true,
        };
        for slot in used {
            window.look(slot, 0);
        }
        let (heads, noise, record) = (&mut planes.heads[..], planes.noise.as_mut(), planes.record.as_mut());
        let stop = dispatch(Learn { kernel: &mut window, visit, at, end, heads, noise, record, log })?;
        window.settle();
        Ok(if window.finite { stop } else { Stop::Overflow })
    }
}
