//! Layers of neurons.

use std::cell::RefCell;

use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::mlp::{Network, Schedule, fit};
use perceptron_rs::rows::Dense;

use crate::every_request_refused;

#[test]
fn layers_start_learn_and_answer() {
    let (n, d) = (40, 6);
    let values: Vec<f64> = (0..n * d).map(|i| f64::from((i * 7 % 11) as u8) - 5.0).collect();
    let labels: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let rows = Dense::new(&values, n, d).expect("a matrix");
    let schedule = Schedule {
        rate: 0.1,
        alpha: 0.0,
        batch_size: 8,
        seed: Some(1),
        first_epoch: 0,
        max_iter: 3,
        tol: None,
        n_iter_no_change: 1,
    };
    let mut out = vec![0.0; n * 3];
    let out = RefCell::new(&mut out);
    let requests = every_request_refused(|| {
        let mut network = Network::start(&[d, 4, 3], Activation::Tanh, 1)?;
        let report = fit(&rows, &labels, &mut network, &schedule, &())?;
        network.scores(&rows, true, &(), &mut out.borrow_mut())?;
        Ok(report)
    });
    assert!(requests > 20, "{requests}");
}
