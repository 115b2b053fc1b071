//! A hidden layer of neurons: the network after each epoch, and what some examples more make of it.

use perceptron_rs::error::Error;
use perceptron_rs::mlp::{Network, NetworkRun, NetworkSettings};
use perceptron_rs::rows::Dense;

use crate::request::Request;
use crate::session::Data;

pub struct Layers {
    settings: NetworkSettings,
    /// At the start, and after each epoch.
    networks: Vec<Network>,
    run: NetworkRun,
}

impl Layers {
    pub fn start(request: &Request, data: &Data) -> Result<Self, String> {
        let seed = u64::from(request.seed);
        let network = Network::start(&[2, request.hidden, data.planes()], request.activation, seed, &());
        let settings = NetworkSettings {
            rate: request.rate,
            alpha: 0.0,
            batch_size: 1,
            seed: request.shuffled.then_some(seed),
        };
        let start = || {
            let network = network?;
            let run = NetworkRun::start(&data.rows()?, data.labels.clone(), None, network.clone(), settings)?;
            Ok(Self { settings, networks: vec![network], run })
        };
        start().map_err(|error: Error| error.to_string())
    }

    pub fn epoch(&mut self, data: &Data) -> Result<Vec<i64>, Error> {
        let done = self.run.epoch(&data.rows()?, self.networks.len() as u64 - 1, &())?;
        self.networks.push(self.run.network().clone());
        Ok(done.mistakes)
    }

    /// The network after `t` examples.
    pub fn network(&self, data: &Data, t: u64) -> Result<Network, Error> {
        let (epoch, position) = (t as usize / data.len(), t as usize % data.len());
        let network = &self.networks[epoch];
        if position == 0 {
            return Ok(network.clone());
        }
        let order = data.order(epoch as u64)?;
        self.after(network, data, &order[..position]).map(|(network, _)| network)
    }

    /// What some points make of a network, and how many of them were mistakes.
    pub fn after(&self, network: &Network, data: &Data, points: &[u32]) -> Result<(Network, i64), Error> {
        let x: Vec<f64> =
            points.iter().flat_map(|&i| [data.x[2 * i as usize], data.x[2 * i as usize + 1]]).collect();
        let labels = points.iter().map(|&i| data.labels[i as usize]).collect();
        let rows = Dense::new(&x, points.len(), 2)?;
        let mut run = NetworkRun::start(
            &rows,
            labels,
            None,
            network.clone(),
            NetworkSettings { seed: None, ..self.settings },
        )?;
        let done = run.epoch(&rows, 0, &())?;
        Ok((run.network().clone(), done.mistakes[0]))
    }
}
