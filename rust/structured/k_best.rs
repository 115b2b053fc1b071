//! The k best label sequences of a sequence.
//!
//! - Problem: of all label sequences, the k with the largest scores, each the sum that the search makes of
//!   it.
//! - Method: the prefixes that end in label y at token t are put in order as far as somebody asks. The next
//!   one extends the best prefix, not taken yet, of some label before; so it takes the next one of a single
//!   label of the token before, and of that of another, down to a token that has it already.
//! - Ties: of prefixes that end in y at t, the one comes first whose score before `e[t][y]` is larger; then
//!   that with the lower label before; then that whose rest comes first by the same order. Of whole
//!   sequences: larger score, lower last label, then that order. So the first one is what the search finds,
//!   and where no sum is rounded, equal scores are in the order of the labels read from the end.
//! - Why it is exact: rounding keeps order, so of the prefixes that end in a label, the first k are enough.
//! - Paper: V. Jimenez, A. Marzal, "Computing the k shortest paths: a new algorithm and an experimental
//!   comparison", WAE 1999: the recursive enumeration algorithm.

use super::Sequences;
use super::decode::{Found, Limits, Prepared, SearchWeights, each_sequence, too_large};
use super::frame::Frame;
use super::lattice::Lattice;
use super::terms::Terms;
use crate::arith::environment::standard;
use crate::base::{Grow, Monitor, Result, collected, ensure, filled, with_room};
use crate::rows::Matrix;

/// The best label sequences of one sequence, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Best {
    /// One label sequence after another.
    pub labels: Vec<u32>,
    pub scores: Vec<f64>,
}

/// Finds the k best label sequences of every sequence, or all of them if there are fewer.
pub fn k_best<'a>(
    rows: &dyn Matrix,
    sequences: &Sequences,
    weights: impl Into<SearchWeights<'a>>,
    k: usize,
    limits: Limits<'a>,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<Best>> {
    ensure!(k != 0, "k must be at least 1, got 0");
    standard(|| {
        let prepared = Prepared::new(rows, weights.into(), limits, monitor)?;
        let mut all = filled(Best::default(), sequences.len())?;
        each_sequence(rows, sequences, &prepared, &mut all, threads, monitor, |found, best| {
            enumerate(found, k, best, monitor)
        })?;
        Ok(all)
    })
}

/// A prefix that extends another: that of a rank among those that end in a label of the token before.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    /// Its score, without `e[t][y]`; of a whole sequence, with it.
    score: f64,
    before: u32,
    rank: u32,
}

/// What comes next, taken out. Each label before has one candidate at most.
fn take_first(candidates: &mut Vec<Prefix>) -> Option<Prefix> {
    let is_before = |a: &Prefix, b: &Prefix| a.score > b.score || a.score == b.score && a.before < b.before;
    let first = (0..candidates.len())
        .reduce(|first, i| if is_before(&candidates[i], &candidates[first]) { i } else { first })?;
    Some(candidates.swap_remove(first))
}

/// The prefixes that end in one label of one token, as far as they are in order.
struct Node {
    token: usize,
    label: u32,
    best: Vec<Prefix>,
    candidates: Vec<Prefix>,
    complete: bool,
}

/// No node is there yet.
const NONE: u32 = u32::MAX;

/// The nodes that somebody has asked for.
struct Enumeration<'a> {
    lattice: &'a Lattice<f64>,
    frame: &'a Frame<f64>,
    terms: &'a Terms,
    forbids: bool,
    labels: usize,
    /// By token and label.
    places: Vec<u32>,
    nodes: Vec<Node>,
    chain: Vec<u32>,
}

fn enumerate(mut found: Found, k: usize, out: &mut Best, monitor: &dyn Monitor) -> Result<()> {
    let (tokens, last, score) = (found.tokens, found.last, found.score());
    let (frame, forbids, number) = (found.frame, found.forbids, found.number);
    out.labels.try_resize(tokens, 0)?;
    found.trace(&mut out.labels);
    out.scores.try_push(score)?;
    if k == 1 {
        return Ok(());
    }
    let (lattice, terms) = found.with_terms()?;
    let labels = frame.shape.labels;
    let places = filled(NONE, tokens * labels)?;
    let mut nodes =
        Enumeration { lattice, frame, terms, forbids, labels, places, nodes: vec![], chain: vec![] };
    let end = tokens - 1;
    let (mut whole, scores) = (Vec::new(), lattice.scores(end));
    for &y in lattice.candidates(end).iter().filter(|y| **y != last) {
        whole.try_push(Prefix { score: scores[y as usize], before: y, rank: 0 })?;
    }
    let mut newest = Prefix { score, before: last, rank: 0 };
    while out.scores.len() < k {
        monitor.pause()?;
        let rank = newest.rank + 1;
        if let Some(score) = nodes.score(end, newest.before, rank)? {
            whole.try_push(Prefix { score, before: newest.before, rank })?;
        }
        let Some(next) = take_first(&mut whole) else { break };
        if !next.score.is_finite() {
            return Err(too_large(number));
        }
        out.scores.try_push(next.score)?;
        let start = out.labels.len();
        out.labels.try_resize(start + tokens, 0)?;
        nodes.trace(next.before, next.rank, &mut out.labels[start..]);
        newest = next;
    }
    Ok(())
}

