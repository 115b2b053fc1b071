//! Rule 10: the exact-integer path equals rule 3 to the last bit, up to its bounds and across them.

use super::support::{Case, Outcome, assert_same, compress, eight_lanes, keep, outcome, shuffled, whole};
use perceptron_rs::arith::exact::{Halves, LARGEST, LARGEST_SUM, weight_limit};
use perceptron_rs::arith::value::Value;
use perceptron_rs::online::{feed, scores};
use perceptron_rs::rows::{Csr, Cursor, Dense, Mistake, Rows, Stop, integer_step};

/// Bytes learn exactly from 32 columns on; lanes are added in 32 bits up to 256, and emptied at 2032.
const LENGTHS: [usize; 25] = [
    32, 33, 47, 48, 64, 65, 72, 79, 80, 81, 95, 97, 255, 256, 257, 272, 273, 2016, 2031, 2032, 2033, 2047,
    2048, 2049, 4097,
];

/// Weights whose halves are at their extremes: low halves of -32768 and 32767, high ones of 2^14.
const WEIGHTS: [f64; 9] =
    [LARGEST, -LARGEST, 1_073_709_055.0, -1_073_709_056.0, 32768.0, 32767.0, -32768.0, -32769.0, 0.0];

/// The weights after the run, in integers of 128 bits, which nothing here can fill.
fn in_wide_integers(case: &Case) -> Vec<i128> {
    let (visit, heads) = (case.visit(), case.heads());
    let mut w: Vec<i128> = case.start.iter().map(|&w| w as i128).collect();
    let mut b: Vec<i128> = case.intercept.iter().map(|&b| b as i128).collect();
    for pos in (0..case.epochs).flat_map(|_| 0..visit.len()) {
        let row = visit.row(pos);
        let x = &case.x[row * case.d..][..case.d];
        for (k, head) in heads.iter().enumerate() {
            let w = &mut w[k * case.d..][..case.d];
            let a = x.iter().zip(&*w).map(|(&x, w)| x as i128 * w).sum::<i128>() + b[k];
            let y = if case.labels[row] == head.positive { 1 } else { -1 };
            if y * a > 0 {
                continue;
            }
            let c = y * case.eta as i128 * case.class_weight[usize::from(y > 0)] as i128;
            w.iter_mut().zip(x).for_each(|(w, &x)| *w += c * x as i128);
            b[k] += c * i128::from(case.fit_intercept);
        }
    }
    w
}

/// Stored as float64 in dense rows, the values take rule 3.
fn by_rule_3(case: &Case) -> Outcome {
    let (got, exact) = case.learn(&Dense::new(&case.x, case.n, case.d).expect("shape"));
    assert_eq!(exact, [false, false]);
    assert_same(&got, &case.expected(), "float64 dense");
    got
}

/// All ways agree; `want` says whether dense and CSR rows of `T` are exact at the start and the end.
fn check<T: Value>(case: &Case, to: impl Fn(f64) -> T, want: [[bool; 2]; 2], what: &str) {
    let oracle = by_rule_3(case);
    let wide: Vec<i128> = oracle.weights.iter().map(|&w| f64::from_bits(w) as i128).collect();
    assert_eq!(in_wide_integers(case), wide, "{what}: not within 2^53, so the case shows nothing");
    assert_eq!(case.check(&oracle, to, what), want, "{what}: dense and CSR, exact before and after");
}

fn filled(value: f64, n: usize, d: usize, classes: u32) -> Case {
    Case::new(vec![value; n * d], n, d, classes, d as u64)
}

#[test]
fn bytes_at_their_extremes() {
    for d in LENGTHS {
        for classes in [2, 3, 9] {
            check(&filled(255.0, 12, d, classes), |v| v as u8, [[true; 2]; 2], "255 everywhere");
            check(&filled(-128.0, 12, d, classes), |v| v as i8, [[true; 2]; 2], "-128 everywhere");
            let mixed = Case::new(whole(12 * d, -128, 127, 1, 5), 12, d, classes, 6);
            check(&mixed, |v| v as i8, [[true; 2]; 2], "all int8");
        }
    }
}

