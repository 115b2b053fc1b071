//! Layers of neurons.

mod network;
mod train;

pub use network::{Layer, Network};
pub use train::{Run, Settings};
