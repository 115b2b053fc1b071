//! However much there is to do, the monitor is asked on the way: no Ctrl-C waits for the end.

use std::sync::atomic::{AtomicUsize, Ordering};

use perceptron_rs::online::{Flow, Monitor};
use perceptron_rs::rows::Dense;
use perceptron_rs::structured::{Chain, Limits, Mending, Run, Sequences, Settings, State, Weights, decode};

#[derive(Default)]
struct Asked(AtomicUsize);

impl Asked {
    fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Monitor for Asked {
    fn block(&self) -> Flow {
        self.0.fetch_add(1, Ordering::Relaxed);
        Flow::Continue
    }
}

/// For each 64 of them.
#[test]
fn an_epoch_of_many_sequences() {
    const N: usize = 64 * 100;
    let (ones, lengths) = (vec![1.0; N], vec![1; N]);
    let rows = Dense::new(&ones, N, 1).expect("a matrix");
    let sequences = Sequences::new(&lengths, N).expect("they fit");
    let settings = Settings {
        eta: 1.0,
        beam: None,
        mending: Mending::Full,
        seed: None,
        partition: 0,
        track_answers: false,
    };
    let chain = Chain::new(vec![0; N], sequences, None, settings).expect("labels fit");
    let zero = || Weights::zero(1, 2, false).expect("little");
    let mut run =
        Run::start(&rows, chain, &State { weights: zero(), sums: zero(), seen: 0 }).expect("little");
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
    let weights = Weights::zero(1, LABELS, false).expect("little");
    let asked = Asked::default();
    decode(&rows, &sequences, &weights, Limits::default(), 1, &asked).expect("nobody interrupts");
    assert!((40..60).contains(&asked.times()), "{}", asked.times());
}
