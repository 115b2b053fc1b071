//! The weights: in the forms that loops train on or score with, and under penalties that are not yet applied.

pub mod arranged;
pub mod pending;
pub mod planes;
pub mod scaled;
pub mod shared;
pub mod table;
mod turned;
pub mod undo;
pub mod used;
