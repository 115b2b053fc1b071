//! Online learners: the resumable epoch, the loop over epochs, and one rule per file.

pub mod averaged;
mod count;
mod feed;
mod fit;
mod group;
mod one_pass;
pub mod perceptron;
pub mod pocket;
mod problem;
mod rule;
mod scores;
mod stopping;
pub(crate) mod threads;
pub mod voted;
mod votes;

pub use feed::{EpochRecord, Flow, Monitor, Snapshot, Verdict, feed};
pub use fit::{Report, Schedule, Shuffle, State, fit};
pub use one_pass::one_pass;
pub use problem::{Penalty, Problem};
pub use rule::{Learner, Numbers, Rule};
pub use scores::scores;
pub use stopping::{Criterion, Stopped};
pub use votes::{Vectors, votes};
