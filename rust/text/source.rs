//! Files cut into blocks at line ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use memchr::memrchr;

use super::gzip::Gzip;
use super::lines::{PADDING, ParsedExamples};
use crate::base::{Error, Monitor, Result, boxed};
use crate::threads::lock;

/// What other kinds of files begin with; none of it can begin a label.
const NO_TEXT: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "is compressed by gzip; unpack it first"),
    (b"BZh", "is compressed by bzip2; unpack it first"),
    (b"\xfd7zXZ", "is compressed by xz; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "is compressed by zstd; unpack it first"),
];
/// A byte order mark, which a text in UTF-8 may begin with.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines of one file, and what was read from them. Used again and again.
#[derive(Default)]
pub struct Block {
    /// Its text, the padding, and room; initialised once.
    room: Vec<u8>,
    length: usize,
    pub examples: ParsedExamples,
    pub file: usize,
}

impl Block {
    /// The lines, with the padding behind them, and where to put what is read.
    pub fn text_and_examples(&mut self) -> (&[u8], &mut ParsedExamples) {
        (&self.room[..self.length + PADDING], &mut self.examples)
    }

    fn finish(&mut self, length: usize) {
        self.length = length;
        self.room[length..length + PADDING].fill(b'\n');
    }
}

/// The blocks of all files, in order. Ends at the first error.
pub struct Source<'a> {
    paths: &'a [PathBuf],
    file: usize,
    open: Option<Box<dyn Read + Send + 'a>>,
    /// The beginning of a line whose end is in the next block.
    rest: Vec<u8>,
    failed: bool,
    /// The length of a block, in bytes.
    block: usize,
    max_ratio: f64,
    spare: &'a Mutex<Vec<Block>>,
    monitor: &'a dyn Monitor,
}

impl<'a> Source<'a> {
    pub fn new(
        paths: &'a [PathBuf],
        (block, max_ratio): (usize, f64),
        spare: &'a Mutex<Vec<Block>>,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let (file, open, rest, failed) = (0, None, Vec::new(), false);
        Self { paths, file, open, rest, failed, block, max_ratio, spare, monitor }
    }

    fn next_block(&mut self) -> Result<Option<Block>> {
        let spare = lock(self.spare).pop();
        let mut block = spare.unwrap_or_default();
        while self.file < self.paths.len() {
            let path = &self.paths[self.file];
            let mut reader = match self.open.take() {
                Some(reader) => reader,
                None => open(path, &mut self.rest, self.max_ratio).map_err(|error| too_large(error, path))?,
            };
            block.file = self.file;
            if self.fill(&mut *reader, &mut block).map_err(|error| too_large(error, path))? {
                self.file += 1;
            } else {
                self.open = Some(reader);
            }
            if block.length > 0 {
                return Ok(Some(block));
            }
        }
        Ok(None)
    }

    /// Reads until the block is full and holds a line end, or the file ends, which it returns.
    fn fill(&mut self, reader: &mut dyn Read, block: &mut Block) -> Result<bool> {
        let (room, rest, path) = (&mut block.room, &mut self.rest, &self.paths[self.file]);
        let mut filled = rest.len();
        grow(room, self.block.max(2 * filled).saturating_add(1))?;
        room[..filled].copy_from_slice(rest);
        rest.clear();
        loop {
            let limit = room.len() - PADDING;
            let count = match reader.read(&mut room[filled..limit]) {
                Ok(count) => count,
                // A signal, perhaps Ctrl-C while a pipe has nothing to give.
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    self.monitor.pause()?;
                    continue;
                }
                Err(error) => return Err(Error::of_file(path, &error)),
            };
            filled += count;
            if count == 0 {
                block.finish(filled);
                return Ok(true);
            }
            if filled < limit {
                continue;
            }
            if let Some(last) = memrchr(b'\n', &room[..filled]) {
                let next = last + 1;
                rest.try_reserve(filled - next)?;
                rest.extend_from_slice(&room[next..filled]);
                block.finish(next);
                return Ok(false);
            }
            // One line longer than the block.
            let length = 2 * limit;
            grow(room, length)?;
        }
    }
}

impl Iterator for Source<'_> {
    /// The block, or why there is none.
    type Item = Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let block = self.next_block().transpose()?;
        self.failed = block.is_err();
        Some(block)
    }
}

/// A file for which there is no memory is too large.
pub fn too_large(error: Error, path: &Path) -> Error {
    if error == Error::Memory { Error::FileTooLarge(path.to_owned()) } else { error }
}

/// Makes room for so many bytes and the padding.
fn grow(room: &mut Vec<u8>, length: usize) -> Result<()> {
    let more = length.saturating_add(PADDING).saturating_sub(room.len());
    room.try_reserve_exact(more)?;
    room.resize(room.len() + more, b'\n');
    Ok(())
}

/// Opens a file; its first bytes are looked at, and go to `rest`, but for a byte order mark.
fn open(path: &Path, rest: &mut Vec<u8>, max_ratio: f64) -> Result<Box<dyn Read + Send>> {
    let failed = |error: io::Error| Error::of_file(path, &error);
    let file = File::open(path).map_err(failed)?;
    let mut reader: Box<dyn Read + Send> = if path.extension().is_some_and(|extension| extension == "gz") {
        boxed(Gzip::new(file, max_ratio).map_err(failed)?)?
    } else {
        boxed(file)?
    };
    rest.try_reserve(8)?;
    reader.by_ref().take(8).read_to_end(rest).map_err(failed)?;
    check_text(rest, path)?;
    if rest.starts_with(MARK) {
        rest.drain(..MARK.len());
    }
    Ok(reader)
}

/// Refuses what begins like another kind of file.
pub fn check_text(begin: &[u8], path: &Path) -> Result<()> {
    match NO_TEXT.iter().find(|(magic, _)| begin.starts_with(magic)) {
        Some((_, what)) => Err(Error::Invalid(format!("{} {what}", path.display()))),
        None => Ok(()),
    }
}
