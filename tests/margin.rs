//! Margins against the whole numbers of the definition: in two dimensions by trying every triangle and
//! segment, in more where the data are made so that the margin is known. Certificates are checked by
//! themselves.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::support::{compress, whole};
use perceptron_rs::error::Error;
use perceptron_rs::margin::{Bias, Goal, Options, Solution, Solver, margin, separate};
use perceptron_rs::monitor::{Flow, Monitor};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Matrix};

/// A few roundings.
const CLOSE: f64 = 1e-14;

const OPTIONS: Options = Options {
    bias: Bias::Free,
    tol: 1e-6,
    max_steps: 100_000,
    solver: Solver::Auto,
    goal: Goal::Margin,
    threads: 1,
};

type Point = [i64; 2];

fn cross(a: Point, b: Point) -> i64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: Point, b: Point) -> i64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1]]
}

/// The distance of 0 from the segment, as a fraction of its square.
fn of_segment(a: Point, b: Point) -> (i64, i64) {
    let along = minus(b, a);
    let place = -dot(a, along);
    if place <= 0 {
        (dot(a, a), 1)
    } else if place >= dot(along, along) {
        (dot(b, b), 1)
    } else {
        (cross(a, b).pow(2), dot(along, along))
    }
}

fn holds_zero(a: Point, b: Point, c: Point) -> bool {
    let turns = [cross(a, b), cross(b, c), cross(c, a)];
    turns.iter().any(|&turn| turn != 0)
        && (turns.iter().all(|&turn| turn >= 0) || turns.iter().all(|&turn| turn <= 0))
}

/// The distance of 0 from the hull: it is in some triangle (Caratheodory), or nearest to some segment.
fn distance(points: &[Point]) -> f64 {
    let all = || points.iter().copied();
    let inside = all().any(|a| all().any(|b| all().any(|c| holds_zero(a, b, c))));
    let squares = all().flat_map(|a| all().map(move |b| of_segment(a, b)));
    let least = squares.map(|(over, under)| over as f64 / under as f64).fold(f64::INFINITY, f64::min);
    if inside { 0.0 } else { least.sqrt() }
}

/// The largest margin of rows of two columns, or of one and a constant.
fn largest(x: &[f64], labels: &[u32], bias: Bias) -> f64 {
    let rows: Vec<Point> = match bias {
        Bias::Augmented => x.iter().map(|&x| [x as i64, 1]).collect(),
        _ => x.chunks_exact(2).map(|x| [x[0] as i64, x[1] as i64]).collect(),
    };
    let of = |label: u32| rows.iter().zip(labels).filter(move |row| *row.1 == label).map(|row| *row.0);
    if bias == Bias::Free {
        let differences: Vec<Point> = of(1).flat_map(|p| of(0).map(move |q| minus(p, q))).collect();
        return distance(&differences) / 2.0;
    }
    let signed: Vec<Point> = of(1).chain(of(0).map(|q| minus([0, 0], q))).collect();
    distance(&signed)
}

fn sign(label: u32) -> f64 {
    if label == 1 { 1.0 } else { -1.0 }
}

/// On dense and CSR rows, on one thread and three; all are the same, bit by bit.
fn solve(x: &[f64], labels: &[u32], d: usize, options: &Options) -> Solution {
    let dense = Dense::new(x, labels.len(), d).expect("shape");
    let (indptr, indices, values) = compress(x, labels.len(), d, |j| j as i32);
    let csr = Csr::new(&indptr, &indices, &values, d).expect("arrays of a matrix");
    let found = separate(&dense, labels, options, &()).expect("a problem");
    let text = format!("{found:?}");
    for (rows, threads) in [(&dense as &dyn Matrix, 3), (&csr, 1), (&csr, 3)] {
        let other = separate(rows, labels, &Options { threads, ..*options }, &());
        assert_eq!(format!("{:?}", other.expect("a problem")), text, "{threads} threads");
    }
    found
}

