//! The sign of a sum of products, exactly: in fixed point wide enough for all products of two floats.

/// Exponent of the last bit of the smallest product.
const LOWEST: i32 = -2 * 1074;
/// Bits of a limb, and enough of them for sums of 2^31 products.
const BITS: i32 = 32;
const LIMBS: usize = 140;

pub struct ExactSum {
    limbs: [i64; LIMBS],
}

/// `|a|` as an integer times a power of two.
pub(crate) fn parts(a: f64) -> (u64, i32) {
    let bits = a.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7FF) as i32, bits & ((1 << 52) - 1));
    if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) }
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS] }
    }
}

impl ExactSum {
    /// Adds `a * b`; both are finite.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let ((m, e), (n, f)) = (parts(a), parts(b));
        let product = u128::from(m) * u128::from(n);
        let negative = a.is_sign_negative() != b.is_sign_negative();
        let place = e + f - LOWEST;
        let (mut limb, offset) = ((place / BITS) as usize, place % BITS);
        // In two halves: shifted, all of it might not fit.
        for half in [product as u64, (product >> 64) as u64] {
            let mut rest = u128::from(half) << offset;
            let mut at = limb;
            while rest > 0 {
                let part = (rest & 0xFFFF_FFFF) as i64;
                self.limbs[at] += if negative { -part } else { part };
                rest >>= BITS;
                at += 1;
            }
            limb += 2;
        }
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        let (mut carry, mut any) = (0, false);
        for limb in self.limbs {
            let sum = limb + carry;
            any |= sum & 0xFFFF_FFFF != 0;
            carry = sum >> BITS;
        }
        if carry < 0 { -1 } else { i32::from(any || carry > 0) }
    }
}