#[test]
fn short_rows_of_bytes_take_rule_3() {
    for d in [1, 2, 8, 15, 17, 31] {
        for classes in [2, 3, 9] {
            let mixed = Case::new(whole(12 * d, -128, 127, 1, 5), 12, d, classes, 6);
            check(&mixed, |v| v as i8, [[false; 2], [true; 2]], "all int8");
            let mixed = Case::new(whole(12 * d, 0, 255, 1, 5), 12, d, classes, 6);
            check(&mixed, |v| v as u8, [[false; 2], [true; 2]], "all uint8");
        }
    }
}

/// No update moves them: the sums themselves are at stake, 255 times the largest halves.
#[test]
fn weights_at_the_limit() {
    for d in LENGTHS {
        for (value, weight) in [255.0, -128.0].into_iter().flat_map(|x| WEIGHTS.map(|w| (x, w))) {
            for classes in [2, 5] {
                let mut case = filled(value, 3, d, classes);
                case.start.fill(weight);
                case.epochs = 1;
                let oracle = by_rule_3(&case);
                let dense = if value < 0.0 {
                    let x: Vec<i8> = case.x.iter().map(|&v| v as i8).collect();
                    case.learn(&Dense::new(&x, 3, d).expect("shape"))
                } else {
                    let x: Vec<u8> = case.x.iter().map(|&v| v as u8).collect();
                    case.learn(&Dense::new(&x, 3, d).expect("shape"))
                };
                assert_same(&dense.0, &oracle, &format!("x={value}, w={weight}, d={d}"));
                assert!(dense.1[0], "not the exact path: w={weight}, d={d}");
            }
        }
    }
}

#[test]
fn scores_of_bytes_without_columns() {
    let rows = Dense::<u8>::new(&[], 3, 0).expect("shape");
    for intercept in [&[0.5][..], &[0.5, -2.0]] {
        let weights = rows.arrange([][..].into(), intercept.len(), 3, &()).expect("memory");
        let mut out = vec![0.0; 3 * intercept.len()];
        rows.scores(0..3, &weights, intercept, &mut out).expect("shapes");
        assert_eq!(out, intercept.repeat(3));
    }
}

/// Scores take the exact path for whole weights of every size, and rule 3 for all others.
#[test]
fn scores_of_bytes() {
    let lengths = [1, 4, 7, 8, 9, 12, 15, 16, 17, 31].into_iter().chain(LENGTHS);
    for (d, value) in lengths.flat_map(|d| [(d, 255.0), (d, -128.0)]) {
        let x: Vec<f64> = whole(5 * d, value as i64, value as i64, 1, 3);
        for planes in [1, 2, 4, 5] {
            for odd in
                [None, Some(-0.0), Some(0.5), Some(LARGEST + 1.0), Some(1e300), Some(f64::MIN_POSITIVE)]
            {
                let mut w: Vec<f64> = (0..planes * d).map(|i| WEIGHTS[(i + i / d) % WEIGHTS.len()]).collect();
                w[d / 2] = odd.unwrap_or(7.0);
                let b: Vec<f64> = (0..planes).map(|k| k as f64 / 3.0).collect();
                let want = (0..5 * planes).map(|i| {
                    eight_lanes(&x[i / planes * d..][..d], &w[i % planes * d..][..d]) + b[i % planes]
                });
                let want: Vec<u64> = want.map(f64::to_bits).collect();
                let mut out = vec![0.0; 5 * planes];
                if value < 0.0 {
                    let bytes: Vec<i8> = x.iter().map(|&v| v as i8).collect();
                    scores(&Dense::new(&bytes, 5, d).expect("shape"), (&w).into(), &b, 1, &(), &mut out)
                        .expect("shapes");
                } else {
                    let bytes: Vec<u8> = x.iter().map(|&v| v as u8).collect();
                    scores(&Dense::new(&bytes, 5, d).expect("shape"), (&w).into(), &b, 1, &(), &mut out)
                        .expect("shapes");
                }
                let got: Vec<u64> = out.iter().map(|a| a.to_bits()).collect();
                assert_eq!(got, want, "d={d}, x={value}, {planes} planes, one weight {odd:?}");
            }
        }
    }
}

