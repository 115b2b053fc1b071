//! Numbers as Python's `float(bytes)` and `int(bytes)` read them: the same texts, the same bits.

/// What is wrong with a number, as the end of a sentence and its remedy.
pub type Wrong = &'static str;

const NOT_A_NUMBER: Wrong = "is not a number; write a decimal number such as 0.5 or 1e-3";
const NOT_FINITE: Wrong = "is not a finite number; leave the entry out or impute it";
const TOO_LARGE: Wrong = "is too large for a float64; scale the values";
const NOT_AN_INDEX: Wrong = "is not a column; write index:value with a whole number before the colon";
const NEGATIVE: Wrong = "is a negative column; columns start at 0 or 1";
const TOO_LONG: Wrong = "is longer than the memory that is left; write it with fewer digits";
const WIDE: Wrong = "is too large for a column; the largest is 2147483647";

/// The largest column, that of a C int.
const MOST: u64 = i32::MAX as u64;

/// These are exact in a float64, so one product or quotient with an exact mantissa rounds once.
pub const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The same as whole numbers, for up to eight digits.
pub const WHOLE_POWERS_OF_TEN: [u64; 9] =
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Whole numbers up to this are exact in a float64.
pub const MOST_EXACT: u64 = 1 << 53;

/// The value of a token, rounded to nearest; finite.
pub fn float(token: &[u8]) -> Result<f64, Wrong> {
    let stripped;
    let token = if token.contains(&b'_') {
        stripped = without_underscores(token, NOT_A_NUMBER)?;
        &stripped
    } else {
        token
    };
    let text = std::str::from_utf8(token).map_err(|_| NOT_A_NUMBER)?;
    let value: f64 = text.parse().map_err(|_| NOT_A_NUMBER)?;
    if value.is_finite() {
        Ok(value)
    } else if token.iter().any(u8::is_ascii_digit) {
        Err(TOO_LARGE)
    } else {
        Err(NOT_FINITE)
    }
}

/// The column of a token, at most that of a C int.
pub fn column(token: &[u8]) -> Result<u32, Wrong> {
    let stripped;
    let negative = token.first() == Some(&b'-');
    let digits = if let [b'+' | b'-', digits @ ..] = token { digits } else { token };
    let digits = if digits.contains(&b'_') {
        stripped = without_underscores(digits, NOT_AN_INDEX)?;
        &stripped
    } else {
        digits
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NOT_AN_INDEX);
    }
    let more = |value: u64, digit: &u8| (value * 10 + u64::from(digit - b'0')).min(MOST + 1);
    match digits.iter().fold(0, more) {
        0 => Ok(0),
        _ if negative => Err(NEGATIVE),
        value if value > MOST => Err(WIDE),
        value => Ok(value as u32),
    }
}

/// Python lets an underscore stand between two digits, and nowhere else.
fn without_underscores(token: &[u8], wrong: Wrong) -> Result<Vec<u8>, Wrong> {
    let digit = |at: Option<usize>| at.and_then(|at| token.get(at)).is_some_and(u8::is_ascii_digit);
    let allowed =
        |(at, byte): (usize, &u8)| *byte != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1)));
    if !token.iter().enumerate().all(allowed) {
        return Err(wrong);
    }
    let mut stripped = Vec::new();
    stripped.try_reserve_exact(token.len()).map_err(|_| TOO_LONG)?;
    stripped.extend(token.iter().copied().filter(|&byte| byte != b'_'));
    Ok(stripped)
}

/// How many of the first eight bytes are digits before the first that is none, and their value.
#[inline(always)]
pub fn leading_digits(word: u64) -> (usize, u64) {
    let digits = word ^ 0x3030_3030_3030_3030;
    // A byte that is no digit gets its high bit; a carry reaches only bytes behind such a one.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let length = (others.trailing_zeros() / 8) as usize;
    if length == 0 {
        return (0, 0);
    }
    // The first digit is in the lowest byte: leading zeros are shifted in below it. Then
    // neighbours are joined to numbers of two, four and eight digits.
    let digits = digits << (64 - 8 * length);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    (length, fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_digits_of_every_length_and_neighbour() {
        for length in 0..=8 {
            for next in 0..=255_u8 {
                if length < 8 && next.is_ascii_digit() {
                    continue;
                }
                let mut bytes = [next, 0xFF, b'7', 0x8A, b':', b'1', 0, 0x30];
                bytes.rotate_right(length);
                bytes[..length].copy_from_slice(&b"90817263"[..length]);
                let text = std::str::from_utf8(&bytes[..length]).unwrap();
                let expected = (length, text.parse().unwrap_or(0));
                assert_eq!(leading_digits(u64::from_le_bytes(bytes)), expected, "{bytes:?}");
            }
        }
        assert_eq!(leading_digits(u64::from_le_bytes(*b"99999999")), (8, 99_999_999));
    }
}
