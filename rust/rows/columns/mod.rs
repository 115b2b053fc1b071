//! Rows by the columns alone in which they have entries.

mod chosen;
mod entries;
mod lists;
mod renamed;

pub use chosen::{Chosen, OwnColumns, over};
pub use entries::Entries;
pub use lists::{Listed, Postings};
pub use renamed::{Renamed, RenamedRows};
