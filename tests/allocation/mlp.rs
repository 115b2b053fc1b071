//! Layers of neurons.

use std::cell::RefCell;

use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::memory::collected;
use perceptron_rs::mlp::{Network, NetworkRun, NetworkSettings};
use perceptron_rs::rows::Dense;

use super::every_request_refused;

#[test]
fn layers_start_learn_and_answer() {
    let (n, d) = (40, 6);
    let values: Vec<f64> = (0..n * d).map(|i| f64::from((i * 7 % 11) as u8) - 5.0).collect();
    let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let rows = Dense::new(&values, n, d).expect("a matrix");
    let settings = NetworkSettings { rate: 0.1, alpha: 0.0, batch_size: 8, seed: Some(1) };
    let mut out = vec![0.0; n * 3];
    let out = RefCell::new(&mut out);
    let requests = every_request_refused(|| {
        let network = Network::start(&[d, 4, 3], Activation::Tanh, 1, &())?;
        let weights = Some(collected(labels.iter().map(|_| 0.5))?);
        let mut run =
            NetworkRun::start(&rows, collected(labels.iter().copied())?, weights, network, settings)?;
        for number in 0..2 {
            run.epoch(&rows, number, &())?;
        }
        run.network().scores(&rows, true, 1, &(), &mut out.borrow_mut())
    });
    assert!(requests > 20, "{requests}");
}
