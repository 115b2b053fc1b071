//! Readers of text: svmlight / libsvm files to CSR.

mod gzip;
mod lines;
mod number;
mod source;
mod svmlight;

pub use lines::{Base, Rules};
pub use svmlight::{BLOCK, CsrArrays, read, read_part};
