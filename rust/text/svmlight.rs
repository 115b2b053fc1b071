//! svmlight / libsvm files to CSR, on several threads.

use std::mem::swap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::lines::{Base, Fault, Rules, parse};
use super::source::{Block, Source, check_text};
use crate::error::{Error, Result};
use crate::memory::Grow;
use crate::online::Monitor;
use crate::online::threads::each;

/// Examples in CSR form.
#[derive(Debug, Default)]
pub struct CsrArrays {
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

/// A part of fewer bytes is one block where one thread reads it.
const PART: usize = 1 << 21;

/// Reads all files as if they were one. The result does not depend on the number of threads, nor
/// does the error: it is always the first of the first file that has one.
pub fn read(
    paths: &[PathBuf],
    rules: Rules,
    threads: usize,
    block: usize,
    monitor: &dyn Monitor,
) -> Result<CsrArrays> {
    read_parts(paths, None, rules, threads, block, monitor)
}

/// Some lines of a file, which are already in memory.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub text: &'a [u8],
    /// Lines of the file before them.
    pub lines_before: usize,
}

/// Reads a part of the file of this name, which is not opened, as [`read`] does.
pub fn read_part(
    path: &Path,
    part: Part,
    rules: Rules,
    threads: usize,
    monitor: &dyn Monitor,
) -> Result<CsrArrays> {
    if part.lines_before == 0 {
        check_text(part.text, path)?;
    }
    let length = part.text.len();
    let block = if threads == 1 && length < PART { length + 1 } else { BLOCK };
    read_parts(&[path.to_owned()], Some(part), rules, threads, block, monitor)
}

fn read_parts(
    paths: &[PathBuf],
    part: Option<Part>,
    rules: Rules,
    threads: usize,
    block: usize,
    monitor: &dyn Monitor,
) -> Result<CsrArrays> {
    let spare = Mutex::default();
    let joined = Joined { lines: part.map_or(0, |part| part.lines_before), ..Joined::default() };
    let joined = Mutex::new(joined);
    let mut source = Source::new(paths, (block, rules.max_ratio), &spare, monitor);
    if let Some(part) = part {
        source = source.going_on_with(part.text)?;
    }
    let done = each(source.enumerate(), threads, monitor, |(number, block)| {
        let mut block = block?;
        let (text, examples) = block.text_and_examples();
        let fault = parse(text, rules, examples)?.err();
        lock(&joined).take(number, (block, fault), paths, &mut lock(&spare))
    });
    done.map_err(|error| match error {
        Error::Memory => Error::FileTooLarge(paths[lock(&joined).file].clone()),
        error => error,
    })?;
    joined.into_inner().unwrap_or_else(PoisonError::into_inner).finish(rules.base)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table so far, and blocks that were read before those in front of them.
#[derive(Default)]
struct Joined {
    table: CsrArrays,
    widest: Option<u32>,
    holds_zero: bool,
    next: usize,
    waiting: Vec<(usize, Block, Option<Fault>)>,
    /// The file of the last block, and the lines of it so far.
    file: usize,
    lines: usize,
}

impl Joined {
    /// Takes in the block of this number, and appends all that are next.
    fn take(
        &mut self,
        number: usize,
        (block, fault): (Block, Option<Fault>),
        paths: &[PathBuf],
        spare: &mut Vec<Block>,
    ) -> Result<()> {
        self.waiting.try_push((number, block, fault))?;
        while let Some(place) = self.waiting.iter().position(|(number, ..)| *number == self.next) {
            let (_, mut block, fault) = self.waiting.swap_remove(place);
            self.next += 1;
            self.append(&mut block, fault, paths)?;
            spare.try_push(block)?;
        }
        Ok(())
    }

    fn append(&mut self, block: &mut Block, fault: Option<Fault>, paths: &[PathBuf]) -> Result<()> {
        if block.file != self.file {
            (self.file, self.lines) = (block.file, 0);
        }
        if let Some(Fault { line, column, text }) = fault {
            let (path, line) = (paths[self.file].display(), self.lines + line + 1);
            return Err(Error::Invalid(format!("{path}, line {line}, column {}: {text}", column + 1)));
        }
        let (table, examples) = (&mut self.table, &mut block.examples);
        self.lines += examples.lines;
        self.widest = self.widest.max(examples.widest);
        self.holds_zero |= examples.holds_zero;
        let before = table.columns.len() as i64;
        if table.labels.is_empty() && table.columns.is_empty() {
            // A part is often one block, which need not be copied.
            swap(&mut table.labels, &mut examples.labels);
            swap(&mut table.columns, &mut examples.columns);
            swap(&mut table.values, &mut examples.values);
        } else {
            table.labels.try_extend(examples.labels.iter().copied())?;
            table.columns.try_extend(examples.columns.iter().copied())?;
            table.values.try_extend(examples.values.iter().copied())?;
        }
        if table.starts.is_empty() {
            table.starts.try_push(0)?;
        }
        table.starts.try_extend(examples.ends.iter().map(|&end| before + end as i64))
    }

    fn finish(self, base: Base) -> Result<CsrArrays> {
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
            table.starts.try_push(0)?;
        }
        table.labels.shrink_to_fit();
        table.starts.shrink_to_fit();
        table.columns.shrink_to_fit();
        table.values.shrink_to_fit();
        Ok(table)
    }
}