/// Halves of 0 are not read while all weights fit in 16 bits; they leave that range by one.
#[test]
fn weights_leave_16_bits() {
    for (start, sign) in
        [32767.0, 32766.0, -32768.0, -32767.0, 32768.0].into_iter().flat_map(|w| [(w, 1.0), (w, -1.0)])
    {
        let mut case = Case::new(whole(12 * 70, 0, 2, 1, 1), 12, 70, 3, 2);
        case.start.fill(start);
        case.intercept.fill(-sign * 1e9);
        case.fit_intercept = false;
        check(&case, |v| v as u8, [[true; 2]; 2], "small weights");
        check(&case, |v| v as i8, [[true; 2]; 2], "small weights");
    }
}

#[test]
fn the_limit_keeps_every_sum_exact() {
    for d in [1.0_f64, 16448.0, 16449.0, 20000.0, 1e6, 1e9] {
        let limit = f64::from(weight_limit(255.0 * d, LARGEST_SUM));
        assert!(limit <= LARGEST && limit * 255.0 * d <= LARGEST_SUM, "d={d}");
    }
    // A start weight at the limit is taken, the next one is not.
    let d = 20_000;
    let limit = f64::from(weight_limit(255.0 * d as f64, LARGEST_SUM));
    for (weight, exact) in [(limit, true), (limit + 1.0, false), (-limit, true), (-limit - 1.0, false)] {
        let mut case = filled(255.0, 2, d, 2);
        case.start.fill(weight);
        case.epochs = 1;
        let x = vec![255_u8; 2 * d];
        let (got, path) = case.learn(&Dense::new(&x, 2, d).expect("shape"));
        assert_same(&got, &by_rule_3(&case), "long rows");
        assert_eq!(path[0], exact, "w={weight}");
    }
}

#[test]
fn what_is_no_integer_takes_rule_3() {
    let exact = |change: fn(&mut Case)| {
        let mut case = Case::new(whole(20 * 64, 0, 9, 2, 1), 20, 64, 3, 2);
        change(&mut case);
        let oracle = case.expected();
        case.check(&oracle, |v| v as u8, "no integer").map(|path| path[0])
    };
    assert_eq!(exact(|_| ()), [true, true]);
    assert_eq!(exact(|case| case.eta = 0.5), [false, false]);
    assert_eq!(exact(|case| case.start[7] = 0.25), [false, false]);
    // An intercept is added in float64 in both ways.
    assert_eq!(exact(|case| case.intercept[1] = 1e-300), [true, true]);
    assert_eq!(exact(|case| case.intercept[1] = 0.3), [true, true]);
    assert_eq!(exact(|case| case.class_weight = [1.0, 1.5]), [false, false]);
    assert_eq!(exact(|case| case.sample_weight = Some(vec![0.1; 20])), [false, false]);
    assert_eq!(exact(|case| case.eta = 1e200), [false, false]);
    assert_eq!(integer_step(3.0, Some(&[2.0, 5.0]), &[[1.0, 7.0]]), Some(105.0));
    assert_eq!(integer_step(3.0, Some(&[2.0, 5.5]), &[[1.0, 7.0]]), None);
    assert_eq!(integer_step(f64::INFINITY, None, &[[1.0; 2]]), None);
}

#[test]
fn values_that_are_no_integers_take_rule_3() {
    for odd in [0.5, 1e100, -3.0e9] {
        let mut case = Case::new(whole(200, 0, 9, 2, 1), 20, 10, 3, 2);
        case.x[57] = odd;
        let paths = case.check(&case.expected(), |v| v, "float64 with an odd value");
        assert_eq!(paths, [[false; 2]; 2], "{odd}");
    }
}

