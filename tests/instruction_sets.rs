//! Every instruction set of this machine, forced, gives the bits of the scalar contract: all
//! storage types, dense and CSR, one and many planes, the float and the exact path.

use std::sync::{Mutex, MutexGuard};

use super::support::{Case, Outcome, compress, eight_lanes, fractions, shuffled, whole};
use perceptron_rs::arith::simd::{InstructionSet, Leaf, Simd, dispatch, force};
use perceptron_rs::arith::value::{F16, Value};
use perceptron_rs::kernel::{Kernel, kernel_matrix};
use perceptron_rs::online;
use perceptron_rs::rows::{Arranged, Csr, Dense, Rows, Tie};

/// Below, at and above the widths of the loops: 8 lanes, halves of 4, chunks of 16, flushes at 2032.
const LENGTHS: &[usize] = if cfg!(miri) {
    &[17]
} else {
    &[
        0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256,
        257, 511, 513, 1023, 1025, 2031, 2032, 2033, 2047, 2048, 2049, 4095, 4097,
    ]
};

/// Numbers of classes: groups of 8, 16, 24 and 32 planes, and remainders of them.
const CLASSES: &[u32] = if cfg!(miri) {
    &[9]
} else {
    &[4, 6, 7, 8, 10, 12, 15, 16, 17, 20, 24, 25, 31, 32, 33, 40, 41, 64, 65, 71]
};

/// Lengths with many planes.
const MANY_PLANES: &[usize] = if cfg!(miri) { &[64] } else { &[5, 16, 64, 97] };

/// Numbers of classes where there are few.
const FEW: &[u32] = if cfg!(miri) { &[4] } else { &[2, 3, 5, 9] };

/// Numbers of planes that are scored.
const PLANES: &[usize] = if cfg!(miri) { &[1, 9] } else { &[1, 2, 3, 4, 5, 6, 7, 9, 27] };

/// The forced set is one for the process: the tests of this file take turns.
static TURN: Mutex<()> = Mutex::new(());

struct Forced<'a> {
    _turn: MutexGuard<'a, ()>,
}

impl Forced<'_> {
    fn take() -> Self {
        Self { _turn: TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner) }
    }

    /// Runs under each set, the turn being held.
    fn each(self, mut run: impl FnMut(&str)) -> Self {
        for set in InstructionSet::available() {
            force(Some(set));
            run(set.name());
        }
        self
    }
}

impl Drop for Forced<'_> {
    fn drop(&mut self) {
        force(None);
    }
}

/// One case in a storage type under every set; `exact` is what dense and CSR rows are to start with.
fn check<T: Value>(case: &Case, want: &Outcome, to: impl Fn(f64) -> T + Copy, exact: [bool; 2], what: &str) {
    Forced::take().each(|set| {
        let found = case.check(want, to, &format!("{set}, {what}, d={}", case.d));
        assert_eq!(found.map(|path| path[0]), exact, "{what}: not the path that is meant");
    });
}

/// All numbers of 16 bits, four at a time.
struct Widened(Vec<F16>);

impl Leaf for Widened {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<f64> {
        self.0.as_chunks().0.iter().flat_map(|four| simd.widen_halves(four)).collect()
    }
}

#[test]
fn halves_are_widened_exactly() {
    let all = || (0..=u16::MAX).step_by(if cfg!(miri) { 97 } else { 1 });
    Forced::take().each(|set| {
        let found = dispatch(Widened(all().map(F16).collect()));
        for (bits, found) in all().zip(found) {
            let want = F16(bits).widen();
            assert!(found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan(), "{set}: {bits:#x}");
        }
    });
}

/// Few rows where they are long: the scalar oracle is slow.
fn rows_for(d: usize) -> usize {
    if cfg!(miri) { 3 } else { (6000 / (d + 1)).clamp(12, 60) }
}

fn cases(d: usize, zeros: u64, low: i64, high: i64) -> impl Iterator<Item = Case> {
    let n = rows_for(d);
    FEW.iter().map(move |&classes| {
        let seed = d as u64 * 16 + u64::from(classes);
        let mut case = Case::new(whole(n * d, low, high, zeros, seed), n, d, classes, seed + 1);
        case.tie = if classes == 3 { Tie::Positive } else { Tie::Mistake };
        case.order = (classes == 5).then(|| shuffled(n, seed));
        case.epochs = if cfg!(miri) { 1 } else { case.epochs };
        case
    })
}

fn inexact(mut case: Case) -> Case {
    case.eta = 0.1;
    case.start = fractions(case.start.len(), 0, 7);
    case.intercept = fractions(case.intercept.len(), 0, 8);
    case.sample_weight = Some(fractions(case.n, 0, 9).iter().map(|w| w.abs()).collect());
    case.class_weight = [0.3, 1.7];
    case
}

#[test]
fn float_path_of_float64_and_float32() {
    for &d in LENGTHS {
        for case in cases(d, 3, 0, 1).map(inexact) {
            let wide = Case { x: fractions(case.n * d, 3, d as u64), ..case };
            check(&wide, &wide.expected(), |v| v, [false, false], "float64");
            let short = Case { x: wide.x.iter().map(|&v| f64::from(v as f32)).collect(), ..wide };
            check(&short, &short.expected(), |v| v as f32, [false, false], "float32");
        }
    }
}

#[test]
fn float_path_of_integer_types() {
    for &d in LENGTHS {
        for case in cases(d, 2, 0, 127).map(inexact) {
            let (want, exact) = (&case.expected(), [false, false]);
            check(&case, want, |v| v as i8, exact, "int8");
            check(&case, want, |v| v as u8, exact, "uint8");
            check(&case, want, |v| v as i16, exact, "int16");
            check(&case, want, |v| v as u16, exact, "uint16");
            check(&case, want, |v| v as i32, exact, "int32");
        }
    }
}

