//! Whatever error a learner's rule ends with, and wherever, is the error of the fit.

use std::ops::Range;

use super::support::driver::{Report, Schedule, drive};
use super::support::{Case, fractions};
use perceptron_rs::error::Error;
use perceptron_rs::monitor::Monitor;
use perceptron_rs::online::{Learner, Numbers, Problem, Rule, Settings, State};
use perceptron_rs::rows::{Dense, Head, Mistake, Table, Visit};

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
    fn absorb(&mut self, _: &Visit, _: &[Mistake], _: &dyn Monitor) -> Result<(), Error> {
        self.at(Place::Absorb)
    }

    fn end_epoch(&mut self, _: &Visit, _: u64, _: &dyn Monitor) -> Result<(), Error> {
        self.at(Place::Epoch)
    }

    fn is_finite(&self) -> bool {
        true
    }
}

impl Learner for Fails {
    fn check(&self, _: &State) -> Result<(), Error> {
        Ok(())
    }

    fn split<'a>(
        &'a mut self,
        ranges: &[Range<usize>],
        _: &'a Problem,
    ) -> Result<Vec<Box<dyn Rule + 'a>>, Error> {
        let part = |number| Part((number == self.range).then(|| self.clone()));
        Ok((0..ranges.len()).map(|number| Box::new(part(number)) as Box<dyn Rule>).collect())
    }

    fn end_training(&mut self, _: &Problem, range: Range<usize>, _: &dyn Monitor) -> Result<(), Error> {
        if range.contains(&self.range) { self.at(Place::Training) } else { Ok(()) }
    }

    fn memory(&self) -> Result<Vec<(&'static str, Numbers<'_>)>, Error> {
        Ok(Vec::new())
    }

    fn answer_is_finite(
        &self,
        _: &Head,
        _: f64,
        _: &dyn Fn() -> Result<Vec<f64>, Error>,
    ) -> Result<bool, Error> {
        Ok(true)
    }
}

fn fit(learner: &Fails, threads: usize, keep_on_interrupt: bool) -> Result<Vec<&'static str>, Error> {
    let case = Case::new(fractions(40 * 3, 0, 1), 40, 3, 3, 1);
    let rows = Dense::new(&case.x, 40, 3).expect("shape");
    let settings = Settings { threads, ..Settings::new(vec![0, 1, 2]) };
    let problem = Problem::new(&rows, &case.labels, None, &settings).expect("a problem");
    let state = State { coef: Table::zero([3, 3]), intercept: vec![0.0; 3], seen: vec![0; 3], ages: None };
    let schedule = Schedule { keep_on_interrupt, ..Schedule::epochs(3) };
    drive(&problem, state, Box::new(learner.clone()), schedule, &()).map(|Report { stopped, .. }| stopped)
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
                let learner = Fails { place, range, error: error.clone() };
                assert_eq!(fit(&learner, threads, false), Err(error.clone()), "{place:?}, {threads}");
                let kept = fit(&learner, threads, true);
                if error == Error::Interrupted {
                    assert!(kept.expect("it is kept").contains(&"interrupt"), "{place:?}");
                } else {
                    assert_eq!(kept, Err(error.clone()), "{place:?}, {threads} threads, kept");
                }
            }
        }
    }
}
