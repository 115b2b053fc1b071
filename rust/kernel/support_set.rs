//! The kernel perceptron on a budget: at most B mistaken examples are kept, for streams that never end.
//!
//! - Problem: as the kernel perceptron's, in bounded memory and with bounded work for each example.
//! - Update rule: the sum of an example x is `S = sum_j c_j K(x_j, x)` over the examples kept, in the order
//!   in which they came. A mistake adds its example with its step c. If that makes more than B of them:
//!   "oldest": the first one goes. "random": one of those there before goes, drawn by the seed, the number
//!   of the set and that of the mistake. "forgetron": all steps are multiplied by the largest phi in
//!   (0, 1] with `Q + Psi <= 15/32 M`, then the first one goes; M counts the mistakes, Q adds up Psi, the
//!   harm of each removal ([`crate::arith::budget`]). "projectron": nothing goes; the example is not
//!   added if it is no farther than a given distance from the span of those kept, or if there are B of
//!   them: its projection is, that is, c d is added to their steps, with d the coefficients of the
//!   projection. Each plane keeps a set of its own; the classes of a joint decision share one, in which
//!   an example has a step for each class.
//! - Given: the examples, a kernel, B and a policy; what was kept before.
//! - Result: the examples kept and their steps, in their order; M, Q, and the factor of their Gram matrix.
//! - Paper: Cavallanti, Cesa-Bianchi, Gentile 2007, Tracking the best hyperplane with a simple budget
//!   perceptron (figure 3); Crammer, Kandola, Singer 2003, Online classification on a budget; Dekel,
//!   Shalev-Shwartz, Singer 2008, The Forgetron: a kernel-based perceptron on a budget (self-tuned);
//!   Orabona, Keshet, Caputo 2009, Bounded kernel-based online learning (algorithm 2).

use crate::arith::budget::{shrinking, within_span};
use crate::arith::factor::{Factor, inner};
use crate::base::{Grow, Result, choice, collected, ensure, filled};
use crate::order::SplitMix64;

/// Partitions of the draws of what goes: no permutation of examples has them.
const FIRST_PARTITION: u64 = 1 << 63;

/// What is done when there are more than B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    Oldest,
    Random,
    Forgetron,
    Projectron,
}

impl Policy {
    pub fn new(name: &str) -> Result<Self> {
        let policies = [
            ("oldest", Self::Oldest),
            ("random", Self::Random),
            ("forgetron", Self::Forgetron),
            ("projectron", Self::Projectron),
        ];
        choice("policy", name, &policies)
    }

