//! What a link asks for: `data=six&learner=averaged&order=shuffled&seed=3`. The page writes it into its
//! address.

use std::fmt::Write;
use std::str::FromStr;

use perceptron_rs::arith::neuron::Activation;
use perceptron_rs::kernel::{Answer, Kernel};
use perceptron_rs::rows::Tie;
use serde::Serialize;

use crate::data::{self, Point};

/// Points and epochs at most.
pub const MOST: usize = 10_000;
const MOST_NEURONS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    Perceptron,
    Averaged,
    Voted,
    Pocket,
    Kernel,
    Multilayer,
}

/// Which of the vectors of a kernel run predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prediction {
    Last,
    Average,
    Vote,
}

impl Prediction {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Average => "average",
            Self::Vote => "vote",
        }
    }

    #[must_use]
    pub fn answer(self) -> Answer {
        match self {
            Self::Last => Answer::Last,
            Self::Average => Answer::Average,
            Self::Vote => Answer::Vote,
        }
    }
}

/// Points, learner and place in the run.
#[derive(Debug, Clone)]
pub struct Request {
    pub points: Vec<Point>,
    pub learner: Learner,
    /// A new permutation for each epoch; else the points in their order.
    pub shuffled: bool,
    pub seed: u32,
    pub tie: Tie,
    pub rate: f64,
    pub intercept: bool,
    /// Weights and intercept of the start.
    pub start: [f64; 3],
    /// Epochs at most.
    pub epochs: u32,
    pub kernel: &'static str,
    pub gamma: f64,
    pub degree: u32,
    pub coef0: f64,
    pub prediction: Prediction,
    pub hidden: usize,
    pub activation: Activation,
}

impl Request {
    /// Reads `name=value&name=value`; what is not there has a default.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut request = Self {
            points: Vec::new(),
            learner: Learner::Perceptron,
            shuffled: false,
            seed: 0,
            tie: Tie::Mistake,
            rate: 1.0,
            intercept: true,
            start: [0.0; 3],
            epochs: 100,
            kernel: "rbf",
            gamma: 1.0,
            degree: 2,
            coef0: 1.0,
            prediction: Prediction::Vote,
            hidden: 4,
            activation: Activation::Tanh,
        };
        let (mut name, mut n, mut points) = ("six", None, None);
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').ok_or(format!("{part:?} must be name=value"))?;
            match key {
                "data" => name = value,
                "n" => n = Some(number(key, value, 2..=MOST)?),
                "points" => points = Some(data::parse(value)?),
                _ => request.set(key, value)?,
            }
        }
        request.points = match (name, points) {
            ("own", points) if n.is_none() => points.unwrap_or_default(),
            (_, Some(_)) => return Err(format!("points belong to data=own, got data={name}")),
            _ if n.is_some() && !data::has_any_number(name) => {
                return Err(format!("n belongs to data that is drawn, got data={name}"));
            }
            _ => data::named(name, n)?,
        };
        if request.points.len() > MOST {
            return Err(format!("there must be at most {MOST} points, got {}", request.points.len()));
        }
        Ok(request)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "learner" => {
                self.learner = one_of(
                    key,
                    value,
                    &[
                        ("perceptron", Learner::Perceptron),
                        ("averaged", Learner::Averaged),
                        ("voted", Learner::Voted),
                        ("pocket", Learner::Pocket),
                        ("kernel", Learner::Kernel),
                        ("multilayer", Learner::Multilayer),
                    ],
                )?;
            }
            "order" => self.shuffled = one_of(key, value, &[("given", false), ("shuffled", true)])?,
            "seed" => self.seed = number(key, value, 0..=2_147_483_646)?,
            "tie" => {
                self.tie = one_of(key, value, &[("mistake", Tie::Mistake), ("positive", Tie::Positive)])?;
            }
            "rate" => self.rate = number(key, value, 1e-3..=1e6)?,
            "intercept" => self.intercept = one_of(key, value, &[("yes", true), ("no", false)])?,
            "start" => {
                let numbers = value.split(',').map(|part| number(key, part, -1e6..=1e6));
                let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
                self.start = numbers
                    .try_into()
                    .map_err(|_| format!("start must be two weights and an intercept, got {value:?}"))?;
            }
            "epochs" => self.epochs = number(key, value, 1..=MOST as u32)?,
            "kernel" => self.kernel = one_of(key, value, &[("rbf", "rbf"), ("poly", "poly")])?,
            "gamma" => self.gamma = number(key, value, 1e-3..=1e6)?,
            "degree" => self.degree = number(key, value, 1..=20)?,
            "coef0" => self.coef0 = number(key, value, 0.0..=1e6)?,
            "prediction" => {
                let choices = [Prediction::Last, Prediction::Average, Prediction::Vote];
                self.prediction = one_of(key, value, &choices.map(|choice| (choice.name(), choice)))?;
            }
            "hidden" => self.hidden = number(key, value, 1..=MOST_NEURONS)?,
            "activation" => {
                self.activation = one_of(
                    key,
                    value,
                    &[
                        ("tanh", Activation::Tanh),
                        ("logistic", Activation::Logistic),
                        ("relu", Activation::Relu),
                    ],
                )?;
            }
            _ => return Err(format!("{key:?} is no name that a link has")),
        }
        Ok(())
    }

    pub fn kernel(&self) -> Result<Kernel, String> {
        Kernel::new(self.kernel, self.gamma, self.coef0, self.degree).map_err(|error| error.to_string())
    }

    #[must_use]
    pub fn tie_name(&self) -> &'static str {
        if self.tie == Tie::Mistake { "mistake" } else { "positive" }
    }

    #[must_use]
    pub fn activation_name(&self) -> &'static str {
        match self.activation {
            Activation::Tanh => "tanh",
            Activation::Logistic => "logistic",
            Activation::Relu => "relu",
        }
    }

    /// Whether weights and intercept start from something else than 0.
    #[must_use]
    pub fn starts_elsewhere(&self) -> bool {
        self.start.iter().any(|number| *number != 0.0)
    }
}

fn one_of<T: Copy>(key: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("{key} must be one of {}, got {value:?}", names.join(", "))
    })
}

/// A number within a range.
pub fn number<T: FromStr + PartialOrd + std::fmt::Display>(
    key: &str,
    value: &str,
    range: std::ops::RangeInclusive<T>,
) -> Result<T, String> {
    match value.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => {
            let mut text = format!("{key} must be a number from {} to {}", range.start(), range.end());
            let _ = write!(text, ", got {value:?}");
            Err(text)
        }
    }
}
