//! The loop of every leaf: predict, judge, update, log.

use super::planes::Head;
use super::prefetch::{AHEAD, prefetch};
use super::visit::{Cursor, Mistake, Stop, Visit};
use crate::arith::simd::Leaf;
use crate::arith::step::signed;

/// What a storage type and a form of the weights bring to the loop.
pub trait Kernel {
    /// `w·x` of a row for every plane.
    fn activate(&mut self, row: usize, sums: &mut [f64]);
    /// `w += c*x` for one plane.
    fn update(&mut self, plane: usize, row: usize, c: f64);
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
    fn run(self) -> Stop {
        // One plane is the hot case: with a constant length the loops over planes vanish.
        if let [head] = self.heads {
            let mut sums = [0.0];
            pass(self.kernel, self.visit, self.at, self.end, std::slice::from_mut(head), &mut sums, self.log)
        } else {
            let mut sums = vec![0.0; self.heads.len()];
            pass(self.kernel, self.visit, self.at, self.end, self.heads, &mut sums, self.log)
        }
    }
}

#[inline(always)]
fn pass<K: Kernel>(
    mut kernel: K,
    visit: &Visit,
    at: &mut Cursor,
    end: usize,
    heads: &mut [Head],
    sums: &mut [f64],
    log: &mut Vec<Mistake>,
) -> Stop {
    let start = at.pos;
    let mut stop = Stop::Block;
    for pos in start..end {
        let row = visit.row(pos);
        if let Some(order) = visit.order {
            if let Some(&next) = order.get(pos + AHEAD) {
                kernel.prefetch(next as usize);
                prefetch(&visit.labels[next as usize..=next as usize]);
            }
        }
        kernel.activate(row, sums);
        let label = visit.labels[row];
        for (plane, (head, &sum)) in heads.iter_mut().zip(&*sums).enumerate() {
            let a = sum + head.intercept;
            let positive = label == head.positive;
            let m = signed(a, positive);
            if visit.tie.is_mistake(m, positive) {
                if m < 0.0 {
                    head.loss -= m;
                }
                let c = visit.step(head, row, positive);
                kernel.update(plane, row, c);
                if visit.fit_intercept {
                    head.intercept += c;
                }
                let t = head.seen + (pos - start) as u64 + 1;
                log.push(Mistake { row: row as u32, plane: head.plane, t, c });
            }
            if !a.is_finite() {
                stop = Stop::Overflow;
            }
        }
        if stop == Stop::Overflow {
            break;
        }
    }
    for head in heads {
        head.seen += (end - start) as u64;
    }
    at.pos = end;
    stop
}
