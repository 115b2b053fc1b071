//! Reads the golden files, and draws their inputs by the rules in their heads.

use std::collections::HashMap;

use perceptron_rs::arith::value::{Bf16, F16};
use perceptron_rs::arith::value::{Index, Value};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Matrix, Tie};

use super::compress;

pub struct Case {
    pub file: &'static str,
    pub line: usize,
    pub tokens: HashMap<String, String>,
}

pub fn cases(file: &'static str) -> Vec<Case> {
    let path = format!("{}/tests/golden/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let is_case = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    let parse = |(i, line): (usize, &str)| {
        let pairs = line.split(' ').map(|token| token.split_once('=').expect("key=value"));
        let tokens = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Case { file, line: i + 1, tokens }
    };
    let cases: Vec<Case> = text.lines().enumerate().filter(is_case).map(parse).collect();
    assert!(!cases.is_empty(), "{path} holds no case");
    cases
}

impl Case {
    pub fn text(&self, key: &str) -> &str {
        let Some(value) = self.tokens.get(key) else { panic!("{}.txt:{}: no {key}", self.file, self.line) };
        value
    }

    pub fn list<T: std::str::FromStr>(&self, key: &str) -> Vec<T> {
        let parts = self.text(key).split(',').filter(|part| !part.is_empty());
        parts.map(|part| part.parse().ok().unwrap_or_else(|| panic!("{key}={part}"))).collect()
    }

    pub fn number<T: std::str::FromStr + Copy>(&self, key: &str) -> T {
        self.list(key)[0]
    }

    pub fn floats(&self, key: &str) -> Vec<f64> {
        let parts = self.text(key).split(',').filter(|part| !part.is_empty());
        let read = |part: &str| match part {
            "nan" => f64::NAN,
            _ => f64::from_bits(u64::from_str_radix(part, 16).expect("16 hexadecimal digits")),
        };
        parts.map(read).collect()
    }

    pub fn tie(&self) -> Tie {
        if self.text("tie") == "positive" { Tie::Positive } else { Tie::Mistake }
    }

    pub fn is(&self, key: &str, got: &str, layout: &str) {
        assert_eq!(got, self.text(key), "{}.txt:{}: {key}, {layout}", self.file, self.line);
    }
}

pub fn bits(values: &[f64]) -> String {
    let write = |v: &f64| if v.is_nan() { "nan".to_owned() } else { format!("{:016x}", v.to_bits()) };
    values.iter().map(write).collect::<Vec<_>>().join(",")
}

pub fn whole<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// `draw` of the files' heads.
pub trait Drawn: Value {
    fn from_bits_of(z: u64) -> Self;
}

pub fn scaled(mantissa: f64, digits: i32, z: u64) -> f64 {
    (mantissa - 2.0_f64.powi(digits)) * 2.0_f64.powi(-digits) * 2.0_f64.powi((z & 7) as i32 - 4)
}

impl Drawn for f64 {
    fn from_bits_of(z: u64) -> Self {
        scaled((z >> 11) as f64, 52, z)
    }
}

impl Drawn for f32 {
    fn from_bits_of(z: u64) -> Self {
        scaled((z >> 40) as f64, 23, z) as f32
    }
}

impl Drawn for F16 {
    fn from_bits_of(z: u64) -> Self {
        let value = scaled((z >> 53) as f64, 10, z);
        if value == 0.0 {
            return Self(0);
        }
        // At least 2^-14, the least normal number.
        let exponent = (value.to_bits() >> 52 & 0x7FF) as u16 + 15 - 1023;
        let fraction = (value.to_bits() >> 42 & 0x3FF) as u16;
        Self(u16::from(value < 0.0) << 15 | exponent << 10 | fraction)
    }
}

impl Drawn for Bf16 {
    fn from_bits_of(z: u64) -> Self {
        Self(((scaled((z >> 56) as f64, 7, z) as f32).to_bits() >> 16) as u16)
    }
}

macro_rules! upper_bits {
    ($($type:ty),*) => {$(
        impl Drawn for $type {
            fn from_bits_of(z: u64) -> Self {
                (z >> (64 - <$type>::BITS)) as $type
            }
        }
    )*};
}
upper_bits!(i8, u8, i16, u16, i32);

pub fn draw<T: Drawn + Default>(seed: u64, count: usize, zeros: u64) -> Vec<T> {
    let mut random = SplitMix64::new(seed);
    let element = |z: u64| if (z >> 3) & 7 < zeros { T::default() } else { T::from_bits_of(z) };
    (0..count).map(|_| element(random.draw())).collect()
}

/// Calls a generic function with the storage type that a case names.
macro_rules! with_type {
    ($case:expr, $function:ident) => {
        match $case.text("type") {
            "float64" => $function::<f64>($case),
            "float32" => $function::<f32>($case),
            "int8" => $function::<i8>($case),
            "uint8" => $function::<u8>($case),
            "int16" => $function::<i16>($case),
            "uint16" => $function::<u16>($case),
            "int32" => $function::<i32>($case),
            "float16" => $function::<perceptron_rs::arith::value::F16>($case),
            "bfloat16" => $function::<perceptron_rs::arith::value::Bf16>($case),
            other => panic!("type={other}"),
        }
    };
}
pub(crate) use with_type;

/// The same values as dense rows and as CSR rows with each index type.
pub fn each_layout<T: Value>(values: &[T], n: usize, d: usize, run: impl Fn(&dyn Matrix, &str)) {
    run(&Dense::new(values, n, d).expect("shape"), "dense");
    each_index(values, n, d, |j| j as i32, |rows| run(rows, "int32"));
    each_index(values, n, d, |j| j as i64, |rows| run(rows, "int64"));
}

pub fn each_index<T: Value, I: Index>(
    v: &[T],
    n: usize,
    d: usize,
    to: impl Fn(usize) -> I,
    run: impl Fn(&dyn Matrix),
) {
    let (indptr, indices, stored) = compress(v, n, d, to);
    run(&Csr::new(&indptr, &indices, &stored, d).expect("arrays of a matrix"));
}
