//! Online learners: runs, epoch by epoch, and one rule per file.

pub mod averaged;
mod errors;
mod model;
mod model_run;
pub mod perceptron;
pub mod pocket;
mod rule;
mod run;
mod scores;
mod training;
pub mod voted;
mod votes;

pub use model::{
    Drafted, Excerpt, Hyperplanes, Learnt, Memory, Model, Part, Passed, Share, Strengths, Taken,
};
pub use model_run::ModelRun;
pub use rule::{Form, Kind, Learner, Numbers, Rule};
pub use run::group::feed;
pub use run::problem::{Penalty, Prechecked, Problem, Settings};
pub use run::{Epoch, EpochPart, Run, State};
pub(crate) use scores::of_each_row;
pub use scores::{first_largest, scores};
pub use training::Given;
pub use votes::{VoteVectors, votes};

pub static LEARNERS: [(&str, &Kind); 4] = [
    ("perceptron", &perceptron::KIND),
    ("averaged", &averaged::KIND),
    ("pocket", &pocket::KIND),
    ("voted", &voted::KIND),
];