/// All that a solution promises, by the rows alone; `want` is the largest margin.
fn check(found: &Solution, x: &[f64], labels: &[u32], options: &Options, want: f64, what: &str) {
    let &Options { bias, solver, .. } = options;
    let d = x.len() / labels.len();
    let rows = || x.chunks_exact(d).zip(labels);
    let constant = if bias == Bias::Augmented { 1.0 } else { 0.0 };
    let groups = if bias == Bias::Free { 2.0 } else { 1.0 };
    let radius = rows().map(|(x, _)| x.iter().map(|x| x * x).sum::<f64>().sqrt()).fold(0.0, f64::max);
    assert!((radius..=radius * (1.0 + CLOSE)).contains(&found.radius), "{what}: radius {}", found.radius);
    assert!(found.support.is_sorted_by(|a, b| a < b), "{what}: {:?}", found.support);
    assert!(found.dual_weights.iter().all(|&k| k > 0), "{what}: {:?}", found.dual_weights);
    for label in if bias == Bias::Free { vec![vec![0], vec![1]] } else { vec![vec![0, 1]] } {
        let own = found.support.iter().zip(&found.dual_weights);
        let total: i64 = own.filter(|(row, _)| label.contains(&labels[**row as usize])).map(|(_, k)| k).sum();
        assert_eq!(total, 1 << 53, "{what}: weights of {label:?}");
    }
    if want == 0.0 && solver == Solver::Descent && found.proof.is_none() {
        // It never stops at a proof; what it has found still promises no plane.
        assert!(["margin_at_most", "undecided"].contains(&found.status), "{what}: {}", found.status);
        assert!(found.lower == f64::NEG_INFINITY && found.upper >= 0.0, "{what}: {found:?}");
        return;
    }
    if want == 0.0 {
        assert_eq!(found.status, "non_separable", "{what}");
        assert!(found.proof.is_some(), "{what}");
        assert_eq!((found.lower, found.upper), (f64::NEG_INFINITY, f64::NEG_INFINITY), "{what}");
        if d <= 2 {
            let pick = |row: &u32| x[*row as usize * d..][..d].to_vec();
            let (x, labels): (Vec<Vec<f64>>, Vec<u32>) =
                found.support.iter().map(|row| (pick(row), labels[*row as usize])).unzip();
            assert_eq!(largest(&x.concat(), &labels, bias), 0.0, "{what}: the support proves nothing");
        }
        return;
    }
    assert_eq!((found.status, found.proof), ("separable", None), "{what}");
    assert!(found.lower <= want * (1.0 + CLOSE) && want <= found.upper * (1.0 + CLOSE), "{what}: {found:?}");
    let size = found.coef.iter().fold(0.0, |size: f64, w| size.max(w.abs()));
    assert!(size < 1.0 && (size >= 0.5 || bias == Bias::Augmented), "{what}: {:?}", found.coef);
    assert!(bias != Bias::None || found.intercept == 0.0, "{what}");
    let score = |x: &[f64]| x.iter().zip(&found.coef).map(|(x, w)| x * w).sum::<f64>() + found.intercept;
    let norm = found.coef.iter().map(|w| w * w).sum::<f64>() + constant * found.intercept.powi(2);
    let least = rows().map(|(x, &y)| sign(y) * score(x)).fold(f64::INFINITY, f64::min) / norm.sqrt();
    let slack = CLOSE * (found.radius + 1.0);
    assert!((least - found.lower).abs() <= slack, "{what}: the plane has {least}, not {}", found.lower);
    let mut point = vec![0.0; d + 1];
    for (&row, &k) in found.support.iter().zip(&found.dual_weights) {
        let c = sign(labels[row as usize]) * k as f64 / 2.0_f64.powi(53);
        let x = &x[row as usize * d..][..d];
        point.iter_mut().zip(x.iter().chain([&constant])).for_each(|(p, x)| *p += c * x);
    }
    let length = point.iter().map(|p| p * p).sum::<f64>().sqrt() / groups;
    assert!((length - found.upper).abs() <= slack, "{what}: the weights have {length}, not {}", found.upper);
}

fn numbers(random: &mut SplitMix64, n: usize, size: i64) -> Vec<f64> {
    whole(n, -size, size, 0, random.draw())
}

