//! Readers of text: svmlight / libsvm files to CSR, and texts to hashed rows.

mod grams;
mod gzip;
mod hashed;
mod lines;
mod murmur;
mod number;
mod source;
mod svmlight;

pub use grams::{Analyzer, Grams, Letters};
pub use hashed::{Hashing, Met, Norm, SparseRows, SparseView, added, counted, hash, hashed, normalized};
pub use lines::{Base, Rules};
pub use svmlight::{BLOCK, CsrArrays, read, read_part};
