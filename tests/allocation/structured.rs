//! Label sequences, and any other structure.

use std::cell::RefCell;

use perceptron_rs::memory::collected;
use perceptron_rs::rows::{Dense, Matrix};
use perceptron_rs::structured::{
    Chain, ChainRun, ChainSettings, ChainState, ChainWeights, Limits, Mending, Sequences, averages, decode,
    general, k_best, margins,
};

use super::every_request_refused;

const N: usize = 60;
const D: usize = 7;
const LABELS: usize = 5;

fn fits(
    rows: &dyn Matrix,
    labels: &[u32],
    eta: f64,
    with_pair: bool,
    (beam, mending): (Option<usize>, Mending),
) {
    let settings = ChainSettings {
        eta,
        beam,
        mending,
        aggressive: None,
        seed: Some(2),
        partition: 0,
        track_answers: true,
    };
    let mut forbidden = vec![false; LABELS * LABELS];
    forbidden[1] = true;
    let requests = every_request_refused(|| {
        let lengths = [6; N / 6];
        let sequences = Sequences::new(&lengths, N)?;
        let zero = || ChainWeights::zero(D, LABELS, with_pair);
        let start = ChainState { weights: zero()?, sums: zero()?, seen: 0 };
        let chosen = Some(collected(0..8)?);
        let chain = Chain::new(collected(labels.iter().copied())?, sequences, chosen, settings)?;
        let mut run = ChainRun::start(rows, chain, &start, &())?;
        for number in 0..2 {
            run.epoch(rows, number, &())?;
        }
        run.end(&())?;
        let means = averages(&run.state(&())?, &())?;
        let sequences = Sequences::new(&lengths, N)?;
        decode(rows, &sequences, &means, Limits { beam, ..Limits::default() }, 1, &())?;
        let forbids = Limits { forbidden: Some(&forbidden), ..Limits::default() };
        decode(rows, &sequences, &means, forbids, 1, &())?;
        k_best(rows, &sequences, &means, 3, forbids, 1, &())?;
        margins(rows, &sequences, &means, forbids, 1, &())
    });
    assert!(requests > 100, "{requests}");
}

#[test]
fn fits_and_searches() {
    let values: Vec<f64> = (0..N * D).map(|i| f64::from((i * 13 % 17 % 3) as u8)).collect();
    let labels: Vec<u32> = (0..N as u32).map(|i| i * 5 % 7 % LABELS as u32).collect();
    let rows = Dense::new(&values, N, D).expect("a matrix");
    for (with_pair, how) in [
        (false, (None, Mending::Full)),
        (true, (None, Mending::Full)),
        (false, (Some(2), Mending::Early)),
        (true, (Some(2), Mending::MaxViolation)),
    ] {
        fits(&rows, &labels, 1.0, with_pair, how);
        fits(&rows, &labels, 0.1, with_pair, how);
    }
}

#[test]
fn integers_that_become_floats() {
    // The bound of the exact path is passed after a few mistakes.
    let values: Vec<f64> = (0..N * D).map(|i| f64::from((i * 13 % 17 % 3) as u8) * 1e5).collect();
    let labels: Vec<u32> = (0..N as u32).map(|i| i * 5 % 7 % LABELS as u32).collect();
    let rows = Dense::new(&values, N, D).expect("a matrix");
    fits(&rows, &labels, 1.0, true, (None, Mending::Full));
}

#[test]
fn the_update_of_any_structure_asks_for_nothing() {
    let (mut w, mut u) = ([0.0; 4], [0.0; 4]);
    let both = RefCell::new((&mut w[..], &mut u[..]));
    let requests = every_request_refused(|| {
        let (w, u) = &mut *both.borrow_mut();
        general::mend(w, u, ((&[0, 2], &[1.0, 1.0]), (&[1], &[2.0])), 1.0, 3)
    });
    assert_eq!(requests, 0);
}