    /// About how many products a mistake costs, with so many members and entries of a row.
    pub fn products(self, members: usize, entries: usize) -> usize {
        match self {
            Self::Oldest | Self::Random => members,
            Self::Forgetron => members * entries,
            Self::Projectron => members * (members + entries),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    pub size: usize,
    pub policy: Policy,
    pub seed: u64,
    /// Up to which an example is projected.
    pub distance: f64,
    pub eta: f64,
}

impl Budget {
    pub fn check(&self) -> Result<()> {
        ensure!(self.size != 0, "budget must be at least 1, got 0");
        ensure!(
            self.distance.is_finite() && self.distance >= 0.0,
            "distance must be finite and at least 0, got {}",
            self.distance
        );
        Ok(())
    }
}

/// Kernel values of one member (of the examples kept) with others, appended.
pub type Values<'a> = dyn Fn(usize, &[usize], &mut Vec<f64>) -> Result<()> + 'a;

pub struct SupportSet {
    pub members: Vec<usize>,
    /// The numbers of the mistakes that added them, counted from 1.
    pub numbers: Vec<u64>,
    /// Of each member, one a class that shares the set.
    pub steps: Vec<f64>,
    width: usize,
    pub mistakes: u64,
    pub harm: f64,
    pub factor: Factor,
}

impl SupportSet {
    pub fn new(width: usize) -> Result<Self> {
        let (members, numbers, steps) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { members, numbers, steps, width, mistakes: 0, harm: 0.0, factor: Factor::new(0)? })
    }

    /// The same with other numbers for the members.
    pub fn renumbered(&self, number: impl Fn(usize) -> usize) -> Result<Self> {
        Ok(Self {
            members: collected(self.members.iter().map(|&member| number(member)))?,
            numbers: collected(self.numbers.iter().copied())?,
            steps: collected(self.steps.iter().copied())?,
            factor: self.factor.copy()?,
            ..*self
        })
    }

    /// The sum of one class at an example that has these kernel values with the members.
    #[inline(always)]
    pub fn activation(&self, class: usize, value: impl Fn(usize) -> f64) -> f64 {
        let mut sum = 0.0;
        for (&member, steps) in self.members.iter().zip(self.steps.chunks(self.width)) {
            let c = steps[class];
            if c != 0.0 {
                sum += c * value(member);
            }
        }
        sum
    }

    /// Takes in a mistake on an example, with its steps. `number` is that of the set. False if a number is
    /// not finite after it; after an error the set is not to be used.
    pub fn take(
        &mut self,
        member: usize,
        steps: &[f64],
        number: usize,
        budget: &Budget,
        values: &Values,
    ) -> Result<bool> {
        self.mistakes += 1;
        let mut finite = true;
        if budget.policy == Policy::Projectron {
            finite = self.project(member, steps, budget, values)?;
        } else {
            if budget.policy == Policy::Random && self.members.len() >= budget.size {
                let partition = FIRST_PARTITION + number as u64;
                let mut random = SplitMix64::of_epoch(budget.seed, self.mistakes, partition);
                self.drop(random.below(self.members.len() as u64) as usize);
            }
            self.add(member, steps)?;
            if self.members.len() > budget.size {
                if budget.policy == Policy::Forgetron {
                    self.shrink(budget, values)?;
                }
                self.drop(0);
            }
        }
        Ok(finite && self.harm.is_finite() && self.steps.iter().all(|c| c.is_finite()))
    }

    fn add(&mut self, member: usize, steps: &[f64]) -> Result<()> {
        self.members.try_push(member)?;
        self.numbers.try_push(self.mistakes)?;
        self.steps.try_extend(steps.iter().copied())
    }

    fn drop(&mut self, place: usize) {
        self.members.remove(place);
        self.numbers.remove(place);
        self.steps.drain(place * self.width..(place + 1) * self.width);
    }

    /// Multiplies all steps so that the first one may go.
    fn shrink(&mut self, budget: &Budget, values: &Values) -> Result<()> {
        let mut with_all = Vec::new();
        values(self.members[0], &self.members, &mut with_all)?;
        let mut sums = filled(0.0, self.width)?;
        for (k, sum) in sums.iter_mut().enumerate() {
            for (steps, value) in self.steps.chunks(self.width).zip(&with_all) {
                if steps[k] != 0.0 {
                    *sum += steps[k] * value;
                }
            }
        }
        let first = &self.steps[..self.width];
        let (phi, harm) = shrinking(first, &sums, budget.eta, self.harm, self.mistakes);
        self.harm = harm;
        self.steps.iter_mut().for_each(|c| *c *= phi);
        Ok(())
    }

    /// Adds an example, or its projection on the span of the others. False if what is left of it beside that
    /// is not finite.
    fn project(&mut self, member: usize, steps: &[f64], budget: &Budget, values: &Values) -> Result<bool> {
        let (mut r, mut own) = (Vec::new(), Vec::new());
        values(member, &self.members, &mut r)?;
        values(member, &[member], &mut own)?;
        self.factor.forward(&mut r);
        let rest = own[0] - inner(&r, &r);
        if self.members.len() < budget.size && !within_span(rest, own[0], budget.distance) {
            self.factor.append(&r, rest.sqrt(), 0)?;
            self.add(member, steps)?;
            return Ok(rest.is_finite());
        }
        self.factor.back(&mut r);
        for (k, &c) in steps.iter().enumerate() {
            if c != 0.0 {
                for (old, d) in self.steps.chunks_mut(self.width).zip(&r) {
                    old[k] += c * d;
                }
            }
        }
        Ok(rest.is_finite())
    }
}
