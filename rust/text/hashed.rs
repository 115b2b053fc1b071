//! Texts as rows of hashed columns, and what is done to such rows.

use super::grams::{Grams, Scratch};
use super::murmur::Murmur3;
use crate::base::{Error, Grow, Monitor, Pace, Result, copied, filled};

/// The arrays of CSR rows: values, columns, and where rows end, from 0 on.
#[derive(Debug)]
pub struct SparseRows<I> {
    pub values: Vec<f64>,
    pub columns: Vec<I>,
    pub ends: Vec<i64>,
}

#[derive(Debug, Clone, Copy)]
pub struct SparseView<'a, I> {
    pub values: &'a [f64],
    pub columns: &'a [I],
    pub ends: &'a [i64],
}

#[derive(Debug, Clone, Copy)]
pub struct Hashing<'a> {
    /// At most that of a C int, and not 0.
    pub columns: u32,
    /// Stands in front of each n-gram.
    pub before: &'a [u8],
    /// Whether each column that occurs has the value 1.
    pub binary: bool,
}

/// The n-grams that were met, each hash once, with the first n-gram of it.
#[derive(Debug, Default)]
pub struct Met {
    /// Each hash stands at the first free place from itself on: one look at far memory finds its count.
    table: Vec<Counted>,
    text: Vec<u8>,
    ends: Vec<i64>,
}

type MetArrays<'a> = (Vec<i32>, Vec<i64>, &'a [u8], &'a [i64]);

/// How often a hash was met, and which of the n-grams it is, from 1 on; 0: the place is free.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    hash: u32,
    number: u32,
    times: i64,
}

impl Met {
    /// Counts an n-gram with what stands in front, so often.
    pub fn count(&mut self, hash: u32, before: &[u8], gram: &[u8], times: i64) -> Result<()> {
        if 2 * self.ends.len() >= self.table.len() {
            self.grow()?;
        }
        let own = place_of(&mut self.table, hash);
        own.times += times;
        if own.number == 0 {
            self.text.try_extend(before.iter().copied())?;
            self.text.try_extend(gram.iter().copied())?;
            self.ends.try_push(self.text.len() as i64)?;
            (own.hash, own.number) = (hash, self.ends.len() as u32);
        }
        Ok(())
    }

    fn grow(&mut self) -> Result<()> {
        let mut table = filled(Counted::default(), (2 * self.table.len()).max(1 << 10))?;
        for old in self.table.iter().filter(|old| old.number > 0) {
            *place_of(&mut table, old.hash) = *old;
        }
        self.table = table;
        Ok(())
    }

    /// The hashes, how often each was met, the n-grams end to end, and where each ends.
    pub fn arrays(&self) -> Result<MetArrays<'_>> {
        let (mut hashes, mut counts) = (filled(0, self.ends.len())?, filled(0, self.ends.len())?);
        for own in self.table.iter().filter(|own| own.number > 0) {
            let place = own.number as usize - 1;
            (hashes[place], counts[place]) = (own.hash as i32, own.times);
        }
        Ok((hashes, counts, &self.text, &self.ends))
    }
}

/// The place of a hash in a table of which half is free.
fn place_of(table: &mut [Counted], hash: u32) -> &mut Counted {
    let last = table.len() - 1;
    let mut at = hash as usize & last;
    while table[at].number > 0 && table[at].hash != hash {
        at = (at + 1) & last;
    }
    &mut table[at]
}

pub fn hash(text: &[u8]) -> u32 {
    Murmur3::default().add(text).end()
}

fn column_of(hash: u32, columns: u32) -> u32 {
    let size = (hash as i32).unsigned_abs();
    // The way of scikit-learn's hasher around the one number whose absolute value an i32 does not hold.
    let size = if size == 1 << 31 { size - columns } else { size };
    if columns.is_power_of_two() { size & (columns - 1) } else { size % columns }
}

/// The counts of n-grams of each text, with their signs; `met` is told of them.
pub fn hashed<T: AsRef<str>>(
    texts: &[T],
    grams: &Grams,
    hashing: Hashing,
    mut met: Option<&mut Met>,
    monitor: &dyn Monitor,
) -> Result<SparseRows<i32>> {
    let front = Murmur3::default().add(hashing.before);
    counted(texts, grams, hashing.binary, monitor, |gram| {
        let hash = front.add(gram).end();
        if let Some(met) = &mut met {
            met.count(hash, hashing.before, gram, 1)?;
        }
        Ok(Some(column_of(hash, hashing.columns) << 1 | hash >> 31))
    })
}

