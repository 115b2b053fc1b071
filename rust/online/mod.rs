//! Online learners: runs, epoch by epoch, and one rule per file.

pub mod averaged;
mod count;
mod feed;
mod group;
mod model;
pub mod perceptron;
pub mod pocket;
mod problem;
mod rule;
mod run;
mod scores;
mod shared;
mod table;
pub(crate) mod threads;
pub mod voted;
mod votes;

pub use crate::monitor::{Flow, Monitor};
pub use feed::feed;
pub use model::{Hyperplanes, Learnt, Memory, Model, Part, Passed, PendingPenalty, Strengths, Taken};
pub use problem::{Penalty, Prechecked, Problem, Settings};
pub use rule::{Learner, Numbers, Rule};
pub use run::{Epoch, Run, State};
pub(crate) use scores::of_each_row;
pub use scores::scores;
pub use shared::Shared;
pub use table::Table;
pub use threads::{sharing, worthwhile};
pub use votes::{VoteVectors, votes};