#[test]
fn tiny_problems() {
    let mut random = SplitMix64::new(1);
    let (mut apart, mut met) = (0, 0);
    for i in 0..540 {
        let solver = [Solver::Auto, Solver::Wolfe, Solver::Descent][i / 3 % 3];
        let sizes = if solver == Solver::Descent { [1, 1, 2, 2, 3] } else { [1, 2, 3, 9, 100] };
        let (n, size) = (1 + random.below(9) as usize, sizes[i % 5]);
        let bias = [Bias::Free, Bias::None, Bias::Augmented][i % 3];
        let d = if bias == Bias::Augmented { 1 } else { 2 };
        let mut x = numbers(&mut random, n * d, size);
        let mut labels: Vec<u32> = (0..n).map(|_| random.below(2) as u32).collect();
        if i % 2 == 0 {
            // A line gives the labels; what lies on it is on both sides.
            let (w, b) = (numbers(&mut random, d, 2), random.below(3) as f64 - 1.0);
            let score = |x: &[f64]| x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + b;
            labels = x.chunks_exact(d).map(|x| u32::from(score(x) > 0.0)).collect();
        }
        if i % 7 == 0 && n > 1 {
            x.copy_within(..d, d);
        }
        let one_class = labels.iter().all(|label| *label == labels[0]);
        let want = largest(&x, &labels, bias);
        // Descent is slow where the margin is small, and spends its steps where there is none.
        let (max_steps, gap) = match solver {
            Solver::Descent if want == 0.0 => (300, 0.5),
            Solver::Descent => (3000, 0.5),
            _ => (OPTIONS.max_steps, 1e-6),
        };
        let options = Options { bias, max_steps, solver, ..OPTIONS };
        let what = format!("{i}: {options:?} {x:?} {labels:?}");
        let found = solve(&x, &labels, d, &options);
        if one_class && bias == Bias::Free {
            assert_eq!((found.status, found.intercept), ("one_class", sign(labels[0])), "{what}");
            assert_eq!((found.lower, found.upper), (f64::INFINITY, f64::INFINITY), "{what}");
            continue;
        }
        check(&found, &x, &labels, &options, want, &what);
        assert!(want == 0.0 || found.upper - found.lower <= gap * found.upper, "{what}: not near {want}");
        *(if want == 0.0 { &mut met } else { &mut apart }) += 1;

        let flipped: Vec<u32> = labels.iter().map(|label| 1 - label).collect();
        let other = solve(&x, &flipped, d, &options);
        check(&other, &x, &flipped, &options, want, &format!("flipped {what}"));

        let early = solve(&x, &labels, d, &Options { goal: Goal::Separable, ..options });
        check(&early, &x, &labels, &options, want, &format!("early {what}"));
        let short = solve(&x, &labels, d, &Options { max_steps: (i % 4) as u64, ..options });
        assert!(short.lower <= want * (1.0 + CLOSE), "{what}: {short:?}");
        let refuted = short.status == "non_separable";
        assert!(if refuted { want == 0.0 } else { want <= short.upper * (1.0 + CLOSE) }, "{what}: {short:?}");
    }
    assert!(apart > 120 && met > 120, "{apart} apart, {met} not");
}

/// Pairs of rows (y m, z) and (y m, -z), and rows behind them: the plane is the first column alone.
fn mirrored(pairs: usize, d: usize, m: f64, zeros: u64, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let mut random = SplitMix64::new(seed);
    let (mut x, mut labels) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        let y = (pair % 2) as u32;
        let z = whole(d - 1, -20, 20, zeros, random.draw());
        let behind = if pair < 4 { 0.0 } else { random.below(30) as f64 };
        for side in [1.0, -1.0] {
            x.push(sign(y) * (m + behind));
            x.extend(z.iter().map(|z| side * z));
            labels.push(y);
        }
    }
    (x, labels)
}

