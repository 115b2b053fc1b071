//! Rows of the Gram matrix that are kept: the least recently used one goes first.

use std::collections::{BTreeMap, HashMap};

use super::gram::Row;

/// At most so many bytes of rows.
pub struct Cache {
    bytes: usize,
    used: usize,
    tick: u64,
    rows: HashMap<u32, (u64, Row)>,
    by_age: BTreeMap<u64, u32>,
}

impl Cache {
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self { bytes, used: 0, tick: 0, rows: HashMap::new(), by_age: BTreeMap::new() }
    }

    /// Takes a row out, if it is there.
    pub fn take(&mut self, number: u32) -> Option<Row> {
        let (tick, row) = self.rows.remove(&number)?;
        self.by_age.remove(&tick);
        self.used -= row.bytes();
        Some(row)
    }

    /// Puts a row in that is not there, and forgets others until it fits.
    pub fn put(&mut self, number: u32, row: Row) {
        if row.bytes() > self.bytes {
            return;
        }
        while self.used + row.bytes() > self.bytes {
            let Some((_, oldest)) = self.by_age.pop_first() else { break };
            if let Some((_, gone)) = self.rows.remove(&oldest) {
                self.used -= gone.bytes();
            }
        }
        self.tick += 1;
        self.used += row.bytes();
        self.by_age.insert(self.tick, number);
        self.rows.insert(number, (self.tick, row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_row_goes_first_and_the_bound_holds() {
        let row = |k: usize| Row::Whole(vec![k as i32; 10]);
        let mut cache = Cache::new(120);
        (0..3).for_each(|k| cache.put(k, row(k as usize)));
        let first = cache.take(0).expect("three rows fit");
        cache.put(0, first);
        cache.put(3, row(3));
        assert!(cache.take(1).is_none(), "the oldest row stayed");
        for k in [0, 2, 3] {
            assert!(cache.take(k).is_some_and(|row| row == Row::Whole(vec![k as i32; 10])));
        }
        assert_eq!(cache.used, 0);
        cache.put(9, Row::Whole(vec![0; 31]));
        assert!(cache.take(9).is_none(), "a row larger than all was kept");
    }
}
