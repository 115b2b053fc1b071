//! The examples that the sets of a budget keep.

use std::collections::HashMap;

use super::gram::{Finish, is_sparse, squares};
use super::kernels::Kernel;
use crate::arith::{factor::inner, simd::dispatch};
use crate::base::{Grow, Monitor, Result, filled};
use crate::rows::{Listed, Matrix, Postings, Renamed, row_entries};
use crate::threads::{each, worthwhile};

/// Where the examples are: the rows of the run, and those that are stored.
#[derive(Clone, Copy)]
pub struct Rooms<'a> {
    pub rows: &'a dyn Matrix,
    pub stored: &'a dyn Matrix,
}

/// All members of the support sets, each once: a member of a set is a slot here.
pub struct Pool {
    pub kernel: Kernel,
    /// Of the stored rows, then of those of the run; empty if the kernel does not need them.
    pub squares: [Vec<f64>; 2],
    /// How many rows are stored.
    pub stored: usize,
    pub sparse: bool,
    members: Vec<Member>,
    /// Each slot's number: that of a stored row, or behind these of a row of the run.
    pub numbers: Vec<usize>,
    pub uses: Vec<usize>,
    free: Vec<usize>,
    pub slots: HashMap<usize, usize>,
}

/// Rows of the run that are visited next, with their squares if the kernel needs them.
pub struct Next<'a> {
    pub rows: &'a dyn Matrix,
    pub numbers: &'a [u32],
    pub squares: Vec<f64>,
    pub postings: Option<Postings>,
}

/// The row of a member, laid out for products.
enum Member {
    Wide(Vec<f64>),
    Listed(Listed),
    /// Precomputed rows are looked up.
    Given,
}

impl Member {
    fn new(rows: &dyn Matrix, row: usize, sparse: bool) -> Result<Self> {
        if sparse {
            return Ok(Self::Listed(Listed::new(rows, &[row as u32])?));
        }
        let mut wide = filled(0.0, rows.columns())?;
        rows.axpy(row, 1.0, &mut wide);
        Ok(Self::Wide(wide))
    }
}

impl Pool {
    pub fn new(
        Rooms { rows, stored }: Rooms,
        kernel: Kernel,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self> {
        Ok(Self {
            kernel,
            squares: [squares(kernel, stored, threads, monitor)?, squares(kernel, rows, threads, monitor)?],
            stored: stored.len(),
            sparse: is_sparse(rows) || is_sparse(stored),
            members: Vec::new(),
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
        self.slots.try_reserve(1)?;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.new_slot()?,
        };
        self.numbers[slot] = number;
        self.slots.insert(number, slot);
        if self.kernel != Kernel::Precomputed {
            self.members[slot] = match number.checked_sub(stored.len()) {
                None => Member::new(stored, number, self.sparse),
                Some(row) => Member::new(rows, row, self.sparse),
            }?;
        }
        Ok((slot, true))
    }

    fn new_slot(&mut self) -> Result<usize> {
        let slot = self.numbers.len();
        self.numbers.try_push(0)?;
        self.uses.try_push(0)?;
        self.members.try_push(Member::Given)?;
        // Room for all slots, so that none has to ask for it when it is released.
        self.free.try_reserve(slot + 1)?;
        Ok(slot)
    }

    /// Frees a slot that no set uses.
    pub fn release(&mut self, slot: usize) {
        if self.uses[slot] == 0 && self.slots.remove(&self.numbers[slot]).is_some() {
            self.free.push(slot);
        }
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

    /// The next rows of the run, as the products with sparse slots need them.
    pub fn postings(&self, rows: &dyn Matrix, numbers: &[u32]) -> Result<Option<Postings>> {
        let needed = self.sparse && self.kernel != Kernel::Precomputed;
        needed.then(|| Postings::new(rows, numbers)).transpose()
    }

    /// Kernel values of all slots with the next rows of the run, those of each slot ``stride`` after those
    /// of the one before.
    pub fn all_values(
        &self,
        next: &Next,
        stride: usize,
        threads: usize,
        monitor: &dyn Monitor,
    ) -> Result<Vec<f64>> {
        let n = next.numbers.len();
        let mut values = filled(0.0, stride * self.numbers.len())?;
        let products = self.slots.len().saturating_mul(n).saturating_mul(row_entries(next.rows));
        let used = |(slot, _): &(usize, &mut [f64])| self.slots.get(&self.numbers[*slot]) == Some(slot);
        let each_slot = values.chunks_mut(stride).enumerate().filter(used);
        each(each_slot, worthwhile(threads, products), monitor, |(slot, out)| {
            self.values(next, slot, 0, &mut out[..n])
        })?;
        Ok(values)
    }

    /// Kernel values of a slot with the next rows of the run from one of them on.
    pub fn values(&self, next: &Next, slot: usize, from: usize, out: &mut [f64]) -> Result<()> {
        let Next { rows, numbers, squares, postings } = next;
        let (here, squares) = (&mut out[from..], squares.get(from..).unwrap_or(&[]));
        match &self.members[slot] {
            Member::Wide(wide) => rows.dots(&numbers[from..], wide, here),
            Member::Listed(listed) => {
                let all = postings.as_ref().map(|postings| postings.dots(listed, &mut Vec::new(), out));
                if !all.transpose()?.unwrap_or(false) {
                    let mut room = Renamed::default();
                    for (&row, out) in numbers.iter().zip(out.chunks_mut(1)).skip(from) {
                        listed.dots(*rows, row as usize, &mut room, out)?;
                    }
                }
            }
            Member::Given => {
                for (&row, out) in numbers[from..].iter().zip(here) {
                    *out = rows.value(row as usize, self.numbers[slot]);
                }
            }
        }
        let square = self.square(slot);
        dispatch(Finish { kernel: self.kernel, dots: None, square, squares, out: &mut out[from..] });
        Ok(())
    }

    /// Kernel values of a slot with others, appended.
    pub fn between(&self, rows: &dyn Matrix, one: usize, others: &[usize], out: &mut Vec<f64>) -> Result<()> {
        let mut room = Renamed::default();
        for &other in others {
            let mut value = [match (&self.members[one], &self.members[other]) {
                (Member::Wide(one), Member::Wide(other)) => inner(other, one),
                (Member::Listed(one), Member::Listed(other)) => one.dot(other, &mut room)?,
                _ => rows.value(self.numbers[one], self.numbers[other]),
            }];
            self.kernel.finish(&mut value, self.square(one), &[self.square(other)]);
            out.try_push(value[0])?;
        }
        Ok(())
    }
}
