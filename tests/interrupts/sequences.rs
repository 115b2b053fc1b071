//! Chains: searches, margins, epochs, and what a run gives out.

use perceptron_rs::monitor::{Monitor, NUMBERS};
use perceptron_rs::rows::{Csr, Dense};
use perceptron_rs::structured::{
    Chain, ChainRun, ChainSettings, ChainState, ChainWeights, Limits, Mending, Sequences, averages, decode,
    margins,
};

use super::{Asked, at_each_question};

/// For each 64 of them.
#[test]
fn an_epoch_of_many_sequences() {
    const N: usize = 64 * 100;
    let (ones, lengths) = (vec![1.0; N], vec![1; N]);
    let rows = Dense::new(&ones, N, 1).expect("a matrix");
    let sequences = Sequences::new(&lengths, N).expect("they fit");
    let settings = ChainSettings {
        eta: 1.0,
        beam: None,
        mending: Mending::Full,
        aggressive: None,
        seed: None,
        partition: 0,
        track_answers: false,
    };
    let chain = Chain::new(vec![0; N], sequences, None, settings).expect("labels fit");
    let zero = || ChainWeights::zero(1, 2, false).expect("little");
    let mut run = ChainRun::start(&rows, chain, &ChainState { weights: zero(), sums: zero(), seen: 0 }, &())
        .expect("little");
    let asked = Asked::default();
    run.epoch(&rows, 0, &asked).expect("nobody interrupts");
    assert!(asked.times() >= N / 64, "{}", asked.times());
}

/// For each million pairs of labels, about, and not for each token.
#[test]
fn a_search_in_one_long_sequence() {
    const LABELS: usize = 64;
    let often = (1 << 20) / (LABELS * LABELS) + 1;
    let n = 40 * often;
    let ones = vec![1.0; n];
    let rows = Dense::new(&ones, n, 1).expect("a matrix");
    let sequences = Sequences::new(&[n as i64], n).expect("it fits");
    let weights = ChainWeights::zero(1, LABELS, false).expect("little");
    let asked = Asked::default();
    decode(&rows, &sequences, &weights, Limits::default(), 1, &asked).expect("nobody interrupts");
    assert!((40..60).contains(&asked.times()), "{}", asked.times());
}

/// In the pass from the end as often as in the search before it.
#[test]
fn margins_in_one_long_sequence() {
    const LABELS: usize = 64;
    let n = 40 * ((1 << 20) / (LABELS * LABELS));
    let ones = vec![1.0; n];
    let rows = Dense::new(&ones, n, 1).expect("a matrix");
    let sequences = Sequences::new(&[n as i64], n).expect("it fits");
    let weights = ChainWeights::zero(1, LABELS, false).expect("little");
    let asked = Asked::default();
    margins(&rows, &sequences, &weights, Limits::default(), 1, &asked).expect("nobody interrupts");
    assert!((78..100).contains(&asked.times()), "{}", asked.times());
}

/// What a chain begins with, ends with and gives out.
#[test]
fn a_chain_over_many_columns() {
    const D: usize = NUMBERS;
    let rows = Csr::new(&[0, 1, 2], &[0, D as i32 - 1], &[1.0; 2], D).expect("a matrix");
    let zero = || ChainWeights::zero(D, 2, false).expect("little");
    let state = ChainState { weights: zero(), sums: zero(), seen: 0 };
    let start = |monitor: &dyn Monitor| {
        let sequences = Sequences::new(&[2], 2).expect("it fits");
        let settings = ChainSettings {
            eta: 1.0,
            beam: None,
            mending: Mending::Full,
            aggressive: None,
            seed: None,
            partition: 0,
            track_answers: false,
        };
        let chain = Chain::new(vec![1, 0], sequences, None, settings).expect("labels fit");
        ChainRun::start(&rows, chain, &state, monitor)
    };
    assert!(at_each_question(|monitor| start(monitor).is_err()) >= 8);
    let mut run = start(&()).expect("a run");
    run.epoch(&rows, 0, &()).expect("nobody interrupts");
    assert!(at_each_question(|monitor| run.state(monitor).is_err()) >= 8);
    assert!(at_each_question(|monitor| run.end(monitor).is_err()) >= 1);
    let state = run.state(&()).expect("nobody interrupts");
    assert!(at_each_question(|monitor| averages(&state, monitor).is_err()) >= 8);
}
