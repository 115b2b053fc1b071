//! Inputs drawn from the bytes of a fuzzer: changed a little, the bytes give changed inputs.

/// The bytes that are left. Behind their end all are 0.
pub struct Draws<'a>(&'a [u8]);

/// Numbers at which arithmetic, indices and counts go wrong.
const EXTREMES: [i64; 14] = [
    -1,
    i64::MIN,
    i64::MAX,
    i32::MIN as i64,
    i32::MAX as i64,
    i32::MAX as i64 + 1,
    u32::MAX as i64,
    1 << 32,
    1 << 53,
    (1 << 53) + 1,
    255,
    256,
    1 << 30,
    1 << 62,
];

const FLOATS: [f64; 12] = [
    1.0,
    -1.0,
    1.0 / 3.0,
    f64::MIN_POSITIVE,
    5e-324,
    1e-160,
    1e150,
    -1e300,
    f64::MAX,
    9_007_199_254_740_993.0,
    1_073_741_823.0,
    -0.0,
];

impl<'a> Draws<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// One of 16 times.
    pub fn rarely(&mut self) -> bool {
        self.byte() >= 0xF0
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A small number, or rarely one that no array can have.
    pub fn place(&mut self) -> i64 {
        if self.rarely() { self.one_of(&EXTREMES) } else { self.below(16) as i64 }
    }

    /// A finite number: most often a small whole one or a fraction.
    pub fn float(&mut self) -> f64 {
        match self.byte() {
            kind @ 0..0xA0 => f64::from(kind) - 80.0,
            kind @ 0xA0..0xE0 => (f64::from(kind) - 191.0) / 7.0,
            0xE0..0xF0 => self.one_of(&FLOATS),
            _ => {
                let float = f64::from_le_bytes(std::array::from_fn(|_| self.byte()));
                if float.is_finite() { float } else { 0.5 }
            }
        }
    }

    /// Any number at all.
    pub fn any_float(&mut self) -> f64 {
        if self.rarely() { self.one_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]) } else { self.float() }
    }

    pub fn many<T>(&mut self, n: usize, mut draw: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..n).map(|_| draw(self)).collect()
    }

    /// Changes an array in a few places, or its length.
    pub fn damage<T: Clone>(&mut self, array: &mut Vec<T>, mut draw: impl FnMut(&mut Self) -> T) {
        match self.below(4) {
            0 => array.push(draw(self)),
            1 => drop(array.pop()),
            _ if array.is_empty() => {}
            _ => {
                let place = self.below(array.len());
                array[place] = draw(self);
            }
        }
    }
}
