//! The next examples to be visited, whose sums alone are kept up to date.

use super::cache::Cache;
use super::gram::{Dots, Finish, Side, square_of, squares_of};
use super::train::{DualRows, RowSource};
use crate::arith::kernel::add;
use crate::arith::simd::{Simd, dispatch};
use crate::base::{Error, Flow, Grow, Result, bail, collected, filled, matrix};
use crate::rows::{Hint, LoopBody};

/// What has been learnt since the sums of all examples were up to date.
#[derive(Default)]
pub struct Updates {
    pub supports: Vec<u32>,
    /// Their rows of the Gram matrix, if a source has given them.
    pub rows: Vec<Dots>,
    /// Plane, place among the supports, c.
    pub made: Vec<(usize, usize, f64)>,
}

/// The window: the examples that are visited next, their sums (planes x window) up to date.
pub struct Window<'a> {
    examples: DualRows<'a>,
    cache: &'a mut Cache,
    numbers: &'a [u32],
    tile: Side,
    squares: Vec<f64>,
    sums: Vec<f64>,
    /// The number of the visit.
    at: usize,
    started: bool,
    /// Kernel values of the example that is visited with those after it, if they have been computed.
    values: Vec<f64>,
    ready: bool,
    pub updates: Updates,
    /// S before, and K(x, x), at each update.
    pub before: Vec<(f64, f64)>,
    /// Why it ends before all of its examples are visited, if that is an error.
    pub error: Option<Error>,
    pub interrupted: bool,
}

impl<'a> Window<'a> {
    pub fn new(
        examples: DualRows<'a>,
        cache: &'a mut Cache,
        numbers: &'a [u32],
        sums: &[f64],
    ) -> Result<Self> {
        let (dual, n) = (examples.dual, examples.rows.len());
        let mut all = matrix(0.0, sums.len() / n, numbers.len())?;
        for (plane, out) in sums.chunks(n).zip(all.chunks_mut(numbers.len())) {
            numbers.iter().zip(out).for_each(|(&row, out)| *out = plane[row as usize]);
        }
        let squares = if dual.squares.is_empty() { &[] } else { numbers };
        Ok(Self {
            examples,
            cache,
            numbers,
            tile: Side::tile(dual.form, examples.rows, numbers)?,
            squares: collected(squares.iter().map(|&row| dual.squares[row as usize]))?,
            sums: all,
            at: 0,
            started: false,
            values: filled(0.0, numbers.len())?,
            ready: false,
            updates: Updates::default(),
            before: Vec::new(),
            error: None,
            interrupted: false,
        })
    }

    /// Computes the kernel values of the example that is visited.
    fn look(&mut self) -> Result<()> {
        let (DualRows { dual, rows, source, .. }, here) = (self.examples, self.numbers[self.at]);
        self.ready = true;
        self.updates.supports.try_push(here)?;
        if let Some(source) = source {
            return self.ask(source, here);
        }
        let left = Side::left(dual.form, rows, &[here], rows, self.numbers.len() - self.at)?;
        let mut row = Dots::new(dual.form, self.numbers.len())?;
        left.dots(rows, &self.tile, self.at, &mut [row.all_mut()])?;
        dispatch(Finish {
            kernel: dual.kernel,
            dots: Some(&row.all_mut().sub(self.at..self.numbers.len())),
            square: square_of(&dual.squares, here as usize),
            squares: squares_of(&self.squares, self.at..self.numbers.len()),
            out: &mut self.values[self.at..],
        });
        Ok(())
    }

    /// Takes in an update. False if the window ends with it.
    fn note(&mut self, plane: usize, c: f64) -> Result<bool> {
        if !self.ready {
            self.look()?;
        }
        let sums = &mut self.sums[plane * self.numbers.len()..][..self.numbers.len()];
        self.before.try_push((sums[self.at], self.values[self.at]))?;
        self.updates.made.try_push((plane, self.updates.supports.len() - 1, c))?;
        add(c, &self.values[self.at..], &mut sums[self.at..]);
        self.interrupted |= self.examples.monitor.block() == Flow::Break;
        Ok(self.updates.supports.len() < self.examples.dual.batch && !self.interrupted)
    }

    /// Has the source give a whole row, unless it is kept from before: nothing is asked for twice while
    /// memory allows.
    fn ask(&mut self, source: &dyn RowSource, here: u32) -> Result<()> {
        let asked = || {
            let mut row = filled(0.0, self.examples.rows.len())?;
            if source.row(here as usize, &mut row) {
                return Ok(Dots::Wide(row));
            }
            bail!("a row of the Gram matrix could not be had from its source");
        };
        let row = self.cache.take(here).map_or_else(asked, Ok)?;
        for (value, &number) in self.values[self.at..].iter_mut().zip(&self.numbers[self.at..]) {
            *value = row.get(number as usize);
        }
        self.updates.rows.try_push(row)
    }
}

impl LoopBody for &mut Window<'_> {
    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        self.at += usize::from(self.started);
        self.started = true;
        self.ready = false;
        debug_assert_eq!(self.numbers[self.at] as usize, row);
        let width = self.numbers.len();
        for (sum, own) in sums.iter_mut().zip(self.sums.chunks(width)) {
            *sum = own[self.at];
        }
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, _row: usize, c: f64) -> bool {
        // The other planes of an example after an error: nothing is kept of it.
        self.error.is_none()
            && self.note(plane, c).unwrap_or_else(|error| {
                self.error = Some(error);
                false
            })
    }

    #[inline(always)]
    fn size(&self) -> usize {
        0
    }

    fn prefetch(&self, _row: usize, _hint: Hint) {}
}
