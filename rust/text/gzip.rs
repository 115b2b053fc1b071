//! A gzip file as a stream of text: members one after another, zero bytes behind them skipped.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

/// As Python's `gzip` reads a file; what is cut, or not gzip, is [`ErrorKind::InvalidData`].
pub struct Gzip<R: BufRead> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gzip<R> {
    pub fn new(mut file: R) -> Result<Self> {
        let is_empty = file.fill_buf()?.is_empty();
        Ok(Self { member: (!is_empty).then(|| GzDecoder::new(file)) })
    }

    /// Goes on to the next member, if there is one.
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

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(member) = &mut self.member {
            match member.read(buffer) {
                Ok(0) if !buffer.is_empty() => self.next_member()?,
                Ok(count) => return Ok(count),
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