#[test]
fn integers_of_32_bits_at_their_extremes() {
    for classes in [2, 3, 10] {
        for (low, high) in
            [(i64::from(i32::MIN), i64::from(i32::MAX)), (-1 << 30, 1 << 30), (-40_000, 40_000)]
        {
            let mut case = Case::new(whole(30 * 6, low, high, 5, 3), 30, 6, classes, 4);
            case.order = Some(shuffled(30, 5));
            let oracle = case.expected();
            case.check(&oracle, |v| v as i32, "int32");
            case.check(&oracle, |v| v, "float64");
        }
    }
}

/// A run that passes the bound, block by block; whether it did so in the middle of an epoch.
fn crossing<T: Value>(case: &Case, to: impl Fn(f64) -> T, dense: bool, what: &str) -> bool {
    let values: Vec<T> = case.x.iter().map(|&v| to(v)).collect();
    if dense {
        crosses(case, &Dense::new(&values, case.n, case.d).expect("shape"), what)
    } else {
        let (indptr, indices, stored) = compress(&values, case.n, case.d, |j| j as i32);
        crosses(case, &Csr::new(&indptr, &indices, &stored, case.d).expect("arrays of a matrix"), what)
    }
}

fn crosses(case: &Case, rows: &dyn Rows, what: &str) -> bool {
    let want = case.expected();
    // The leaf itself, in blocks of three.
    let (visit, mut planes, mut log) = (case.visit(), case.planes(), Vec::new());
    let mut left_at = Vec::new();
    for epoch in 0..case.epochs {
        let mut at = Cursor::default();
        while at.pos < visit.len() {
            rows.prepare(&visit, &mut planes, &()).expect("memory");
            let (before, end) = (planes.is_exact(), visit.len().min(at.pos + 3));
            let stop = rows.learn(&visit, &mut at, end, &mut planes, &mut log).expect("memory");
            assert!(stop == Stop::Limit || (stop, at.pos) == (Stop::Block, end), "{what}: {stop:?}");
            assert_eq!(stop == Stop::Limit, before && !planes.is_exact(), "{what}");
            if stop == Stop::Limit {
                left_at.push((epoch, at.pos));
            }
            assert!(before || !planes.is_exact(), "{what}: back on the exact path");
        }
    }
    assert_same(&outcome(&planes, case.planes, &log), &want, what);
    let [(epoch, end)] = left_at[..] else { panic!("{what}: the bound was crossed {} times", left_at.len()) };
    assert!(epoch + 1 < case.epochs, "{what}: too late to show anything");
    // The driver, with its own blocks; then in one call for each position.
    assert_eq!(case.learn(rows), (want.clone(), [true, false]), "{what}, by feed");
    let (mut planes, mut log) = (case.planes(), Vec::new());
    for end in (0..case.epochs).flat_map(|_| 1..=visit.len()) {
        let mut at = Cursor { pos: end - 1 };
        let absorb = &mut |new: &[Mistake]| keep(&mut log, new);
        feed(rows, &visit, &mut at, end, &mut planes, absorb, &()).expect("nobody interrupts");
    }
    assert_same(&outcome(&planes, case.planes, &log), &want, &format!("{what}, one position a call"));
    end > 3 && end < visit.len()
}

/// An intercept that keeps every positive example wrong, so that the weights only grow; about five
/// updates of a plane reach the limit.
fn growing(x: Vec<f64>, n: usize, d: usize, classes: u32, largest_value: f64, limit: f64) -> Case {
    let mut case = Case::new(x, n, d, classes, 12);
    case.eta = (limit / (5.0 * largest_value)).floor();
    case.fit_intercept = false;
    case.intercept.fill(-4e15);
    case.order = (classes == 3).then(|| shuffled(n, 5));
    case.epochs = 12;
    case
}

