//! Layers of neurons.

mod network;
mod stopping;
mod train;

pub use network::{Layer, Network};
pub use stopping::Stopped;
pub use train::{Report, Schedule, fit};
