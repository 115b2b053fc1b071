//! The working set: rows copied out of the matrix, on which the nearest point is computed.

use super::problem::{Bias, MarginProblem};
use crate::arith::axpy::{axpy, axpy_entries};
use crate::arith::dot::{dot, dot_entries};
use crate::arith::simd::{Leaf, Simd, dispatch};
use crate::base::{Grow, Result, filled};
use crate::rows::Entries;

/// About so many rows have a part in the centre.
const SAMPLE: usize = 4096;

/// Signed rows `u`; with a free bias shifted by a centre, which changes no margin. Sparse rows are
/// not shifted: they would be sparse no more.
pub struct WorkingSet {
    pub numbers: Vec<u32>,
    pub group: Vec<u8>,
    pub inside: Vec<bool>,
    pub size: usize,
    pub groups: usize,
    store: Store,
    centre: Option<Vec<f64>>,
}

enum Store {
    Full(Vec<f64>),
    Entries { start: Vec<usize>, columns: Vec<i64>, values: Vec<f64> },
}

struct Scores<'a, P>(&'a WorkingSet, P, &'a [f64], &'a mut [f64]);

impl<P: Iterator<Item = usize>> Leaf for Scores<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self(working, places, v, out) = self;
        let size = working.size;
        match &working.store {
            Store::Full(u) => {
                for (place, out) in places.zip(out) {
                    *out = dot(&u[place * size..][..size], v);
                }
            }
            Store::Entries { start, columns, values } => {
                for (place, out) in places.zip(out) {
                    let range = start[place]..start[place + 1];
                    *out = dot_entries(&columns[range.clone()], &values[range], v);
                }
            }
        }
    }
}

struct Add<'a>(&'a WorkingSet, &'a [usize], &'a [f64], &'a mut [f64]);

impl Leaf for Add<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self(working, places, d, v) = self;
        let size = working.size;
        for (&place, &c) in places.iter().zip(d) {
            match &working.store {
                Store::Full(u) => axpy(c, &u[place * size..][..size], v),
                Store::Entries { start, columns, values } => {
                    let range = start[place]..start[place + 1];
                    axpy_entries(c, &columns[range.clone()], &values[range], v, (1, 0));
                }
            }
        }
    }
}

impl WorkingSet {
    pub fn new(problem: &MarginProblem) -> Result<Self> {
        let (size, full) = (problem.size(), problem.is_well_filled());
        let store = if full {
            Store::Full(vec![])
        } else {
            Store::Entries { start: filled(0, 1)?, columns: vec![], values: vec![] }
        };
        let centre = (problem.bias == Bias::Free && full).then(|| centre(problem)).transpose()?;
        Ok(Self {
            numbers: vec![],
            group: vec![],
            inside: filled(false, problem.len())?,
            size,
            groups: problem.groups(),
            store,
            centre,
        })
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Copies rows; none of them may be there already.
    pub fn add(&mut self, problem: &MarginProblem, numbers: &[u32]) -> Result<()> {
        let mut room = Entries::default();
        for &number in numbers {
            let (row, y) = (number as usize, problem.sign(number as usize));
            let mut entries = problem.entries(row, &mut room)?;
            match &mut self.store {
                Store::Full(u) => {
                    let start = u.len();
                    u.try_resize(start + self.size, 0.0)?;
                    let u = &mut u[start..];
                    entries.for_each(|(j, x)| u[j] = x);
                    if let Some(centre) = &self.centre {
                        u.iter_mut().zip(centre).for_each(|(u, c)| *u -= c);
                    }
                    for u in u {
                        *u *= y;
                    }
                }
                Store::Entries { start, columns, values } => {
                    entries.try_for_each(|(j, x)| {
                        columns.try_push(j as i64)?;
                        values.try_push(x * y)
                    })?;
                    start.try_push(values.len())?;
                }
            }
            self.numbers.try_push(number)?;
            self.group.try_push(problem.group(row) as u8)?;
            self.inside[row] = true;
        }
        Ok(())
    }

    /// `<u, v>` of the rows at these places.
    pub fn scores(&self, places: impl Iterator<Item = usize>, v: &[f64], out: &mut [f64]) {
        dispatch(Scores(self, places, v, out));
    }

    /// `v += sum d_i u_i` over these places, one after another.
    pub fn add_to(&self, places: &[usize], d: &[f64], v: &mut [f64]) {
        dispatch(Add(self, places, d, v));
    }

    /// Writes a row over zeros.
    pub fn write(&self, place: usize, out: &mut [f64]) {
        match &self.store {
            Store::Full(u) => out.copy_from_slice(&u[place * self.size..][..self.size]),
            Store::Entries { start, columns, values } => {
                for (j, x) in columns.iter().zip(values).take(start[place + 1]).skip(start[place]) {
                    out[*j as usize] = *x;
                }
            }
        }
    }

    /// Puts zeros back where [`WorkingSet::write`] has written.
    pub fn clear(&self, place: usize, out: &mut [f64]) {
        match &self.store {
            Store::Full(_) => {}
            Store::Entries { start, columns, .. } => {
                for j in &columns[start[place]..start[place + 1]] {
                    out[*j as usize] = 0.0;
                }
            }
        }
    }
}

fn centre(problem: &MarginProblem) -> Result<Vec<f64>> {
    let step = problem.len().div_ceil(SAMPLE);
    let (mut centre, mut count) = (filled(0.0, problem.size())?, 0.0);
    for row in (0..problem.len()).step_by(step) {
        problem.add_to(row, 1.0, &mut centre)?;
        count += 1.0;
    }
    for c in &mut centre {
        *c /= count;
    }
    Ok(centre)
}
