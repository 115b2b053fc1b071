//! What predicts is read where it stands: scores of a few rows take a fraction of the memory of the model.

use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::kernel::{self, Answer, Kernel, predict};
use perceptron_rs::mlp::{LayerView, scores as neurons};
use perceptron_rs::online::voted::Log;
use perceptron_rs::online::{VoteVectors, scores, votes};
use perceptron_rs::rows::{Arranged, Csr, Dense, Matrix, Tie};
use perceptron_rs::structured::{ChainWeights, Limits, Sequences, Sparse, decode};

use super::most_memory;

const D: usize = 1 << 14;

/// Two rows of a few entries, and the same number of whole ones.
fn few(work: impl Fn(&dyn Matrix)) {
    let (indptr, indices) = ([0, 2, 4], [1, D as i32 - 9, 4, D as i32 - 1]);
    work(&Csr::new(&indptr, &indices, &[0.5, 1.0, 2.0, -1.0], D).expect("a matrix"));
}

fn whole(work: impl Fn(&dyn Matrix)) {
    let (floats, bytes) = (vec![0.25_f32; 2 * D], vec![3_u8; 2 * D]);
    work(&Dense::new(&floats, 2, D).expect("a matrix"));
    work(&Dense::new(&bytes, 2, D).expect("a matrix"));
}

#[test]
fn linear_scores() {
    const K: usize = 10;
    let (w, b) = (vec![0.5; D * 12], [0.0; K]);
    let layouts = || [w[..D * K].into(), Arranged::by_column(&w, 12)];
    let check = |rows: &dyn Matrix, most: usize| {
        for weights in layouts() {
            let taken = most_memory(|| scores(rows, weights, &b, 1, &(), &mut [0.0; 2 * K]).expect("little"));
            assert!(taken <= most, "{taken} bytes for {} of weights", size_of_val(&w[..D * K]));
        }
    };
    few(|rows| check(rows, 1000));
    // Room for a row in float64.
    whole(|rows| check(rows, 8 * D + 5000));
}

#[test]
fn votes_of_few_entries() {
    const MADE: usize = 20;
    let values = vec![1.0_f32; MADE * D];
    let stored = Dense::new(&values, MADE, D).expect("a matrix");
    let (row, ones): (Vec<i64>, _) = ((0..MADE as i64).collect(), [1.0; MADE]);
    let log = Log::new(&[0, 10, MADE as i64], &row, &ones, &ones, MADE).expect("a log");
    let (coef, counts) = (vec![0.5; 2 * D], [1; MADE + 2]);
    let vectors = VoteVectors {
        stored: &stored,
        log,
        coef: &coef,
        intercept: &[0.0; 2],
        counts: &counts,
        tie: Tie::Mistake,
    };
    few(|rows| {
        let taken = most_memory(|| votes(rows, &vectors, 1, &(), &mut [0; 4]).expect("little"));
        assert!(taken < 8 * D, "{taken} bytes");
    });
}

#[test]
fn kernel_values_with_stored_rows() {
    const STORED: usize = 100;
    let values = vec![0.5_f32; STORED * D];
    let stored = Dense::new(&values, STORED, D).expect("a matrix");
    let vectors = kernel::SupportVectors {
        stored: &stored,
        kernel: Kernel::Linear,
        log: Log::new(&[0, 0], &[], &[], &[], STORED).expect("a log"),
        t: &[],
        intercept: &[0.0],
        seen: &[0],
        counts: &[0],
        tie: Tie::Mistake,
        norms: &[0.0],
        drawn: &[0],
    };
    // The two rows in float64, and kernel values in blocks.
    whole(|rows| {
        let taken = most_memory(|| {
            predict(rows, &vectors, &[Answer::Sum], 1, &(), &mut [0.0; 2]).expect("little");
        });
        assert!(taken < size_of_val(&values[..]) / 8, "{taken} bytes");
    });
}

#[test]
fn layers_of_neurons() {
    const H: usize = 12;
    let (w, v) = (vec![0.5; D * H], [0.25; 3 * H]);
    let check = |rows: &dyn Matrix, most: usize| {
        for coef in [(&w).into(), Arranged::by_column(&w, H)] {
            let taken = most_memory(|| {
                let layers = vec![
                    LayerView { coef, intercept: &[0.0; H] },
                    LayerView { coef: v[..].into(), intercept: &[0.0; 3] },
                ];
                neurons(rows, layers, Activation::Tanh, true, 1, &(), &mut [0.0; 6]).expect("little");
            });
            assert!(taken <= most, "{taken} bytes for {} of weights", size_of_val(&w[..]));
        }
    };
    few(|rows| check(rows, 2000));
    whole(|rows| check(rows, 8 * D + 5000));
}

/// The weights of pairs, too, whose planes are found in padded places.
#[test]
fn weights_of_sequences() {
    const LABELS: usize = 3;
    let matrix = |planes: usize| Sparse {
        indptr: (0..=D).map(|j| (j * planes) as i64).collect::<Vec<_>>().into(),
        indices: (0..D * planes).map(|i| (i % planes) as i32).collect::<Vec<_>>().into(),
        data: vec![0.5; D * planes].into(),
    };
    let zero = ChainWeights::zero(D, LABELS, true).expect("little");
    let weights = ChainWeights { emission: matrix(LABELS), pair: Some(matrix(LABELS * LABELS)), ..zero };
    let sequences = Sequences::new(&[2], 2).expect("two rows");
    few(|rows| {
        let taken = most_memory(|| {
            decode(rows, &sequences, &weights, Limits::default(), 1, &()).expect("finite");
        });
        assert!(taken < 10_000, "{taken} bytes");
    });
}
