//! svmlight / libsvm files to CSR, on several threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lines::{Base, Fault, Rules, parse};
use super::source::{Block, Source};
use crate::error::{Error, Result};
use crate::online::threads::share_out;
use crate::online::{Flow, Monitor};

/// Examples in CSR form.
#[derive(Debug, Default)]
pub struct Table {
    pub labels: Vec<f64>,
    /// Where the entries of each example begin, and behind them the number of all.
    pub starts: Vec<i64>,
    pub columns: Vec<i32>,
    pub values: Vec<f64>,
    /// One more than the largest column; at least 1, like scikit-learn's.
    pub width: u64,
    /// Whether the lowest column is called 0 in the files, and not 1.
    pub zero_based: bool,
}

/// Bytes of a block: the text and what is read from it fit into the second cache.
pub const BLOCK: usize = 1 << 18;

/// Reads all files as if they were one. The result does not depend on the number of threads, nor
/// does the error: it is always the first of the first file that has one.
pub fn read(
    paths: &[PathBuf],
    rules: Rules,
    threads: usize,
    block: usize,
    monitor: &dyn Monitor,
) -> Result<Table> {
    let (spare, stop) = (Mutex::default(), AtomicBool::new(false));
    let joined = Mutex::new(Joined::default());
    let watch = || {
        if monitor.block() == Flow::Break {
            lock(&joined).failure.get_or_insert(Error::Interrupted);
            stop.store(true, Ordering::Relaxed);
        }
    };
    let work = |(number, block): (usize, Result<Block>)| {
        let outcome = block.and_then(|mut block| {
            let (text, examples) = block.text_and_examples();
            let fault = parse(text, rules, examples)?.err();
            Ok((block, fault))
        });
        let mut joined = lock(&joined);
        joined.waiting.insert(number, outcome);
        joined.append_what_is_next(paths, &mut lock(&spare));
        if joined.failure.is_some() {
            stop.store(true, Ordering::Relaxed);
        }
        drop(joined);
        watch();
    };
    share_out(Source::new(paths, block, &spare, &stop, monitor), threads, work, watch);
    joined.into_inner().unwrap_or_else(PoisonError::into_inner).finish(rules.base)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table so far, and blocks that were read before those in front of them.
#[derive(Default)]
struct Joined {
    table: Table,
    widest: Option<u32>,
    holds_zero: bool,
    next: usize,
    waiting: BTreeMap<usize, Result<(Block, Option<Fault>)>>,
    failure: Option<Error>,
    /// The file of the last block, and the lines of it so far.
    file: usize,
    lines: usize,
}

impl Joined {
    fn append_what_is_next(&mut self, paths: &[PathBuf], spare: &mut Vec<Block>) {
        while self.failure.is_none()
            && let Some(outcome) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            let appended = outcome.and_then(|(block, fault)| {
                self.append(&block, fault, paths)?;
                spare.push(block);
                Ok(())
            });
            self.failure = appended.err();
        }
    }

    fn append(&mut self, block: &Block, fault: Option<Fault>, paths: &[PathBuf]) -> Result<()> {
        if block.file != self.file {
            (self.file, self.lines) = (block.file, 0);
        }
        if let Some(Fault { line, column, text }) = fault {
            let (path, line) = (paths[self.file].display(), self.lines + line + 1);
            return Err(Error::Invalid(format!("{path}, line {line}, column {}: {text}", column + 1)));
        }
        let (table, examples) = (&mut self.table, &block.examples);
        self.lines += examples.lines;
        self.widest = self.widest.max(examples.widest);
        self.holds_zero |= examples.holds_zero;
        let before = table.columns.len() as i64;
        extend(&mut table.labels, &examples.labels)?;
        extend(&mut table.columns, &examples.columns)?;
        extend(&mut table.values, &examples.values)?;
        if table.starts.is_empty() {
            extend(&mut table.starts, &[0])?;
        }
        table.starts.try_reserve(examples.ends.len()).map_err(|_| Error::Memory)?;
        table.starts.extend(examples.ends.iter().map(|&end| before + end as i64));
        Ok(())
    }

    fn finish(self, base: Base) -> Result<Table> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut table = self.table;
        let is_zero_based = base == Base::Zero || (base == Base::Auto && self.holds_zero);
        if is_zero_based && base == Base::Auto {
            table.columns.iter_mut().for_each(|column| *column += 1);
        }
        table.width = match self.widest {
            Some(widest) => u64::from(widest) + u64::from(is_zero_based),
            None => 1,
        };
        table.zero_based = is_zero_based;
        if table.starts.is_empty() {
            table.starts.push(0);
        }
        table.labels.shrink_to_fit();
        table.starts.shrink_to_fit();
        table.columns.shrink_to_fit();
        table.values.shrink_to_fit();
        Ok(table)
    }
}

fn extend<T: Copy>(all: &mut Vec<T>, more: &[T]) -> Result<()> {
    all.try_reserve(more.len()).map_err(|_| Error::Memory)?;
    all.extend_from_slice(more);
    Ok(())
}
