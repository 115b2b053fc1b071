//! Online learners: the resumable epoch, the loop over epochs, and one rule per file.

pub mod averaged;
mod count;
mod feed;
mod fit;
mod group;
pub mod perceptron;
pub mod pocket;
mod problem;
mod rule;
mod scores;
mod stopping;
pub(crate) mod threads;

pub use feed::{EpochRecord, Flow, Monitor, Snapshot, Verdict, feed};
pub use fit::{Report, Schedule, Shuffle, State, fit};
pub use problem::{Penalty, Problem};
pub use rule::{Learner, Numbers, Rule};
pub use scores::scores;
pub use stopping::{Criterion, Stopped};
