//! Epochs of a run until every decision has stopped, as the driver in Python has them.

use perceptron_rs::error::Error;
use perceptron_rs::monitor::Monitor;
use perceptron_rs::online::{Epoch, Learner, Numbers, Problem, Run, State};

/// Which epochs there are, and when a decision stops.
#[derive(Clone, Copy)]
pub struct Schedule {
    pub first_epoch: u64,
    pub max_iter: u64,
    pub tol: Option<f64>,
    pub n_iter_no_change: u64,
    /// What an interrupted run has learnt is its result.
    pub keep_on_interrupt: bool,
}

impl Schedule {
    pub fn epochs(max_iter: u64) -> Self {
        Self { first_epoch: 0, max_iter, tol: None, n_iter_no_change: 5, keep_on_interrupt: false }
    }
}

pub struct Report {
    pub run: Run,
    pub learner: Box<dyn Learner>,
    pub epochs: Vec<Epoch>,
    pub n_iter: Vec<u64>,
    pub stopped: Vec<&'static str>,
}

impl Report {
    pub fn mistakes(&self) -> Vec<i64> {
        self.epochs.iter().flat_map(|epoch| epoch.mistakes.clone()).collect()
    }

    pub fn losses(&self) -> Vec<f64> {
        self.epochs.iter().flat_map(|epoch| epoch.losses.clone()).collect()
    }

    pub fn state(&self) -> State {
        self.run.state(&()).expect("memory")
    }

    pub fn per_example(&self) -> Vec<i64> {
        self.run.mistakes_per_example(&()).expect("memory")
    }

    pub fn floats(&self, name: &str) -> Vec<f64> {
        match self.remembered(name) {
            Numbers::Weights(pieces) | Numbers::Floats(pieces) => pieces.concat(),
            Numbers::Integers(_) => panic!("{name} are integers"),
        }
    }

    pub fn integers(&self, name: &str) -> Vec<i64> {
        match self.remembered(name) {
            Numbers::Integers(pieces) => pieces.concat(),
            Numbers::Weights(_) | Numbers::Floats(_) => panic!("{name} are floats"),
        }
    }

    fn remembered(&self, name: &str) -> Numbers<'_> {
        let found = self.learner.memory().expect("memory").into_iter().find(|(key, _)| *key == name);
        found.unwrap_or_else(|| panic!("nothing is called {name}")).1
    }
}

pub fn drive(
    problem: &Problem,
    state: State,
    mut learner: Box<dyn Learner>,
    schedule: Schedule,
    monitor: &dyn Monitor,
) -> Result<Report, Error> {
    let decisions = problem.settings.decisions();
    let run = Run::start(problem, state, &mut *learner, monitor)?;
    let (n_iter, stopped) = (vec![0; decisions], vec![""; decisions]);
    let mut report = Report { run, learner, epochs: Vec::new(), n_iter, stopped };
    let mut best = vec![f64::INFINITY; decisions];
    let mut without_progress = vec![0; decisions];
    for e in 0..schedule.max_iter {
        let epoch = report.run.epoch(problem, &mut *report.learner, schedule.first_epoch + e, monitor)?;
        if epoch.interrupted && !schedule.keep_on_interrupt {
            return Err(Error::Interrupted);
        }
        for k in (0..decisions).filter(|&k| report.stopped[k].is_empty()).collect::<Vec<_>>() {
            report.n_iter[k] = e + 1;
            if let Some(tol) = schedule.tol {
                let progress = epoch.objectives[k] <= best[k] - tol;
                without_progress[k] = if progress { 0 } else { without_progress[k] + 1 };
                best[k] = best[k].min(epoch.objectives[k]);
            }
            let why = match epoch.mistakes[k] {
                _ if epoch.interrupted => "interrupt",
                0 => "clean",
                _ if schedule.tol.is_some() && without_progress[k] >= schedule.n_iter_no_change => "tol",
                _ if e + 1 == schedule.max_iter => "max_iter",
                _ => continue,
            };
            report.stopped[k] = why;
            match report.run.end(problem, &mut *report.learner, k, monitor) {
                Err(Error::Interrupted) if schedule.keep_on_interrupt => report.stopped[k] = "interrupt",
                ended => ended?,
            }
        }
        let interrupted = epoch.interrupted;
        report.epochs.push(epoch);
        if interrupted || report.stopped.iter().all(|why| !why.is_empty()) {
            break;
        }
    }
    Ok(report)
}
