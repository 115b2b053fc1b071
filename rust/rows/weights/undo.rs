//! What a pass that learns where the numbers stand has changed.

use crate::base::Grow;

/// Numbers of a table as they were, each with its place, in the order in which they were changed.
#[derive(Default)]
pub struct Undo {
    before: Vec<(usize, f64)>,
    /// There was no memory for some.
    has_failed: bool,
}

impl Undo {
    /// Before the numbers at these places change. False: there is no memory, and they are not to be changed.
    #[inline]
    pub(in crate::rows) fn keep(
        &mut self,
        places: impl ExactSizeIterator<Item = usize>,
        numbers: &[f64],
    ) -> bool {
        self.has_failed |= self.before.try_extend(places.map(|place| (place, numbers[place]))).is_err();
        !self.has_failed
    }

    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    pub fn is_empty(&self) -> bool {
        self.before.is_empty()
    }

    /// The places of these numbers, each as often as it was changed.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.before.iter().map(|(place, _)| *place)
    }

    /// Makes the numbers what they were.
    pub fn take_back(&mut self, numbers: &mut [f64]) {
        for (place, number) in self.before.drain(..).rev() {
            numbers[place] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_changed_twice_becomes_what_it_was_at_first() {
        let (mut undo, mut numbers) = (Undo::default(), [1.0, 2.0, 3.0]);
        for step in 0..3 {
            assert!(undo.keep([0, 2].into_iter(), &numbers));
            numbers[0] += 1.0;
            numbers[2] = f64::from(step);
        }
        assert_eq!((undo.is_empty(), undo.has_failed()), (false, false));
        undo.take_back(&mut numbers);
        assert_eq!((numbers, undo.is_empty()), ([1.0, 2.0, 3.0], true));
    }
}
