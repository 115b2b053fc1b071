//! A run, as far as it has been made, and any place in it.

use perceptron_rs::error::Error;
use perceptron_rs::order::shuffle;
use perceptron_rs::rows::Dense;

use crate::data::turned;
use crate::layers::Layers;
use crate::planes::Planes;
use crate::request::{Learner, Request};

/// Points as the core takes them.
pub struct Data {
    /// Coordinates, a row for each point.
    pub x: Vec<f64>,
    /// How many coordinates a point has: two, unless it turns out of the plane.
    pub d: usize,
    /// Index of each point's class among those that there are.
    pub labels: Vec<u32>,
    /// The classes that there are.
    pub classes: Vec<u8>,
    /// Seed of the orders; `None`: as given.
    seed: Option<u64>,
}

impl Data {
    fn new(request: &Request) -> Result<Self, String> {
        let x = request.points.iter().flat_map(|point| [point.x, point.y]).collect();
        let classes = request.points.iter().map(|point| point.class).collect();
        Self::of(x, 2, classes, request.shuffled.then_some(u64::from(request.seed)))
    }

    fn of(x: Vec<f64>, d: usize, of_points: Vec<u8>, seed: Option<u64>) -> Result<Self, String> {
        let mut classes = of_points.clone();
        classes.sort_unstable();
        classes.dedup();
        if classes.len() < 2 {
            return Err("there must be points of two classes".into());
        }
        let index = |class| classes.iter().position(|other| *other == class).unwrap_or(0) as u32;
        Ok(Self { labels: of_points.into_iter().map(index).collect(), x, d, classes, seed })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn rows(&self) -> Result<Dense<'_, f64>, Error> {
        Dense::new(&self.x, self.len(), self.d)
    }

    /// How many planes there are: one of two classes, else one for each.
    #[must_use]
    pub fn planes(&self) -> usize {
        if self.classes.len() == 2 { 1 } else { self.classes.len() }
    }

    /// The class that is positive for a plane.
    #[must_use]
    pub fn positive(&self, plane: usize) -> u32 {
        if self.classes.len() == 2 { 1 } else { plane as u32 }
    }

    /// +1 or -1.
    #[must_use]
    pub fn sign(&self, row: usize, plane: usize) -> f64 {
        if self.labels[row] == self.positive(plane) { 1.0 } else { -1.0 }
    }

    /// The labels as Python has them: -1 and 1, or the numbers of the classes.
    #[must_use]
    pub fn values(&self) -> Vec<i64> {
        if self.classes.len() == 2 { vec![-1, 1] } else { self.classes.iter().map(|&k| k.into()).collect() }
    }

    /// The points in the order of an epoch.
    pub fn order(&self, epoch: u64) -> Result<Vec<u32>, Error> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        if let Some(seed) = self.seed {
            shuffle(&mut order, (seed, epoch, 0), &())?;
        }
        Ok(order)
    }
}

pub enum Run {
    Planes(Box<Planes>),
    Layers(Box<Layers>),
}

pub struct Session {
    pub request: Request,
    pub data: Data,
    pub run: Run,
    /// Mistakes of each epoch by planes; layers of neurons have one for all.
    pub mistakes: Vec<Vec<i64>>,
    /// Whether the last epoch was the last one.
    pub ended: bool,
}

impl Session {
    pub fn open(text: &str) -> Result<Self, String> {
        let request = Request::parse(text)?;
        let data = Data::new(&request)?;
        Self::of(request, data)
    }

    /// Examples of which so many are orthogonal, without an intercept. Their run has been made to its end.
    pub fn turned(count: usize) -> Result<Self, String> {
        let (x, d, classes) = turned(count);
        let mut session = Self::of(Request::parse("intercept=no")?, Data::of(x, d, classes, None)?)?;
        while !session.ended {
            session.epoch()?;
        }
        Ok(session)
    }

    fn of(request: Request, data: Data) -> Result<Self, String> {
        let run = if request.learner == Learner::Multilayer {
            Run::Layers(Box::new(Layers::start(&request, &data)?))
        } else {
            Run::Planes(Box::new(Planes::start(&request, &data)?))
        };
        Ok(Self { request, data, run, mistakes: Vec::new(), ended: false })
    }

    /// Makes one epoch more, unless the run has ended.
    pub fn epoch(&mut self) -> Result<(), String> {
        if self.ended {
            return Ok(());
        }
        let number = self.mistakes.len() as u64;
        let (made, clean) = match &mut self.run {
            Run::Planes(planes) => planes.epoch(&self.data, number).map_err(|error| error.to_string())?,
            // Their loss has no end.
            Run::Layers(layers) => (layers.epoch(&self.data).map_err(|error| error.to_string())?, false),
        };
        self.mistakes.push(made);
        self.ended = clean || self.mistakes.len() == self.request.epochs as usize;
        Ok(())
    }

    /// Examples that have been visited, as far as the run has been made.
    #[must_use]
    pub fn known(&self) -> u64 {
        (self.mistakes.len() * self.data.len()) as u64
    }

    /// The epoch and the position in it before a visit; the first is number 0.
    #[must_use]
    pub fn place(&self, visit: u64) -> (u64, usize) {
        let n = self.data.len() as u64;
        (visit / n, (visit % n) as usize)
    }

    /// The next place behind `t`, or the last one before it, at which something was learnt.
    #[must_use]
    pub fn update(&self, t: u64, forward: bool) -> Option<u64> {
        match &self.run {
            Run::Planes(planes) => planes.update(t, forward),
            Run::Layers(_) if forward => (t < self.known()).then_some(t + 1),
            Run::Layers(_) => t.checked_sub(1),
        }
    }
}
