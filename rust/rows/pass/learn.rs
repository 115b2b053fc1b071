//! The loop of every leaf: predict, judge, update, log.

use crate::arith::simd::{Baseline, Leaf, Simd, dispatch};
use crate::arith::step::signed;
use crate::base::{Error, Grow, Result, filled};
use crate::rows::pass::joint::{Downward, Spread, judge};
use crate::rows::pass::labels::{Label, Labels};
use crate::rows::pass::noise::Noise;
use crate::rows::pass::prefetch::{AHEAD, Hint, Hints};
use crate::rows::pass::visit::{Cursor, Mistake, Stop, Visit};
use crate::rows::weights::pending::{Decayed, Pending, Settle};
use crate::rows::weights::planes::{Activations, Head};
use crate::rows::weights::scaled::Scaled;

/// What a storage type and a form of the weights bring to the loop.
pub trait LoopBody {
    /// See [`Leaf::WIDE`].
    const WIDE: bool = true;

    /// Whether a loop of one plane that knows this body pays.
    const SHORT: bool = true;

    /// `w·x` of a row for every plane.
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]);

    /// `w += c*x` for one plane. False if the loop cannot go on after it.
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool;

    fn size(&self) -> usize;

    /// Asks for a row that will be visited soon.
    fn prefetch(&self, row: usize, hint: Hint);
}

/// The visit and, in the body, dense rows by value: what the loop reads stays in registers (from behind a
/// reference it would be read again for each row, as it might have changed).
pub struct Learn<'a, K> {
    pub body: K,
    pub visit: Visit<'a>,
    pub at: &'a mut Cursor,
    pub end: usize,
    pub heads: &'a mut [Head],
    pub noise: Option<&'a mut Noise>,
    pub activations: Option<&'a mut Activations>,
    pub log: &'a mut Vec<Mistake>,
}

impl<'a, K: Settle> Learn<'a, K> {
    /// Runs the leaf, under a penalty if there is one.
    pub fn under(self, pending: &'a mut Option<Pending>) -> Result<Stop> {
        match pending {
            None => self.go(),
            Some(Pending::Each(ages)) => self.with(|body| Decayed { body, ages }).go(),
            Some(Pending::Common(common)) => self.with(|body| Scaled::new(body, common)).go(),
        }
    }
}

impl<'a, K> Learn<'a, K> {
    #[inline(always)]
    fn with<L>(self, wrap: impl FnOnce(K) -> L) -> Learn<'a, L> {
        let Self { body, visit, at, end, heads, noise, activations, log } = self;
        Learn { body: wrap(body), visit, at, end, heads, noise, activations, log }
    }
}

/// The body stands first: the loops over bodies of different modules are compiled side by side.
impl<K: LoopBody> Leaf for (K, Learn<'_, ()>) {
    const WIDE: bool = K::WIDE;

    type Output = Result<Stop>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<Stop> {
        let (mut body, around) = self;
        let stop = match around.only_classes() {
            Some(classes) if K::SHORT => around.with(|()| body).one_plane(simd, classes),
            _ if K::WIDE => around.with(|()| body).all_planes(simd)?,
            _ => around.with(|()| &mut body as &mut dyn Behind).run()?,
        };
        if stop == Stop::Memory { Err(Error::Memory) } else { Ok(stop) }
    }
}

/// A body behind a pointer, in the instructions that every machine has: loops in which a call more does not count are
/// compiled once, not for each storage type.
trait Behind {
    fn activate(&mut self, row: usize, sums: &mut [f64]);
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool;
    fn size(&self) -> usize;
    fn prefetch(&self, row: usize, hint: Hint);
}

impl<K: LoopBody> Behind for K {
    fn activate(&mut self, row: usize, sums: &mut [f64]) {
        LoopBody::activate(self, Baseline, row, sums);
    }

    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        LoopBody::update(self, plane, row, c)
    }

    fn size(&self) -> usize {
        LoopBody::size(self)
    }

    fn prefetch(&self, row: usize, hint: Hint) {
        LoopBody::prefetch(self, row, hint);
    }
}