#[test]
fn exact_path_of_all_types() {
    for &d in LENGTHS {
        let others = [false, d > 0];
        let bytes = [d >= 32, d > 0];
        for case in cases(d, 2, 0, 127) {
            let want = &case.expected();
            check(&case, want, |v| v as i8, bytes, "int8");
            check(&case, want, |v| v as u8, bytes, "uint8");
            check(&case, want, |v| v as i16, others, "int16");
            check(&case, want, |v| v as u16, others, "uint16");
            check(&case, want, |v| v as i32, others, "int32");
            check(&case, want, |v| v as f32, others, "float32");
            check(&case, want, |v| v, others, "float64");
        }
        for case in cases(d, 1, -128, 127) {
            check(&case, &case.expected(), |v| v as i8, bytes, "int8, signed");
        }
        for case in cases(d, 1, 128, 255) {
            check(&case, &case.expected(), |v| v as u8, bytes, "uint8, large");
        }
        for case in cases(d, 5, 1, 1) {
            check(&case, &case.expected(), |v| v as u8, bytes, "only ones");
        }
    }
}

#[test]
fn many_planes() {
    for &classes in CLASSES {
        for &d in MANY_PLANES {
            let n = if cfg!(miri) { 2 } else { 30 };
            let case = Case::new(whole(n * d, 0, 3, 4, u64::from(classes)), n, d, classes, 1);
            check(&case, &case.expected(), |v| v as u8, [d >= 32, true], "many planes, exact");
            let case = inexact(case);
            check(&case, &case.expected(), |v| v as u8, [false, false], "many planes, float");
        }
    }
}

/// The same weights by column, with nothing behind the last one and NaN between the columns.
fn by_column(w: &[f64], [planes, d]: [usize; 2], stride: usize) -> Vec<f64> {
    let end = if d == 0 { 0 } else { (d - 1) * stride + planes };
    let places = (0..end).map(|at| (at % stride, at / stride));
    places.map(|(k, j)| if k < planes { w[k * d + j] } else { f64::NAN }).collect()
}

#[test]
fn scores_of_all_lengths_planes_and_threads() {
    let mut turn = Forced::take();
    for &d in LENGTHS {
        for &planes in PLANES {
            let n = if d < 20 && !cfg!(miri) { 600 } else { 7 };
            let x = fractions(n * d, 3, d as u64);
            let (w, b) = (fractions(planes * d, 0, 1), fractions(planes, 0, 2));
            let want: Vec<u64> = (0..n * planes)
                .map(|i| eight_lanes(&x[i / planes * d..][..d], &w[i % planes * d..][..d]) + b[i % planes])
                .map(f64::to_bits)
                .collect();
            let (indptr, indices, stored) = compress(&x, n, d, |j| j as i32);
            let dense = Dense::new(&x, n, d).expect("shape");
            let csr = Csr::new(&indptr, &indices, &stored, d).expect("arrays of a matrix");
            let strides = [planes, planes + 1, planes.next_multiple_of(4) + 4];
            let by_column = strides.map(|stride| by_column(&w, [planes, d], stride));
            turn = turn.each(|set| {
                let weights = || {
                    let by_column = by_column.iter().zip(strides);
                    let by_column = by_column.map(|(w, stride)| (stride, Arranged::by_column(w, stride)));
                    by_column.chain([(0, (&w).into())])
                };
                for threads in [1, 3] {
                    for (rows, name) in [(&dense as &dyn Rows, "dense"), (&csr, "CSR")] {
                        for (stride, weights) in weights() {
                            let mut out = vec![0.0; n * planes];
                            online::scores(rows, weights, &b, threads, &(), &mut out).expect("shapes");
                            let got: Vec<u64> = out.iter().map(|a| a.to_bits()).collect();
                            let case = format!("d={d}, {planes} planes, {threads} threads, stride {stride}");
                            assert_eq!(got, want, "{set}, {name}, {case}");
                        }
                    }
                }
            });
        }
    }
}

#[test]
fn products_of_rows_of_all_lengths() {
    // Around the rows that share a load, and those that are laid out at a time.
    let counts: &[[usize; 2]] = if cfg!(miri) { &[[3, 2]] } else { &[[1, 1], [2, 3], [5, 9], [67, 70]] };
    let mut turn = Forced::take();
    for &d in LENGTHS {
        for &[rows, others] in counts {
            let (x, z) = (fractions(rows * d, 1, d as u64), fractions(others * d, 2, 7));
            let dot = |i: usize| eight_lanes(&x[i / others * d..][..d], &z[i % others * d..][..d]);
            let want: Vec<u64> = (0..rows * others).map(|i| dot(i).to_bits()).collect();
            let left = Dense::new(&x, rows, d).expect("shape");
            let right = Dense::new(&z, others, d).expect("shape");
            turn = turn.each(|set| {
                let mut out = vec![0.0; rows * others];
                kernel_matrix(&left, &right, Kernel::Linear, 1, &(), &mut out).expect("shapes");
                let got: Vec<u64> = out.iter().map(|dot| dot.to_bits()).collect();
                assert_eq!(got, want, "{set}, d={d}, {rows} x {others} rows");
            });
        }
    }
}

#[test]
fn a_set_that_the_machine_lacks_cannot_be_forced() {
    let _turn = Forced::take();
    let sets = InstructionSet::available();
    assert_eq!(sets[0], InstructionSet::Baseline);
    let forced = std::panic::catch_unwind(|| force(Some(InstructionSet::Avx2)));
    assert_eq!(forced.is_ok(), sets.contains(&InstructionSet::Avx2));
}
