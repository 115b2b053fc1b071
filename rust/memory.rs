//! Vectors whose length depends on data: a system that has no more memory is an error, not the end of the
//! process.

use std::alloc::{Layout, alloc_zeroed};

use crate::error::{Error, Result};

/// An empty vector with room for so many values.
pub fn with_room<T>(len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len)?;
    in_large_pages(values.spare_capacity_mut());
    Ok(values)
}

/// Asks the system for large pages where much memory will be written to, as `NumPy` does: to make many small ones
/// takes longer than to fill them.
#[cfg(all(target_os = "linux", not(miri)))]
fn in_large_pages<T>(memory: &mut [T]) {
    const MUCH: usize = 4 << 20; // bytes
    let (start, len) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
    if len >= MUCH {
        let skipped = start.align_offset(1 << 16); // no page is larger unless somebody asks
        // SAFETY: the range lies within memory that is borrowed, and the advice changes nothing of what it holds.
        unsafe { libc::madvise(start.wrapping_add(skipped).cast(), len - skipped, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn in_large_pages<T>(_: &mut [T]) {}

pub fn collected<T>(numbers: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut values = with_room(numbers.len())?;
    values.extend(numbers);
    Ok(values)
}

/// A vector of values of which nobody knows how many there are.
pub fn gathered<T>(values: impl Iterator<Item = T>) -> Result<Vec<T>> {
    tried(values.map(Ok))
}

/// A vector of values, or the error of the first that cannot be had.
pub fn tried<T>(values: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for value in values {
        all.try_push(value?)?;
    }
    Ok(all)
}

/// A vector of `len` copies of a value.
pub fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut values = with_room(len)?;
    values.resize(len, value);
    Ok(values)
}

/// Zeros that take memory where they are written to: the system makes each page then.
pub fn zeros(len: usize) -> Result<Vec<f64>> {
    let layout = Layout::array::<f64>(len).map_err(|_| Error::Memory)?;
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is not of size 0.
    #[expect(clippy::cast_ptr_alignment, reason = "the layout has the alignment of f64")]
    let place = unsafe { alloc_zeroed(layout) }.cast::<f64>();
    if place.is_null() {
        return Err(Error::Memory);
    }
    // SAFETY: the global allocator has given this memory, for the layout of `len` numbers, and bytes of 0 are
    // numbers, 0.0.
    Ok(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(place, len)) }.into_vec())
}

/// Zeros of which most will be written to.
pub fn zeros_to_write(len: usize) -> Result<Vec<f64>> {
    let mut zeros = zeros(len)?;
    in_large_pages(&mut zeros);
    Ok(zeros)
}

/// As many copies of a value as a matrix of this shape has places.
pub fn matrix<T: Clone>(value: T, rows: usize, columns: usize) -> Result<Vec<T>> {
    filled(value, rows.checked_mul(columns).ok_or(Error::Memory)?)
}

pub fn boxed<T>(value: T) -> Result<Box<T>> {
    let one = collected(std::iter::once(value))?.into_boxed_slice();
    // SAFETY: the slice is a box of one value, and a value is laid out as an array of one.
    Ok(unsafe { Box::from_raw(Box::into_raw(one).cast::<T>()) })
}

/// A vector that grows, if the system has the memory.
pub trait Grow<T> {
    fn try_push(&mut self, value: T) -> Result<()>;
    fn try_extend(&mut self, more: impl ExactSizeIterator<Item = T>) -> Result<()>;
    fn try_resize(&mut self, len: usize, value: T) -> Result<()>
    where
        T: Clone;
}

impl<T> Grow<T> for Vec<T> {
    // Where mistakes are logged, a call for each is a twentieth of a fit; so are, inlined, the ways to more room.
    #[inline(always)]
    fn try_push(&mut self, value: T) -> Result<()> {
        if self.len() == self.capacity() {
            return push_into_more(self, value);
        }
        self.push(value);
        Ok(())
    }

    fn try_extend(&mut self, more: impl ExactSizeIterator<Item = T>) -> Result<()> {
        self.try_reserve(more.len())?;
        self.extend(more);
        Ok(())
    }

    fn try_resize(&mut self, len: usize, value: T) -> Result<()>
    where
        T: Clone,
    {
        self.try_reserve(len.saturating_sub(self.len()))?;
        self.resize(len, value);
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn push_into_more<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    values.try_reserve(1)?;
    values.push(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Where addresses have 32 bits, what is asked for here may be had.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn more_than_there_can_be_is_an_error() {
        // 8 kilobytes each: 2^56 bytes, more than any address space has. None of them is made.
        let numbers = || (0..usize::MAX >> 21).map(|_| [0_u64; 1 << 10]);
        assert_eq!(collected(numbers()).err(), Some(Error::Memory));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn growth_without_end_is_an_error() {
        let much = usize::MAX >> 8;
        assert_eq!(filled(0_u64, much).err(), Some(Error::Memory));
        // A compiler that optimises does not ask for memory that nobody looks at.
        assert_eq!(std::hint::black_box(zeros(much / 8)).err(), Some(Error::Memory));
        assert_eq!(zeros(usize::MAX).err(), Some(Error::Memory));
        let mut values = vec![1_u64];
        assert_eq!(values.try_resize(much, 0), Err(Error::Memory));
        assert_eq!(values.try_extend((0..much).map(|_| 0)), Err(Error::Memory));
        assert_eq!(values, [1]);
        assert!(values.try_push(2).is_ok() && values.try_resize(3, 5).is_ok());
        assert_eq!((values, filled(7, 2)), (vec![1, 2, 5], Ok(vec![7, 7])));
    }

    #[test]
    fn zeros_are_a_vector_like_others() {
        let mut values = zeros(3).expect("little");
        values[1] = 2.0;
        values.push(4.0);
        assert_eq!((values, zeros(0)), (vec![0.0, 2.0, 0.0, 4.0], Ok(vec![])));
    }

    #[test]
    fn boxes_of_any_size_are_freed() {
        let text = boxed("text".to_owned()).expect("little");
        assert_eq!(
            (text.as_str(), boxed(()), boxed([7_u8; 3])),
            ("text", Ok(Box::new(())), Ok(Box::new([7; 3])))
        );
    }
}