impl LoopBody for &mut dyn Behind {
    #[inline(always)]
    fn activate<S: Simd>(&mut self, _simd: S, row: usize, sums: &mut [f64]) {
        (**self).activate(row, sums);
    }

    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool {
        (**self).update(plane, row, c)
    }

    #[inline(always)]
    fn size(&self) -> usize {
        (**self).size()
    }

    #[inline(always)]
    fn prefetch(&self, row: usize, hint: Hint) {
        (**self).prefetch(row, hint);
    }
}

impl Learn<'_, &mut dyn Behind> {
    fn run(self) -> Result<Stop> {
        match self.only_classes() {
            Some(classes) => Ok(self.one_plane(Baseline, classes)),
            None => self.all_planes(Baseline),
        }
    }
}

impl<'a, K> Learn<'a, K> {
    /// The classes of one plane that takes part in nothing else.
    #[inline(always)]
    fn only_classes(&self) -> Option<&'a [u32]> {
        match self.visit.labels {
            Labels::Classes(classes)
                if self.heads.len() == 1 && self.noise.is_none() && self.visit.aggressive.is_none() =>
            {
                Some(classes)
            }
            _ => None,
        }
    }
}

impl<K: LoopBody> Learn<'_, K> {
    pub fn go(self) -> Result<Stop> {
        let Self { body, visit, at, end, heads, noise, activations, log } = self;
        dispatch((body, Learn { body: (), visit, at, end, heads, noise, activations, log }))
    }

    /// The hot case: with constants here the loop over planes and all questions about noise, records, sets of labels
    /// and the length of steps vanish (a quarter of the instructions on short rows).
    #[inline(always)]
    fn one_plane<S: Simd>(self, simd: S, classes: &[u32]) -> Stop {
        let visit = Visit { labels: Labels::Classes(classes), aggressive: None, ..self.visit };
        Learn { visit, noise: None, ..self }.pass(simd, &mut [0.0], None)
    }

    /// One loop for the rest: another one for joint decisions would be as fast, and as large.
    #[inline(always)]
    fn all_planes<S: Simd>(mut self, simd: S) -> Result<Stop> {
        let mut sums = filled(0.0, self.heads.len())?;
        let joint = self.visit.joint;
        Ok(self.pass(simd, &mut sums, joint))
    }

    /// A closure in the place of `how` is called out of line, without the instruction set of the leaf.
    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, sums: &mut [f64], how: Option<Spread>) -> Stop {
        let (visit, start) = (self.visit, self.at.pos);
        let mut stop = Stop::Block;
        let mut pos = start;
        let (size, len) = (self.body.size(), visit.labels.len());
        let in_order = visit.order.is_none();
        let hints = Hints::of(size, len, in_order, self.heads.len());
        let looks_ahead = hints.early.is_some() || !in_order;
        while pos < self.end && stop == Stop::Block {
            let row = visit.row(pos);
            if looks_ahead {
                self.look_ahead(pos, hints);
            }
            self.body.activate(simd, row, sums);
            self.finish(row, sums);
            pos += 1;
            let number = (pos - start) as u64;
            stop = match how {
                None => self.each(row, number, sums),
                Some(how) => self.together(how, row, number, sums),
            };
        }
        for head in &mut *self.heads {
            head.seen += (pos - start) as u64;
        }
        self.at.pos = pos;
        stop
    }

    /// Asks for what will be visited after `pos`.
    #[inline(always)]
    fn look_ahead(&self, pos: usize, hints: Hints) {
        let visit = self.visit;
        if let Some((ahead, hint)) = hints.early
            && pos + ahead < visit.len()
        {
            self.body.prefetch(visit.row(pos + ahead), hint);
        }
        if let Some(&row) = visit.order.and_then(|order| order.get(pos + AHEAD)) {
            self.body.prefetch(row as usize, hints.near);
            visit.labels.prefetch(row as usize);
        }
    }

    /// Makes activations of products, and records them if they are wanted.
    #[inline(always)]
    fn finish(&mut self, row: usize, sums: &mut [f64]) {
        for (sum, head) in sums.iter_mut().zip(&*self.heads) {
            *sum += head.intercept;
        }
        if let Some(activations) = &mut self.activations {
            for (sum, head) in sums.iter().zip(&*self.heads) {
                activations.put(row, head.plane, *sum);
            }
        }
    }

    /// Each plane judges for itself.
    #[inline(always)]
    fn each(&mut self, row: usize, number: u64, sums: &mut [f64]) -> Stop {
        let visit = self.visit;
        let label = visit.labels.of(row);
        if let Some(noise) = &self.noise {
            for (a, head) in sums.iter_mut().zip(&*self.heads) {
                *a = noise.activation(*a, row, head.plane);
            }
        }
        let mut stop = Stop::Block;
        let mut plane = 0;
        loop {
            // One plane, a constant in the hot case, is judged at once.
            if sums.len() > 1 {
                plane += self.right_at_once(label, sums, plane);
            }
            if plane == sums.len() {
                return stop;
            }
            let (a, head) = (sums[plane], &mut self.heads[plane]);
            let positive = label.has(head.positive);
            let m = signed(a, positive);
            if visit.tie.is_mistake(m, positive, visit.margin_threshold) {
                let loss = visit.loss(m);
                if loss > 0.0 {
                    head.loss += loss;
                }
                if !a.is_finite() {
                    return Stop::Overflow;
                }
                let used_up = self.noise.as_ref().is_some_and(|noise| noise.is_used_up(row, head.plane));
                if !used_up && let Some(c) = visit.step(head, row, positive, loss) {
                    stop = stop.max(self.update(plane, row, number, c));
                    if stop >= Stop::Overflow {
                        return stop;
                    }
                }
            } else if m == f64::INFINITY {
                return Stop::Overflow;
            }
            plane += 1;
        }
    }

    /// How many planes from `plane` on are right beyond doubt, before one that may be wrong or overflow. Most
    /// are: a loop of their own reads little, and keeps it in registers.
    #[inline(always)]
    fn right_at_once(&self, label: Label, activations: &[f64], plane: usize) -> usize {
        let threshold = self.visit.margin_threshold;
        let mut right = 0;
        for (a, head) in activations[plane..].iter().zip(&self.heads[plane..]) {
            let m = signed(*a, label.has(head.positive));
            if !(m > threshold && m < f64::INFINITY) {
                break;
            }
            right += 1;
        }
        right
    }

    /// The planes are the classes of one decision.
    #[inline(always)]
    fn together(&mut self, how: Spread, row: usize, number: u64, sums: &[f64]) -> Stop {
        if !sums.iter().all(|s| s.is_finite()) {
            return Stop::Overflow;
        }
        let truth = self.visit.labels.class(row);
        let judgement = judge(sums, truth);
        if -judgement.excess > self.visit.margin_threshold {
            return Stop::Block;
        }
        let loss = self.visit.loss(-judgement.excess);
        if loss > 0.0 {
            self.heads[0].loss += loss;
        }
        if self.noise.as_ref().is_some_and(|noise| noise.is_used_up(row, 0)) {
            return Stop::Block;
        }
        let Some(c) = self.visit.step(&self.heads[truth], row, true, loss) else { return Stop::Block };
        let mut stop = self.update(truth, row, number, c);
        let down = Downward::new(how, sums, truth, judgement, c);
        for r in 0..sums.len() {
            if let Some(c) = down.step(r) {
                stop = stop.max(self.update(r, row, number, c));
            }
        }
        stop
    }

    /// The update of one plane, logged.
    #[inline(always)]
    fn update(&mut self, plane: usize, row: usize, number: u64, c: f64) -> Stop {
        let goes_on = self.body.update(plane, row, c);
        let head = &mut self.heads[plane];
        if self.visit.fit_intercept {
            head.intercept += c;
        }
        let t = head.seen + number;
        if self.log.try_push(Mistake { row: row as u32, plane: head.plane, t, c }).is_err() {
            return Stop::Memory;
        }
        // In a joint decision the example is counted once, with its true class.
        let counts = self.visit.joint.is_none() || self.visit.labels.class(row) == plane;
        let own = if self.visit.joint.is_none() { head.plane } else { 0 };
        let finite = match &mut self.noise {
            Some(noise) if counts => noise.update(row, own, c),
            _ => true,
        };
        if !(c.is_finite() && finite) {
            Stop::Overflow
        } else if !goes_on {
            Stop::Limit
        } else {
            Stop::Block
        }
    }
}
