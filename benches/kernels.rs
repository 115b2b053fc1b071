//! How close is a training pass to a plain read of its data, and what does each leaf cost?
//!
//! First the ratio that has a bar: a pass of the perceptron over dense f64 rows from memory, with
//! mistakes on about 5 % of them, against a plain read (sum) of the same array; medians of
//! alternating runs, the number of mistakes checked against rule 3 in plain loops. Then one divan
//! line per leaf, in nanoseconds per pass.

use std::hint::black_box;
use std::time::Instant;

use divan::Bencher;
use perceptron_rs::online::perceptron::Perceptron;
use perceptron_rs::online::{Epoch, Problem, Run, Settings, State};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Rows, Table};

const COLUMNS: usize = 100;
const BAR: f64 = 0.8;

fn uniform(random: &mut SplitMix64) -> f64 {
    (random.draw() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Rows that a plane separates with room, and labels of which one in twenty is flipped. Start
/// weights near that plane keep the mistakes near those.
fn planted(n: usize) -> (Vec<f64>, Vec<u32>, Vec<f64>) {
    let mut random = SplitMix64::new(1);
    let plane: Vec<f64> = (0..COLUMNS).map(|_| 1e4 * uniform(&mut random)).collect();
    let x: Vec<f64> = (0..n * COLUMNS).map(|_| uniform(&mut random)).collect();
    let label = |x: &[f64]| u32::from(x.iter().zip(&plane).fold(0.0, |sum, (x, w)| sum + x * w) > 0.0);
    let y = x.chunks(COLUMNS).map(|x| label(x) ^ u32::from(random.below(20) == 0)).collect();
    (x, y, plane)
}

/// One epoch, from its start to the state that it leaves.
fn pass(rows: &dyn Rows, labels: &[u32], planes: u32, coef: Vec<f64>) -> Epoch {
    let positive: Vec<u32> = if planes == 1 { vec![1] } else { (0..planes).collect() };
    let state = State {
        coef: Table::new(coef, [positive.len(), rows.columns()]).expect("K x d"),
        intercept: vec![0.0; positive.len()],
        seen: vec![0; positive.len()],
        ages: None,
    };
    let settings = Settings::new(positive);
    let problem = Problem::new(rows, labels, None, &settings).expect("valid");
    let mut run = Run::start(&problem, state, &mut Perceptron, &()).expect("valid");
    let epoch = run.epoch(&problem, &mut Perceptron, 0, &()).expect("finite");
    black_box(run.state(&()).expect("memory"));
    epoch
}

fn zeros(rows: &dyn Rows, planes: u32) -> Vec<f64> {
    vec![0.0; rows.columns() * planes as usize]
}

/// The same pass in plain loops: eight lanes by column, as rule 3 says.
fn mistakes_by_hand(x: &[f64], y: &[u32], mut w: Vec<f64>) -> i64 {
    let (mut b, mut mistakes) = (0.0, 0);
    for (x, &label) in x.chunks(COLUMNS).zip(y) {
        let mut l = [0.0; 8];
        for j in 0..COLUMNS {
            l[j % 8] += w[j] * x[j];
        }
        let t = [l[0] + l[4], l[1] + l[5], l[2] + l[6], l[3] + l[7]];
        let a = ((t[0] + t[2]) + (t[1] + t[3])) + b;
        let sign = if label == 1 { 1.0 } else { -1.0 };
        if sign * a <= 0.0 {
            w.iter_mut().zip(x).for_each(|(w, x)| *w += sign * x);
            b += sign;
            mistakes += 1;
        }
    }
    mistakes
}

fn read(x: &[f64]) -> f64 {
    let mut sums = [0.0; 16];
    for chunk in x.as_chunks::<16>().0 {
        for k in 0..16 {
            sums[k] += chunk[k];
        }
    }
    sums.iter().sum()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn ratio_to_a_read() {
    let n = 1_000_000;
    let (x, y, plane) = planted(n);
    let rows = Dense::new(&x, n, COLUMNS).expect("valid");
    let mistakes = pass(&rows, &y, 1, plane.clone()).mistakes[0];
    assert_eq!(mistakes, mistakes_by_hand(&x, &y, plane.clone()), "the kernel's answer is wrong");
    let (mut passes, mut reads) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        let start = Instant::now();
        black_box(read(black_box(&x)));
        reads.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        black_box(pass(&rows, &y, 1, plane.clone()));
        passes.push(start.elapsed().as_secs_f64());
    }
    let (read, pass) = (median(reads), median(passes));
    let share = read / pass;
    println!(
        "dense f64 {n} x {COLUMNS} from memory, {:.1} % mistakes: read {:.1} ms, pass {:.1} ms: {:.0} % of a plain read (bar {:.0} %){}",
        100.0 * mistakes as f64 / n as f64,
        1e3 * read,
        1e3 * pass,
        100.0 * share,
        100.0 * BAR,
        if share < BAR { "  BELOW BAR" } else { "" }
    );
}

#[divan::bench(consts = [1, 10])]
fn dense_f64_in_cache<const PLANES: u32>(bencher: Bencher) {
    let (x, y, _) = planted(200);
    let rows = Dense::new(&x, 200, COLUMNS).expect("valid");
    bencher.bench_local(|| pass(&rows, black_box(&y), PLANES, zeros(&rows, PLANES)));
}

#[divan::bench(consts = [1, 10])]
fn dense_u8_exact<const PLANES: u32>(bencher: Bencher) {
    let mut random = SplitMix64::new(2);
    let x: Vec<u8> = (0..200 * 784).map(|_| random.below(256) as u8).collect();
    let y: Vec<u32> = (0..200).map(|_| random.below(u64::from(PLANES.max(2))) as u32).collect();
    let rows = Dense::new(&x, 200, 784).expect("valid");
    bencher.bench_local(|| pass(&rows, black_box(&y), PLANES, zeros(&rows, PLANES)));
}

/// 1000 rows of 40 entries over 2000 columns.
fn sparse<T>(value: impl Fn(&mut SplitMix64) -> T) -> (Vec<i32>, Vec<i32>, Vec<T>, Vec<u32>) {
    let mut random = SplitMix64::new(3);
    let indptr = (0..=1000).map(|i| 40 * i).collect();
    let indices = (0..1000).flat_map(|_| (0..40).map(|k| 50 * k).collect::<Vec<i32>>());
    let indices = indices.map(|j| j + random.below(50) as i32).collect();
    let values = (0..40_000).map(|_| value(&mut random)).collect();
    let labels = (0..1000).map(|_| random.below(2) as u32).collect();
    (indptr, indices, values, labels)
}

#[divan::bench(consts = [1, 20])]
fn csr_ones<const PLANES: u32>(bencher: Bencher) {
    let (indptr, indices, values, labels) = sparse(|_| 1_i8);
    let rows = Csr::new(&indptr, &indices, &values, 2000).expect("valid");
    bencher.bench_local(|| pass(&rows, black_box(&labels), PLANES, zeros(&rows, PLANES)));
}

#[divan::bench(consts = [1, 20])]
fn csr_f64<const PLANES: u32>(bencher: Bencher) {
    let (indptr, indices, values, labels) = sparse(uniform);
    let rows = Csr::new(&indptr, &indices, &values, 2000).expect("valid");
    bencher.bench_local(|| pass(&rows, black_box(&labels), PLANES, zeros(&rows, PLANES)));
}

fn main() {
    ratio_to_a_read();
    divan::main();
}