#[test]
fn known_margins_of_many_columns() {
    let few = [(10, 3, 0), (30, 9, 4), (8, 40, 6), (120, 60, 7)];
    for (i, (pairs, d, zeros)) in few.into_iter().enumerate() {
        let (x, labels) = mirrored(pairs, d, 3.0, zeros, i as u64);
        for bias in [Bias::Free, Bias::None] {
            for solver in [Solver::Auto, Solver::Wolfe, Solver::Descent] {
                let options = Options { bias, solver, tol: 1e-3, ..OPTIONS };
                let what = format!("{pairs} pairs, {d} columns, {bias:?}, {solver:?}");
                let found = solve(&x, &labels, d, &options);
                check(&found, &x, &labels, &options, 3.0, &what);
                assert!(found.upper - found.lower <= 1e-3 * found.upper, "{what}: {found:?}");
                // Powers of two change nothing but the scale.
                let large: Vec<f64> = x.iter().map(|x| x * 1024.0).collect();
                let scaled = solve(&large, &labels, d, &options);
                assert_eq!([scaled.lower, scaled.upper], [found.lower, found.upper].map(|end| end * 1024.0));
                assert_eq!(scaled.coef, found.coef, "{what}");
            }
        }
        // Both classes have rows on both sides: 0 is in both hulls.
        let mixed: Vec<u32> = (0..labels.len()).map(|row| (row / 2 % 2) as u32).collect();
        let centred: Vec<f64> =
            x.iter().enumerate().map(|(at, x)| if at % d == 0 { 0.0 } else { *x }).collect();
        for bias in [Bias::Free, Bias::None] {
            let options = Options { bias, ..OPTIONS };
            let found = solve(&centred, &mixed, d, &options);
            check(&found, &centred, &mixed, &options, 0.0, &format!("centred, {d} columns, {bias:?}"));
        }
    }
}

#[test]
fn the_margin_of_a_plane() {
    let mut random = SplitMix64::new(5);
    let mut clean = 0;
    for i in 0..600 {
        let (n, d) = (1 + random.below(8) as usize, 1 + random.below(4) as usize);
        let (x, w) = (numbers(&mut random, n * d, 5), numbers(&mut random, d, 3));
        let b = random.below(7) as f64 - 3.0;
        let scores: Vec<f64> =
            x.chunks_exact(d).map(|x| x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + b).collect();
        let right = |score: &f64| u32::from(*score > 0.0);
        let mut labels: Vec<u32> = scores.iter().map(right).collect();
        if i % 3 == 0 {
            labels[0] = 1 - labels[0];
        }
        let wrong = |row: &u32| sign(labels[*row as usize]) * scores[*row as usize] <= 0.0;
        let offending: Vec<u32> = (0..n as u32).filter(wrong).collect();
        let what = format!("{i}: {x:?} {labels:?} {w:?} {b}");
        let dense = Dense::new(&x, n, d).expect("shape");
        let (indptr, indices, values) = compress(&x, n, d, |j| j as i64);
        let csr = Csr::new(&indptr, &indices, &values, d).expect("arrays of a matrix");
        for rows in [&dense as &dyn Matrix, &csr] {
            for (normalize, threads) in [(true, 1), (false, 2)] {
                let found = margin(rows, &labels, &w, Some(b), normalize, threads, &());
                if w.iter().all(|w| *w == 0.0) {
                    let text = "coef must not be all zeros: such a plane has no margin; train first";
                    assert_eq!(found, Err(Error::Invalid(text.into())), "{what}");
                    continue;
                }
                let (low, high, rows) = found.expect("a plane");
                assert_eq!(rows, offending, "{what}");
                if !offending.is_empty() {
                    assert_eq!((low, high), (f64::NEG_INFINITY, f64::NEG_INFINITY), "{what}");
                    continue;
                }
                let norm = if normalize { w.iter().map(|w| w * w).sum::<f64>().sqrt() } else { 1.0 };
                let want = scores.iter().fold(f64::INFINITY, |least, a| least.min(a.abs())) / norm;
                let near = want * (1.0 - CLOSE)..=want * (1.0 + CLOSE);
                assert!(near.contains(&low) && near.contains(&high) && low <= high, "{what}: {low} {high}");
                clean += 1;
            }
        }
    }
    assert!(clean > 300, "{clean}");
}

