//! Numbers of planes and columns, as a model keeps them.

use super::shared::Shared;
use crate::arith::finite::{all_finite, largest_of};
use crate::error::Result;
use crate::memory::{filled, gathered, matrix};
use crate::monitor::{Monitor, copied, pieces};
use crate::rows::{Chosen, column_stride, in_tiles};

/// Numbers K x d, all finite, none of them -0.0: by plane, or by column, where those of a few columns stand
/// on few pages.
#[derive(Clone)]
pub struct Table {
    /// `None`: zeros, which take no memory.
    numbers: Option<Shared>,
    /// Of the rows of numbers by column.
    stride: Option<usize>,
    shape: [usize; 2],
    /// No number is larger.
    most: f64,
}

impl Table {
    #[must_use]
    pub fn zero(shape: [usize; 2]) -> Self {
        Self { numbers: None, stride: None, shape, most: 0.0 }
    }

    /// Of numbers by plane; `None` unless they are that many, and finite.
    pub fn of(numbers: Shared, shape: [usize; 2], monitor: &dyn Monitor) -> Result<Option<Self>> {
        let mut table = Self { numbers: None, stride: None, shape, most: 0.0 };
        if shape[0].checked_mul(shape[1]) != Some(numbers.len()) {
            return Ok(None);
        }
        for piece in pieces(numbers.len(), 1, monitor) {
            let piece = &numbers[piece?];
            if !all_finite(piece) {
                return Ok(None);
            }
            table.most = largest_of(piece, table.most);
        }
        table.numbers = Some(numbers);
        Ok(Some(table))
    }

    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.shape
    }

    /// No number is larger.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Whether nothing has ever been put in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_none()
    }

    /// Where the numbers stand, and the stride if that is by column; zeros get a place now.
    pub fn numbers(&mut self) -> Result<(&Shared, Option<usize>)> {
        let numbers = match self.numbers.take() {
            Some(numbers) => numbers,
            None => Shared::zeros(self.shape[0].saturating_mul(self.shape[1]))?,
        };
        Ok((self.numbers.insert(numbers), self.stride))
    }

    fn place(&self, k: usize, j: usize) -> usize {
        self.stride.map_or(k * self.shape[1] + j, |stride| j * stride + k)
    }

    /// The columns in which a plane has a number other than 0.
    pub fn weighted_columns(&self, monitor: &dyn Monitor) -> Result<Vec<usize>> {
        let Some(numbers) = &self.numbers else { return Ok(Vec::new()) };
        let [planes, columns] = self.shape;
        let mut weighted = filled(false, columns)?;
        // In the order in which they stand: some planes of a column, or some columns of a plane.
        let (often, at_once) = if self.stride.is_some() { (1, planes) } else { (planes, 1) };
        for k in 0..often {
            for piece in pieces(columns, at_once, monitor) {
                for j in piece? {
                    weighted[j] |= numbers[self.place(k, j)..][..at_once].iter().any(|w| *w != 0.0);
                }
            }
        }
        gathered((0..columns).filter(|j| weighted[*j]))
    }

    /// A copy, by plane: of all columns, or of some, each at its place; places of no column hold 0.
    pub fn get(&self, chosen: Option<&Chosen>, monitor: &dyn Monitor) -> Result<Vec<f64>> {
        let [planes, columns] = self.shape;
        let width = chosen.map_or(columns, Chosen::places);
        let Some(numbers) = &self.numbers else { return matrix(0.0, planes, width) };
        if let (None, None) = (chosen, self.stride) {
            return copied(numbers, monitor);
        }
        if let Some(chosen) = chosen {
            return chosen.take(planes, |k, j| numbers[self.place(k, j)], monitor);
        }
        let mut out = matrix(0.0, planes, width)?;
        in_tiles(columns, planes, monitor, |tile| {
            for (k, out) in out.chunks_exact_mut(columns).enumerate() {
                tile.clone().for_each(|j| out[j] = numbers[self.place(k, j)]);
            }
        })?;
        Ok(out)
    }

    /// Makes room for numbers of these columns: a copy, if others have these. None changes.
    pub fn make_room(&mut self, chosen: Option<&Chosen>, monitor: &dyn Monitor) -> Result<()> {
        if chosen.is_none() {
            return Ok(());
        }
        if let Some(numbers) = &mut self.numbers {
            return numbers.own(monitor).map(|_| ());
        }
        let [planes, columns] = self.shape;
        let stride = column_stride(planes);
        (self.numbers, self.stride) = (Some(Shared::zeros(stride.saturating_mul(columns))?), Some(stride));
        Ok(())
    }

    /// Puts numbers by plane back where they were taken from. Nothing fails where room has been made.
    pub fn put(&mut self, values: Vec<f64>, chosen: Option<&Chosen>) -> Result<()> {
        let Some(chosen) = chosen else {
            self.most = largest_of(&values, 0.0);
            (self.numbers, self.stride) = (Some(values.into()), None);
            return Ok(());
        };
        self.make_room(Some(chosen), &())?;
        self.most = largest_of(&values, self.most);
        let (stride, columns) = (self.stride, self.shape[1]);
        let Some(numbers) = &mut self.numbers else { return Ok(()) };
        let numbers = numbers.own(&())?;
        for (k, values) in values.chunks_exact(chosen.places().max(1)).enumerate() {
            for &(column, place) in &chosen.columns {
                let at = stride.map_or(k * columns + column, |stride| column * stride + k);
                numbers[at] = values[place as usize];
            }
        }
        Ok(())
    }

    /// Of two tables by column a third one: `f` of the numbers of each column. Columns of zeros are zeros,
    /// and their pages stay unwritten. `None` unless both are by column.
    pub fn zipped(
        &self,
        other: &Self,
        monitor: &dyn Monitor,
        mut f: impl FnMut([&[f64]; 2], &mut [f64]) -> Result<()>,
    ) -> Result<Option<Self>> {
        let (Some(own), Some(others), Some(stride)) = (&self.numbers, &other.numbers, self.stride) else {
            return Ok(None);
        };
        if other.stride != self.stride {
            return Ok(None);
        }
        let (mut found, [planes, columns]) = (Shared::zeros(own.len())?, self.shape);
        let out = found.own(&())?;
        for piece in pieces(columns, stride, monitor) {
            for j in piece? {
                let here = j * stride..j * stride + planes;
                let (own, others) = (&own[here.clone()], &others[here.clone()]);
                if own.iter().chain(others).any(|number| *number != 0.0) {
                    f([own, others], &mut out[here])?;
                }
            }
        }
        Ok(Some(Self { numbers: Some(found), most: f64::INFINITY, ..*self }))
    }
}
