//! The best label sequences of many sequences, shared out over threads.

use std::sync::Mutex;

use super::chain::check_beam;
use super::lattice::{Lattice, Search};
use super::slots::Slots;
use super::weights::Padded;
use super::{Sequences, Weights};
use crate::arith::environment::Standard;
use crate::error::{Error, Result};
use crate::online::threads::share_out;
use crate::rows::{Entries, Table};

/// What a search may choose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'a> {
    pub beam: Option<usize>,
    /// For each row and label, whether the row may have it.
    pub allowed: Option<&'a [bool]>,
    /// For each label and the next, whether they may not follow each other.
    pub forbidden: Option<&'a [bool]>,
}

/// Sequences that a thread takes at once.
const BLOCK: usize = 64;

/// Writes the labels of every row, and the score of every sequence.
pub fn decode(
    rows: &dyn Table,
    sequences: &Sequences,
    weights: &Weights,
    limits: Limits,
    threads: usize,
) -> Result<(Vec<u32>, Vec<f64>)> {
    let _standard = Standard::enter();
    weights.check(rows.columns())?;
    check_beam(limits.beam)?;
    let labels = weights.labels();
    for (name, given, needed) in
        [("allowed", limits.allowed, rows.len() * labels), ("forbidden", limits.forbidden, labels * labels)]
    {
        if given.is_some_and(|given| given.len() != needed) {
            return Err(Error::Invalid(format!(
                "{name} must hold {needed} booleans for these rows and labels"
            )));
        }
    }
    // Only columns that occur are looked at: a short text needs a short time.
    let mut slots = Slots::new(rows.columns());
    let (mut entries, mut placed) = (Entries::default(), Entries::default());
    for i in 0..sequences.len() {
        entries.clear();
        rows.gather(sequences.rows(i), &mut entries);
        entries.rename(&mut placed, |_, column| Some(slots.take(column)));
    }
    let mut model = Padded::<f64>::new(weights, &slots)?;
    if let Some(forbidden) = limits.forbidden {
        model.forbid(forbidden);
    }
    let (mut path, mut scores) = (vec![0; rows.len()], vec![0.0; sequences.len()]);
    let mut rest = &mut path[..];
    let mut blocks = Vec::new();
    for (i, scores) in scores.chunks_mut(BLOCK).enumerate() {
        let last = i * BLOCK + scores.len() - 1;
        let len = sequences.rows(last).end - sequences.rows(i * BLOCK).start;
        let (path, others) = rest.split_at_mut(len);
        rest = others;
        blocks.push((i * BLOCK, path, scores));
    }
    let threads = threads.min(blocks.len()).max(1);
    let tables: Vec<_> = (0..threads)
        .map(|_| Mutex::new((Lattice::new(&model), Entries::default(), Entries::default())))
        .collect();
    let work = |(first, path, scores): (usize, &mut [u32], &mut [f64])| {
        let Some(mut table) = tables.iter().find_map(|table| table.try_lock().ok()) else {
            unreachable!("there is a table for each thread")
        };
        let (lattice, entries, placed) = &mut *table;
        let mut path = path;
        for (k, score) in scores.iter_mut().enumerate() {
            let range = sequences.rows(first + k);
            let (labels, rest) = path.split_at_mut(range.len());
            path = rest;
            entries.clear();
            rows.gather(range.clone(), entries);
            entries.rename(placed, |_, column| slots.get(column));
            let search = Search {
                beam: limits.beam,
                allowed: limits
                    .allowed
                    .map(|allowed| &allowed[range.start * model.labels..range.end * model.labels]),
                forbids: limits.forbidden.is_some(),
            };
            if !entries.is_finite() || !lattice.fill(&model, placed, search) {
                return Err(Error::TooLarge(format!(
                    "a score of sequence {} is not finite; scale the features",
                    first + k
                )));
            }
            let Some(best) = lattice.best(range.len() - 1) else {
                return Err(Error::Invalid(format!(
                    "allowed and forbidden leave no labels for sequence {}; allow more, or widen the beam",
                    first + k
                )));
            };
            lattice.trace(&model, best, labels);
            *score = lattice.scores(range.len() - 1)[best as usize] + 0.0;
        }
        Ok(())
    };
    // Sorted, so that the error is that of the first sequence.
    let failed = |(i, done): (usize, Result<()>)| done.err().map(|error| (i, error));
    let done = share_out(blocks.into_iter(), threads, |block| (block.0, work(block)), || ());
    match done.into_iter().filter_map(failed).min_by_key(|(i, _)| *i) {
        Some((_, error)) => Err(error),
        None => Ok((path, scores)),
    }
}
