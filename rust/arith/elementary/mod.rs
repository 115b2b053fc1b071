//! The elementary functions over many numbers: loops that vectorise, with the bits of the scalar ones.

pub mod exp;
pub mod log;
pub mod tanh;

use self::exp::{exp, logistic};
use self::log::log;
use self::tanh::tanh;

use super::simd::{Leaf, Simd, dispatch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Exp,
    Logistic,
    Tanh,
    Log,
}

impl Function {
    pub const ALL: [(&'static str, Self); 4] =
        [("exp", Self::Exp), ("logistic", Self::Logistic), ("tanh", Self::Tanh), ("log", Self::Log)];

    pub fn apply(self, values: &mut [f64]) {
        dispatch(Apply { function: self, values });
    }
}

struct Apply<'a> {
    function: Function,
    values: &'a mut [f64],
}

impl Leaf for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        match self.function {
            Function::Exp => self.values.iter_mut().for_each(|x| *x = exp(*x)),
            Function::Logistic => self.values.iter_mut().for_each(|x| *x = logistic(*x)),
            Function::Tanh => self.values.iter_mut().for_each(|x| *x = tanh(*x)),
            Function::Log => self.values.iter_mut().for_each(|x| *x = log(*x)),
        }
    }
}
