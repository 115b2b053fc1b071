//! The smallest type that holds numbers to the bit.

use super::value::Value;
use crate::base::{Result, collected};

/// Numbers in one of the types that rows are stored in.
#[derive(Debug, PartialEq)]
pub enum Stored {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    F32(Vec<f32>),
    I32(Vec<i32>),
}

/// Numbers that are looked at before it is asked whether any type is left.
const STRIP: usize = 1 << 12;

/// A copy of the numbers in the smallest type; `None`: their own is it.
pub fn smallest<T: Value>(values: &[T]) -> Result<Option<Stored>> {
    let (mut whole, mut single, mut low, mut high) = (true, true, f64::INFINITY, f64::NEG_INFINITY);
    for strip in values.chunks(STRIP) {
        for x in strip {
            let wide = x.widen();
            whole &= same(f64::from(x.to_i32()), wide);
            single &= same(f64::from(wide as f32), wide);
            low = if wide < low { wide } else { low };
            high = if wide > high { wide } else { high };
        }
        if !whole && !single {
            return Ok(None);
        }
    }
    let within = |least: f64, most: f64| whole && low >= least && high <= most;
    let whole = || values.iter().map(|x| x.to_i32());
    Ok(Some(if values.is_empty() {
        return Ok(None);
    } else if within(0.0, f64::from(u8::MAX)) {
        Stored::U8(collected(whole().map(|x| x as u8))?)
    } else if within(f64::from(i8::MIN), f64::from(i8::MAX)) {
        Stored::I8(collected(whole().map(|x| x as i8))?)
    } else if within(0.0, f64::from(u16::MAX)) {
        Stored::U16(collected(whole().map(|x| x as u16))?)
    } else if within(f64::from(i16::MIN), f64::from(i16::MAX)) {
        Stored::I16(collected(whole().map(|x| x as i16))?)
    } else if single {
        Stored::F32(collected(values.iter().map(|x| x.widen() as f32))?)
    } else {
        Stored::I32(collected(whole())?)
    }))
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_type_that_holds_all() {
        let of = |values: &[f64]| smallest(values).unwrap();
        assert_eq!(of(&[0.0, 255.0]), Some(Stored::U8(vec![0, 255])));
        assert_eq!(of(&[-128.0, 127.0]), Some(Stored::I8(vec![-128, 127])));
        assert_eq!(of(&[0.0, 256.0, 65535.0]), Some(Stored::U16(vec![0, 256, 65535])));
        assert_eq!(of(&[-1.0, 128.0]), Some(Stored::I16(vec![-1, 128])));
        assert_eq!(of(&[-129.0, 32767.0]), Some(Stored::I16(vec![-129, 32767])));
        assert_eq!(of(&[-1.0, 32768.0]), Some(Stored::F32(vec![-1.0, 32768.0])));
        assert_eq!(of(&[65536.0]), Some(Stored::F32(vec![65536.0])));
        assert_eq!(of(&[0.5, 1e-45_f32.into()]), Some(Stored::F32(vec![0.5, 1e-45])));
        assert_eq!(of(&[16_777_217.0]), Some(Stored::I32(vec![16_777_217])));
        assert_eq!(of(&[-2_147_483_648.0, 2_147_483_647.0]), Some(Stored::I32(vec![i32::MIN, i32::MAX])));
        assert_eq!(smallest(&[7_f32, 300.0]).unwrap(), Some(Stored::U16(vec![7, 300])));
    }

    #[test]
    fn what_no_smaller_type_holds_stays() {
        for values in [&[0.1][..], &[16_777_217.0, 0.5], &[4_294_967_295.0], &[1e300], &[]] {
            assert_eq!(smallest(values).unwrap(), None);
        }
        // Not whole: a sign is a bit, too.
        assert!(
            matches!(smallest(&[-0.0, 1.0]).unwrap(), Some(Stored::F32(held)) if held[0].is_sign_negative())
        );
        let mut late = vec![1.0; STRIP + 1];
        late.push(0.1);
        assert_eq!(smallest(&late).unwrap(), None);
    }
}
