//! Writers of what inspectors are made of and what they say.

pub mod built;
pub mod history;
pub mod predictions;
pub mod scores;