#[test]
fn a_row_of_which_floats_cannot_tell_the_side() {
    let rows = Dense::new(&[0.1, 0.1, 0.0, 3.0], 2, 2).expect("shape");
    let tiny = 2.0_f64.powi(-90);
    for (b, wrong) in [(tiny, vec![]), (0.0, vec![0]), (-tiny, vec![0])] {
        let found = margin(&rows, &[1, 0], &[1.0, -1.0], Some(b), false, 1, &()).expect("a plane");
        assert_eq!(found.2, wrong, "{b}");
        assert!(!wrong.is_empty() || found.0 > 0.0 && found.0 <= b && b <= found.1, "{found:?}");
    }
}

#[test]
fn what_is_refused() {
    let rows = Dense::new(&[1.0, 2.0], 2, 1).expect("shape");
    let refusal = |labels: &[u32], options: &Options| match separate(&rows, labels, options, &()) {
        Err(Error::Invalid(text)) => text,
        other => panic!("{other:?}"),
    };
    for tol in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = refusal(&[0, 1], &Options { tol, ..OPTIONS });
        assert_eq!(text, format!("tol must be positive and finite, got {tol:?}"));
    }
    assert_eq!(refusal(&[0], &OPTIONS), "labels must hold one label for each of 2 rows, got 1");
    assert_eq!(refusal(&[0, 2], &OPTIONS), "labels must be 0 or 1, got 2; encode the two classes first");
    let none = Dense::new(&[0.0; 0], 0, 1).expect("shape");
    let text = "rows must hold at least one row, got none";
    assert_eq!(separate(&none, &[], &OPTIONS, &()), Err(Error::Invalid(text.into())));
    let odd = Dense::new(&[1.0, 2.0, 3.0, f64::NAN], 2, 2).expect("shape");
    let text =
        "rows must be finite, got NaN or infinity in row 1, column 1; remove the row or impute the value";
    assert_eq!(separate(&odd, &[0, 1], &OPTIONS, &()), Err(Error::Invalid(text.into())));
    assert_eq!(margin(&odd, &[0, 1], &[1.0, 1.0], None, true, 1, &()), Err(Error::Invalid(text.into())));
    let refusal = |w: &[f64], b| match margin(&rows, &[0, 1], w, b, true, 1, &()) {
        Err(Error::Invalid(text)) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(&[1.0, 2.0], None), "coef must have shape (1,), one weight for each column, got (2,)");
    let text = "coef and intercept must be finite, got NaN or infinity; train again";
    assert_eq!(refusal(&[f64::NAN], None), text);
    assert_eq!(refusal(&[1.0], Some(f64::INFINITY)), text);
    let small = Dense::new(&[1e-300, 2e-300], 2, 1).expect("shape");
    let text = "intercept must not exceed the activations so far, got 1e300; \
                scale the features or the weights";
    assert_eq!(margin(&small, &[0, 1], &[1.0], Some(1e300), true, 1, &()), Err(Error::Invalid(text.into())));
}

/// Breaks from this question on.
struct BreakFrom {
    at: usize,
    asked: AtomicUsize,
}

impl Monitor for BreakFrom {
    fn block(&self) -> Flow {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        if asked >= self.at { Flow::Break } else { Flow::Continue }
    }
}

/// A value that is not finite in the last row is found by the first look at the rows.
#[test]
fn the_first_look_at_the_rows_asks() {
    let mut values = vec![1.0_f32; 1 << 20];
    values[(1 << 20) - 1] = f32::NAN;
    let labels: Vec<u32> = (0..1 << 20).map(|i| i % 2).collect();
    let rows = Dense::new(&values, 1 << 20, 1).expect("shape");
    let monitor = BreakFrom { at: usize::MAX, asked: AtomicUsize::new(0) };
    let refused = separate(&rows, &labels, &OPTIONS, &monitor).map(|_| ());
    assert!(matches!(refused, Err(Error::Invalid(text)) if text.contains("row 1048575, column 0")));
    assert!(monitor.asked.load(Ordering::Relaxed) >= 4);
}

