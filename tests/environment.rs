//! A floating-point mode that somebody else has left on, on the calling thread and so on the
//! workers that inherit it, changes no bit; and it is put back.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]

use std::hint::black_box;

use super::support::driver::{Schedule, drive};
use super::support::{Case, compress, fractions, numbers, whole};
use perceptron_rs::arith::environment::{STANDARD, swap_control};
use perceptron_rs::error::Error;
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::online::averaged::Averaged;
use perceptron_rs::online::perceptron::updates_until_right;
use perceptron_rs::online::{self, Problem, Settings};
use perceptron_rs::rows::{Csr, Dense, Rows, Table};

#[cfg(target_arch = "x86_64")]
const MODES: [(&str, u64); 7] = [
    ("flush to zero", STANDARD | 0x8000),
    ("denormals are zero", STANDARD | 0x0040),
    ("both", STANDARD | 0x8040),
    ("round down", STANDARD | 0x2000),
    ("round up", STANDARD | 0x4000),
    ("round toward zero", STANDARD | 0x6000),
    ("all of it", STANDARD | 0xE040),
];
#[cfg(target_arch = "x86_64")]
const MODE_BITS: u64 = 0xFFC0; // the rest says what happened since it was cleared

#[cfg(target_arch = "aarch64")]
const MODES: [(&str, u64); 4] = [
    ("flush to zero", STANDARD | 1 << 24),
    ("round up", STANDARD | 1 << 22),
    ("round down", STANDARD | 2 << 22),
    ("round toward zero", STANDARD | 3 << 22),
];
#[cfg(target_arch = "aarch64")]
const MODE_BITS: u64 = 0x07C0_0000;

/// Runs in a mode; also whether it was still in force at the end. The compiler knows nothing of
/// modes: the black boxes keep it from moving arithmetic across their ends.
fn within<R>(mode: u64, run: impl FnOnce() -> R) -> (R, bool) {
    let before = black_box(swap_control(mode));
    let result = black_box(black_box(run)());
    let after = swap_control(black_box(before));
    (result, after & MODE_BITS == mode & MODE_BITS)
}

struct Fit {
    case: Case,
    class_weight: Vec<[f64; 2]>,
}

impl Fit {
    /// Inexact sums everywhere, and denormal numbers in weights, products and sums.
    fn new(x: Vec<f64>, eta: f64) -> Self {
        let (n, d) = (600, x.len() / 600);
        let mut case = Case::new(x, n, d, 5, 4);
        case.eta = eta;
        case.fit_intercept = eta > 1e-9;
        if case.fit_intercept {
            case.start = fractions(case.planes * d, 0, 5);
        }
        case.sample_weight = Some(fractions(n, 1, 6).iter().map(|w| w.abs()).collect());
        let class_weight = (0..case.planes).map(|k| [1.0 / 3.0, 0.1 + k as f64]).collect();
        Self { case, class_weight }
    }

    fn run(&self, rows: &dyn Rows, threads: usize, monitor: &dyn Monitor) -> Result<Vec<u64>, Error> {
        let case = &self.case;
        let weights = case.sample_weight.as_deref();
        let settings = Settings {
            class_weight: self.class_weight.clone(),
            seed: Some(1),
            track_mistakes: true,
            threads,
            ..case.settings()
        };
        let problem = Problem::new(rows, &case.labels, weights, &settings)?;
        let learner = Averaged::new(Table::zero([5, case.d]), vec![0.0; 5], case.fit_intercept)?;
        let schedule = Schedule { tol: Some(1e-3), ..Schedule::epochs(3) };
        let report = drive(&problem, case.state(), Box::new(learner), schedule, monitor)?;
        let (coef, intercept, ..) = numbers(report.state());
        let mut scores = vec![0.0; case.n * 5];
        online::scores(rows, (&coef).into(), &intercept, threads, &(), &mut scores)?;
        let sums = ["coef_u", "intercept_u"].map(|name| report.floats(name)).concat();
        let all = [coef, intercept, sums, report.losses(), scores].concat();
        Ok(all.iter().map(|v| v.to_bits()).collect())
    }
}

fn each_storage(x: &[f64], run: impl Fn(&dyn Rows, &str)) {
    let (n, d) = (600, x.len() / 600);
    run(&Dense::new(x, n, d).expect("shape"), "dense");
    let (indptr, indices, stored) = compress(x, n, d, |j| j as i32);
    run(&Csr::new(&indptr, &indices, &stored, d).expect("arrays of a matrix"), "CSR");
}

#[inline(never)]
fn compute() -> [f64; 4] {
    let (tiny, third) = (black_box(f64::MIN_POSITIVE), black_box(1.0 / 3.0));
    let denormal = black_box(f64::from_bits(1));
    let minus_third = black_box(-third); // else one product, negated, would be both
    [tiny * 0.3, third * third, minus_third * third, denormal * black_box(2.0_f64.powi(60))]
}

