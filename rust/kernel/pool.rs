//! The examples that the sets of a budget keep.

use std::collections::HashMap;

use super::gram::squares;
use super::kernels::Kernel;
use crate::arith::factor::inner;
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::online::Monitor;
use crate::rows::Matrix;

/// Where the examples are: the rows of the run, and those that are stored.
#[derive(Clone, Copy)]
pub struct Rooms<'a> {
    pub rows: &'a dyn Matrix,
    pub stored: &'a dyn Matrix,
}

/// The examples that are kept, each once: a member of a set is a slot here.
pub struct Pool {
    pub kernel: Kernel,
    /// Of the stored rows, then of those of the run; empty if the kernel does not need them.
    pub squares: [Vec<f64>; 2],
    /// How many rows are stored.
    pub stored: usize,
    /// Each slot's row, written out; no columns for precomputed rows.
    columns: usize,
    wide: Vec<f64>,
    /// Each slot's number: that of a stored row, or behind these of a row of the run.
    pub numbers: Vec<usize>,
    pub uses: Vec<usize>,
    free: Vec<usize>,
    pub slots: HashMap<usize, usize>,
}

impl Pool {
    pub fn new(Rooms { rows, stored }: Rooms, kernel: Kernel, monitor: &dyn Monitor) -> Result<Self> {
        Ok(Self {
            kernel,
            squares: [squares(kernel, stored, monitor)?, squares(kernel, rows, monitor)?],
            stored: stored.len(),
            columns: if kernel == Kernel::Precomputed { 0 } else { rows.columns() },
            wide: Vec::new(),
            numbers: Vec::new(),
            uses: Vec::new(),
            free: Vec::new(),
            slots: HashMap::new(),
        })
    }

    /// The slot of a row; whether it is new there.
    pub fn put(&mut self, Rooms { rows, stored }: Rooms, number: usize) -> Result<(usize, bool)> {
        if let Some(&slot) = self.slots.get(&number) {
            return Ok((slot, false));
        }
        self.slots.try_reserve(1).map_err(|_| Error::Memory)?;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.new_slot()?,
        };
        self.numbers[slot] = number;
        self.slots.insert(number, slot);
        if self.columns > 0 {
            let wide = &mut self.wide[slot * self.columns..][..self.columns];
            wide.fill(0.0);
            match number.checked_sub(stored.len()) {
                None => stored.axpy(number, 1.0, wide),
                Some(row) => rows.axpy(row, 1.0, wide),
            }
        }
        Ok((slot, true))
    }

    fn new_slot(&mut self) -> Result<usize> {
        let slot = self.numbers.len();
        self.numbers.try_push(0)?;
        self.uses.try_push(0)?;
        self.wide.try_resize(self.wide.len() + self.columns, 0.0)?;
        // Room for all slots, so that none has to ask for it when it is released.
        self.free.try_reserve(slot + 1).map_err(|_| Error::Memory)?;
        Ok(slot)
    }

    /// Frees a slot that no set uses.
    pub fn release(&mut self, slot: usize) {
        if self.uses[slot] == 0 && self.slots.remove(&self.numbers[slot]).is_some() {
            self.free.push(slot);
        }
    }

    fn wide(&self, slot: usize) -> &[f64] {
        &self.wide[slot * self.columns..][..self.columns]
    }

    fn square(&self, slot: usize) -> f64 {
        let [stored, rows] = &self.squares;
        let number = self.numbers[slot];
        number
            .checked_sub(self.stored)
            .map_or(stored.get(number), |row| rows.get(row))
            .copied()
            .unwrap_or(0.0)
    }

    /// Kernel values of a slot with rows of the run, of these squares.
    pub fn values(&self, rows: &dyn Matrix, slot: usize, numbers: &[u32], squares: &[f64], out: &mut [f64]) {
        if self.kernel == Kernel::Precomputed {
            for (&row, out) in numbers.iter().zip(&mut *out) {
                *out = rows.value(row as usize, self.numbers[slot]);
            }
        } else {
            rows.dots(numbers, self.wide(slot), out);
        }
        let square = self.square(slot);
        dispatch(Finish { kernel: self.kernel, square, squares, out });
    }

    /// Kernel values of a slot with others, appended.
    pub fn between(&self, rows: &dyn Matrix, one: usize, others: &[usize], out: &mut Vec<f64>) -> Result<()> {
        for &other in others {
            let mut value = [if self.kernel == Kernel::Precomputed {
                rows.value(self.numbers[one], self.numbers[other])
            } else {
                inner(self.wide(other), self.wide(one))
            }];
            self.kernel.finish(&mut value, self.square(one), &[self.square(other)]);
            out.try_push(value[0])?;
        }
        Ok(())
    }
}

/// From dot products to kernel values, in place.
struct Finish<'a> {
    kernel: Kernel,
    square: f64,
    squares: &'a [f64],
    out: &'a mut [f64],
}

impl Leaf for Finish<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        self.kernel.finish(self.out, self.square, self.squares);
    }
}