#[test]
fn interrupted_anywhere() {
    let (x, labels) = mirrored(30, 9, 3.0, 0, 1);
    let rows = Dense::new(&x, labels.len(), 9).expect("shape");
    for solver in [Solver::Wolfe, Solver::Descent] {
        let options = Options { solver, ..OPTIONS };
        let never = BreakFrom { at: usize::MAX, asked: AtomicUsize::new(0) };
        let done = separate(&rows, &labels, &options, &never).expect("nobody interrupts");
        let asked = never.asked.load(Ordering::Relaxed);
        let steps = done.work.iter().filter(|(name, _)| ["majors", "sweeps"].contains(name));
        assert!(
            asked as u64 > steps.fold(4, |all, (_, steps)| all + steps),
            "{solver:?} asked {asked} times"
        );
        for at in 0..asked {
            let monitor = BreakFrom { at, asked: AtomicUsize::new(0) };
            assert_eq!(separate(&rows, &labels, &options, &monitor), Err(Error::Interrupted), "{at}");
        }
    }
}

/// Some times in a sweep over half a million rows, and not for each row.
#[test]
fn a_sweep_asks_now_and_then() {
    const N: u32 = 1 << 19;
    let labels: Vec<u32> = (0..N).map(|i| i % 2).collect();
    let values: Vec<f64> = (0..N).map(|i| sign(i % 2) * (1.0 + f64::from(i) / f64::from(N))).collect();
    let rows = Dense::new(&values, labels.len(), 1).expect("shape");
    let options = Options { solver: Solver::Descent, max_steps: 1, ..OPTIONS };
    let monitor = BreakFrom { at: usize::MAX, asked: AtomicUsize::new(0) };
    let found = separate(&rows, &labels, &options, &monitor).expect("nobody interrupts");
    assert!(found.work.contains(&("sweeps", 1)), "{found:?}");
    let asked = monitor.asked.load(Ordering::Relaxed);
    assert!((4..200).contains(&asked), "{asked}");
}

/// Rows that are 1 in one column each: one sweep finds the plane, and each row supports it.
fn each_its_own(n: usize, options: &Options) -> Solution {
    let (indptr, indices): (Vec<i32>, Vec<i32>) = ((0..=n as i32).collect(), (0..n as i32).collect());
    let (ones, labels) = (vec![1.0; n], (0..n).map(|i| (i % 2) as u32).collect::<Vec<_>>());
    let rows = Csr::new(&indptr, &indices, &ones, n).expect("arrays of a matrix");
    separate(&rows, &labels, &Options { bias: Bias::None, ..*options }, &()).expect("a plane")
}

#[test]
fn who_begins_and_who_ends() {
    let solver = |n, options: &Options| each_its_own(n, options).solver;
    // From 10 on sweeps cost less than a corral.
    let near = Options { tol: 1e-2, ..OPTIONS };
    assert_eq!([9, 10, 11, 200].map(|n| solver(n, &near)), ["wolfe", "wolfe", "descent", "descent"]);
    // Closer than this they hand over.
    assert_eq!(solver(200, &Options { tol: 0.999e-2, ..OPTIONS }), "wolfe");
    let separable = Options { goal: Goal::Separable, ..OPTIONS };
    assert_eq!(solver(200, &separable), "descent");
    // But not so many rows.
    let many = each_its_own(4001, &OPTIONS);
    assert_eq!((many.solver, many.support.len()), ("descent", 4001));
    assert!(many.lower > 0.0 && many.upper - many.lower < 1e-6 * many.upper, "{} {}", many.lower, many.upper);
    // What counts are the rows that support the plane, here the first of each column.
    let (indptr, columns) =
        ((0..=4200).collect::<Vec<i32>>(), (0..4200).map(|i| i % 100).collect::<Vec<i32>>());
    let values: Vec<f64> = (0..4200).map(|i| f64::from(1 + i / 100)).collect();
    let rows = Csr::new(&indptr, &columns, &values, 100).expect("arrays of a matrix");
    let labels: Vec<u32> = (0..4200).map(|i| i % 2).collect();
    let few = separate(&rows, &labels, &Options { bias: Bias::None, ..OPTIONS }, &()).expect("a plane");
    assert_eq!((few.solver, few.support.len()), ("wolfe", 100));
}

