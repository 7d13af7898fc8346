//! Gleaner's results as [polars] data frames.
//!
//! [`open`] reads a run directory of `gleaner replay`, `gleaner simulate` or `gleaner sweep` and returns its tables as
//! frames. [`frame`] converts any result table of the library into a frame. A [`Sweep`] can be aggregated over seeds,
//! ranked and pivoted; [`aggregate`], [`rank`], [`pivot`] and [`join`] do the same with any frame.
//!
//! ```no_run
//! use gleaner_frames::open;
//!
//! # fn main() -> gleaner_frames::Result<()> {
//! let sweep = open("swept")?.into_sweep()?;
//! println!("{}", sweep.aggregate("total_work")?);
//! println!("{}", sweep.pivot("total_work", "t_fwd", "max_tasks")?);
//! # Ok(())
//! # }
//! ```
//!
//! Columns have the same names and units as in the tables, which are documented in `docs/OUTPUTS.md`. A missing value
//! is null. Times are nanoseconds since 1970-01-01 00:00:00 on the log's own clock. The type of times is `Int64`,
//! because this crate enables as few features of polars as possible. If the feature `dtype-datetime` of polars is
//! enabled, `column.cast(&DataType::Datetime(TimeUnit::Nanoseconds, None))` converts the column to dates and times.
//!
//! `gleaner_runs` reads the files and validates everything in them. The file readers of polars are not used.

mod aggregate;
mod error;
mod run;
mod shape;
mod sweep;
mod table;

pub use gleaner_domain::student::t95;
pub use polars;

pub use aggregate::aggregate;
pub use error::{Error, Result};
pub use run::{
    ClassFrames, Frames, PolicyFrames, ReplayFrames, Run, SearchFrames, SimulateFrames, open,
};
pub use shape::{join, pivot, rank};
pub use sweep::Sweep;
pub use table::frame;
