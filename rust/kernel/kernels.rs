//! From the dot product of two rows to their kernel value.

use crate::arith::exp::exp;
use crate::arith::kernel::{powers, squared_distance};
use crate::arith::tanh::tanh;
use crate::base::{Result, choice, ensure};

/// Of a polynomial: a power is made by as many products, of which one strip of kernel values must not take
/// long.
const LARGEST_DEGREE: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// `x·z`.
    Linear,
    /// `(gamma x·z + coef0)^degree`.
    Poly { gamma: f64, coef0: f64, degree: u32 },
    /// `exp(−gamma ||x − z||^2)`.
    Rbf { gamma: f64 },
    /// `tanh(gamma x·z + coef0)`.
    Sigmoid { gamma: f64, coef0: f64 },
    /// The rows are those of the Gram matrix: column k of row i is the kernel of example i with row k.
    Precomputed,
}

impl Kernel {
    pub fn new(name: &str, gamma: f64, coef0: f64, degree: u32) -> Result<Self> {
        ensure!(gamma.is_finite() && gamma > 0.0, "gamma must be finite and above 0, got {gamma}");
        ensure!(coef0.is_finite(), "coef0 must be finite, got {coef0}");
        ensure!(
            (1..=LARGEST_DEGREE).contains(&degree),
            "degree must be from 1 to {LARGEST_DEGREE}, got {degree}"
        );
        let kernels = [
            ("linear", Self::Linear),
            ("poly", Self::Poly { gamma, coef0, degree }),
            ("rbf", Self::Rbf { gamma }),
            ("sigmoid", Self::Sigmoid { gamma, coef0 }),
            ("precomputed", Self::Precomputed),
        ];
        choice("kernel", name, &kernels)
    }

    /// Whether the kernel of two rows needs the squares `x·x` of both.
    pub fn needs_squares(self) -> bool {
        matches!(self, Self::Rbf { .. })
    }

    /// Turns dot products of one row (of that square) with many (of these squares) into kernel values.
    #[inline(always)]
    pub fn finish(self, values: &mut [f64], square: f64, squares: &[f64]) {
        match self {
            Self::Linear | Self::Precomputed => {}
            Self::Poly { gamma, coef0, degree } => {
                for v in values.iter_mut() {
                    *v = gamma * *v + coef0;
                }
                powers(degree, values);
            }
            Self::Rbf { gamma } => {
                for (v, other) in values.iter_mut().zip(squares) {
                    *v = exp(-gamma * squared_distance(square, *other, *v));
                }
            }
            Self::Sigmoid { gamma, coef0 } => {
                for v in values.iter_mut() {
                    *v = tanh(gamma * *v + coef0);
                }
            }
        }
    }
}
