//! Digests of examples. ARITHMETIC.md says of which bytes.

use std::ops::Range;

use blake3::Hasher;

use crate::arith::value::Value;
use crate::base::{Grow, Monitor, Pace, Result, pieces};
use crate::rows::Matrix;

/// Bytes that are hashed at once: fewer cost more each.
const AT_ONCE: usize = 1 << 15;

pub fn add_bytes(bytes: &[u8], to: &mut Hasher, monitor: &dyn Monitor) -> Result<()> {
    for piece in pieces(bytes.len(), 1, monitor) {
        to.update(&bytes[piece?]);
    }
    Ok(())
}

pub fn add_rows(
    rows: &dyn Matrix,
    range: Range<usize>,
    to: &mut Hasher,
    monitor: &dyn Monitor,
) -> Result<()> {
    let (mut bytes, mut pace) = (vec![], Pace::new(monitor));
    for row in range {
        let before = bytes.len();
        rows.write_bytes(row, &mut bytes)?;
        pace.spend(bytes.len() - before)?;
        if bytes.len() >= AT_ONCE {
            add_bytes(&bytes, to, monitor)?;
            bytes.clear();
        }
    }
    add_bytes(&bytes, to, monitor)
}

pub fn row_digests(rows: &dyn Matrix, monitor: &dyn Monitor) -> Result<Vec<u8>> {
    let (mut bytes, mut found, mut pace) = (vec![], vec![], Pace::new(monitor));
    for row in 0..rows.len() {
        bytes.clear();
        rows.write_bytes(row, &mut bytes)?;
        pace.spend(bytes.len())?;
        found.try_extend(blake3::hash(&bytes).as_bytes().iter().copied())?;
    }
    Ok(found)
}

/// Appends the bytes of a row of a matrix with so many columns. Zeros among the values do not count.
pub(crate) fn write_bytes<T: Value>(
    columns: impl Iterator<Item = usize>,
    values: &[T],
    width: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (mut n, mut small) = (0, true);
    for x in values {
        // Without a way out, so that it is vectorised.
        n += usize::from(is_entry(*x));
        small &= is_byte(*x);
    }
    out.try_extend((n as u64).to_le_bytes().into_iter())?;
    out.try_extend([if small { 1 } else { 8 }].into_iter())?;
    if n == values.len() {
        write_entries(columns, values.iter().copied(), n, small, width, out)
    } else {
        let places = columns.zip(values).filter(|(_, x)| is_entry(**x)).map(|(j, _)| j);
        let numbers = values.iter().copied().filter(|x| is_entry(*x));
        write_entries(places, numbers, n, small, width, out)
    }
}

fn write_entries<T: Value>(
    columns: impl Iterator<Item = usize>,
    values: impl Iterator<Item = T>,
    n: usize,
    small: bool,
    width: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    if width as u64 <= 1 << 32 {
        write_numbers(columns.map(|j| (j as u32).to_le_bytes()), n, out)?;
    } else {
        write_numbers(columns.map(|j| (j as u64).to_le_bytes()), n, out)?;
    }
    if small {
        write_numbers(values.map(|x| [x.to_i32() as u8]), n, out)
    } else {
        write_numbers(values.map(|x| x.widen().to_le_bytes()), n, out)
    }
}

/// `Vec::extend` of all bytes in turn would copy one after another.
fn write_numbers<const N: usize>(
    numbers: impl Iterator<Item = [u8; N]>,
    n: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let before = out.len();
    out.try_resize(before + n * N, 0)?;
    for (place, number) in out[before..].chunks_exact_mut(N).zip(numbers) {
        place.copy_from_slice(&number);
    }
    Ok(())
}

fn is_entry<T: Value>(value: T) -> bool {
    if T::INTEGER { value.to_i32() != 0 } else { value.widen() != 0.0 }
}

/// Whether the value is a whole number that a byte holds.
fn is_byte<T: Value>(value: T) -> bool {
    let whole = value.to_i32();
    (0..256).contains(&whole) & (T::INTEGER || f64::from(whole) == value.widen())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Csr;

    fn of(rows: &dyn Matrix) -> blake3::Hash {
        let mut hasher = Hasher::new();
        add_rows(rows, 0..rows.len(), &mut hasher, &()).unwrap();
        hasher.finalize()
    }

    #[test]
    fn bytes_are_those_of_the_contract() {
        let rows = Csr::new(&[0, 3, 3, 4], &[1, 4, 6, 2], &[255.0, -0.0, 7.0, 0.5], 7).unwrap();
        let mut bytes = vec![2, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 6, 0, 0, 0, 255, 7];
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 1]);
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f]);
        assert_eq!(of(&rows), blake3::hash(&bytes));
    }

    // No machine with addresses of 32 bits has as many columns.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn many_columns_are_named_by_eight_bytes() {
        let rows = Csr::new(&[0_i64, 1], &[1 << 32], &[-1_i8], (1 << 32) + 1).unwrap();
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0, 0, 0];
        bytes.extend((-1.0_f64).to_le_bytes());
        assert_eq!(of(&rows), blake3::hash(&bytes));
    }

    #[test]
    fn only_whole_numbers_that_a_byte_holds_are_bytes() {
        assert!([0.0, 1.0, 255.0].into_iter().all(is_byte));
        let others = [-1.0, 256.0, 0.5, 254.5, 255.5, 1e300, -1e300, f64::NAN, f64::INFINITY];
        assert!(!others.into_iter().any(is_byte));
        assert!(is_byte(127_i8) && !is_byte(-1_i8) && is_byte(200_u8) && !is_byte(256_i32));
    }
}