impl Enumeration<'_> {
    /// The score of the prefix of a rank, from 0, that ends in a label; `None`: there are fewer. Those before
    /// it have been asked for.
    fn score(&mut self, token: usize, label: u32, rank: u32) -> Result<Option<f64>> {
        let (mut at, mut wanted) = ((token, label), rank);
        self.chain.clear();
        while at.0 > 0 {
            let place = self.node(at)?;
            let node = &self.nodes[place as usize];
            if node.complete || node.best.len() > wanted as usize {
                break;
            }
            self.chain.try_push(place)?;
            let newest = node.best[node.best.len() - 1];
            (at, wanted) = ((at.0 - 1, newest.before), newest.rank + 1);
        }
        while let Some(place) = self.chain.pop() {
            self.grow(place as usize)?;
        }
        Ok(self.known(token, label, rank))
    }

    /// Puts one more prefix of a node in order; the one that follows its newest is known, if there is one.
    fn grow(&mut self, place: usize) -> Result<()> {
        let Node { token, label, ref best, .. } = self.nodes[place];
        let newest = best[best.len() - 1];
        let (before, rank) = (newest.before, newest.rank + 1);
        let following = self.known(token - 1, before, rank);
        let pair = self.pair(token, before, label);
        let node = &mut self.nodes[place];
        if let Some(score) = following
            && !(self.forbids && score + pair == f64::NEG_INFINITY)
        {
            node.candidates.try_push(Prefix { score: score + pair, before, rank })?;
        }
        match take_first(&mut node.candidates) {
            Some(next) => node.best.try_push(next)?,
            None => node.complete = true,
        }
        Ok(())
    }

    /// The place of a node, which has its best prefix and those that may come next.
    fn node(&mut self, (token, label): (usize, u32)) -> Result<u32> {
        let at = token * self.labels + label as usize;
        if self.places[at] == NONE {
            let first = self.lattice.before(self.frame, token, label);
            let scores = self.lattice.scores(token - 1);
            let kept = self.lattice.candidates(token - 1);
            let mut candidates = with_room(kept.len())?;
            for &before in kept {
                let score = scores[before as usize] + self.pair(token, before, label);
                if !(self.forbids && score == f64::NEG_INFINITY) {
                    candidates.push(Prefix { score, before, rank: 0 });
                }
            }
            let is_first = |prefix: &Prefix| prefix.before == first;
            let best = candidates.iter().position(is_first).map(|i| candidates.swap_remove(i));
            let best = collected(best.into_iter())?;
            self.places[at] = self.nodes.len() as u32;
            self.nodes.try_push(Node { token, label, best, candidates, complete: false })?;
        }
        Ok(self.places[at])
    }

    /// The same as `score`, of what is in order already.
    fn known(&self, token: usize, label: u32, rank: u32) -> Option<f64> {
        let y = label as usize;
        if rank == 0 || token == 0 {
            return (rank == 0).then(|| self.lattice.scores(token)[y]);
        }
        let place = self.places[token * self.labels + y];
        let prefix = self.nodes.get(place as usize)?.best.get(rank as usize)?;
        Some(prefix.score + self.terms.emission(token)[y])
    }

    fn pair(&self, token: usize, before: u32, label: u32) -> f64 {
        self.terms.pair(token)[before as usize * self.frame.shape.stride + label as usize]
    }

    /// Writes the labels of a prefix that is in order.
    fn trace(&self, mut label: u32, mut rank: u32, path: &mut [u32]) {
        for (token, out) in path.iter_mut().enumerate().rev() {
            *out = label;
            if token == 0 {
                continue;
            }
            (label, rank) = if rank == 0 {
                (self.lattice.before(self.frame, token, label), 0)
            } else {
                let place = self.places[token * self.labels + label as usize];
                let Prefix { before, rank, .. } = self.nodes[place as usize].best[rank as usize];
                (before, rank)
            };
        }
    }
}
