//! The corral: affinely independent rows, their convex weights, and the nearest point of their hull.
//!
//! - Problem: the point of the convex hull of the working set (of two hulls: their difference) nearest to 0.
//! - Update rule: a major cycle adds a row and, if it depends on the others, drops one; minor cycles
//!   move towards the nearest point of the affine hull and drop the rows whose weights reach 0. Every
//!   step is a Newton increment from the residual: v is corrected, and never built again from the weights.
//! - Given: the working set, the first row of each group.
//! - Result: `places` in the working set, weights `a`, the point `v`.
//! - Paper: Wolfe 1976, Finding the nearest point in a polytope; Björck 1987 for the corrected
//!   semi-normal equations.

use super::{major_cycles::Work, working_set::WorkingSet};
use crate::arith::factor::{Factor, inner};
use crate::arith::twofold::total;
use crate::base::{Grow, Result, collected, filled};

/// Below this part of its square, what is new of a row is computed once more.
const NEARLY_DEPENDENT: f64 = 1e-2;
/// A row is dependent if the root of that part is below this, times 8 + k.
const DEPENDENT: f64 = 4e-15;

pub struct Corral {
    /// Weight of the row of ones that makes the factor regular.
    pub sigma: f64,
    pub places: Vec<usize>,
    pub group: Vec<u8>,
    pub a: Vec<f64>,
    pub v: Vec<f64>,
    factor: Factor,
    /// A row in full; zeros where it is not in use.
    full: Vec<f64>,
}

/// What is new of a row.
struct NewPart {
    r: Vec<f64>,
    rho2: f64,
    /// Its affine weights, if it is nearly dependent.
    x: Option<Vec<f64>>,
    own: f64,
}

impl Corral {
    pub fn new(working: &WorkingSet, places: &[usize], weights: &[f64], work: &Work) -> Result<Self> {
        let mut full = filled(0.0, working.size)?;
        let square = |place| {
            working.write(place, &mut full);
            let square = inner(&full, &full);
            working.clear(place, &mut full);
            square
        };
        let mean = total((0..working.len()).map(square)) / working.len() as f64;
        let sigma = if mean > 0.0 { mean } else { 1.0 };
        let factor = Factor::new(working.groups)?;
        let v = filled(0.0, working.size)?;
        let (places_, group, a) = (vec![], vec![], vec![]);
        let mut corral = Self { sigma, places: places_, group, a, v, factor, full };
        for (&place, &weight) in places.iter().zip(weights) {
            work.monitor.pause()?;
            corral.major(working, place, weight)?;
        }
        // What was dropped with its weight is made up for.
        for g in 0..working.groups as u8 {
            let own = corral.group.iter().zip(&corral.a).filter(|(group, _)| **group == g);
            let sum = total(own.map(|(_, a)| *a));
            for (group, a) in corral.group.iter().zip(&mut corral.a) {
                if *group == g {
                    *a /= sum;
                }
            }
        }
        working.add_to(&corral.places, &corral.a, &mut corral.v);
        Ok(corral)
    }

    /// `||v||^2`.
    pub fn square(&self) -> f64 {
        inner(&self.v, &self.v)
    }

    /// For each group the mean of the scores of its members, by their weights.
    pub fn levels(&self, s: &[f64]) -> [f64; 2] {
        [0, 1].map(|g| {
            let members = self.group.iter().zip(&self.a).zip(s).filter(|((group, _), _)| **group == g);
            total(members.map(|((_, a), s)| a * s))
        })
    }

    /// Adds a row, dropping one if it depends on the others; false if that is not possible.
    pub fn major(&mut self, working: &WorkingSet, place: usize, mut weight: f64) -> Result<bool> {
        let group = working.group[place];
        loop {
            let NewPart { r, rho2, x, own } = self.new_part(working, place)?;
            let least = DEPENDENT * (8 + self.a.len()) as f64;
            let Some(x) = x.filter(|_| rho2 <= least * least * own) else {
                self.factor.append(&r, rho2.sqrt(), usize::from(group))?;
                self.places.try_push(place)?;
                self.group.try_push(group)?;
                self.a.try_push(weight)?;
                return Ok(true);
            };
            let mut best: Option<(usize, f64)> = None;
            for (i, &x) in x.iter().enumerate() {
                if x > 0.0 && (self.group[i] == group || self.members(self.group[i]) > 1) {
                    let t = self.a[i] / x;
                    if best.is_none_or(|(_, theta)| t < theta) {
                        best = Some((i, t));
                    }
                }
            }
            let Some((drop, theta)) = best else {
                return Ok(false);
            };
            for (a, x) in self.a.iter_mut().zip(&x) {
                *a = not_negative(*a - theta * x);
            }
            weight += theta;
            self.drop(drop);
        }
    }

