//! Online learners: runs, epoch by epoch, and one rule per file.

pub mod averaged;
mod count;
mod feed;
mod group;
pub mod perceptron;
pub mod pocket;
mod problem;
mod rule;
mod run;
mod scores;
pub(crate) mod threads;
pub mod voted;
mod votes;

pub use crate::monitor::{Flow, Monitor};
pub use feed::feed;
pub use problem::{Found, Penalty, Problem, Settings};
pub use rule::{Learner, Numbers, Rule};
pub use run::{Epoch, Places, Run, State};
pub use scores::scores;
pub use threads::{sharing, worthwhile};
pub use votes::{Vectors, votes};
