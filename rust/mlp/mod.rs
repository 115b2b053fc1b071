//! Layers of neurons.

mod network;
mod scores;
mod train;

pub use network::{Layer, Network};
pub use scores::{LayerView, scores};
pub use train::{NetworkRun, NetworkSettings};
