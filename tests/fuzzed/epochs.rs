//! Some epochs of a run: a decision ends with the first one without a mistake, or with the last.

use perceptron_rs::error::Error;
use perceptron_rs::online::{Epoch, Learner, Numbers, Problem, Run, State};

pub fn learn(
    problem: &Problem,
    state: State,
    learner: &mut dyn Learner,
    (first, most): (u64, u64),
) -> Result<(Run, Vec<Epoch>), Error> {
    let mut run = Run::start(problem, state, learner, &())?;
    let mut going: Vec<usize> = (0..problem.settings.decisions()).collect();
    let mut epochs = Vec::new();
    for e in 0..most {
        let epoch = run.epoch(problem, learner, first + e, &())?;
        let (ended, left) = going.into_iter().partition(|&k| epoch.mistakes[k] == 0 || e + 1 == most);
        let ended: Vec<usize> = ended;
        ended.into_iter().try_for_each(|k| run.end(problem, learner, k, &()))?;
        going = left;
        epochs.push(epoch);
        if going.is_empty() {
            break;
        }
    }
    Ok((run, epochs))
}

/// The bits of all floats that the learner keeps.
pub fn remembered(learner: &dyn Learner) -> Vec<u64> {
    let memory = learner.memory().expect("memory");
    let floats = memory.iter().filter_map(|(_, numbers)| match numbers {
        Numbers::Weights(values) | Numbers::Floats(values) => Some(values),
        Numbers::Integers(_) => None,
    });
    floats.flatten().flat_map(|values| values.iter()).map(|value| value.to_bits()).collect()
}