/// How often each solver did what.
fn done(rows: &dyn Matrix, labels: &[u32], options: &Options) -> Vec<(&'static str, u64)> {
    separate(rows, labels, &Options { bias: Bias::None, ..*options }, &()).expect("a problem").work
}

#[test]
fn when_sweeps_end() {
    // Each row with both labels: none is ever far, so the 50th sweep is the last before the handover.
    let (indptr, indices): (Vec<i32>, Vec<i32>) = ((0..=100).collect(), (0..100).map(|i| i / 2).collect());
    let both = Csr::new(&indptr, &indices, &[1.0; 100], 50).expect("arrays of a matrix");
    let labels: Vec<u32> = (0..100).map(|i| i % 2).collect();
    assert!(done(&both, &labels, &OPTIONS).contains(&("sweeps", 50)));
    // A margin of 0 separates nothing, so the search goes on.
    let on_the_plane = Dense::new(&[1.0, 0.0], 2, 1).expect("shape");
    let options = Options { solver: Solver::Descent, goal: Goal::Separable, max_steps: 20, ..OPTIONS };
    assert!(done(&on_the_plane, &[1, 1], &options).contains(&("sweeps", 20)));
}

/// Each row that supports a plane or lies on it may have very many columns.
#[test]
fn each_row_that_is_looked_at_more_closely_asks() {
    const N: usize = 300;
    let count = |work: &dyn Fn(&dyn Monitor)| {
        let monitor = BreakFrom { at: usize::MAX, asked: AtomicUsize::new(0) };
        work(&monitor);
        monitor.asked.load(Ordering::Relaxed)
    };
    let (indptr, indices): (Vec<i32>, Vec<i32>) = ((0..=N as i32).collect(), (0..N as i32).collect());
    let (ones, labels) = (vec![1.0; N], vec![1; N]);
    let rows = Csr::new(&indptr, &indices, &ones, N).expect("arrays of a matrix");
    for (tol, solver, times) in [(1e-2, "descent", 2), (1e-6, "wolfe", 3)] {
        let options = Options { bias: Bias::None, tol, ..OPTIONS };
        let asked = count(&|monitor| {
            assert_eq!(separate(&rows, &labels, &options, monitor).expect("a plane").solver, solver);
        });
        assert!(asked >= times * N, "{solver} asks {asked} times");
    }
    let values: Vec<f64> = (0..2 * N).map(|i| (i % 2 * i) as f64).collect();
    let flat = Dense::new(&values, N, 2).expect("shape");
    let asked = count(&|monitor| {
        let found = margin(&flat, &labels, &[1.0, 0.0], None, true, 1, monitor).expect("a plane");
        assert_eq!(found.2.len(), N);
    });
    assert!(asked >= 2 * N, "the margin of a plane asks {asked} times");
}

/// Where a plane has no direction, and where columns are brought to other scales.
#[test]
fn each_row_that_is_read_once_more_asks() {
    const N: usize = 300;
    let labels: Vec<u32> = (0..N).map(|i| (i % 2) as u32).collect();
    let asked = |rows: &dyn Matrix, options: &Options| {
        let monitor = BreakFrom { at: usize::MAX, asked: AtomicUsize::new(0) };
        let found = separate(rows, &labels, options, &monitor).expect("nobody interrupts");
        let asked = monitor.asked.load(Ordering::Relaxed);
        for at in [0, asked / 2, asked - 1] {
            let monitor = BreakFrom { at, asked: AtomicUsize::new(0) };
            assert_eq!(separate(rows, &labels, options, &monitor), Err(Error::Interrupted), "{at}");
        }
        (asked, found.status)
    };
    let empty = Csr::<f64, i32>::new(&[0; N + 1], &[], &[], 3).expect("arrays of a matrix");
    let (times, status) = asked(&empty, &OPTIONS);
    assert!(times >= N && status == "non_separable", "rows of zeros: {status}, {times} questions");
    let values: Vec<f64> = (0..2 * N).map(|i| (i * i % 17) as f64).collect();
    let mixed = Dense::new(&values, N, 2).expect("shape");
    let (times, status) = asked(&mixed, &Options { max_steps: 1, ..OPTIONS });
    assert!(times >= N && status == "undecided", "{status}, {times} questions");
}
