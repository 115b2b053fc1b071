//! A gzip file as a stream of text: members one after another, zero bytes behind them skipped.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::GzDecoder;

/// So much may be packed as tightly as it likes.
const SMALL: f64 = 16_777_216.0;

/// As Python's `gzip` reads a file; what is cut, or not gzip, is [`ErrorKind::InvalidData`], and so is what
/// unpacks to more than `max_ratio` times its size.
pub struct Gzip<R: Read> {
    member: Option<GzDecoder<BufReader<Counted<R>>>>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    max_ratio: f64,
}

/// Counts what is read.
struct Counted<R> {
    file: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.file.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<R: Read> Gzip<R> {
    pub fn new(file: R, max_ratio: f64) -> Result<Self> {
        let packed = Arc::new(AtomicU64::new(0));
        let mut file = BufReader::with_capacity(1 << 16, Counted { file, count: Arc::clone(&packed) });
        let is_empty = file.fill_buf()?.is_empty();
        Ok(Self { member: (!is_empty).then(|| GzDecoder::new(file)), packed, unpacked: 0, max_ratio })
    }

    /// Refuses what is more likely an accident or an attack than data.
    fn check(&mut self, count: usize) -> Result<usize> {
        self.unpacked += count as u64;
        let most = SMALL + self.max_ratio * self.packed.load(Ordering::Relaxed) as f64;
        if self.unpacked as f64 <= most {
            return Ok(count);
        }
        let text = format!(
            "unpacks to more than {} times its size; if you know that it is no gzip bomb, raise max_ratio or \
             unpack it",
            self.max_ratio
        );
        Err(Error::new(ErrorKind::InvalidData, text))
    }

    fn next_member(&mut self) -> Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut file = member.into_inner();
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            if zeros < bytes.len() {
                file.consume(zeros);
                self.member = Some(GzDecoder::new(file));
                return Ok(());
            }
            file.consume(zeros);
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => self.next_member()?,
                Ok(count) => return self.check(count),
                Err(error) => return Err(named(error)),
            }
        }
        Ok(0)
    }
}

/// The decoder reports bad data under several kinds; an error of the file has a number.
fn named(error: Error) -> Error {
    if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
        return error;
    }
    let text = if error.kind() == ErrorKind::UnexpectedEof {
        "the gzip data ends early: the file was cut; get it again"
    } else {
        "the gzip data is damaged or none; get it again, or drop the .gz if it is plain text"
    };
    Error::new(ErrorKind::InvalidData, text)
}
