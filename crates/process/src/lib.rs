//! Programs that are started, watched, and ended with all that they have started.
//!
//! A program runs in a process group of its own and carries a mark in its environment, so that what
//! it has started outside its group is found too. What it writes is read line by line, and bounded.

mod find;
mod lines;
mod marked;
mod process;
mod tail;

pub use find::find_program;
pub use lines::{LONGEST_LINE, Line, read_lines};
pub use process::{Process, kill_all};
pub use tail::Tail;
