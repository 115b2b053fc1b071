//! A Cholesky factor that grows and shrinks by one row: R with `R^T R = Q`.
//!
//! R^T is kept by columns, so that the forward solve and the rotations run along memory; only the
//! back substitution is a sum, by the dot product of the contract. For each group g of members, `f[g]`
//! solves `R^T f = e_g`, with `e_g` the indicator of its members.

use super::axpy::axpy;
use super::dot::dot;
use super::simd::{Leaf, Simd, dispatch};
use crate::base::{Grow, Result, collected, filled, tried};

pub struct Factor {
    size: usize,
    /// Distance of the columns in memory.
    stride: usize,
    /// `columns[j * stride + i]` is the entry in row i, column j of R^T.
    columns: Vec<f64>,
    f: Vec<Vec<f64>>,
}

struct Dot<'a>(&'a [f64], &'a [f64]);

impl Leaf for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> f64 {
        dot(self.0, self.1)
    }
}

pub fn inner(a: &[f64], b: &[f64]) -> f64 {
    dispatch(Dot(a, b))
}

struct Forward<'a>(&'a Factor, &'a mut [f64]);

impl Leaf for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self(factor, x) = self;
        for j in 0..factor.size {
            let column = factor.column(j);
            x[j] /= column[j];
            let known = x[j];
            axpy(-known, &column[j + 1..], &mut x[j + 1..]);
        }
    }
}

struct Back<'a>(&'a Factor, &'a mut [f64]);

impl Leaf for Back<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self(factor, x) = self;
        for i in (0..factor.size).rev() {
            let column = factor.column(i);
            x[i] = (x[i] - dot(&column[i + 1..], &x[i + 1..])) / column[i];
        }
    }
}

struct Rotate<'a>([f64; 2], &'a mut [f64], &'a mut [f64]);

impl Leaf for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Self([c, s], left, right) = self;
        for (left, right) in left.iter_mut().zip(right) {
            (*left, *right) = (c * *left + s * *right, c * *right - s * *left);
        }
    }
}

impl Factor {
    pub fn new(groups: usize) -> Result<Self> {
        Ok(Self { size: 0, stride: 8, columns: filled(0.0, 64)?, f: filled(vec![], groups)? })
    }

    pub fn copy(&self) -> Result<Self> {
        let copy = |numbers: &Vec<f64>| collected(numbers.iter().copied());
        let f = tried(self.f.iter().map(copy))?;
        Ok(Self { size: self.size, stride: self.stride, columns: copy(&self.columns)?, f })
    }

    pub fn groups(&self) -> usize {
        self.f.len()
    }

    #[inline(always)]
    fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.stride..][..self.size]
    }

    /// Solves `R^T x = b` in place.
    pub fn forward(&self, b: &mut [f64]) {
        dispatch(Forward(self, b));
    }

    /// Solves `R x = b` in place.
    pub fn back(&self, b: &mut [f64]) {
        dispatch(Back(self, b));
    }

    /// Solves `Q d = r + sum_g mu_g e_g`, with the mu for which d sums to 0 in each group.
    pub fn step(&self, r: &mut [f64]) {
        self.forward(r);
        if let [f] = &self.f[..] {
            let mu = -inner(f, r) / inner(f, f);
            axpy(mu, f, r);
        } else {
            let [f, g] = [&self.f[0], &self.f[1]];
            let (a, b, c) = (inner(f, f), inner(f, g), inner(g, g));
            let (p, q) = (-inner(f, r), -inner(g, r));
            let determinant = a * c - b * b;
            axpy((p * c - q * b) / determinant, f, r);
            axpy((q * a - p * b) / determinant, g, r);
        }
        self.back(r);
    }

    /// Adds the column `(r, rho)` to R, for a member of `group`.
    pub fn append(&mut self, r: &[f64], rho: f64, group: usize) -> Result<()> {
        let k = self.size;
        if k == self.stride {
            let mut grown = filled(0.0, 4 * k * k)?;
            for (new, old) in grown.chunks_mut(2 * k).zip(self.columns.chunks(k)) {
                new[..k].copy_from_slice(old);
            }
            (self.columns, self.stride) = (grown, 2 * k);
        }
        for (j, &entry) in r.iter().enumerate() {
            self.columns[j * self.stride + k] = entry;
        }
        self.columns[k * self.stride + k] = rho;
        for (g, f) in self.f.iter_mut().enumerate() {
            let own = if g == group { 1.0 } else { 0.0 };
            f.try_push((own - inner(r, f)) / rho)?;
        }
        self.size = k + 1;
        Ok(())
    }

    /// Takes the member at place `p` away, by Givens rotations.
    pub fn remove(&mut self, p: usize) {
        let (k, stride) = (self.size, self.stride);
        for j in p..k - 1 {
            let (left, right) = self.columns[j * stride..].split_at_mut(stride);
            let (left, right) = (&mut left[j + 1..k], &mut right[j + 1..k]);
            let length = (left[0] * left[0] + right[0] * right[0]).sqrt();
            let (c, s) = (left[0] / length, right[0] / length);
            dispatch(Rotate([c, s], left, right));
            for f in &mut self.f {
                (f[j], f[j + 1]) = (c * f[j] + s * f[j + 1], c * f[j + 1] - s * f[j]);
            }
        }
        for column in self.columns.chunks_mut(stride).take(k - 1) {
            column.copy_within(p + 1..k, p);
        }
        for f in &mut self.f {
            f.pop();
        }
        self.size = k - 1;
    }

    /// The columns of R one after another, without their zeros.
    pub fn pack(&self, out: &mut Vec<f64>) -> Result<()> {
        for k in 0..self.size {
            out.try_extend((0..self.size).take(k + 1).map(|j| self.columns[j * self.stride + k]))?;
        }
        Ok(())
    }

    /// The factor of no groups with these columns.
    pub fn unpacked(mut numbers: &[f64]) -> Result<Self> {
        let mut factor = Self::new(0)?;
        while numbers.len() > factor.size {
            let (column, rest) = numbers.split_at(factor.size + 1);
            factor.append(&column[..factor.size], column[factor.size], 0)?;
            numbers = rest;
        }
        Ok(factor)
    }
}
