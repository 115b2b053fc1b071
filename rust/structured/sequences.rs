//! Rows that belong together: a sequence is a run of them.

use std::ops::Range;

use crate::base::{Result, bail, ensure, with_room};

/// Where each sequence begins and ends, checked.
pub struct Sequences {
    ends: Vec<usize>,
}

impl Sequences {
    /// From the lengths, each at least 1, of sequences that lie one after another in `rows` rows.
    pub fn new(lengths: &[i64], rows: usize) -> Result<Self> {
        let (mut ends, mut end) = (with_room(lengths.len())?, 0_usize);
        for (i, &length) in lengths.iter().enumerate() {
            ensure!(
                length >= 1,
                "lengths must be at least 1, got {length} for sequence {i}; leave empty sequences out"
            );
            end = end.saturating_add(length as usize);
            ends.push(end);
        }
        if end != rows || u32::try_from(ends.len()).is_err() {
            bail!("lengths must add up to the number of rows, {rows}, got {end}; give one length a sequence");
        }
        Ok(Self { ends })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn rows_in_all(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub fn rows(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    pub fn longest(&self) -> usize {
        (0..self.len()).map(|i| self.rows(i).len()).max().unwrap_or(0)
    }
}
