//! The weights of an estimator, K x d: those that a pass reads, and how they come back. There may be a second
//! matrix of numbers: their sums u, or under a penalty at which count of examples each was last settled.

use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use super::attributes::is_alone;
use crate::arith::finite::{largest_if_sound, largest_of};
use crate::error::Result;
use crate::memory::{collected, matrix};
use crate::python::border::arrays::{borrowed, to_matrix};
use crate::python::border::in_place::read;
use crate::python::border::signals::{Handler, Signals};
use crate::rows::Chosen;

/// Numbers of all weights, K x d.
pub type Array<'py> = Bound<'py, PyArray2<f64>>;

/// Which columns a pass is over.
pub enum Place {
    All,
    /// Some, each at its place.
    Own(Chosen),
}

/// A copy of the weights of these columns; places of no column hold the `rest` of their plane.
pub fn gathered(
    weights: &[f64],
    [planes, columns]: [usize; 2],
    place: &Place,
    rest: fn(&[f64]) -> f64,
) -> Result<Vec<f64>> {
    let Place::Own(own) = place else { return collected(weights.iter().copied()) };
    let places = own.places();
    let mut few = matrix(0.0, planes, places)?;
    for (few, all) in few.chunks_mut(places.max(1)).zip(weights.chunks(columns.max(1))) {
        few.fill(rest(all));
        for &(column, place) in &own.columns {
            few[place as usize] = all[column];
        }
    }
    Ok(few)
}

/// Weights that have changed, and the array that will hold them: their own, or a copy.
pub struct Renewed<'py> {
    pub array: Array<'py>,
    pub in_place: bool,
}

impl<'py> Renewed<'py> {
    /// `None` if the `values` are what the array holds. They will be written where they stand if the array is
    /// `ours` and nobody but the estimator has it, else into a [`copy`](Self::copied): what was read before
    /// never changes.
    pub fn new(
        array: &Array<'py>,
        columns: usize,
        values: &[f64],
        place: &Place,
        ours: bool,
    ) -> PyResult<Option<Self>> {
        let in_place = ours && is_alone(array);
        let same = read(array, |now| Ok(same(now, columns, values, place)))?;
        Ok((!same).then(|| Self { array: array.clone(), in_place }))
    }

    /// The same, with a copy if there is to be one.
    pub fn copied(mut self) -> PyResult<Self> {
        if !self.in_place {
            let shape = [self.array.shape()[0], self.array.shape()[1]];
            self.array = read(&self.array, |now| to_matrix(self.array.py(), now, shape))?;
        }
        Ok(self)
    }

    pub fn write(self, values: &[f64], place: &Place) {
        let columns = self.array.shape()[1];
        // SAFETY: nobody but the estimator has the array, and this thread has the lock; or it is new. It is in C
        // order.
        let Ok(all) = (unsafe { self.array.as_slice_mut() }) else { return };
        match place {
            Place::All => all.copy_from_slice(values),
            Place::Own(own) => {
                for (all, few) in all.chunks_mut(columns).zip(values.chunks(own.places().max(1))) {
                    for &(column, place) in &own.columns {
                        all[column] = few[place as usize];
                    }
                }
            }
        }
    }
}

/// Whether the bits are the same in all columns of a pass.
fn same(now: &[f64], columns: usize, values: &[f64], place: &Place) -> bool {
    match place {
        Place::All => now.iter().map(|w| w.to_bits()).eq(values.iter().map(|w| w.to_bits())),
        Place::Own(own) => {
            let mut planes = now.chunks(columns.max(1)).zip(values.chunks(own.places().max(1)));
            planes.all(|(all, few)| {
                own.columns
                    .iter()
                    .all(|&(column, place)| all[column].to_bits() == few[place as usize].to_bits())
            })
        }
    }
}

/// Arrays that a pass has left on an estimator, or looked at: all their numbers are finite, and none is -0.0.
pub struct Known {
    arrays: [Option<Py<PyWeakrefReference>>; 2],
    /// The largest |number| of each, if there is a second one.
    largest: [f64; 2],
    /// The number that the second one holds everywhere, if it does.
    pub even: Option<f64>,
}

impl Known {
    /// Looks at all weights (K, d), asking for signals. `None`: a number is not finite, or -0.0.
    pub fn look(
        coef: &Array<'_>,
        second: Option<&Array<'_>>,
        [planes, columns]: [usize; 2],
        handler: &Handler,
    ) -> PyResult<Option<Self>> {
        let mut found = Self { arrays: [None, None], largest: [0.0; 2], even: None };
        for (i, array) in [Some(coef), second].into_iter().enumerate() {
            let Some(array) = array else { continue };
            let numbers: PyReadonlyArray2<f64> = array.extract()?;
            let numbers = borrowed("coef", &numbers, planes, columns)?;
            let signals = Signals::new();
            let largest = largest_if_sound(&numbers, &signals);
            let Some(largest) = handler.noted(signals.settle(largest, array.py(), false))? else {
                return Ok(None);
            };
            found.largest[i] = largest;
            found.even = common(&numbers).filter(|_| i == 1);
            found.arrays[i] = Some(PyWeakrefReference::new(array)?.unbind());
        }
        Ok(Some(found))
    }

    /// Whether these are they.
    pub fn are(&self, coef: &Array<'_>, second: Option<&Array<'_>>) -> bool {
        self.is(0, Some(coef)) && self.is(1, second)
    }

    fn is(&self, i: usize, array: Option<&Array<'_>>) -> bool {
        match (&self.arrays[i], array) {
            (Some(known), Some(array)) => {
                known.bind(array.py()).upgrade().is_some_and(|known| known.is(array))
            }
            (known, array) => known.is_none() && array.is_none(),
        }
    }

    /// Whether the averages of weights that do not change are finite after so many examples more.
    pub fn average_is_finite(&self, seen: &[u64], more: usize) -> bool {
        let t = seen.iter().fold(0, |t, &seen| t.max(seen)).saturating_add(more as u64 + 2);
        (t as f64 * self.largest[0] + self.largest[1]).is_finite()
    }

    /// Those that a pass leaves, with the numbers that it was over: of all columns, or of some columns of
    /// arrays that were known `before`.
    pub fn after<'a>(
        before: Option<&Self>,
        place: &Place,
        coef: (&Array<'a>, &[f64]),
        second: Option<(&Array<'a>, &[f64])>,
    ) -> PyResult<Self> {
        let reference = |i: usize, array: &Array<'a>| match before {
            Some(before) if before.is(i, Some(array)) => {
                Ok(before.arrays[i].as_ref().map(|known| known.clone_ref(array.py())))
            }
            _ => PyWeakrefReference::new(array).map(|new| Some(new.unbind())),
        };
        let others = before.filter(|_| matches!(place, Place::Own(..)));
        let largest = others.map_or([0.0; 2], |others| others.largest);
        Ok(match second {
            None => Self { arrays: [reference(0, coef.0)?, None], largest: [0.0; 2], even: None },
            Some((second, values)) => Self {
                arrays: [reference(0, coef.0)?, reference(1, second)?],
                largest: [largest_of(coef.1, largest[0]), largest_of(values, largest[1])],
                even: match others {
                    Some(others) => others.even.filter(|number| values.iter().all(|value| value == number)),
                    None => common(values),
                },
            },
        })
    }
}

/// The number that all are.
fn common(numbers: &[f64]) -> Option<f64> {
    numbers.first().copied().filter(|first| numbers.iter().all(|number| number == first))
}
