//! The golden file of margins, every line, dense and CSR with both index types.

use super::support::golden::{Case, Drawn, bits, cases, draw, each_layout, whole};
use perceptron_rs::margin::{Bias, Goal, Options, Solver, margin, separate};
use perceptron_rs::order::SplitMix64;
use perceptron_rs::rows::Matrix;

#[test]
fn margins() {
    for case in &cases("margin") {
        match case.text("type") {
            "float64" => scaled(case),
            "int8" => each_margin_layout(case, &values::<i8>(case)),
            other => panic!("type={other}"),
        }
    }
}

/// As they are drawn; for `both` with the first row once more.
fn values<T: Drawn + Default>(case: &Case) -> Vec<T> {
    let (n, d) = (case.number::<usize>("n"), case.number::<usize>("d"));
    let mut x = draw::<T>(case.number("seed"), n * d, case.number("zeros"));
    if case.text("labels") == "both" {
        x.copy_within(..d, d);
    }
    x
}

fn scaled(case: &Case) {
    let (d, exponent, spread) =
        (case.number::<usize>("d"), case.number::<i32>("exponent"), case.number::<i32>("spread"));
    let power = |j: usize| 2.0_f64.powi(exponent + j as i32 * spread);
    let x = values::<f64>(case);
    each_margin_layout(case, &x.iter().enumerate().map(|(at, x)| x * power(at % d)).collect::<Vec<_>>());
}

fn labels<T: Drawn + Default>(case: &Case) -> Vec<u32> {
    let mut random = SplitMix64::new(case.number::<u64>("seed") + 1);
    let x = draw::<T>(
        case.number("seed"),
        case.number::<usize>("n") * case.number::<usize>("d"),
        case.number("zeros"),
    );
    match case.text("labels") {
        "order" => x.chunks_exact(case.number("d")).map(|x| u32::from(x[0].widen() > x[1].widen())).collect(),
        "both" => (0..case.number("n")).map(|row: u32| row % 2).collect(),
        _ => (0..case.number("n")).map(|_: u32| (random.draw() % 2) as u32).collect(),
    }
}

fn each_margin_layout<T: Drawn + Default>(case: &Case, x: &[T]) {
    let labels = labels::<T>(case);
    let bias = [Bias::Free, Bias::Augmented, Bias::None];
    let solver = [Solver::Auto, Solver::Wolfe, Solver::Descent];
    let options = Options {
        bias: bias[["free", "augmented", "none"]
            .iter()
            .position(|name| *name == case.text("bias"))
            .expect("a bias")],
        tol: case.floats("tol")[0],
        max_steps: case.number("max_steps"),
        solver: *solver.iter().find(|solver| solver.name() == case.text("solver")).expect("a solver"),
        goal: if case.text("goal") == "margin" { Goal::Margin } else { Goal::Separable },
        threads: 1,
    };
    each_layout(x, labels.len(), case.number("d"), |rows, layout| {
        let found = separate(rows, &labels, &options, &()).expect("a problem");
        case.is("status", found.status, layout);
        case.is("proof", found.proof.unwrap_or("none"), layout);
        case.is("solver_run", found.solver, layout);
        for (key, value) in [("lower", found.lower), ("upper", found.upper), ("radius", found.radius)] {
            case.is(key, &bits(&[value]), layout);
        }
        case.is("coef", &bits(&found.coef), layout);
        case.is("intercept", &bits(&[found.intercept]), layout);
        case.is("support", &whole(&found.support), layout);
        case.is("dual_weights", &whole(&found.dual_weights), layout);
        case.is("work", &whole(&found.work.iter().map(|(_, count)| *count).collect::<Vec<_>>()), layout);
        of_plane(case, rows, &labels, ("own", &found.coef, found.intercept), layout);
        let seed: u64 = case.number("seed");
        let (coef, intercept) = (draw(seed + 2, found.coef.len(), 0), draw::<f64>(seed + 3, 1, 0));
        of_plane(case, rows, &labels, ("drawn", &coef, intercept[0]), layout);
    });
}

fn of_plane(
    case: &Case,
    rows: &dyn Matrix,
    labels: &[u32],
    (name, coef, b): (&str, &[f64], f64),
    layout: &str,
) {
    let (mut ends, mut wrong) = ("none".to_owned(), "none".to_owned());
    if coef.iter().any(|w| *w != 0.0) {
        let by = |normalize| margin(rows, labels, coef, Some(b), normalize, 1, &()).expect("a plane");
        let (whole_norm, without) = (by(true), by(false));
        ends = bits(&[whole_norm.0, whole_norm.1, without.0, without.1]);
        wrong = whole(&whole_norm.2[..whole_norm.2.len().min(60)]);
    }
    case.is(name, &ends, layout);
    case.is(&format!("{name}_wrong"), &wrong, layout);
}
