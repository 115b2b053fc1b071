//! Layers.

use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::mlp::{self, Network};
use perceptron_rs::monitor::NUMBERS;
use perceptron_rs::rows::Dense;

use super::{Asked, at_each_question};

/// Now and then in one batch of many examples.
#[test]
fn a_batch_of_layers() {
    const N: usize = 120;
    let values: Vec<f64> = (0..N).map(|i| i as f64 / N as f64).collect();
    let rows = Dense::new(&values, N, 1).expect("a matrix");
    let labels = (0..N).map(|i| (i % 2) as u32).collect();
    let network = Network::start(&[1, 300, 300, 1], Activation::Tanh, 1, &()).expect("little");
    let strip = network.strip(1).expect("a column");
    assert!(N / strip > 4, "{strip} examples in a row");
    let settings = mlp::NetworkSettings { rate: 0.1, alpha: 0.0, batch_size: N, seed: None };
    let mut run = mlp::NetworkRun::start(&rows, labels, None, network, settings).expect("labels fit");
    let asked = Asked::default();
    run.epoch(&rows, 0, &asked).expect("nobody interrupts");
    assert_eq!(asked.times(), 1 + N.div_ceil(strip), "when the order is laid out, and amid the batch");
}

/// While the weights of a large network are drawn.
#[test]
fn a_random_start() {
    let sizes = [NUMBERS, 2, 1];
    let asked = at_each_question(|monitor| Network::start(&sizes, Activation::Relu, 1, monitor).is_err());
    assert!(asked >= 2, "a start asks {asked} times");
}
