//! Types of the results of runs. The name, unit and meaning of each result are stated only here.
//!
//! Engines fill these types, `gleaner_runs` writes them, and `gleaner_runs::read` reads them back.
//! Sweeps use them to compare runs. docs/OUTPUTS.md documents them. A test compares that page with
//! these types.

#[macro_use]
mod record;
#[macro_use]
mod figures;

pub mod classes;
pub mod compare;
pub mod pilots;
pub mod policy_run;
pub mod profile;
pub mod programs;
pub mod replay;
pub mod reproduce;
pub mod run;
mod run_lengths;
pub mod schedule;
pub mod search;
pub mod simulate;
mod spaced;
pub mod states;
pub mod sweep;
mod table;
pub mod training;

pub use figures::{Direction, Figure, Figures, Metric};
pub use record::{Cells, Encoding, Field, Finite, Fixed, Ids, Named, OrEmpty, Plain, Record};
pub use run_lengths::{Cursor, RunLengths};
pub use spaced::Spaced;
pub use table::{Column, Table};
