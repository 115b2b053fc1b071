//! The linear learners: what needs no run, models, runs, votes.

pub mod draft;
pub mod model;
pub mod online;
pub mod rule;
pub mod run;
mod views;
pub mod voted;
