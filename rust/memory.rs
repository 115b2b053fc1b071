//! Vectors whose length depends on data: a system that has no more memory is an error, not the end of the
//! process.

use crate::error::{Error, Result};

/// Replaces what a vector holds by these numbers, in the room that it has.
pub fn refill<T>(values: &mut Vec<T>, numbers: impl ExactSizeIterator<Item = T>) -> Result<()> {
    values.clear();
    values.try_reserve(numbers.len()).map_err(|_| Error::Memory)?;
    values.extend(numbers);
    Ok(())
}

/// A vector of these numbers.
pub fn collected<T>(numbers: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(numbers.len()).map_err(|_| Error::Memory)?;
    values.extend(numbers);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_can_be_is_an_error() {
        // 8 kilobytes each: 2^56 bytes, more than any address space has. None of them is made.
        let numbers = || (0..usize::MAX >> 21).map(|_| [0_u64; 1 << 10]);
        assert_eq!(collected(numbers()).err(), Some(Error::Memory));
        let mut values = Vec::new();
        assert_eq!(refill(&mut values, numbers()), Err(Error::Memory));
    }

    #[test]
    fn a_vector_is_filled_again_in_its_room() {
        let mut values = collected(0..9_u32).expect("little");
        let before = values.as_ptr();
        refill(&mut values, 3..7).expect("less");
        assert_eq!((&values[..], values.as_ptr()), (&[3, 4, 5, 6][..], before));
    }
}
