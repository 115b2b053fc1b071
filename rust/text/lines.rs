//! The lines of a block: `label [qid:…] column:value … [# comment]`.
//!
//! Texts are read as scikit-learn's `load_svmlight_file` reads them. The common forms are read
//! in passing; whatever looks unusual is cut out as a token and read again with care, which gives
//! the same bits or an error.

use memchr::memchr;

use super::number::{self, MOST_EXACT, POWERS_OF_TEN, WHOLE_POWERS_OF_TEN, leading_digits};
use crate::base::Result;

/// What the lowest column of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Zero,
    One,
    /// Zero if a column 0 occurs anywhere, else one.
    Auto,
}

#[derive(Debug, Clone, Copy)]
pub struct Rules {
    pub base: Base,
    pub refuse_query_ids: bool,
    /// How many times its size a gzip file may unpack to.
    pub max_ratio: f64,
}

/// Bytes that must follow the text of a block, so that eight can be loaded at every one of its bytes.
pub const PADDING: usize = 8;

/// The first mistake of a block.
#[derive(Debug)]
pub struct Fault {
    /// Counted from 0 in the block, and in the line.
    pub line: usize,
    pub column: usize,
    pub text: String,
}

/// The examples of a block. Unless the base is zero, columns are stored less one.
#[derive(Debug, Default)]
pub struct ParsedExamples {
    pub labels: Vec<f64>,
    /// Where the entries of each example end.
    pub ends: Vec<usize>,
    pub columns: Vec<i32>,
    pub values: Vec<f64>,
    /// The largest column as written, if there is one.
    pub widest: Option<u32>,
    pub holds_zero: bool,
    /// Lines, with those that hold no example.
    pub lines: usize,
}

impl ParsedExamples {
    fn clear(&mut self, bytes: usize) -> Result<()> {
        self.labels.clear();
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
        (self.widest, self.holds_zero, self.lines) = (None, false, 0);
        // An example takes two bytes at least, an entry four, so nothing grows while it is read.
        let (rows, entries) = (bytes / 2 + 1, bytes / 4 + 1);
        self.labels.try_reserve(rows)?;
        self.ends.try_reserve(rows)?;
        self.columns.try_reserve(entries)?;
        Ok(self.values.try_reserve(entries)?)
    }
}

/// Reads all lines of `text`, whose last [`PADDING`] bytes are none of it but line ends.
pub fn parse(
    text: &[u8],
    rules: Rules,
    examples: &mut ParsedExamples,
) -> Result<std::result::Result<(), Fault>> {
    let end = text.len() - PADDING;
    examples.clear(end)?;
    let mut start = 0;
    while start < end {
        let mut line = Line { text, at: start, rules };
        if let Err(fault) = line.read(examples) {
            let column = fault.at - start;
            return Ok(Err(Fault { line: examples.lines, column, text: fault.text }));
        }
        debug_assert_eq!(text[line.at], b'\n');
        start = line.at + 1;
        examples.lines += 1;
    }
    Ok(Ok(()))
}

struct FaultAt {
    at: usize,
    text: String,
}

/// A line that is being read; `at` never passes its end.
struct Line<'a> {
    text: &'a [u8],
    at: usize,
    rules: Rules,
}

/// The usual ends of a token.
#[inline(always)]
fn ends_plainly(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0B | 0x0C)
}

impl<'a> Line<'a> {
    #[inline(always)]
    fn read(&mut self, examples: &mut ParsedExamples) -> std::result::Result<(), FaultAt> {
        if !self.finds_token() {
            return Ok(());
        }
        let label = self.label()?;
        let shift = i32::from(self.rules.base != Base::Zero);
        let first = examples.columns.len();
        let (mut previous, mut may_be_query_id) = (-1, true);
        while self.finds_token() {
            let start = self.at;
            let entry = match self.short_entry() {
                Some(entry) => Some(entry),
                None => self.entry(may_be_query_id && previous < 0)?,
            };
            let Some((column, value)) = entry else {
                may_be_query_id = false;
                continue;
            };
            if i64::from(column) <= previous {
                return Err(self.out_of_order(start, column, previous));
            }
            previous = i64::from(column);
            examples.columns.push(column as i32 - shift);
            examples.values.push(value);
        }
        if previous >= 0 {
            examples.widest = examples.widest.max(Some(previous as u32));
            examples.holds_zero |= examples.columns[first] + shift == 0;
        }
        examples.labels.push(label);
        examples.ends.push(examples.columns.len());
        Ok(())
    }

    /// Goes on to the next token of this line, or to its end.
    #[inline(always)]
    fn finds_token(&mut self) -> bool {
        loop {
            match self.text[self.at] {
                b'\n' => return false,
                b'#' => {
                    let rest = &self.text[self.at..];
                    self.at += memchr(b'\n', rest).unwrap_or(rest.len() - 1);
                    return false;
                }
                byte if is_space(byte) => self.at += 1,
                _ => return true,
            }
        }
    }

    fn token(&self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let is_end = |&byte: &u8| is_space(byte) || byte == b'\n' || byte == b'#';
        &rest[..rest.iter().position(is_end).unwrap_or(rest.len())]
    }

    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        self.text[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
    }

