//! Whatever error a learner's rule ends with, and wherever, is the error of the fit.

use std::ops::Range;

use crate::support::{Case, fractions};
use perceptron_rs::error::Error;
use perceptron_rs::online::{self, Learner, Monitor, Numbers, Problem, Rule, Schedule, State, Stopped};
use perceptron_rs::rows::{Dense, Mistake, Rows, Visit};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Absorb,
    Epoch,
    Training,
}

/// Remembers nothing; the rule of one range fails at one place.
#[derive(Clone)]
struct Fails {
    place: Place,
    range: usize,
    error: Error,
}

impl Fails {
    fn at(&self, place: Place) -> Result<(), Error> {
        if place == self.place { Err(self.error.clone()) } else { Ok(()) }
    }
}

struct Part(Option<Fails>);

impl Part {
    fn at(&self, place: Place) -> Result<(), Error> {
        self.0.as_ref().map_or(Ok(()), |fails| fails.at(place))
    }
}

impl Rule for Part {
    fn absorb(&mut self, _: &dyn Rows, _: &Visit, _: &[Mistake], _: &dyn Monitor) -> Result<(), Error> {
        self.at(Place::Absorb)
    }

    fn end_epoch(&mut self, _: &Visit, _: u64, _: bool, _: &dyn Monitor) -> Result<(), Error> {
        self.at(Place::Epoch)
    }

    fn end_training(&mut self, _: &dyn Monitor) -> Result<(), Error> {
        self.at(Place::Training)
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Learner for Fails {
    fn check(&self, _: &State) -> Result<(), Error> {
        Ok(())
    }

    fn split<'a>(&'a mut self, ranges: &[Range<usize>], _: &'a Problem) -> Vec<Box<dyn Rule + 'a>> {
        let part = |number| Part((number == self.range).then(|| self.clone()));
        (0..ranges.len()).map(|number| Box::new(part(number)) as Box<dyn Rule>).collect()
    }

    fn memory(&self) -> Vec<(&'static str, Numbers<'_>)> {
        Vec::new()
    }

    fn answer_is_finite(&self, _: &State) -> bool {
        true
    }
}

fn fit(learner: &mut Fails, threads: usize, keep: bool) -> Result<Vec<Stopped>, Error> {
    let case = Case::new(fractions(40 * 3, 0, 1), 40, 3, 3, 1);
    let rows = Dense::new(&case.x, 40, 3).expect("shape");
    let class_weight = [[1.0; 2]; 3];
    let problem = Problem::new(&rows, &case.labels, None, &[0, 1, 2], &class_weight, 1.0, case.tie, true)
        .expect("a problem");
    let schedule = Schedule {
        shuffle: None,
        first_epoch: 0,
        max_iter: 3,
        tol: None,
        n_iter_no_change: 5,
        track_mistakes: false,
        threads,
        keep_on_interrupt: keep,
        settle: true,
        record: false,
    };
    let state = State { coef: vec![0.0; 9], intercept: vec![0.0; 3], seen: vec![0; 3], ages: None };
    online::fit(&problem, &schedule, state, learner, &()).map(|(_, report)| report.stopped)
}

#[test]
fn an_error_of_any_rule_is_that_of_the_fit() {
    let errors = [
        Error::Memory,
        Error::Interrupted,
        Error::Overflow { epoch: 7 },
        Error::TooLarge("a sum".into()),
        Error::Invalid("an argument".into()),
        Error::FileTooLarge("a file".into()),
        Error::File { path: "a file".into(), code: 5, text: "no".into() },
    ];
    for error in errors {
        for place in [Place::Absorb, Place::Epoch, Place::Training] {
            for (threads, range) in [(1, 0), (3, 0), (3, 2)] {
                let mut learner = Fails { place, range, error: error.clone() };
                assert_eq!(fit(&mut learner, threads, false), Err(error.clone()), "{place:?}, {threads}");
                let kept = fit(&mut learner, threads, true);
                if error == Error::Interrupted {
                    assert!(kept.expect("it is kept").contains(&Stopped::Interrupt), "{place:?}");
                } else {
                    assert_eq!(kept, Err(error.clone()), "{place:?}, {threads} threads, kept");
                }
            }
        }
    }
}