/// The counts of n-grams of each text, by what `find` returns of each: twice its column, and 1 more if it
/// counts against it.
pub fn counted<T: AsRef<str>>(
    texts: &[T],
    grams: &Grams,
    binary: bool,
    monitor: &dyn Monitor,
    mut find: impl FnMut(&[u8]) -> Result<Option<u32>>,
) -> Result<SparseRows<i32>> {
    let mut rows = SparseRows { values: Vec::new(), columns: Vec::new(), ends: Vec::new() };
    let (mut scratch, mut keys, mut pace) = (Scratch::default(), Vec::new(), Pace::new(monitor));
    rows.ends.try_push(0)?;
    for text in texts {
        let text = text.as_ref();
        pace.spend(64 * text.len())?;
        keys.clear();
        grams.each(text, &mut scratch, |gram| find(gram)?.map_or(Ok(()), |key| keys.try_push(key)))?;
        keys.sort_unstable();
        rows.values.try_reserve(keys.len())?;
        rows.columns.try_reserve(keys.len())?;
        for run in keys.chunk_by(|a, b| a >> 1 == b >> 1) {
            let negative = run.iter().filter(|key| *key & 1 == 1).count();
            let sum = run.len() as i64 - 2 * negative as i64;
            rows.values.push(if binary { 1.0 } else { sum as f64 });
            rows.columns.push((run[0] >> 1) as i32);
        }
        rows.ends.try_push(rows.columns.len() as i64)?;
    }
    Ok(rows)
}

/// How long rows are made to be 1 long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    L1,
    L2,
}

/// Values of that norm, added up in the order of the row; rows of zeros stay as they are.
pub fn normalized(values: &[f64], ends: &[i64], norm: Norm, monitor: &dyn Monitor) -> Result<Vec<f64>> {
    let (mut values, mut pace) = (copied(values, monitor)?, Pace::new(monitor));
    for row in ends.windows(2) {
        let row: &mut [f64] = values.get_mut(row[0] as usize..row[1] as usize).ok_or_else(beyond)?;
        pace.spend(4 * row.len())?;
        let size = match norm {
            Norm::L1 => row.iter().fold(0.0, |size, value| size + value.abs()),
            Norm::L2 => row.iter().fold(0.0, |size, value| size + value * value).sqrt(),
        };
        if size != 0.0 {
            for value in row {
                *value /= size;
            }
        }
    }
    Ok(values)
}

/// The sums of the rows of several matrices, by distinct columns that rise; entries of one column are added in
/// the order of the matrices.
pub fn added<I: Copy + Ord>(parts: &[SparseView<I>], monitor: &dyn Monitor) -> Result<SparseRows<I>> {
    let n = parts.first().map_or(0, |part| part.ends.len());
    let most = parts.iter().fold(0, |most, part| most + part.columns.len());
    let mut rows = SparseRows { values: Vec::new(), columns: Vec::new(), ends: Vec::new() };
    rows.values.try_reserve(most)?;
    rows.columns.try_reserve(most)?;
    let (mut row, mut pace) = (Vec::new(), Pace::new(monitor));
    rows.ends.try_push(0)?;
    for i in 1..n {
        row.clear();
        for part in parts {
            let bounds = part.ends.get(i - 1..=i).ok_or_else(beyond)?;
            let own = bounds[0] as usize..bounds[1] as usize;
            let columns = part.columns.get(own.clone()).ok_or_else(beyond)?;
            let values = part.values.get(own).ok_or_else(beyond)?;
            row.try_extend(columns.iter().copied().zip(values.iter().copied()))?;
        }
        pace.spend(8 * row.len())?;
        if !row.is_sorted_by(|a: &(I, f64), b| a.0 < b.0) {
            row.sort_by_key(|(column, _)| *column);
        }
        for run in row.chunk_by(|a, b| a.0 == b.0) {
            rows.columns.push(run[0].0); // for which there is room
            rows.values.push(run.iter().fold(0.0, |sum, (_, value)| sum + value));
        }
        rows.ends.try_push(rows.columns.len() as i64)?;
    }
    Ok(rows)
}

fn beyond() -> Error {
    Error::Invalid("indptr must lie within the entries of the rows".into())
}
