//! The loop of every leaf: predict, judge, update, log.

use super::planes::Head;
use super::prefetch::{AHEAD, prefetch};
use super::visit::{Cursor, Mistake, Stop, Visit};
use crate::arith::exact::LARGEST_SUM;
use crate::arith::simd::{Leaf, Simd};
use crate::arith::step::signed;

/// What a storage type and a form of the weights bring to the loop.
pub trait Kernel {
    /// Whether the weights are in an exact form (rule 10).
    const EXACT: bool;

    /// `w·x` of a row for every plane.
    fn activate<S: Simd>(&mut self, simd: S, row: usize, sums: &mut [f64]);

    /// `w += c*x` for one plane. False if an exact form cannot go on after it.
    fn update(&mut self, plane: usize, row: usize, c: f64) -> bool;

    /// How many rows ahead to ask for when rows are visited as they stand; 0: not at all.
    fn ahead(&self) -> usize;

    /// Asks for a row that will be visited soon.
    fn prefetch(&self, row: usize);
}

pub struct Learn<'a, K> {
    pub kernel: K,
    pub visit: &'a Visit<'a>,
    pub at: &'a mut Cursor,
    pub end: usize,
    pub heads: &'a mut [Head],
    pub log: &'a mut Vec<Mistake>,
}

impl<K: Kernel> Leaf for Learn<'_, K> {
    type Output = Stop;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Stop {
        // One plane is the hot case: with a constant length the loops over planes vanish.
        if self.heads.len() == 1 {
            self.pass(simd, &mut [0.0])
        } else {
            let mut sums = vec![0.0; self.heads.len()];
            self.pass(simd, &mut sums)
        }
    }
}

impl<K: Kernel> Learn<'_, K> {
    #[inline(always)]
    fn pass<S: Simd>(&mut self, simd: S, sums: &mut [f64]) -> Stop {
        let (visit, start) = (self.visit, self.at.pos);
        let heads = &mut self.heads[..sums.len()];
        let ahead = self.kernel.ahead();
        let mut stop = Stop::Block;
        let mut pos = start;
        while pos < self.end && stop == Stop::Block {
            let row = visit.row(pos);
            match visit.order {
                Some(order) => {
                    if let Some(&next) = order.get(pos + AHEAD) {
                        self.kernel.prefetch(next as usize);
                        prefetch(&visit.labels[next as usize..=next as usize]);
                    }
                }
                None if ahead > 0 && pos + ahead < self.end => self.kernel.prefetch(pos + ahead),
                None => {}
            }
            self.kernel.activate(simd, row, sums);
            pos += 1;
            let label = visit.labels[row];
            for (plane, (head, &sum)) in heads.iter_mut().zip(&*sums).enumerate() {
                let a = sum + head.intercept;
                let positive = label == head.positive;
                let m = signed(a, positive);
                if visit.tie.is_mistake(m, positive) {
                    let c = visit.step(head, row, positive);
                    let t = head.seen + (pos - start) as u64;
                    if m < 0.0 {
                        head.loss -= m;
                    }
                    let exact = self.kernel.update(plane, row, c);
                    if K::EXACT && !(exact && head.intercept.abs() <= LARGEST_SUM) {
                        stop = Stop::Limit;
                    }
                    if visit.fit_intercept {
                        head.intercept += c;
                    }
                    self.log.push(Mistake { row: row as u32, plane: head.plane, t, c });
                    if !(a.is_finite() && c.is_finite()) {
                        stop = Stop::Overflow;
                    }
                } else if m == f64::INFINITY {
                    stop = Stop::Overflow;
                }
                if stop == Stop::Overflow {
                    break;
                }
            }
        }
        for head in heads {
            head.seen += (pos - start) as u64;
        }
        self.at.pos = pos;
        stop
    }
}
