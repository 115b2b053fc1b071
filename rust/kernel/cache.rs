//! A cache of rows of the Gram matrix: the least recently used one goes first.

use std::collections::HashMap;

use super::gram::Dots;
use crate::base::Result;

/// At most so many bytes of rows.
pub struct Cache {
    bytes: usize,
    used: usize,
    tick: u64,
    /// Each with the tick at which it was put in.
    rows: HashMap<u32, (u64, Dots)>,
}

impl Cache {
    pub fn new(bytes: usize) -> Self {
        Self { bytes, used: 0, tick: 0, rows: HashMap::new() }
    }

    pub fn take(&mut self, number: u32) -> Option<Dots> {
        let (_, row) = self.rows.remove(&number)?;
        self.used -= row.bytes();
        Some(row)
    }

    /// Puts a row in that is not there, and forgets others until it fits.
    pub fn put(&mut self, number: u32, row: Dots) -> Result<()> {
        if row.bytes() > self.bytes {
            return Ok(());
        }
        while self.used + row.bytes() > self.bytes {
            // A look at all of them costs less than the row that has been computed.
            let Some(oldest) = self.rows.iter().min_by_key(|(_, (tick, _))| *tick) else { break };
            let oldest = *oldest.0;
            self.take(oldest);
        }
        self.rows.try_reserve(1)?;
        self.tick += 1;
        self.used += row.bytes();
        self.rows.insert(number, (self.tick, row));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_row_goes_first_and_the_bound_holds() {
        let row = |k: usize| Dots::Whole(vec![k as i32; 10]);
        let mut cache = Cache::new(120);
        (0..3).for_each(|k| cache.put(k, row(k as usize)).expect("memory for a row"));
        let first = cache.take(0).expect("three rows fit");
        cache.put(0, first).expect("memory for a row");
        cache.put(3, row(3)).expect("memory for a row");
        assert!(cache.take(1).is_none(), "the oldest row stayed");
        for k in [0, 2, 3] {
            assert!(cache.take(k).is_some_and(|row| row == Dots::Whole(vec![k as i32; 10])));
        }
        assert_eq!(cache.used, 0);
        cache.put(9, Dots::Whole(vec![0; 31])).expect("nothing to do");
        assert!(cache.take(9).is_none(), "a row larger than all was kept");
    }

    #[test]
    fn a_row_as_large_as_the_bound_is_kept() {
        for (row, bytes) in [(Dots::Whole(vec![1; 10]), 40), (Dots::Wide(vec![1.0; 10]), 80)] {
            for (bound, kept) in [(bytes, true), (bytes - 1, false)] {
                let mut cache = Cache::new(bound);
                cache.put(0, row.clone()).expect("memory for a row");
                assert_eq!(cache.take(0).is_some(), kept, "{bound}");
            }
        }
    }
}