#[test]
fn the_bound_is_crossed_in_mid_epoch() {
    let n = 40;
    let mut in_the_middle = [0; 5];
    for (classes, d) in [2, 3, 9, 20].into_iter().flat_map(|k| [1, 9, 16, 40].map(|d| (k, d))) {
        let bytes = whole(n * d, 1, 255, 1, 11);
        let long = d + 63;
        let halves = growing(whole(n * long, 1, 255, 1, 11), n, long, classes, 255.0, LARGEST);
        let counts = growing(bytes, n, d, classes, 255.0, LARGEST / (255.0 * d as f64));
        let signed = growing(whole(n * long, -128, -1, 1, 13), n, long, classes, 128.0, LARGEST);
        let ones = growing(whole(n * d, 1, 1, 4, 14), n, d, classes, 1.0, LARGEST / d as f64);
        let found = [
            crossing(&halves, |v| v as u8, true, "dense uint8"),
            crossing(&signed, |v| v as i8, true, "dense int8"),
            crossing(&counts, |v| v as i32, false, "CSR int32"),
            crossing(&counts, |v| v as f32, false, "CSR float32"),
            crossing(&ones, |v| v as u8, false, "CSR of ones"),
        ];
        in_the_middle.iter_mut().zip(found).for_each(|(count, found)| *count += i32::from(found));
    }
    assert!(in_the_middle.iter().all(|&count| count >= 12), "{in_the_middle:?} of 16");
}

/// The largest step that is taken, on a weight that has just reached the largest limit: one column,
/// and an intercept that keeps the example wrong.
#[test]
fn the_last_update_before_the_path_is_left_does_not_wrap() {
    for (value, eta, sign) in
        [(1.0, LARGEST, 1.0), (1.0, LARGEST, -1.0), (2.0, (LARGEST / 2.0).floor(), -1.0)]
    {
        let mut case = Case::new(vec![value; 4], 4, 1, 2, 0);
        case.labels = vec![u32::from(sign > 0.0); 4];
        case.eta = eta;
        case.fit_intercept = false;
        case.intercept = vec![-sign * 1e12];
        for start in [0.0, sign * f64::from(weight_limit(value, LARGEST))] {
            case.start = vec![start];
            let paths = case.check(&by_rule_3(&case), |v| v as i32, "int32, one column");
            assert_eq!(paths[1], [true, false]);
        }
    }
}

/// The same for dense bytes: the largest step that 255 * |c| <= 2^30 allows.
#[test]
fn the_last_update_of_bytes_does_not_wrap() {
    for sign in [1.0, -1.0] {
        let mut row = vec![0.0; 64];
        row[5] = 255.0;
        let mut case = Case::new(row.repeat(4), 4, 64, 2, 0);
        case.labels = vec![u32::from(sign > 0.0); 4];
        case.eta = (LARGEST / 255.0).floor();
        case.fit_intercept = false;
        case.intercept = vec![-sign * 1e14];
        case.start = vec![sign * LARGEST; 64];
        let paths = case.check(&by_rule_3(&case), |v| v as u8, "uint8, one column of values");
        assert_eq!(paths[0], [true, false]);
    }
}

/// Steps of both sizes, up to where a product fits in 16 bits and beyond, carry both ways.
#[test]
fn halves_carry() {
    let starts = [0.0, 32767.0, -32768.0, 65535.0, 65536.0, -65536.0, -98304.0, 1e6, -1e6];
    let x: Vec<u8> = (0..Halves::reach(9 * 37)).map(|i| (i * 97 % 256) as u8).collect();
    for c in [1, -1, 3, 127, -127, 128, -128, 129, -129, 2500, -2500] {
        let start: Vec<f64> = starts.iter().copied().cycle().take(9 * 37).collect();
        let mut halves = Halves::new(&start).expect("memory");
        let mut want: Vec<i32> = start.iter().map(|&w| w as i32).collect();
        for _ in 0..300 {
            let bound = halves.axpy(c, &x);
            want.iter_mut().zip(&x).for_each(|(w, &x)| *w += c * i32::from(x));
            assert!(want.iter().all(|w| w.abs() <= bound), "c = {c}: bound {bound}");
        }
        let got: Vec<i32> = (0..want.len()).map(|j| halves.weight(j)).collect();
        assert_eq!(got, want, "c = {c}");
    }
}