    /// An entry in its common form, with a plain whole number before the colon; or nothing.
    #[inline(always)]
    fn short_entry(&mut self) -> Option<(u32, f64)> {
        let (length, column) = leading_digits(self.word(self.at));
        let colon = self.at + length;
        if length == 0 || self.text[colon] != b':' || (column == 0 && self.rules.base == Base::One) {
            return None;
        }
        let (value, end) = self.short_value(colon + 1)?;
        self.at = end;
        Some((column as u32, value))
    }

    /// A value in a form that one exact operation can round, and where it ends; or nothing.
    #[inline(always)]
    fn short_value(&self, start: usize) -> Option<(f64, usize)> {
        let negative = self.text[start] == b'-';
        let start = start + usize::from(negative);
        let (length, whole) = leading_digits(self.word(start));
        let mut at = start + length;
        let value = if length < 8 && ends_plainly(self.text[at]) {
            if length == 0 {
                return None;
            }
            whole as f64
        } else {
            let decimal;
            (decimal, at) = self.short_decimal(at, length, whole)?;
            decimal
        };
        Some((if negative { -value } else { value }, at))
    }

    /// The rest of a decimal number of at most 18 digits, without an exponent.
    #[inline]
    fn short_decimal(&self, at: usize, digits: usize, whole: u64) -> Option<(f64, usize)> {
        let (mut at, mut digits, mut mantissa) = self.more_digits(at, digits, whole)?;
        let whole_digits = digits;
        if self.text[at] == b'.' {
            (at, digits, mantissa) = self.more_digits(at + 1, digits, mantissa)?;
        }
        if digits == 0 || mantissa > MOST_EXACT || !ends_plainly(self.text[at]) {
            return None;
        }
        Some((mantissa as f64 / POWERS_OF_TEN[digits - whole_digits], at))
    }

    /// Goes on to the end of the digits, eight at a time; nothing if there are more than 18.
    #[inline(always)]
    fn more_digits(&self, mut at: usize, mut digits: usize, mut number: u64) -> Option<(usize, usize, u64)> {
        loop {
            let (more, value) = leading_digits(self.word(at));
            if digits + more > 18 {
                return None;
            }
            number = number * WHOLE_POWERS_OF_TEN[more] + value;
            (at, digits) = (at + more, digits + more);
            if more < 8 {
                return Some((at, digits, number));
            }
        }
    }

    fn label(&mut self) -> std::result::Result<f64, FaultAt> {
        let signed = self.at + usize::from(matches!(self.text[self.at], b'+'));
        if let Some((label, end)) = self.short_value(signed)
            && (signed == self.at || self.text[signed] != b'-')
        {
            self.at = end;
            return Ok(label);
        }
        let token = self.token();
        match number::float(token) {
            Ok(label) => {
                self.at += token.len();
                Ok(label)
            }
            Err(_) if token.contains(&b':') => Err(self.wrong(
                token,
                "stands where the label belongs; begin each line with a label, such as 0, if need be",
            )),
            Err(_) if token.contains(&b',') => {
                Err(self.wrong(token, "is a list of labels; say multilabel=True, or keep one label a line"))
            }
            Err(reason) => Err(self.wrong(token, reason)),
        }
    }

    /// An entry in any form; nothing if it is a query id, which only the first may be.
    #[cold]
    #[inline(never)]
    fn entry(&mut self, may_be_query_id: bool) -> std::result::Result<Option<(u32, f64)>, FaultAt> {
        let token = self.token();
        let Some(colon) = memchr(b':', token) else {
            return Err(self.wrong(token, "is not an entry; write index:value"));
        };
        if may_be_query_id && token.starts_with(b"qid") && !token.contains(&0) {
            if self.rules.refuse_query_ids {
                return Err(self.wrong(token, "is a query id; pass query_id=\"ignore\" to read past it"));
            }
            self.at += token.len();
            return Ok(None);
        }
        let column = number::column(&token[..colon]).map_err(|reason| self.wrong(token, reason))?;
        if column == 0 && self.rules.base == Base::One {
            return Err(self.wrong(token, "has the column 0, but zero_based=False; pass zero_based=\"auto\""));
        }
        let value = &token[colon + 1..];
        let value = number::float(value).map_err(|reason| {
            let part = Line { at: self.at + colon + 1, ..*self };
            part.wrong(value, reason)
        })?;
        self.at += token.len();
        Ok(Some((column, value)))
    }

    #[cold]
    fn out_of_order(&self, start: usize, column: u32, previous: i64) -> FaultAt {
        let line = Line { at: start, ..*self };
        let how = if i64::from(column) == previous { "repeats the column" } else { "follows the column" };
        line.wrong(line.token(), &format!("{how} {previous}; columns of a line must increase"))
    }

    #[cold]
    fn wrong(&self, token: &[u8], reason: &str) -> FaultAt {
        const SHOWN: usize = 40;
        let cut = if token.len() > SHOWN { "…" } else { "" };
        let shown = token[..token.len().min(SHOWN)].escape_ascii();
        FaultAt { at: self.at, text: format!("\"{shown}{cut}\" {reason}") }
    }
}
