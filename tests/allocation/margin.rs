//! Margins: of problems that are separable and that are not, by both solvers.

use perceptron_rs::margin::{Bias, Goal, Options, Solver, margin, separate};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::{Csr, Dense, Matrix};

use super::every_request_refused;

const D: usize = 4;

/// Rows on two sides of a plane, `gap` apart; without a gap some are on the wrong side.
fn drawn(n: usize, gap: f64) -> (Vec<f64>, Vec<u32>) {
    let mut random = SplitMix64::new(11);
    let (mut values, mut labels) = (vec![], vec![]);
    for i in 0..n {
        let label = (i % 2) as u32;
        let side = if label == 1 { 1.0 } else { -1.0 };
        values.push(side * (gap + random.below(16) as f64 - if gap > 0.0 { 0.0 } else { 8.0 }));
        values.extend((1..D).map(|_| random.below(64) as f64 / 8.0 - 4.0));
        labels.push(label);
    }
    (values, labels)
}

fn searches(rows: &dyn Matrix, labels: &[u32], statuses: &[&str]) {
    for bias in [Bias::Free, Bias::Augmented, Bias::None] {
        for solver in [Solver::Wolfe, Solver::Descent] {
            for goal in [Goal::Margin, Goal::Separable] {
                let options = Options { bias, tol: 1e-6, max_steps: 200, solver, goal, threads: 1 };
                let status = separate(rows, labels, &options, &()).expect("a solution").status;
                assert!(statuses.contains(&status), "{status} with {options:?}");
                every_request_refused(|| separate(rows, labels, &options, &()));
            }
        }
    }
}

#[test]
fn separable_rows() {
    let (values, labels) = drawn(24, 3.0);
    let rows = Dense::new(&values, labels.len(), D).expect("a matrix");
    searches(&rows, &labels, &["separable"]);
}

#[test]
fn rows_that_no_plane_separates() {
    let (values, labels) = drawn(24, 0.0);
    let rows = Dense::new(&values, labels.len(), D).expect("a matrix");
    searches(&rows, &labels, &["non_separable", "margin_at_most", "undecided"]);
}

#[test]
fn sparse_rows_that_no_plane_separates() {
    // Columns of very different scale, and a row that has both labels.
    let columns = 40;
    let (mut indptr, mut indices, mut values, mut labels) = (vec![0], vec![], vec![], vec![]);
    for i in 0..20_u32 {
        for j in [i % 3, 5 + i % 7] {
            indices.push(j as i32);
            values.push(f64::from(i % 4 + 1) * if j == 5 { 1e-30 } else { 1.0 });
        }
        indptr.push(indices.len() as i32);
        labels.push(i % 2);
    }
    let rows = Csr::new(&indptr, &indices, &values, columns).expect("a matrix");
    searches(&rows, &labels, &["non_separable", "margin_at_most", "undecided", "separable"]);
}

#[test]
fn margins_of_planes() {
    for gap in [3.0, 0.0] {
        let (values, labels) = drawn(24, gap);
        let rows = Dense::new(&values, labels.len(), D).expect("a matrix");
        let coef = [1.0, 0.0, 0.0, 0.0];
        every_request_refused(|| margin(&rows, &labels, &coef, Some(0.0), true, 1, &()));
    }
}
