//! svmlight / libsvm files to CSR, on several threads.

use std::mem::swap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memchr::memrchr;

use super::lines::{Base, Fault, PADDING, ParsedExamples, Rules, parse};
use super::source::{Block, Source, check_text, too_large};
use crate::base::{Grow, Monitor, Result, bail, collected};
use crate::threads::{each, lock};

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

/// Reads all files as if they were one. The result does not depend on the number of threads, nor
/// does the error: it is always the first of the first file that has one.
pub fn read(
    paths: &[PathBuf],
    rules: Rules,
    threads: usize,
    block: usize,
    monitor: &dyn Monitor,
) -> Result<CsrArrays> {
    let (spare, joined) = (Mutex::default(), Mutex::new(Joined::default()));
    let source = Source::new(paths, (block, rules.max_ratio), &spare, monitor);
    let done = each(source.enumerate(), threads, monitor, |(number, block)| {
        let mut block = block?;
        let (text, examples) = block.text_and_examples();
        let fault = parse(text, rules, examples)?.err();
        lock(&joined).take(number, (block, fault), paths, &mut lock(&spare))
    });
    done.map_err(|error| too_large(error, &paths[lock(&joined).file]))?;
    joined.into_inner().unwrap_or_else(PoisonError::into_inner).finish(rules.base)
}

/// Reads lines of the file of this name, which are in memory; so many come before them.
pub fn read_part(path: &Path, text: &[u8], lines_before: usize, rules: Rules) -> Result<CsrArrays> {
    if lines_before == 0 {
        check_text(text, path)?;
    }
    let mut joined = Joined { lines: lines_before, ..Joined::default() };
    let mut append = |text: &[u8]| {
        let mut examples = ParsedExamples::default();
        let fault = parse(text, rules, &mut examples)?.err();
        joined.append(&mut examples, fault, path)
    };
    // Lines with the length of the padding behind them are read where they are.
    let whole = text.len().saturating_sub(PADDING);
    let cut = memrchr(b'\n', &text[..whole]).map_or(0, |last| last + 1);
    let mut read = || {
        if cut > 0 {
            append(&text[..cut + PADDING])?;
        }
        let mut last = collected(text[cut..].iter().copied())?;
        last.try_resize(text.len() - cut + PADDING, b'\n')?;
        append(&last)
    };
    read().map_err(|error| too_large(error, path))?;
    joined.finish(rules.base)
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
            if block.file != self.file {
                (self.file, self.lines) = (block.file, 0);
            }
            self.append(&mut block.examples, fault, &paths[self.file])?;
            spare.try_push(block)?;
        }
        Ok(())
    }

    fn append(&mut self, examples: &mut ParsedExamples, fault: Option<Fault>, path: &Path) -> Result<()> {
        if let Some(Fault { line, column, text }) = fault {
            let (path, line) = (path.display(), self.lines + line + 1);
            bail!("{path}, line {line}, column {}: {text}", column + 1);
        }
        let table = &mut self.table;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of a part, or the text of its error, without the name of the file.
    fn outcome(table: Result<CsrArrays>) -> String {
        match table {
            Ok(table) => format!("{table:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn lines_read_where_they_are_are_those_of_a_padded_copy() {
        let text = b"1 1:2 3:4.5\n-1 2:1e3\n# a line\n\n0 qid:7 4:-2 5:0.125 # end\r\n2\n3 1:1\n1 2:x\n7 8:9";
        let (path, lines_before) = (Path::new("a"), 5);
        let step = if cfg!(miri) { 9 } else { 1 };
        for base in [Base::Zero, Base::One, Base::Auto] {
            let rules = Rules { base, refuse_query_ids: false, max_ratio: 1.0 };
            for first in (0..text.len()).step_by(step) {
                for last in (first..=text.len()).step_by(step) {
                    let part = &text[first..last];
                    let mut joined = Joined { lines: lines_before, ..Joined::default() };
                    let (padded, mut examples) =
                        ([part, &[b'\n'; PADDING]].concat(), ParsedExamples::default());
                    let fault = parse(&padded, rules, &mut examples).expect("there is memory").err();
                    let copied = joined.append(&mut examples, fault, path).and_then(|()| joined.finish(base));
                    assert_eq!(
                        outcome(read_part(path, part, lines_before, rules)),
                        outcome(copied),
                        "{first}..{last}"
                    );
                }
            }
        }
    }
}