    fn new_part(&mut self, working: &WorkingSet, place: usize) -> Result<NewPart> {
        let group = working.group[place];
        working.write(place, &mut self.full);
        let mut r = filled(0.0, self.a.len())?;
        working.scores(self.places.iter().copied(), &self.full, &mut r);
        for (r, &g) in r.iter_mut().zip(&self.group) {
            *r += if g == group { self.sigma } else { 0.0 };
        }
        self.factor.forward(&mut r);
        let own = inner(&self.full, &self.full) + self.sigma;
        let mut rho2 = own - inner(&r, &r);
        if rho2 > NEARLY_DEPENDENT * own {
            working.clear(place, &mut self.full);
            return Ok(NewPart { r, rho2, x: None, own });
        }
        let mut x = collected(r.iter().copied())?;
        self.factor.back(&mut x);
        let (mut e, mut h) = self.residual(working, group, &x)?;
        let mut c = filled(0.0, self.a.len())?;
        working.scores(self.places.iter().copied(), &e, &mut c);
        for (c, &g) in c.iter_mut().zip(&self.group) {
            *c += self.sigma * h[usize::from(g)];
        }
        self.factor.forward(&mut c);
        r.iter_mut().zip(&c).for_each(|(r, dr)| *r += dr);
        self.factor.back(&mut c);
        x.iter_mut().zip(&c).for_each(|(x, dx)| *x += dx);
        (e, h) = self.residual(working, group, &x)?;
        rho2 = inner(&e, &e);
        for part in &h[..working.groups] {
            rho2 += self.sigma * (part * part);
        }
        working.clear(place, &mut self.full);
        Ok(NewPart { r, rho2, x: Some(x), own })
    }

    /// What a combination of the members lacks of the row in `full`, and of its group's sum of 1.
    fn residual(&self, working: &WorkingSet, group: u8, x: &[f64]) -> Result<(Vec<f64>, [f64; 2])> {
        let mut e = collected(self.full.iter().copied())?;
        let mut h = [0.0; 2];
        h[usize::from(group)] = 1.0;
        let minus = collected(x.iter().map(|x| -x))?;
        working.add_to(&self.places, &minus, &mut e);
        for (&g, x) in self.group.iter().zip(x) {
            h[usize::from(g)] -= x;
        }
        Ok((e, h))
    }

    /// Moves to the nearest point of the hull of the members, dropping those that reach weight 0.
    pub fn minor(&mut self, working: &WorkingSet, work: &Work) -> Result<()> {
        loop {
            work.monitor.pause()?;
            let mut d = self.step(working)?;
            let mut end: Option<(usize, f64)> = None;
            for (i, (&a, &d)) in self.a.iter().zip(&d).enumerate() {
                if d < 0.0 && a + d <= 0.0 {
                    let t = a / -d;
                    if end.is_none_or(|(_, theta)| t < theta) {
                        end = Some((i, t.min(1.0)));
                    }
                }
            }
            let theta = end.map_or(1.0, |(_, theta)| theta);
            for d in &mut d {
                *d *= theta;
            }
            for (a, d) in self.a.iter_mut().zip(&d) {
                *a = not_negative(*a + d);
            }
            working.add_to(&self.places, &d, &mut self.v);
            match end {
                Some((p, _)) if self.members(self.group[p]) > 1 => self.drop(p),
                _ => return Ok(()),
            }
        }
    }

    /// Corrects v, and the weights if they stay positive.
    pub fn refine(&mut self, working: &WorkingSet) -> Result<()> {
        let d = self.step(working)?;
        if self.a.iter().zip(&d).all(|(a, d)| a + d > 0.0) {
            self.a.iter_mut().zip(&d).for_each(|(a, d)| *a += d);
        }
        working.add_to(&self.places, &d, &mut self.v);
        Ok(())
    }

    fn step(&self, working: &WorkingSet) -> Result<Vec<f64>> {
        let mut s = filled(0.0, self.a.len())?;
        working.scores(self.places.iter().copied(), &self.v, &mut s);
        let levels = self.levels(&s);
        for (s, &g) in s.iter_mut().zip(&self.group) {
            *s = levels[usize::from(g)] - *s;
        }
        self.factor.step(&mut s);
        Ok(s)
    }

    fn members(&self, group: u8) -> usize {
        self.group.iter().filter(|g| usize::from(**g) == usize::from(group)).count()
    }

    fn drop(&mut self, p: usize) {
        self.factor.remove(p);
        self.places.remove(p);
        self.group.remove(p);
        self.a.remove(p);
    }
}

#[inline(always)]
fn not_negative(a: f64) -> f64 {
    if a < 0.0 { 0.0 } else { a }
}

#[cfg(test)]
mod tests {
    use super::super::problem::{Bias, MarginProblem, survey};
    use super::*;
    use crate::monitor::tests::Asked;
    use crate::rows::Dense;

    /// For each row that is added, and for each that is dropped.
    #[test]
    fn asks_on_the_way() {
        const N: usize = 12;
        // The first row is the nearest, the others lie behind it.
        let value = |i: usize, j: usize| match j {
            0 if i == 0 => 1.0,
            0 => 5.0 + i as f64,
            _ => f64::from(u8::from(i == j)),
        };
        let values: Vec<f64> = (0..N * N).map(|at| value(at / N, at % N)).collect();
        let (rows, labels) = (Dense::new(&values, N, N).expect("a matrix"), [1; N]);
        let found = survey(&rows, &()).expect("finite values");
        let problem = MarginProblem::new(&rows, &labels, Bias::None, found, None, (1, &())).expect("memory");
        let mut working = WorkingSet::new(&problem).expect("memory");
        let places: Vec<usize> = (0..N).collect();
        working.add(&problem, &places.iter().map(|&place| place as u32).collect::<Vec<_>>()).expect("memory");
        let asked = Asked::default();
        let work = Work::new(1, &asked);
        let mut corral = Corral::new(&working, &places, &[1.0 / N as f64; N], &work).expect("memory");
        assert_eq!((asked.times(), corral.places.len()), (N, N));
        corral.minor(&working, &work).expect("nobody interrupts");
        assert_eq!(corral.places, [0]);
        assert_eq!(asked.times(), N + N);
        assert!(work.left().expect("nobody interrupts"));
        assert_eq!(asked.times(), N + N + 1);
    }
}