#[test]
fn the_modes_change_bits() {
    let standard = compute();
    for (name, mode) in MODES {
        let (found, _) = within(mode, compute);
        assert_ne!(found, standard, "{name} does nothing, so the other tests show nothing");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_inherit_the_modes() {
    for (name, mode) in MODES {
        let (here, _) = within(mode, compute);
        let (there, _) = within(mode, || std::thread::spawn(compute).join().expect("no panic"));
        assert_eq!(there, here, "{name} is not inherited");
    }
}

#[test]
fn fits_and_scores_with_one_and_two_threads() {
    let denormal: Vec<f64> = fractions(600 * 11, 2, 1).iter().map(|x| x * 1e-160).collect();
    for (x, eta) in [(fractions(600 * 11, 2, 1), 0.1), (denormal, 1e-155)] {
        let fit = Fit::new(x.clone(), eta);
        each_storage(&x, |rows, storage| {
            let expected = fit.run(rows, 1, &()).expect("finite");
            if eta < 0.1 {
                let tiny =
                    |bits: &&u64| (1..f64::MIN_POSITIVE.to_bits()).contains(&(**bits & (u64::MAX >> 1)));
                assert!(expected.iter().filter(tiny).count() > 10, "no denormal number is involved");
            }
            for ((name, mode), threads) in MODES.into_iter().flat_map(|mode| [1, 2, 4].map(|t| (mode, t))) {
                let (got, kept) = within(mode, || fit.run(rows, threads, &()).expect("finite"));
                assert!(got == expected, "{name} changes bits, {storage}, {threads} threads");
                assert!(kept, "{name} was not put back, {storage}, {threads} threads");
            }
        });
    }
}

#[test]
fn exact_integers() {
    let fit =
        Fit { case: Case::new(whole(600 * 9, 0, 9, 2, 1), 600, 9, 5, 2), ..Fit::new(vec![0.0; 600], 1.0) };
    let bytes: Vec<u8> = fit.case.x.iter().map(|&x| x as u8).collect();
    let rows = Dense::new(&bytes, 600, 9).expect("shape");
    let fit = Fit { class_weight: vec![[1.0; 2]; 5], ..fit };
    let expected = fit.run(&rows, 1, &()).expect("finite");
    for ((name, mode), threads) in MODES.into_iter().flat_map(|mode| [1, 2].map(|t| (mode, t))) {
        let (got, kept) = within(mode, || fit.run(&rows, threads, &()).expect("finite"));
        assert!(got == expected && kept, "{name}, {threads} threads");
    }
}

#[test]
fn counting_updates() {
    let (x, w) = (fractions(50, 0, 1), fractions(50, 0, 2));
    let count = || updates_until_right(&x, true, &w.iter().map(|w| w * 1e9).collect::<Vec<_>>(), None, 1e-7);
    let expected = [count(), updates_until_right(&[1e-160], false, &[1e-155], None, 1e-3)];
    for (name, mode) in MODES {
        let (got, kept) =
            within(mode, || [count(), updates_until_right(&[1e-160], false, &[1e-155], None, 1e-3)]);
        assert_eq!(got, expected, "{name}");
        assert!(kept, "{name}");
    }
}

struct Breaks;

impl Monitor for Breaks {
    fn block(&self) -> Flow {
        Flow::Break
    }
}

struct Panics;

impl Monitor for Panics {
    fn block(&self) -> Flow {
        panic!("on purpose")
    }
}

#[test]
fn the_mode_is_put_back_after_an_error_an_interrupt_and_a_panic() {
    let fit = Fit::new(fractions(600 * 11, 2, 1), 0.1);
    let huge: Vec<f64> = fit.case.x.iter().map(|x| x * 1e305).collect();
    let rows = Dense::new(&fit.case.x, 600, 11).expect("shape");
    let overflowing = Dense::new(&huge, 600, 11).expect("shape");
    for ((name, mode), threads) in MODES.into_iter().flat_map(|mode| [1, 2].map(|t| (mode, t))) {
        let (result, kept) = within(mode, || fit.run(&rows, threads, &Breaks));
        assert_eq!((result, kept), (Err(Error::Interrupted), true), "{name}");
        let (result, kept) = within(mode, || fit.run(&overflowing, threads, &()));
        assert_eq!((result, kept), (Err(Error::Overflow { epoch: 0 }), true), "{name}");
        let run = std::panic::AssertUnwindSafe(|| fit.run(&rows, threads, &Panics));
        let (result, kept) = within(mode, || std::panic::catch_unwind(run));
        assert!(result.is_err() && kept, "{name}");
    }
}
